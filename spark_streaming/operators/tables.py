"""Looks up the rows of a small table, as it was when the task started."""

from __future__ import annotations

from pathlib import PurePosixPath

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_streaming.context import BadOperator, TaskContext
from spark_streaming.operators.arguments import blamed

ROWS_MAX = 100_000
"""Every batch has the table at hand; what is larger belongs into a topic, and into a join."""


def enriched(rows: DataFrame, context: TaskContext) -> DataFrame:
    """With the columns of the table after `--table` (CSV with a head, JSON lines or Parquet), of
    its row that has the same in the column after `--on`; null where it has none. Without `--table`
    nothing is done.

    It is read once, at the start of the task, so all batches of one start see the same.
    """
    path, on = context.argument("table", ""), context.argument("on", "")
    if not path and not on:
        return rows
    if not path or not on:
        lacks = "--on FIELD" if path else "--table PATH"
        raise BadOperator(f"--table and --on go together; add {lacks}")
    table = read_table(rows.sparkSession, path)
    _check_columns(rows, table, path, on)
    with blamed("table"):
        return rows.join(F.broadcast(_kept(table, rows, path, on)), on, "left")


def read_table(session: SparkSession, path: str) -> DataFrame:
    """By the end of its name."""
    with blamed("table"):
        match PurePosixPath(path).suffix.lower():
            case ".csv":
                return session.read.csv(path, header=True, inferSchema=True)
            case ".json" | ".jsonl":
                return session.read.json(path)
            case ".parquet":
                return session.read.parquet(path)
    raise BadOperator(f"--table: {path[:200]} ends with none of .csv, .json, .jsonl and .parquet")


def _check_columns(rows: DataFrame, table: DataFrame, path: str, on: str) -> None:
    for what, names in (("the record", rows.columns), (f"the table {path}", table.columns)):
        if on not in names:
            raise BadOperator(f"--on: {what} has no {on}; it has {', '.join(names)[:400]}")
    seen = {one.lower() for one in rows.columns} | {"value", "topic", "partition", "offset"}
    double = next((one for one in table.columns if one != on and one.lower() in seen), None)
    if double is not None:
        raise BadOperator(
            f"--table: {path} has a column {double}, which stands in the record already or means"
            " something else there; give it another name"
        )


def _kept(table: DataFrame, rows: DataFrame, path: str, on: str) -> DataFrame:
    """The table in memory, each value of `on` once: one that stands twice would double records."""
    kind = rows.schema[on].dataType
    typed = table.withColumn(on, F.col(on).try_cast(kind)).where(F.col(on).isNotNull())
    found = typed.limit(ROWS_MAX + 1).toArrow()
    if found.num_rows > ROWS_MAX:
        raise BadOperator(f"--table: {path} has more than {ROWS_MAX:,} rows; make it a topic")
    values = found.column(on).to_pylist()
    if len(set(values)) < len(values):
        seen = set[object]()
        double = next(one for one in values if one in seen or seen.add(one))  # type: ignore[func-returns-value]  # adds it on the way
        raise BadOperator(
            f"--table: {path} has {str(double)[:64]!r} twice in {on}; keep one of them"
        )
    return table.sparkSession.createDataFrame(found)
