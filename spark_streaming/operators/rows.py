"""Operators that look at one row at a time; they keep nothing, so that any number of tasks will do.

They take expressions of SQL. With the format json a value has its fields behind colons, and
`value:country::string` never fails; `try_variant_get(value, '$.age', 'int')` is null where the
field is no number, while `value:age::int` ends the task there.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import BadOperator, TaskContext
from spark_streaming.operators.arguments import blamed


def passed(rows: DataFrame, _: TaskContext) -> DataFrame:
    """Each row as it came, under its key."""
    return rows.select("key", "value")


def filtered(rows: DataFrame, context: TaskContext) -> DataFrame:
    """The rows for which the SQL expression after `--where` holds."""
    context.only("where")
    condition = context.argument("where")
    with blamed("where"):
        return rows.where(F.expr(condition)).select("key", "value")


def projected(rows: DataFrame, context: TaskContext) -> DataFrame:
    """The SQL expressions after `--select`, with commas between them; one may be the key. What has
    no name of its own gets one: `value:country::string AS country`."""
    context.only("select")
    expressions = split(context.argument("select"))
    with blamed("select"):
        found = rows.selectExpr(*expressions)
    names = [one.lower() for one in found.columns]
    double = next((one for one in names if names.count(one) > 1), None)
    if double is not None:
        raise BadOperator(f"--select: two expressions are named {double}; name one of them with AS")
    return found


def split(text: str) -> list[str]:
    """At the commas that stand in no bracket and in no quote."""
    parts, quote, begin = list[str](), "", 0
    depth, escaped = 0, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = char == "\\" and quote != "`"
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    parts.append(text[begin:].strip())
    if quote or depth:
        raise BadOperator(f"--select: a {'quote' if quote else 'bracket'} in it is not closed")
    if not all(parts):
        raise BadOperator("--select: there is nothing between two of its commas, or beside one")
    return parts
