"""How a tier's row follows the log: whose word counts, which is news, and what is under way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.shard_manager.decide import decide
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    DrainRequested,
    PlacementPlanned,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoad,
    ShardLoadsReported,
    TierDefined,
)
from projections.fleet import ADD, DROP, KILL, TierFleet
from projections.fleet_folds import FOLDED_KINDS, MASS_FAILURE, apply
from projections.plans import Planned, write_moves
from tests.unit.shard_manager.fleets import WISHES, Tale, placed

NOW_MS = 10_000_000


def report(
    generation: int, number: int, cores: float, container: str = "c0", epoch: int = 1
) -> ShardLoadsReported:
    return ShardLoadsReported(
        container,
        epoch,
        number,
        600_000,
        (ShardLoad("default", 0, generation, 1, cpu_cores=cores),),
    )


def cores(tale: Tale) -> int | None:
    load = tale.fleet.loads.get(0)
    return None if load is None else load.amounts[0]


def one() -> Tale:
    """Shard 0 runs at c0."""
    tale = Tale(1)
    tale.start("c0")
    tale.settle()
    return tale


# --- loads


@pytest.mark.parametrize(
    ("generation", "number", "cores_then"),
    [(2, 6, 2000), (3, 1, 2000), (2, 5, 1000), (2, 4, 1000), (1, 9, 1000)],
)
def test_the_newest_generations_newest_report_counts(
    generation: int, number: int, cores_then: int
) -> None:
    tale = one()
    tale.life(report(2, 5, 1.0))
    tale.life(report(generation, number, 2.0))
    assert cores(tale) == cores_then


def test_what_a_life_says_that_is_over_or_was_never_begun_does_not_count() -> None:
    tale = one()
    tale.life(report(1, 1, 1.0, "ghost"))
    tale.life(report(1, 1, 1.0, epoch=2))
    assert cores(tale) is None
    tale.life(report(1, 1, 1.0))
    assert cores(tale) == 1000
    tale.start("c0")
    tale.life(report(1, 2, 2.0, epoch=1))
    assert cores(tale) == 1000
    tale.life(ContainerFailedOver("c0", 2, "d", "e", "", tale.fleet.lives["c0"].beat))
    assert not tale.fleet.lives["c0"].lives
    tale.life(report(2, 3, 3.0, epoch=2))
    assert cores(tale) == 1000


def test_a_report_of_several_tiers_counts_for_each_its_own() -> None:
    tale = one()
    body = report(1, 1, 1.0)
    other = replace(body, loads=tuple(replace(load, tier="other") for load in body.loads))
    tale.life(other)
    assert cores(tale) is None


# --- lives and words about shards


def test_a_word_about_a_shard_counts_under_its_generation() -> None:
    tale = Tale(1)
    tale.start("c0")
    tale.speak()
    tale.life(ShardAdded("c0", 1, "other", 0, 1))
    tale.life(ShardAdded("c0", 1, "default", 0, 0))
    assert set(tale.fleet.open) == {0}
    tale.added("c0", 0)
    assert not tale.fleet.open
    tale.life(ShardDropped("c0", 1, "default", 0, 0))
    assert not tale.fleet.open
    assert not tale.fleet.given_up(0)
    tale.dropped("c0", 0)
    assert set(tale.fleet.open) == {0}
    assert tale.fleet.given_up(0)


def test_what_was_dropped_once_is_not_given_up_by_its_next_holder() -> None:
    tale = placed(2, 2)
    tale.ask("by-hand", write_moves([Planned(0, 1, tale.other(tale.holders()[0]))]))
    tale.settle()
    assert tale.fleet.told[0].dropped == 1
    assert tale.fleet.grants[0].generation == 2
    assert not tale.fleet.given_up(0)


def test_a_life_that_is_over_drops_nothing() -> None:
    tale = one()
    tale.life(ContainerFailedOver("c0", 1, "d", "e", "", tale.fleet.lives["c0"].beat))
    tale.dropped("c0", 0)
    assert not tale.fleet.given_up(0)


def test_what_was_held_is_looked_at_when_a_life_ends_and_when_another_begins() -> None:
    tale = one()
    tale.life(ContainerFailedOver("c0", 1, "d", "e", "", tale.fleet.lives["c0"].beat))
    assert set(tale.fleet.open) == {0}
    tale = one()
    tale.start("c0")
    assert set(tale.fleet.open) == {0}
    assert tale.fleet.given_up(0)


def test_a_life_that_was_failed_over_has_to_be_silent_before_its_shards_are_given_away() -> None:
    tale = one()
    tale.life(ContainerFailedOver("c0", 1, "d", "e", "", tale.fleet.lives["c0"].beat))
    assert not tale.fleet.given_up(0)
    tale.wait(61, decides=False)
    assert not tale.fleet.given_up(0)
    tale.wait(1, decides=False)
    assert tale.fleet.given_up(0)


# --- silence and news


def test_who_is_silent_is_known_with_the_tick_and_not_before() -> None:
    tale = placed(2, 2)
    tale.mute.add("c1")
    tale.wait(61, decides=False)
    assert set(tale.fleet.silent) == set()
    tale.wait(1, decides=False)
    assert set(tale.fleet.silent) == {"c1"}
    tale.beat("c1")
    assert set(tale.fleet.silent) == set()


def test_a_container_that_comes_again_after_its_silence_is_counted_as_silent_again() -> None:
    """The bound before which nobody is looked at holds for one that was heard in between."""
    tale = placed(2, 2)
    for _ in range(2):
        tale.mute.add("c1")
        tale.wait(70, decides=False)
        assert set(tale.fleet.silent) == {"c1"}
        tale.mute.clear()
        tale.wait(5, decides=False)
        assert set(tale.fleet.silent) == set()


def test_news_is_what_calls_for_another_plan() -> None:
    tale = placed(2, 2)

    def news() -> int:
        return tale.fleet.news

    before = news()
    tale.beat("c0")
    tale.tick()
    tale.life(ShardAdded("c0", 1, "default", 0, 1))
    tale.life(report(1, 1, 1.0))
    assert news() == before
    tale.start("c2")  # another life, and its first state
    assert news() == before + 2
    tale.beat("c2", "draining")
    assert news() == before + 3
    tale.drain("c1")
    assert news() == before + 4
    tale.undrain("c1")
    assert news() == before + 5
    tale.life(ContainerFailedOver("c0", 1, "d", "e", "", tale.fleet.lives["c0"].beat))
    assert news() == before + 6
    assert tale.fleet.news_ms == tale.now_ms


def test_news_that_was_told_earlier_and_is_read_later_makes_no_news_older() -> None:
    """Containers lie in other places than the tier's record, and brokers' clocks differ."""
    tale = placed(2, 2)
    tale.start("c2")
    newest_ms = tale.fleet.news_ms
    tale.now_ms -= 1_000
    tale.start("c3")
    assert tale.fleet.news_ms == newest_ms


def test_news_does_not_depend_on_when_the_tiers_record_is_read() -> None:
    """Heartbeats and the tier's record lie in different places, and neither waits."""

    def told(*, first: bool) -> TierFleet:
        tale = Tale(1, settings='{"time_per_mille":100}')
        if not first:
            tale.row = TierFleet("default")
        tale.start("c0")
        for _ in range(4):
            tale.now_ms += 1_500
            tale.tick()
        tale.beat("c0")
        if not first:
            tale.told(TierDefined("default", 1, ("local",), '{"time_per_mille":100}'))
        return tale.fleet

    one, other = told(first=True), told(first=False)
    assert (one.news, one.silent) == (other.news, other.silent)


