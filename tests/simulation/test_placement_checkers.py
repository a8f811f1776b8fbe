"""The checkers of placement are checked: histories to refuse, and some to accept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from components.runtime.core.step import ROOT
from events.generated.records import (
    AlertCleared,
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    DrainRequested,
    PlacementApplyRequested,
    PlacementPlanned,
    PlacementRejected,
    ShardAddRequested,
    ShardDropRequested,
    TierDefined,
    UndrainRequested,
)
from events.wire.codec import Read, Record, encode
from simulation.checkers.history import History
from simulation.checkers.placement import (
    check_answers,
    check_brake,
    check_budgets,
    check_drains,
    check_placement,
    check_regions,
)

LIVES, WISHES, SHARED = "containers.v1/0", "operator.v1/0", "tiers.v1/0"
Check = Callable[[History], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the story: where it lies, what its author had read of other places, and its id."""

    at: str
    body: Body
    at_ms: int = 0
    knows: int = -1  # of the place that matters; -1: all that is told before it
    name: str = ""
    parent: str = ""  # another one than the last: void


def history(story: Sequence[Told]) -> History:
    log: dict[str, list[Read]] = {LIVES: [], WISHES: [], SHARED: []}
    parent, now_ms = ROOT, 0
    for number, one in enumerate(story):
        decides = one.at == SHARED
        now_ms = max(now_ms, one.at_ms)
        ends = {at: len(log[at]) for at in (LIVES, WISHES)}
        knows = {at: end if one.knows < 0 else min(one.knows, end) for at, end in ends.items()}
        name = one.name or f"r{number}"
        record = Record(
            "default/placement" if decides else getattr(one.body, "container", ""),
            name,
            type(one.body).__name__,
            encode(one.body),
            one.body,
            parent=(one.parent or parent) if decides else "",
            evidence=knows if decides else {},
        )
        parent = name if decides and not one.parent else parent
        place = log[one.at]
        place.append(Read(one.at, one.at.partition("/")[0], len(place), now_ms, record))
    return History(log, SHARED)


def found(check: Check, *story: Told) -> list[str]:
    return list(check(history(story)))


def tier(shards: int = 10, *regions: str) -> Told:
    return Told(SHARED, TierDefined("default", shards, regions))


def start(name: str, region: str = "north", at_ms: int = 0) -> Told:
    return Told(LIVES, ContainerStarted(name, 1, "default", region, ()), at_ms)


def add(shard: int, name: str, knows: int = -1, parent: str = "") -> Told:
    body = ShardAddRequested("default", shard, 1, name, 1, "p", "r")
    return Told(SHARED, body, knows=knows, parent=parent)


def drop(shard: int, plan_id: str = "p") -> Told:
    return Told(SHARED, ShardDropRequested("default", shard, 1, "c1", 1, plan_id, "r"))


def plan(trigger: str, plan_id: str = "p", measures: str = "{}") -> Told:
    body = PlacementPlanned(
        "default", plan_id, trigger, 0, 10, 3, 0, "", "x", measures_json=measures
    )
    return Told(SHARED, body)


def drained(name: str, wish: str = "w1") -> Told:
    return Told(WISHES, DrainRequested("1.a", name, "ops"), name=wish)


def undrained(name: str, wish: str = "w2") -> Told:
    return Told(WISHES, UndrainRequested("1.b", name, "ops"), name=wish)


# --- regions


def test_shards_in_their_regions_are_fine() -> None:
    """Two shards a set of regions: 0, 1 north; 2, 3 south; 4, 5 either."""
    story = [tier(2, "north", "south"), start("c1"), start("c2", "south")]
    fine = [(0, "c1"), (1, "c1"), (2, "c2"), (3, "c2"), (4, "c1"), (5, "c2")]
    assert found(check_regions, *story, *(add(shard, name) for shard, name in fine)) == []
    assert found(check_regions, tier(2), start("c1"), add(0, "c1")) == []


@pytest.mark.parametrize(("shard", "name"), [(0, "c2"), (1, "c2"), (2, "c1"), (3, "c1")])
def test_a_shard_that_is_sent_to_another_region_is_seen(shard: int, name: str) -> None:
    story = [tier(2, "north", "south"), start("c1"), start("c2", "south"), add(shard, name)]
    (said,) = found(check_regions, *story)
    assert said.startswith(f"shard {shard} is sent to ")
    assert said.endswith(" at 1")
    assert found(check_placement, *story) == [said]


def test_a_container_of_a_region_that_the_tier_has_not_may_have_none() -> None:
    story = [tier(2, "north", "south"), start("c9", "east")]
    for shard in (0, 2, 4):
        assert len(found(check_regions, *story, add(shard, "c9"))) == 1


def test_one_region_is_a_region_as_well() -> None:
    assert len(found(check_regions, tier(2, "north"), start("c2", "south"), add(0, "c2"))) == 1
    assert found(check_regions, tier(2, "north"), start("c1"), add(0, "c1")) == []


