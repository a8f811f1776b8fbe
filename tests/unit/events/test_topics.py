"""The table of topics, and the partitioner that everybody has to share."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from events.generated.records import RECORDS
from events.topics import (
    BY_SHORT,
    CHANGES,
    CLOCK,
    CONTAINERS,
    DEAD_LETTERS,
    JOURNAL,
    LAYERS,
    LOADS,
    MIB,
    OPERATOR,
    OUTCOMES,
    REQUEST_BYTES,
    ROWS_CAPACITY_MANAGER,
    ROWS_JOB_SERVICE,
    ROWS_SHARD_MANAGER,
    TIERS,
    TOPICS,
    partition_of,
    place,
    rows_topic,
    short_of,
    topics_under,
)

# What org.apache.kafka.common.utils.Utils.murmur2 gives, from the Java client's own tests.
JAVA = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.mark.parametrize("key", JAVA)
@pytest.mark.parametrize("partitions", [1, 3, 16, 1000])
def test_partitions_are_those_of_the_java_client(key: str, partitions: int) -> None:
    assert partition_of(key, partitions) == (JAVA[key] & 0x7FFFFFFF) % partitions
    assert partition_of(key.encode(), partitions) == partition_of(key, partitions)


def test_names_are_found_by_either_form() -> None:
    assert len(BY_SHORT) == len(TOPICS)
    for topic in TOPICS:
        assert topic.name == f"turbine.{topic.short}"
        assert BY_SHORT[short_of(topic.name)] is BY_SHORT[topic.short] is topic
        assert re.fullmatch(r"[a-z-]+(\.[a-z-]+)*\.v1", topic.short)
        assert topic.doc.endswith(".")


def test_every_record_lies_on_a_topic_and_every_topic_carries_records() -> None:
    assert {kind for topic in TOPICS for kind in topic.records} == set(RECORDS)
    bare = {topic.short for topic in TOPICS if not topic.records}
    assert bare == {topic.short for topic in TOPICS if topic.kind in {"dead-letters", "rows"}}


def test_decisions_have_one_topic_and_the_world_gets_only_what_stands_there() -> None:
    journal = set(BY_SHORT[JOURNAL].records)
    assert set(BY_SHORT[OUTCOMES].records) < journal
    shared = journal & set(BY_SHORT[TIERS].records)
    assert shared == {"AlertRaised", "AlertCleared"}


def test_the_ingress_topic_is_the_authority_for_its_layer() -> None:
    assert tuple(CHANGES) == LAYERS
    for layer, short in CHANGES.items():
        assert short == f"changes.{layer}.v1"
        assert BY_SHORT[short].records == ("ConfigChangeProposed",)
        assert BY_SHORT[short].kind == "ingress"


def test_only_reports_and_ticks_expire_and_only_rows_are_compacted() -> None:
    day_ms = 24 * 3600 * 1000
    days = {LOADS: 15, CONTAINERS: 15, CLOCK: 15, DEAD_LETTERS: 30}
    for topic in TOPICS:
        expires = days[topic.short] * day_ms if topic.short in days else -1
        assert topic.config["retention.ms"] == str(expires), topic.short
        assert topic.config["retention.bytes"] == "-1"
        compacted = topic.kind == "rows"
        assert topic.config["cleanup.policy"] == ("compact" if compacted else "delete")
        assert topic.config["message.timestamp.type"] == "LogAppendTime"
        most = {"rows": 8 * MIB, "ingress": REQUEST_BYTES, "operator": REQUEST_BYTES}
        assert topic.config["max.message.bytes"] == str(most.get(topic.kind, MIB)), topic.short


def test_all_that_is_about_a_job_lies_in_the_same_partition_number() -> None:
    single = {topic.short for topic in TOPICS if topic.partitions is not None}
    assert single == {TIERS, DEAD_LETTERS, ROWS_CAPACITY_MANAGER, ROWS_SHARD_MANAGER}
    assert all(BY_SHORT[short].partitions == 1 for short in single)
    assert all(topic.partitions is None for topic in TOPICS if topic.per_job)
    assert not BY_SHORT[OPERATOR].per_job


def test_a_component_names_its_rows_after_itself() -> None:
    made = rows_topic("state-syncer")
    assert (made.short, made.written_by, made.records) == (
        "rows.state-syncer.v1",
        "state-syncer",
        (),
    )
    assert rows_topic("job-service") == BY_SHORT[ROWS_JOB_SERVICE]
    assert rows_topic("shard-manager", tier_wide=True) == BY_SHORT[ROWS_SHARD_MANAGER]


def test_a_place_is_a_topic_and_a_partition() -> None:
    assert place(JOURNAL, 3) == "journal.v1/3"


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        BY_SHORT[JOURNAL].config["retention.ms"] = "1"  # type: ignore[index]  # that is the test


def test_under_another_prefix_the_names_alone_are_others() -> None:
    named = topics_under("staging")
    assert [one.name for one in named] == [f"staging.{one.short}" for one in TOPICS]
    assert [short_of(one.name) for one in named] == [one.short for one in TOPICS]
    assert [replace(one, name="") for one in named] == [replace(one, name="") for one in TOPICS]
    assert topics_under("turbine") == TOPICS
