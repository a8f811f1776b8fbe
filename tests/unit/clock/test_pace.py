"""Partitions in which something goes on are ticked each second, the others now and then."""

from __future__ import annotations

import pytest

from components.clock.core.pace import (
    ALWAYS,
    BRISK,
    BRISK_S,
    BUSY_S,
    EASY_S,
    QUIET_S,
    TICKED,
    WATCHED,
    Spot,
    TickPace,
)
from events.topics import CHANGES_ONCALL, CLOCK, CONTAINERS, DEAD_LETTERS, JOURNAL, LOADS, OUTCOMES

PARTITIONS = 4
BEGIN = 1_000


class Fleet:
    """A clock, and how far the places are that it watches."""

    def __init__(self) -> None:
        self.second = BEGIN
        self.pace = TickPace(PARTITIONS, BEGIN)
        self.ends = {(topic, one): 7 for topic in WATCHED for one in range(PARTITIONS)}

    def turn(self, *come: Spot) -> set[Spot]:
        """A second, before which that has come; what is ticked."""
        self.second += 1
        for spot in come:
            self.ends[spot] += 1
        self.pace.look(self.ends, self.second)
        due = set(self.pace.due(self.second))
        for spot in due & self.ends.keys():  # our own ticks lie there from now on
            self.ends[spot] += 1
        return due

    def pass_by(self, seconds: int) -> dict[Spot, int]:
        """How often each partition is ticked in so many seconds in which nothing comes."""
        ticked = dict.fromkeys(ALL, 0)
        for _ in range(seconds):
            for spot in self.turn():
                ticked[spot] += 1
        return ticked


ALL = {(topic, one) for topic in TICKED for one in range(PARTITIONS)}


@pytest.fixture
def fleet() -> Fleet:
    """One in which nothing has happened for long."""
    fleet = Fleet()
    fleet.pass_by(BUSY_S)
    return fleet


def test_a_clock_that_knows_nothing_yet_ticks_everywhere() -> None:
    fleet = Fleet()
    assert set(fleet.pass_by(BRISK_S - 1).values()) == {BRISK_S - 1}
    rest = fleet.pass_by(BUSY_S - BRISK_S)
    assert {rest[CLOCK, one] for one in range(PARTITIONS)} == {BUSY_S - BRISK_S}
    assert not fleet.turn() & {(CONTAINERS, one) for one in range(PARTITIONS)}


def test_where_nothing_goes_on_a_tick_comes_now_and_then(fleet: Fleet) -> None:
    ticked = fleet.pass_by(10 * QUIET_S)
    assert ticked.pop(ALWAYS) == 10 * QUIET_S / EASY_S
    assert {ticked[CLOCK, one] for one in range(1, PARTITIONS)} == {10}
    assert {ticked[CONTAINERS, one] for one in range(PARTITIONS)} == {0}, "nobody lives there"


@pytest.mark.parametrize("topic", sorted(set(WATCHED) - {CONTAINERS, LOADS}))
def test_after_a_word_its_partition_is_ticked_each_second(fleet: Fleet, topic: str) -> None:
    assert (CLOCK, 2) in fleet.turn((topic, 2))
    ticked = fleet.pass_by(BUSY_S - 1)
    assert ticked[CLOCK, 2] == BUSY_S - 1
    assert (ticked[CLOCK, 3], ticked[CONTAINERS, 2]) == (BUSY_S // QUIET_S, 0)
    assert sum((CLOCK, 2) in fleet.turn() for _ in range(QUIET_S)) == 1


def test_where_a_container_says_something_its_own_partition_is_ticked(fleet: Fleet) -> None:
    fleet.turn((CONTAINERS, 2))
    ticked = fleet.pass_by(BUSY_S - 1)
    assert abs(ticked[CONTAINERS, 2] - BUSY_S / EASY_S) < 1, "the ticks of our own are no word"
    assert ticked[CLOCK, 2] < BUSY_S / 2
    assert not any((CONTAINERS, 2) in fleet.turn() for _ in range(QUIET_S))


def test_where_much_is_said_each_second_counts(fleet: Fleet) -> None:
    assert {(CONTAINERS, 2), ALWAYS} <= fleet.turn(*[(CONTAINERS, 2)] * BRISK)
    ticked = fleet.pass_by(BRISK_S - 1)
    assert ticked[CONTAINERS, 2] == ticked[ALWAYS] == BRISK_S - 1
    ticked = fleet.pass_by(10 * EASY_S)
    assert ticked[CONTAINERS, 2] == ticked[ALWAYS] == 10


def test_a_heartbeat_beside_a_tick_of_ours_is_seen(fleet: Fleet) -> None:
    fleet.turn((CONTAINERS, 2))
    for _ in range(3):
        fleet.pass_by(BUSY_S - 1)
        fleet.turn((CONTAINERS, 2))
        assert (CONTAINERS, 2) in fleet.turn() | fleet.turn()


def test_a_load_is_worth_one_tick(fleet: Fleet) -> None:
    fleet.second += QUIET_S - fleet.second % QUIET_S  # partition 2 has its next one later
    assert (CLOCK, 2) in fleet.turn((LOADS, 2))
    assert (CLOCK, 2) not in fleet.turn()


def test_a_clock_that_cannot_ask_ticks_everywhere(fleet: Fleet) -> None:
    fleet.pace.lose(fleet.second)
    assert fleet.turn() == ALL


def test_what_nobody_waits_for_is_not_watched() -> None:
    assert {CHANGES_ONCALL, JOURNAL, LOADS, CONTAINERS} < set(WATCHED)
    assert {OUTCOMES, DEAD_LETTERS, CLOCK}.isdisjoint(WATCHED)