def test_a_container_that_never_started_is_nowhere() -> None:
    assert len(found(check_regions, tier(2, "north", "south"), add(0, "ghost"))) == 1


def test_what_does_not_stand_sends_nothing() -> None:
    story = [tier(2, "north", "south"), start("c2", "south"), add(0, "c2", parent="forged")]
    assert found(check_regions, *story) == []


# --- drains


@pytest.mark.parametrize(
    "story",
    [
        [add(0, "c1"), drained("c1")],
        [drained("c1"), add(0, "c2")],
        [drained("c1"), undrained("c1"), add(0, "c1")],
        [drained("c1"), add(0, "c1", knows=0)],  # its author had not read of it
        [drained("c1"), undrained("c1"), drained("c1"), add(0, "c1")],  # a copy of the first wish
    ],
)
def test_what_an_author_could_not_know_or_is_over_is_no_drain(story: list[Told]) -> None:
    assert found(check_drains, tier(), *story) == []


@pytest.mark.parametrize(
    "story",
    [
        [drained("c1"), add(0, "c1")],
        [drained("c1"), undrained("c2"), add(0, "c1")],
        [drained("c1"), undrained("c1"), drained("c1", "w3"), add(0, "c1")],
        [drained("c1"), undrained("c1"), add(0, "c1", knows=1)],
        [undrained("c1"), drained("c1"), undrained("c1"), add(0, "c1")],  # a copy of the first wish
    ],
)
def test_what_is_given_to_one_that_is_to_be_empty_is_seen(story: list[Told]) -> None:
    said = "shard 0 is sent to c1, which is to be empty"
    assert found(check_drains, tier(), *story) == [said]
    assert found(check_placement, tier(), start("c1"), start("c2"), *story) == [said]


# --- budgets


@pytest.mark.parametrize(
    "story",
    [
        [tier(20), plan("news"), drop(0), drop(1)],
        [tier(5), plan("loads"), drop(0)],  # one at least
        [tier(20), plan("operator"), *(drop(shard) for shard in range(9))],
        [tier(20), plan("news"), drop(0), drop(1), plan("news", "q"), drop(2, "q"), drop(3, "q")],
        [tier(10, "north", "south"), plan("news"), *(drop(shard) for shard in range(3))],
    ],
)
def test_a_tenth_or_one_or_as_many_as_a_person_asks_for_may_move(story: list[Told]) -> None:
    assert found(check_budgets, *story) == []


@pytest.mark.parametrize(
    ("story", "said"),
    [
        ([tier(20), plan("news"), drop(0), drop(1), drop(2)], "plan p (news) moves 3 of 20 shards"),
        ([tier(5), plan("loads"), drop(0), drop(1)], "plan p (loads) moves 2 of 5 shards"),
        ([tier(5), plan("orphans"), drop(0), drop(1)], "plan p (orphans) moves 2 of 5 shards"),
        (
            [tier(10, "north", "south"), plan("news"), *(drop(shard) for shard in range(4))],
            "plan p (news) moves 4 of 30 shards",
        ),
    ],
)
def test_a_plan_that_moves_more_is_seen(story: list[Told], said: str) -> None:
    assert found(check_budgets, *story) == [said]
    assert found(check_placement, *story) == [said]


def test_a_drop_that_no_plan_calls_for_is_seen() -> None:
    assert len(found(check_budgets, tier(20), drop(0, "none"))) == 1


# --- the brake

TEN = tuple(f"c{one}" for one in range(10))


def beats(names: Sequence[str], at_ms: int) -> list[Told]:
    return [
        Told(LIVES, ContainerHeartbeat(name, 1, 1, at_ms, "serving", 0, ""), at_ms)
        for name in names
    ]


def ticks(begin_s: int, end_s: int, names: Sequence[str] = ()) -> list[Told]:
    """One a second; those named beat every five of them."""
    out: list[Told] = []
    for second in range(begin_s, end_s):
        out.append(Told(LIVES, ClockTicked(second), 1_000 * second))
        out += beats(names, 1_000 * second) if second % 5 == 0 else []
    return out


def quiet(count: int, of: int = 10) -> list[Told]:
    """So many were not heard for 63 s, and the others were."""
    names = TEN[:of]
    return [
        tier(),
        *(start(name, at_ms=1_000) for name in names),
        *ticks(1, 65, names[count:]),
    ]


def ask(name: str, explanation: str = "nothing was heard of it for 63 s") -> Told:
    return Told(SHARED, ContainerFailOverRequested("default", name, 1, 63_000, explanation), 65_000)


def over(name: str, offset: int | None = None) -> Told:
    """It never beat: a fail-over that names a last heartbeat is void."""
    return Told(LIVES, ContainerFailedOver(name, 1, "d", "e", LIVES, offset))


CALM = Told(SHARED, AlertCleared("default", "mass-failure", "heard"), 64_000)
GONE = '{"gone":["c0","c1","c2","c3"]}'
HELD = replace(plan("mass-failure", measures=GONE), at_ms=64_000)
HELD = replace(HELD, body=replace(HELD.body, held=True))
WORD = replace(plan("operator", measures='{"confirms":"p"}'), at_ms=64_500)


