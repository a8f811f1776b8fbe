"""Makes columns of the fields of JSON and Avro values, and looks up more of them in a table.

Nothing is left out in silence: what cannot be read, or not in full, has all that stood there in the
column `unreadable`.
"""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
from fastavro.schema import SchemaParseException, UnknownType
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import StringType, StructField, StructType, VariantType

from spark_streaming.context import BadOperator, TaskContext
from spark_streaming.operators.arguments import KEY, blamed
from spark_streaming.operators.tables import enriched

UNREADABLE = "unreadable"
TAKEN = frozenset({KEY, "value", "topic", "partition", "offset", "timestamptype", UNREADABLE})
"""Columns that mean something else in what an operator returns."""
FRAME_BYTES = 5
"""Of Confluent's framing: a zero, and the number of the schema."""
SCHEMA_BYTES_MAX = 1024 * 1024
_TO_THE_END = 2**31 - 1


def json_fields(rows: DataFrame, context: TaskContext) -> DataFrame:
    """A column for each field of `--schema "a INT, b STRING"`; a value that is no such object is
    `unreadable` (with the format json it is null before it comes here: text and bytes show it).
    With `--table PATH --on FIELD` also the columns of the table's row for the field."""
    context.only("schema", "table", "on")
    with blamed("schema"):
        schema = StructType.fromDDL(context.argument("schema"))
    if not isinstance(schema, StructType):
        raise BadOperator('--schema names fields and their types, such as "a INT, b STRING"')
    check_names("schema", schema)
    whole = StructType([*schema.fields, StructField(UNREADABLE, StringType())])
    parsed = F.from_json(_text(rows), whole, {"columnNameOfCorruptRecord": UNREADABLE})
    return enriched(rows.select(KEY, parsed.alias("parsed")).select(KEY, "parsed.*"), context)


def avro_fields(rows: DataFrame, context: TaskContext) -> DataFrame:
    """The same of Avro records, by the schema that they were written with: `--schema` is its JSON,
    `--schema-file` a file with it. `--framing` says what stands before each record: confluent, the
    default, or none. What cannot be read is in Base64."""
    context.only("schema", "schema-file", "framing", "table", "on")
    schema, flag = avro_schema(context)
    framing = context.argument("framing", "confluent")
    if framing not in {"confluent", "none"}:
        raise BadOperator(f"--framing is confluent or none, not {framing[:64]!r}")
    value = F.col("value")
    body = value if framing == "none" else F.substring(value, FRAME_BYTES + 1, _TO_THE_END)
    if framing == "confluent":
        body = F.when(F.hex(F.substring(value, 1, 1)) == "00", body)
    decoded = from_avro(body, framed(schema), {"mode": "PERMISSIVE"}).getField("body")
    with blamed(flag):
        found = rows.select(KEY, "value", decoded.alias("parsed"))
    kind = found.schema["parsed"].dataType
    assert isinstance(kind, StructType)
    check_names(flag, kind)
    lost = F.when(F.col("parsed").isNull(), F.base64("value")).alias(UNREADABLE)
    return enriched(found.select(KEY, "parsed.*", lost), context)


def avro_schema(context: TaskContext) -> tuple[str, str]:
    """The schema of a record, and the argument that says it."""
    path, text = context.argument("schema-file", ""), context.argument("schema", "")
    if bool(path) == bool(text):
        raise BadOperator("say what the records are with --schema JSON or --schema-file PATH")
    flag = "schema-file" if path else "schema"
    try:
        if path:
            text = _small_text(path)
        plain = json.loads(text)
        fastavro.parse_schema(plain)
    except (OSError, ValueError, SchemaParseException, UnknownType, TypeError, KeyError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadOperator(f"--{flag} is no schema of Avro ({said}); correct it") from error
    if not isinstance(plain, dict) or plain.get("type") != "record":
        raise BadOperator(f"--{flag} is of no record; only a record has fields")
    return text, flag


def _small_text(path: str) -> str:
    with Path(path).open("rb") as file:
        found = file.read(SCHEMA_BYTES_MAX + 1)
    if len(found) > SCHEMA_BYTES_MAX:
        raise ValueError(f"it has more than {SCHEMA_BYTES_MAX} bytes")
    return found.decode()


def framed(schema: str) -> str:
    """A record around the record, which has the same bytes: so one that cannot be read differs from
    one whose fields are all null."""
    fields = [{"name": "body", "type": json.loads(schema)}]
    return json.dumps({"type": "record", "name": "turbine.Framed", "fields": fields})


def check_names(flag: str, schema: StructType) -> None:
    """Refuses fields that no column can be made of."""
    names = [one.lower() for one in schema.fieldNames()]
    for name in names:
        if name in TAKEN:
            raise BadOperator(
                f"--{flag}: no field can become a column {name}, which means something else; give"
                " it another name with spark_streaming.operators.rows:projected"
            )
        if names.count(name) > 1:
            raise BadOperator(f"--{flag}: the field {name} stands there twice; leave one out")


def _text(rows: DataFrame) -> Column:
    value = F.col("value")
    if isinstance(rows.schema["value"].dataType, VariantType):
        return F.to_json(value)
    return value.cast("string")