# --- wishes


def test_a_wish_counts_once_and_the_last_one_holds() -> None:
    tale = placed(2, 2)
    body = DrainRequested(tale.next_id(), "c1", "ops", "rest")
    tale.read(WISHES, "c1", body)
    assert (tale.fleet.drains["c1"].author, tale.fleet.drains["c1"].reason) == ("ops", "rest")
    tale.undrain("c1")
    news = tale.fleet.news
    tale.read(WISHES, "c1", body)  # again: it was not acknowledged
    assert "c1" not in tale.fleet.drains
    assert tale.fleet.news == news
    assert tale.fleet.ingress["c1"].waiting == ()


def test_a_wish_that_came_too_late_is_void() -> None:
    tale = placed(2, 2)
    name = tale.next_id()
    tale.now_ms += 300_001
    tale.read(WISHES, "c1", DrainRequested(name, "c1", "ops"))
    assert "c1" not in tale.fleet.drains
    tale.read(WISHES, "c1", DrainRequested("no-id", "c1", "ops"))
    assert "c1" not in tale.fleet.drains


# --- decisions


def test_a_shard_goes_through_its_stages() -> None:
    tale = one()
    row, now_ms = tale.fleet, tale.now_ms
    row = apply(row, ShardDropRequested("default", 0, 1, "c0", 1, "p", "r", now_ms, "c9"), now_ms)
    assert (row.grants[0].stage, row.grants[0].to, set(row.open)) == (DROP, "c9", {0})
    row = apply(row, ShardForceKilled("default", 0, 1, "c0", 1, "late"), now_ms)
    assert (row.grants[0].stage, row.grants[0].to) == (KILL, "c9")
    assert row.grants[0].deadline_ms == now_ms + row.timing.kill_ms
    row = apply(row, ShardAddRequested("default", 0, 2, "c9", 1, "p", "r", now_ms), now_ms)
    assert (row.grants[0].stage, row.grants[0].to, row.grants[0].since_ms) == (ADD, "", now_ms)
    assert {name: set(held) for name, held in row.holdings.items()} == {"c0": set(), "c9": {0}}