@pytest.mark.parametrize(
    "story",
    [
        [*quiet(3), ask("c0"), ask("c1"), ask("c2")],
        [*quiet(2, of=3), ask("c0"), ask("c1")],  # two of three, and two are always allowed
        [*quiet(4), HELD, WORD, ask("c0"), ask("c3")],
        [*quiet(4), ask("c0", "shard 3 was not started in time")],
        [*quiet(4), HELD],
        [tier(), *(start(name) for name in TEN), *ticks(1, 6), *ticks(600, 603), ask("c0")],
        # Of four that were silent two are over already.
        [*quiet(4), over("c2"), over("c3"), ask("c0")],
    ],
)
def test_few_or_with_a_persons_word_may_be_given_up(story: list[Told]) -> None:
    assert found(check_brake, *story) == []


@pytest.mark.parametrize(
    "story",
    [
        [*quiet(4), ask("c0")],
        [*quiet(3, of=3), ask("c0")],
        [*quiet(4), HELD, ask("c0")],
        [*quiet(4), HELD, replace(WORD, body=plan("operator").body), ask("c0")],
        [*quiet(4), HELD, replace(WORD, body=plan("news").body), ask("c0")],
        [*quiet(4), HELD, WORD, CALM, ask("c0")],  # the word was for another time
        [*quiet(4), HELD, WORD, HELD, ask("c0")],
        # A fail-over that a heartbeat made void ends no life: they are silent still.
        [*quiet(4), over("c2", 7), over("c3", 7), ask("c0")],
    ],
)
def test_a_mass_that_is_given_up_without_one_is_seen(story: list[Told]) -> None:
    (said,) = found(check_brake, *story)
    assert said.startswith("c0 is failed over at ")
    assert " are silent" in said


def test_those_that_are_heard_in_time_are_not_silent() -> None:
    story = [*quiet(4), *beats(("c3",), 64_500), ask("c0")]
    assert found(check_brake, *story) == []
    late = [*quiet(4), replace(ask("c0"), knows=len(quiet(4)) - 1), *beats(("c3",), 64_500)]
    assert len(found(check_brake, *late)) == 1


# --- answers

KNOWN = 3


def wished(name: str, at_ms: int = 1_000) -> Told:
    body = PlacementApplyRequested(name, "default", "p", "ops")
    return Told(WISHES, body, at_ms, name=name)


def planned(name: str, part: int = 1) -> Told:
    measures = f'{{"change_id":"{name}"}}' if part == 1 else "{}"
    body = PlacementPlanned(
        "default", name, "operator", 0, 10, 3, 0, "", "x", False, measures, "{}", part, 2
    )
    return Told(SHARED, body)


def no(name: str) -> Told:
    return Told(SHARED, PlacementRejected("default", name, "p", "invalid", "x"))


def answers(history: History) -> Iterator[str]:
    return check_answers(history, KNOWN)


@pytest.mark.parametrize(
    "story",
    [
        [wished("9000.a"), no("9000.a")],
        [wished("9000.a"), planned("9000.a"), planned("9000.a", 2)],
        [wished("9000.a"), wished("9000.a"), no("9000.a")],
        [wished("500.a")],  # it came too late
        [wished("none")],
        [wished("9999999.a")],  # valid for longer than may be
        [drained("c1", "9000.a"), undrained("c1", "9000.b")],
        [*(wished(f"9000.{one}") for one in range(4)), *(no(f"9000.{one}") for one in range(3))],
    ],
)
def test_who_is_owed_an_answer_has_one(story: list[Told]) -> None:
    assert found(answers, tier(), *story) == []


@pytest.mark.parametrize(
    ("story", "count"),
    [
        ([wished("9000.a")], 0),
        ([wished("9000.a"), no("9000.a"), no("9000.a")], 2),
        ([wished("9000.a"), planned("9000.a"), no("9000.a")], 2),
        ([no("9000.a")], 1),
        ([wished("500.a"), no("500.a")], 1),
        ([wished("9000.a"), replace(no("9000.a"), parent="forged")], 0),
    ],
)
def test_one_without_or_with_two_or_that_is_owed_none_is_seen(
    story: list[Told], count: int
) -> None:
    (said,) = found(answers, tier(), *story)
    assert said.endswith(f" has {count} answers")


# --- all of them


def test_without_a_tier_there_is_nothing_to_check() -> None:
    assert found(check_placement, start("c1"), drop(0, "none")) == []


def test_a_good_story_is_good() -> None:
    story = [
        tier(10, "north"),
        *(start(name, at_ms=1_000) for name in TEN),
        plan("orphans"),
        *(add(shard, TEN[shard]) for shard in range(10)),
        drained("c2"),
        plan("news", "q"),
        drop(2, "q"),
        add(2, "c3"),
        *ticks(1, 65, TEN[3:]),
        ask("c0"),
        undrained("c2"),
        add(0, "c2"),
    ]
    assert found(check_placement, *story) == []
