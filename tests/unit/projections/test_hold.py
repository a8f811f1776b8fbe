"""What a container makes of the log: its lease, and which shards it is to run."""

from __future__ import annotations

from events.generated.records import (
    Body,
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
from events.wire.codec import Read, Record, encode
from projections.hold import ContainerHold, DesiredShard, fold
from projections.timing import Timing

LEASE_MS = Timing().lease_ms


class Life:
    """One container's second life, and what it has read so far."""

    def __init__(self) -> None:
        self.row = ContainerHold("c1", 2)
        self.offset = 0
        self.hears(ContainerStarted("c1", 2, "default", "local", ()))

    def hears(self, body: Body) -> int:
        """Reads it; the offset at which it lies."""
        record = Record("c1", "", type(body).__name__, encode(body), body)
        self.row = fold(self.row, Read("containers.v1/0", "containers.v1", self.offset, 5, record))
        self.offset += 1
        return self.offset - 1

    def beats(self, sent_ms: int, epoch: int = 2, name: str = "c1") -> int:
        return self.hears(ContainerHeartbeat(name, epoch, 1, sent_ms, "serving", 0, ""))

    def asked(self, generation: int, container: str = "c1", epoch: int = 2) -> None:
        self.hears(ShardAddRequested("default", 4, generation, container, epoch, "p", "r"))


def test_it_holds_from_the_sending_of_a_heartbeat_that_it_read_back() -> None:
    life = Life()
    assert not life.row.holds(0)
    life.beats(1_000)
    assert life.row.holds(1_000 + LEASE_MS - 1)
    assert not life.row.holds(1_000 + LEASE_MS)


def test_its_clock_may_begin_below_zero() -> None:
    life = Life()
    life.beats(-3_600_000)
    assert not life.row.holds(-3_600_000 + LEASE_MS)
    assert life.row.holds(-3_600_000)


def test_a_late_copy_of_a_heartbeat_does_not_shorten_the_lease() -> None:
    life = Life()
    life.beats(9_000)
    life.beats(1_000)
    assert life.row.lease_ms == 9_000 + LEASE_MS


def test_heartbeats_of_others_and_of_other_lives_renew_nothing() -> None:
    life = Life()
    life.beats(1_000, epoch=1)
    life.beats(1_000, name="c2")
    assert life.row.lease_ms is None


def test_its_own_fail_over_ends_it_for_good() -> None:
    life = Life()
    offset = life.beats(1_000)
    life.hears(ContainerFailedOver("c1", 2, "d", "silent", "containers.v1/0", offset))
    life.beats(2_000)
    assert life.row.over
    assert not life.row.holds(2_000)


def test_a_fail_over_that_is_void_changes_nothing() -> None:
    life = Life()
    offset = life.beats(1_000)
    life.beats(2_000)
    life.hears(ContainerFailedOver("c1", 2, "d", "silent", "containers.v1/0", offset))
    assert life.row.holds(2_000)


def test_another_life_of_it_ends_this_one() -> None:
    life = Life()
    life.beats(1_000)
    life.hears(ContainerStarted("c1", 3, "default", "local", ()))
    assert life.row.over


def test_it_runs_what_is_given_to_this_life_of_it() -> None:
    life = Life()
    life.asked(7, container="c2")
    life.asked(8, epoch=1)
    assert dict(life.row.wishes) == {}
    life.asked(9)
    assert dict(life.row.wishes) == {4: DesiredShard(9, True)}


def test_it_stops_what_it_is_asked_to_drop_or_to_kill() -> None:
    life = Life()
    life.asked(9)
    life.hears(ShardDropRequested("default", 4, 9, "c1", 2, "p", "r"))
    assert dict(life.row.wishes) == {4: DesiredShard(9, False)}
    life.hears(ShardForceKilled("default", 4, 9, "c1", 2, "late"))
    assert dict(life.row.wishes) == {4: DesiredShard(9, False, True)}


def test_it_stops_at_once_what_was_given_to_another_and_says_so_of_its_own_generation() -> None:
    life = Life()
    life.asked(9)
    life.asked(10, container="c2", epoch=1)
    assert dict(life.row.wishes) == {4: DesiredShard(9, False, True, passed=True)}


def test_the_tiers_record_says_how_long_a_lease_lasts() -> None:
    life = Life()
    life.hears(TierDefined("default", 8, (), '{"time_per_mille":100}'))
    life.beats(1_000)
    assert life.row.lease_ms == 1_000 + LEASE_MS // 10


def test_it_leaves_once_another_tier_has_it_and_nothing_is_wanted_of_it() -> None:
    life = Life()
    assert not life.row.leaves("default")
    life.asked(1)
    life.hears(ContainerReassigned("c1", "rich", 3, "d", "why"))
    assert not life.row.leaves("default")
    assert life.row.tenancy == (3, "rich", "d", "why"), "as it is to be told again"
    life.hears(ShardDropRequested("default", 4, 1, "c1", 2, "p", "r"))
    assert life.row.leaves("default")
    assert not life.row.leaves("rich")


def test_of_two_words_about_its_tier_the_greater_number_counts() -> None:
    life = Life()
    life.hears(ContainerReassigned("c1", "rich", 3, "d", "why"))
    life.hears(ContainerReassigned("c1", "default", 4, "d", "back"))
    for number in (3, 4):
        life.hears(ContainerReassigned("c1", "late", number, "d", "a copy"))
    assert not life.row.leaves("default")
