"""Reads Kafka partitions: assigned one by one, from where the job's group has come to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_streaming.context import BadOperator, TopicSource

At = tuple[str, int]

READ = "read"
"""The name under which Spark counts what a batch reads."""
FETCH_WAIT_MS = 5
"""On a quiet partition the usual half second keeps one of few slots waiting while others have
work: 20 queries had batches of 1.2 s with it, and of 0.3 s without."""
_SAME = {
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "sasl.mechanisms": "sasl.mechanism",
    "client.id": "client.id",
    "ssl.endpoint.identification.algorithm": "ssl.endpoint.identification.algorithm",
    "ssl.key.password": "ssl.key.password",
    "request.timeout.ms": "request.timeout.ms",
}
_PEM = {"ssl.ca.location": "ssl.truststore", "ssl.keystore.location": "ssl.keystore"}
_LOGINS = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_TAKEN = frozenset({"sasl.username", "sasl.password"})


def java_options(bootstrap: str, kafka: Mapping[str, str]) -> dict[str, str]:
    """The settings of our clients as Java's client knows them, as options of Spark's source.

    Only what has a twin there goes over: what tunes librdkafka means nothing to it, and what
    secures a connection must not be left out in silence.
    """
    found = {"kafka.bootstrap.servers": bootstrap}
    for name, value in kafka.items():
        if name in _SAME:
            found[f"kafka.{_SAME[name]}"] = value
        elif name in _PEM:
            found[f"kafka.{_PEM[name]}.type"] = "PEM"
            found[f"kafka.{_PEM[name]}.location"] = value
        elif name.startswith(("ssl.", "sasl.", "security.")) and name not in _TAKEN:
            raise BadOperator(
                f"the setting {name} has no twin in Spark's Kafka source; use one of"
                f" {', '.join(sorted({*_SAME, *_PEM, *_TAKEN}))}"
            )
    user = kafka.get("sasl.username")
    if user is not None:
        mechanism = found.get("kafka.sasl.mechanism", "PLAIN")
        login = _LOGINS.get(mechanism)
        if login is None:
            raise BadOperator(
                f"the setting sasl.mechanism is {mechanism}; Spark's Kafka source takes"
                f" {', '.join(sorted(_LOGINS))}"
            )
        found["kafka.sasl.jaas.config"] = (
            f"{login} required username={_quoted(user)}"
            f" password={_quoted(kafka.get('sasl.password', ''))};"
        )
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def by_topic(position: Mapping[At, int]) -> dict[str, dict[str, int]]:
    """As Spark writes offsets in JSON."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (topic, partition), offset in sorted(position.items()):
        found[topic][str(partition)] = offset
    return dict(found)


def read_offsets(text: str) -> dict[At, int]:
    """The offsets that Spark wrote as JSON, by place."""
    plain: Mapping[str, Mapping[str, int]] = json.loads(text)
    return {
        (topic, int(partition)): offset
        for topic, offsets in plain.items()
        for partition, offset in offsets.items()
    }


def read_kafka(
    spark: SparkSession,
    options: Mapping[str, str],
    sources: Iterable[TopicSource],
    position: Mapping[At, int],
    batch_records: int,
    *,
    threads: int | None = None,
) -> DataFrame:
    """All inputs of a task, with what a batch reads counted.

    A batch is read in as many pieces as it may have threads, each by one of Spark's own tasks: of
    more partitions than threads several are one piece, and where fewer have records they are cut.
    Without a number each partition is a piece.
    """
    assigned = {one.topic: list(one.partitions) for one in sources if one.partitions}
    source = (
        spark.readStream.format("kafka")
        .options(**options)
        .option("assign", json.dumps(assigned))
        .option("startingOffsets", json.dumps(by_topic(position)))
        .option("kafka.isolation.level", "read_committed")
        .option("kafka.fetch.max.wait.ms", str(FETCH_WAIT_MS))
        # What is gone is an alert, never a jump.
        .option("failOnDataLoss", "true")
        .option("maxOffsetsPerTrigger", str(batch_records))
        .option("includeHeaders", "true")
    )
    if threads is not None and threads > 1:
        source = source.option("minPartitions", str(threads))
    rows = source.load()
    if threads is not None:
        rows = rows.coalesce(threads)
    return rows.observe(READ, *counted(assigned))


def counted(assigned: Mapping[str, Sequence[int]]) -> list[Column]:
    """What is counted of a batch: its records, those of each partition, and their bytes.

    The function counts exactly as long as it has room for all that differ, which it is given. A
    count for each partition by a condition of its own was seen to take ten times as long a record
    with 64 of them, and to double the planning of a batch with 256.
    """
    topics = sorted(assigned)
    which = F.lit(0)
    for at, topic in enumerate(topics[1:], 1):
        which = F.when(F.col("topic") == topic, at).otherwise(which)
    room = F.lit(max(1, sum(map(len, assigned.values()))))
    place = F.col("partition") * len(topics) + which
    size = F.coalesce(F.length("value"), F.lit(0)) + F.coalesce(F.length("key"), F.lit(0))
    return [
        F.count(F.lit(1)).alias("records"),
        F.sum(size).alias("bytes"),
        F.call_function("approx_top_k", place, room, room).alias("of"),
    ]


def read_counts(told: Iterable[Mapping[str, int]], topics: Iterable[str]) -> dict[At, int]:
    """How many records were read of each partition, of what was `counted` of these topics."""
    names = sorted(topics)
    found = dict[At, int]()
    for one in told:
        partition, which = divmod(one["item"], len(names))
        found[names[which], partition] = one["count"]
    return found
