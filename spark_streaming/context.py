"""What an operator is given beside its input: the task that it runs in, and what its job says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from turbine_client.errors import BadRequest, Unavailable

COLUMNS = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP,"
    " timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
"""Of records as Kafka's source has them."""
TEXT_CHARS = 500
"""Of another's sentence that is handed on."""


class BadOperator(BadRequest, ValueError):
    """An operator that cannot run as its job asks; the sentence says what to correct."""


class OperatorFailed(Unavailable):
    """An operator that failed by something that may pass, such as a store that was away."""


class TopicSource(NamedTuple):
    """One topic that the task reads, and how its values are to be understood."""

    topic: str
    partitions: tuple[int, ...]
    format: str = "bytes"


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Of one start of one task. Time and chance come from the rows alone, so that a batch that is
    run again gives the same again."""

    job: str
    task: int
    arguments: tuple[str, ...]
    sources: tuple[TopicSource, ...]
    raw: DataFrame
    """All inputs as Kafka has them: key, value, topic, partition, offset, timestamp, headers."""

    @property
    def name(self) -> str:
        """The task's name, `job/index`, as everywhere."""
        return f"{self.job}/{self.task}"

    def input(self, topic: str) -> DataFrame:
        """One of several inputs, with its values as its format says.

        Its columns are its own each time: were they the same twice in one query, as in a join, then
        Spark would read all inputs twice, each time up to other offsets.
        """
        found = next((one for one in self.sources if one.topic == topic), None)
        if found is None:
            names = ", ".join(one.topic for one in self.sources)
            raise BadOperator(f"there is no input {topic}; the job reads {names}")
        rows = self.raw
        if len(self.sources) > 1:
            rows = rows.where(F.col("topic") == topic)
        rows = understood(rows, found.format)
        return rows.select(*[F.col(name).alias(name) for name in rows.columns])

    def argument(self, name: str, default: str | None = None) -> str:
        """The value after `--name` in the job's arguments."""
        flag = f"--{name}"
        for at, one in enumerate(self.arguments):
            if one == flag:
                if at + 1 == len(self.arguments):
                    raise BadOperator(f"{flag} is followed by nothing; give it a value")
                return self.arguments[at + 1]
            if one.startswith(f"{flag}="):
                return one[len(flag) + 1 :]
        if default is None:
            raise BadOperator(f'the operator needs an argument {flag}; add it to "arguments"')
        return default

    def number(self, name: str, default: float | None = None) -> float:
        """The same, as a number."""
        text = self.argument(name, None if default is None else str(default))
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise BadOperator(f"--{name} is followed by a number, not by {text[:64]!r}")
        return value

    def only(self, *names: str) -> None:
        """Refuses arguments that are not `--name value` or `--name=value` with one of these names,
        each once: what is misspelt would else be passed over, and the job be another."""
        left, seen = list(self.arguments), set[str]()
        while left:
            flag, equals, _ = left.pop(0).partition("=")
            name = flag.removeprefix("--")
            if name == flag or name not in names:
                known = ", ".join(f"--{one}" for one in names) or "none"
                raise BadOperator(f"{flag[:64]!r} is no argument of this operator; it has {known}")
            if name in seen:
                raise BadOperator(f"{flag} stands twice; leave one of them out")
            seen.add(name)
            if not equals and not left:
                raise BadOperator(f"{flag} is followed by nothing; give it a value")
            del left[: 0 if equals else 1]


def understood(rows: DataFrame, form: str) -> DataFrame:
    """Values as the format says. What is no JSON is a null value, and not a task that dies of it:
    the operator sees both."""
    match form:
        case "text":
            value = F.col("value").cast("string")
        case "json":
            value = F.try_parse_json(F.col("value").cast("string"))
        case _:  # bytes, and Avro: only the operator knows its schema
            return rows
    return rows.withColumn("value", value)


def whole_input(raw: DataFrame, sources: Sequence[TopicSource]) -> DataFrame:
    """What an operator is called with: all inputs, understood where they are of one format."""
    forms = {one.format for one in sources}
    return understood(raw, forms.pop()) if len(forms) == 1 else raw


def sources_of(
    inputs: Sequence[tuple[str, Sequence[int]]], config: Mapping[str, object]
) -> tuple[TopicSource, ...]:
    """What a task reads, with the formats that its config names. An input of which the task has no
    partition is there as well, and empty: the operator is the same in all tasks."""
    told = config.get("inputs")
    forms = {
        str(one.get("topic")): str(one.get("format", "bytes"))
        for one in (told if isinstance(told, list) else [])
        if isinstance(one, dict)
    }
    numbers = dict(inputs)
    return tuple(
        TopicSource(topic, tuple(numbers.get(topic, ())), forms.get(topic, "bytes"))
        for topic in {**forms, **numbers}
    )


def spark_said(error: PySparkException) -> str:
    """Spark's own sentence, without the plan that follows it."""
    return str(error).strip().partition("\n")[0][:TEXT_CHARS]
