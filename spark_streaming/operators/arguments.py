"""What arguments of operators mean: a span of time, a field of a record, the instant it stands for.

Names of fields are those of a JSON value, whatever the input's format: a value that is text or
bytes is read as JSON where a field of it is asked for, and stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, VariantType

from spark_streaming.context import BadOperator, TaskContext, spark_said

KEY = "key"
"""Names the record's own key, not a field."""
AT = "at"
PARTITION = "partition"
LATE = "30 seconds"
"""How long a record is waited for, where the job says nothing."""
AHEAD = "1 day"
"""One record from the next year would make all others late, and so end a job's output."""
SPAN_MS_MAX = 366 * 86_400_000
_UNITS_MS = {
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}
_SPAN = re.compile(r"\s*([0-9]{1,12})\s+([a-z]+?)s?\s*", re.IGNORECASE)
_PATH = re.compile(r"(\$\.)?([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)", re.ASCII)
_EARLIEST_MS, _LATEST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Years 1 to 9999: what lies beyond is no instant, and must not end the task as an overflow."""


# --- arguments


def span_ms(
    context: TaskContext, name: str, default: str | None = None, *, zero: bool = False
) -> int:
    """The argument as a length of time, such as "90 seconds"."""
    text = context.argument(name, default)
    match = _SPAN.fullmatch(text)
    unit = _UNITS_MS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise BadOperator(
            f'--{name} is a span of time such as "30 seconds", not {text[:64]!r}; its unit is one'
            f" of {', '.join(_UNITS_MS)}"
        )
    length = int(match[1]) * unit
    if length > SPAN_MS_MAX or (length == 0 and not zero):
        least = "" if zero else "above 0 and "
        raise BadOperator(f"--{name} is a span {least}of at most 366 days, not {text[:64]!r}")
    return length


def interval(length_ms: int) -> str:
    """A length of time as Spark reads it."""
    return f"{length_ms} milliseconds"


def path_of(name: str, text: str) -> str:
    """A field's name, with dots between what is inside one another, as a path into a value."""
    match = _PATH.fullmatch(text)
    if match is None:
        raise BadOperator(
            f"--{name} is a field such as user.country, not {text[:64]!r}; use letters, digits, '_'"
            " and '-', with dots between"
        )
    return "$" + "".join(f"['{part}']" for part in match[2].split("."))


def names_of(name: str, text: str) -> list[str]:
    """Several of them, with commas between, each once."""
    names = [one.strip() for one in text.split(",")]
    for one in names:
        if one != KEY:
            path_of(name, one)
        if names.count(one) > 1:
            raise BadOperator(f"--{name} names {one} twice; leave one of them out")
    return names


@contextmanager
def blamed(name: str) -> Iterator[None]:
    """What Spark has to say within is said of the argument."""
    try:
        yield
    except PySparkException as error:
        raise BadOperator(f"--{name}: {spark_said(error)}") from error


# --- columns


def field(rows: DataFrame, context: TaskContext, name: str, text: str, type_name: str) -> Column:
    """What a record has in the field that `--name` names; null where that is none of its type."""
    path = path_of(name, text)
    avro = next((one.topic for one in context.sources if one.format == "avro"), None)
    if avro is not None:
        raise BadOperator(
            f"--{name} names a field of a JSON value, and {avro} is Avro; write it anew with"
            " spark_streaming.operators.parsing:avro_fields first"
        )
    value, kind = F.col("value"), rows.schema["value"].dataType
    if isinstance(kind, BinaryType):
        value = value.cast("string")
    if not isinstance(kind, VariantType):
        value = F.try_parse_json(value)
    return F.try_variant_get(value, path, type_name)


def key_or_field(rows: DataFrame, context: TaskContext, name: str) -> Column:
    """The record's key, or the field that `--name` names instead, as text."""
    text = context.argument(name, KEY)
    return F.col(KEY) if text == KEY else field(rows, context, name, text, "string")


def instant(rows: DataFrame, context: TaskContext) -> Column:
    """When what the record says happened: Kafka's timestamp, or the field after `--time`, a number
    of milliseconds since 1970 or a text as of ISO 8601. Null where it says no such thing, or one
    that lies further ahead of Kafka's timestamp than `--ahead`."""
    text = context.argument("time", "")
    ahead_ms = span_ms(context, "ahead", AHEAD, zero=True)
    if not text:
        return F.col("timestamp")
    number = field(rows, context, "time", text, "bigint")
    said = F.when(number.between(_EARLIEST_MS, _LATEST_MS), F.timestamp_millis(number)).when(
        number.isNull(), field(rows, context, "time", text, "timestamp")
    )
    limit = F.col("timestamp") + F.expr(f"INTERVAL {interval(ahead_ms)}")
    return F.when(said <= limit, said)


def timed(rows: DataFrame, context: TaskContext, late_ms: int) -> DataFrame:
    """With the instant of each as `at`, and the watermark that follows it; rows without one are
    left out."""
    found = rows.withColumn(AT, instant(rows, context)).where(F.col(AT).isNotNull())
    return found.withWatermark(AT, interval(late_ms))