def test_words_about_shards_that_were_never_given_change_nothing() -> None:
    tale = Tale(2)
    row = tale.fleet
    for body in (
        ShardDropRequested("default", 1, 1, "c0", 1, "p", "r"),
        ShardForceKilled("default", 1, 1, "c0", 1, "late"),
    ):
        assert apply(row, body, NOW_MS).grants == row.grants


def plan(**fields: object) -> PlacementPlanned:
    body = PlacementPlanned("default", "default#1", "orphans", 2, 2, 1, 0, "", "x")
    return replace(body, **fields)  # type: ignore[arg-type]  # of any field


def test_a_plan_in_parts_is_whole_with_its_last_one() -> None:
    first = plan(moves_json=write_moves([Planned(0, 0, "c0")]), parts=2)
    second = plan(moves_json=write_moves([Planned(1, 0, "c0")]), part=2, parts=2)
    row = apply(Tale(2).fleet, first, NOW_MS)
    assert row.course is not None
    assert not row.course.whole
    row = apply(row, second, NOW_MS)
    assert row.course is not None
    assert row.course.whole
    assert [move.shard for move in row.course.left()] == [0, 1]
    assert row.plans == 1


def test_a_part_of_another_plan_is_no_part_of_this_one() -> None:
    first = plan(moves_json=write_moves([Planned(0, 0, "c0")]), parts=2)
    late = plan(plan_id="default#0", moves_json=write_moves([Planned(1, 0, "c0")]), part=2, parts=2)
    row = apply(apply(Tale(2).fleet, first, NOW_MS), late, NOW_MS)
    assert row.course is not None
    assert [move.shard for move in row.course.moves] == [0]


def test_alerts_stand_until_they_are_cleared() -> None:
    row = apply(Tale(1).fleet, AlertRaised("default", "a", "critical", "c", "r"), NOW_MS)
    row = apply(row, AlertRaised("default", "b", "critical", "c", "r"), NOW_MS)
    row = apply(row, AlertCleared("default", "a", "x"), NOW_MS)
    assert set(row.alerts) == {"b"}
    assert apply(row, AlertCleared("default", "never", "x"), NOW_MS) == row


def test_a_held_plan_is_the_brake_until_its_alert_is_cleared() -> None:
    row = apply(Tale(1).fleet, plan(held=True, moves=0), NOW_MS)
    assert row.brake is not None
    assert not row.brake.released
    other = plan(plan_id="q", trigger="operator", moves=0, measures_json='{"confirms":"default#9"}')
    assert apply(row, other, NOW_MS).brake == row.brake
    word = replace(other, measures_json='{"confirms":"default#1"}')
    released = apply(row, word, NOW_MS)
    assert released.brake is not None
    assert released.brake.released
    assert apply(released, AlertCleared("default", MASS_FAILURE, "x"), NOW_MS).brake is None
    assert apply(released, AlertCleared("default", "other", "x"), NOW_MS).brake is not None


def test_a_request_to_fail_over_is_owed_until_it_is_read_back() -> None:
    tale = one()
    body = ContainerFailOverRequested("default", "c0", 1, 60_000, "silent")
    tale.told(body)
    (name,) = tale.fleet.requests
    tale.life(ContainerFailedOver("c0", 1, "another", "e", "", 0))
    assert set(tale.fleet.requests) == {name}
    tale.life(ContainerFailedOver("c0", 1, name, "e", "", None))  # void: it beat
    assert not tale.fleet.requests


# --- everything


def test_nothing_is_said_of_a_tier_that_is_not_defined() -> None:
    tale = Tale(2)
    tale.row = None
    tale.start("c0")
    assert list(decide(tale.fleet, tale.now_ms)) == []


def test_what_the_fold_does_not_know_changes_nothing() -> None:
    row = one().fleet
    assert apply(row, ContainerHeartbeat("c0", 1, 1, 1, "serving", 0, ""), NOW_MS) is row
    assert apply(row, ClockTicked(1), NOW_MS) is row
    assert apply(row, ContainerStarted("c0", 2, "default", "x", ()), NOW_MS) is row
    assert "ShardAddRequested" in FOLDED_KINDS


def test_a_container_of_another_tier_is_nobody_here() -> None:
    tale = placed(1, 2)
    tale.start("x0", tier="other")
    assert not tale.fleet.takes("x0")
    assert [life.name for life in tale.fleet.members()] == ["c0"]
    tale.mute.add("x0")
    tale.wait(70)
    assert set(tale.fleet.silent) == set()
    assert tale.settle() == []
