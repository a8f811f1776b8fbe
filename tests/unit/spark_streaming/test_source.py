"""Settings of our clients as Java's client knows them, and offsets as Spark writes them."""

from __future__ import annotations

from typing import Any

import pytest

from spark_streaming import source
from spark_streaming.context import BadOperator, TopicSource, sources_of
from spark_streaming.source import (
    FETCH_WAIT_MS,
    READ,
    by_topic,
    java_options,
    read_kafka,
    read_offsets,
)


def test_what_tunes_our_client_means_nothing_to_javas() -> None:
    assert java_options("b:1", {"fetch.wait.max.ms": "5", "client.id": "me"}) == {
        "kafka.bootstrap.servers": "b:1",
        "kafka.client.id": "me",
    }


def test_a_login_goes_over_with_its_quotes() -> None:
    found = java_options(
        "b:1",
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "ana",
            "sasl.password": 'a"b\\c',
            "ssl.ca.location": "/ca.pem",
        },
    )
    assert found["kafka.sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        ' username="ana" password="a\\"b\\\\c";'
    )
    assert found["kafka.security.protocol"] == "SASL_SSL"
    assert found["kafka.ssl.truststore.type"] == "PEM"
    assert found["kafka.ssl.truststore.location"] == "/ca.pem"


@pytest.mark.parametrize(
    ("kafka", "sentence"),
    [
        ({"ssl.crl.location": "/x"}, "the setting ssl.crl.location has no twin in Spark's Kafka"),
        (
            {"sasl.username": "ana", "sasl.mechanism": "OAUTHBEARER"},
            "the setting sasl.mechanism is OAUTHBEARER; Spark's Kafka source takes PLAIN",
        ),
    ],
)
def test_what_secures_a_connection_is_not_left_out(kafka: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOperator) as bad:
        java_options("b:1", kafka)
    assert str(bad.value).startswith(sentence)


def test_offsets_go_over_and_come_back() -> None:
    position = {("a", 0): 5, ("a", 10): 7, ("b", 1): 0}
    assert by_topic(position) == {"a": {"0": 5, "10": 7}, "b": {"1": 0}}
    assert read_offsets('{"a":{"0":5,"10":7},"b":{"1":0}}') == position


def test_an_input_without_a_partition_for_the_task_is_empty_and_there() -> None:
    told = {"inputs": [{"topic": "users", "format": "json"}, {"topic": "clicks"}]}
    assert sources_of([("clicks", (3, 7))], told) == (
        TopicSource("users", (), "json"),
        TopicSource("clicks", (3, 7)),
    )


class Recorder:
    """Stands in for Spark: keeps what it is told, call by call."""

    def __init__(self) -> None:
        self.told: dict[str, list[object]] = {}

    @property
    def readStream(self) -> Recorder:  # noqa: N802 - as Spark calls it
        return self

    def option(self, name: str, value: str) -> Recorder:
        return self.options(**{name: value})

    def options(self, **some: str) -> Recorder:
        for name, value in some.items():
            self.told.setdefault(name, []).append(value)
        return self

    def __getattr__(self, name: str) -> Any:
        def call(*given: object) -> Recorder:
            self.told.setdefault(name, []).extend(given)
            return self

        return call


@pytest.mark.parametrize(
    ("threads", "cut"),
    [(None, {}), (1, {"coalesce": [1]}), (2, {"minPartitions": ["2"], "coalesce": [2]})],
)
def test_a_task_reads_what_it_is_assigned_and_jumps_over_nothing(
    monkeypatch: pytest.MonkeyPatch, threads: int | None, cut: dict[str, list[object]]
) -> None:
    monkeypatch.setattr(source, "counted", sorted)
    spark: Any = Recorder()
    sources = (TopicSource("users", ()), TopicSource("clicks", (3, 7)))
    read_kafka(spark, {"a": "b"}, sources, {("clicks", 3): 5, ("clicks", 7): 0}, 9, threads=threads)
    assert spark.told == {
        "format": ["kafka"],
        "a": ["b"],
        "assign": ['{"clicks": [3, 7]}'],
        "startingOffsets": ['{"clicks": {"3": 5, "7": 0}}'],
        "kafka.isolation.level": ["read_committed"],
        "kafka.fetch.max.wait.ms": [str(FETCH_WAIT_MS)],
        "failOnDataLoss": ["true"],
        "maxOffsetsPerTrigger": ["9"],
        "includeHeaders": ["true"],
        "load": [],
        "observe": [READ, "clicks"],
        **cut,
    }
