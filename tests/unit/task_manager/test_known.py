"""What a container knows, in whichever order it comes to know it."""

from __future__ import annotations

from dataclasses import replace

from components.task_manager.core.known import ContainerKnowledge
from components.task_manager.core.periods import Periods
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    ContainerStarted,
    ShardAddRequested,
    TierDefined,
)
from events.wire.codec import Read, Record, encode
from projections.hold import DesiredShard
from tests.unit.task_manager.examples import JOB, published

TENTH = '{"time_per_mille": 100}'


def read(key: str, body: Body, at: str = "journal.v1/0") -> Read:
    record = Record(key, "id", type(body).__name__, encode(body), body)
    return Read(at, at.partition("/")[0], 1, 5, record)


def defined(known: ContainerKnowledge, settings: str = TENTH) -> None:
    body = TierDefined("default", 1, ("local",), settings)
    known.learn(read("default/placement", body, "tiers.v1/0"), {})


def beat(known: ContainerKnowledge, sent_ms: int, name: str = "c1") -> None:
    body = ContainerHeartbeat(name, 1, 1, sent_ms, "serving", 0, "")
    known.live(read(name, body, "containers.v1/0"))


def begun() -> ContainerKnowledge:
    known = ContainerKnowledge("c1", 1, "default")
    known.live(read("c1", ContainerStarted("c1", 1, "default", "local", ()), "containers.v1/0"))
    return known


def test_lists_that_come_before_the_tier_are_kept_for_it() -> None:
    known = begun()
    known.learn(read(JOB, published(2, 2)), {"journal.v1/0": 9})
    assert known.catalogue is None
    defined(known)
    assert known.catalogue is not None
    assert known.catalogue.entries(0).keys() == {f"{JOB}/0", f"{JOB}/1"}
    assert known.vector(JOB) == {"journal.v1/0": 9}
    assert known.vector("other") == {}


def test_a_tier_has_one_shape_and_one_scale() -> None:
    known = begun()
    assert known.periods == Periods()
    defined(known)
    first = known.catalogue
    defined(known, "{}")
    assert known.catalogue is first
    assert (known.scale, known.periods) == (100, Periods().scaled(100))


def test_what_was_renewed_before_the_tier_was_known_does_not_count() -> None:
    """It counted by the usual table, and this tier's manager may be sooner."""
    known = begun()
    beat(known, 1_000)
    assert known.hold.holds(1_001)
    defined(known)
    assert not known.hold.holds(1_001)
    beat(known, 2_000)
    assert known.hold.lease_ms == 2_000 + known.hold.timing.lease_ms == 6_000


def test_it_lives_by_its_own_heartbeats_and_its_own_shards() -> None:
    known = begun()
    beat(known, 1_000, "c2")
    assert known.hold.lease_ms is None
    for shard, name in ((1, "c1"), (2, "c2")):
        body = ShardAddRequested("default", shard, 4, name, 1, "p", "r")
        known.learn(read("default/placement", body, "tiers.v1/0"), {})
    assert dict(known.hold.wishes) == {1: DesiredShard(4, True)}


def test_a_list_counts_with_its_last_part() -> None:
    known = begun()
    defined(known)
    assert known.catalogue is not None
    whole = published(2, 2)
    first = replace(whole, parts=2, specs=whole.specs[:1])
    known.learn(read(JOB, first), {})
    assert known.catalogue.entries(0) == {}
    known.learn(read(JOB, replace(first, part=2, specs=whole.specs[1:])), {"journal.v1/0": 3})
    assert len(known.catalogue.entries(0)) == 2
    known.learn(read(JOB, published(3, 0)), {})
    assert (len(known.catalogue.entries(0)), len(known.catalogue.ghosts(0))) == (0, 2)
