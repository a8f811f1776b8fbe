"""The checkers of the fleet are checked: histories that they must refuse, and one they must not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from components.runtime.core.step import ROOT
from events.generated.records import (
    Body,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    TierDefined,
)
from events.wire.codec import Read, Record, encode
from simulation.checkers.fleet import check_fleet
from simulation.checkers.history import History
from simulation.sink import ShardRun, SinkAnswer

LIVES, SHARED = "containers.v1/0", "tiers.v1/0"


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the story: where it lies, when, and what its author had read of the other place."""

    at: str
    at_ms: int
    body: Body
    knows: int = 0


def add(generation: int, container: str, knows: int, at_ms: int) -> Told:
    body = ShardAddRequested("default", 0, generation, container, 1, "p", "r")
    return Told(SHARED, at_ms, body, knows)


def life(at_ms: int, body: Body) -> Told:
    return Told(LIVES, at_ms, body)


GONE = ContainerFailedOver("c2", 1, "d", "silent", LIVES, 3)
DROPPED = ShardDropped("c1", 1, "default", 0, 1)
SILENT = ContainerFailOverRequested("default", "c2", 1, 60_000, "nothing was heard", LIVES, 3)
GOOD: tuple[Told, ...] = (
    Told(SHARED, 0, TierDefined("default", 1)),
    life(1_000, ContainerStarted("c1", 1, "default", "local", ())),
    life(1_000, ContainerStarted("c2", 1, "default", "local", ())),
    add(1, "c1", 2, 2_000),
    life(3_000, ShardAdded("c1", 1, "default", 0, 1)),
    life(4_000, ContainerHeartbeat("c2", 1, 1, 0, "serving", 0, "")),
    Told(SHARED, 5_000, ShardDropRequested("default", 0, 1, "c1", 1, "p", "r"), 4),
    life(6_000, DROPPED),
    add(2, "c2", 5, 7_000),
    Told(SHARED, 70_000, SILENT, 5),
    life(71_000, GONE),
    add(3, "c1", 6, 72_000),
)
RUNS = (
    ShardRun(0, 1, "c1", 1, 2_500, 6_000),
    ShardRun(0, 2, "c2", 1, 7_500, None, [(44_000, None)]),
    ShardRun(0, 3, "c1", 1, 73_000),
)
EFFECTS = (
    SinkAnswer(3_000, 0, 1, "c1", 1, True),
    SinkAnswer(8_000, 0, 2, "c2", 1, True),
    SinkAnswer(9_000, 0, 1, "c1", 1, False),
    SinkAnswer(74_000, 0, 3, "c1", 1, True),
)


def found(
    story: Sequence[Told] = GOOD,
    runs: Sequence[ShardRun] = RUNS,
    effects: Sequence[SinkAnswer] = EFFECTS,
) -> list[str]:
    log: dict[str, list[Read]] = {LIVES: [], SHARED: []}
    parent = ROOT
    for number, one in enumerate(story):
        decides = one.at == SHARED
        record = Record(
            "default/placement" if decides else getattr(one.body, "container", ""),
            f"r{number}",
            type(one.body).__name__,
            encode(one.body),
            one.body,
            parent=parent if decides else "",
            evidence={LIVES: one.knows} if one.knows else {},
        )
        parent = record.id if decides else parent
        place = log[one.at]
        place.append(Read(one.at, one.at.partition("/")[0], len(place), one.at_ms, record))
    return list(check_fleet(History(log, SHARED, instances=runs, accepted=effects)))


def changed(old: Body, **fields: object) -> tuple[Told, ...]:
    return tuple(
        replace(one, body=replace(old, **fields)) if one.body is old else one  # type: ignore[arg-type]  # of any record
        for one in GOOD
    )


def without(body: Body) -> tuple[Told, ...]:
    """With a word about nothing in its place, so that all offsets stay."""
    idle = ContainerHeartbeat("c1", 1, 1, 0, "serving", 0, "")
    return tuple(replace(one, body=idle) if one.body is body else one for one in GOOD)


def test_a_good_story_is_good() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        (without(DROPPED), "c1.1 has it, by its evidence"),
        (changed(DROPPED, generation=0), "c1.1 has it, by its evidence"),
        (changed(DROPPED, epoch=2), "c1.1 has it, by its evidence"),
        (changed(DROPPED, container="c2"), "c1.1 has it, by its evidence"),
        (without(GONE), "c2.1 has it, by its evidence"),
        (changed(GONE, last_heartbeat_offset=2), "c2.1 has it, by its evidence"),
        (changed(GONE, epoch=2), "c2.1 has it, by its evidence"),
        ((*GOOD[:-1], add(3, "c1", 4, 72_000)), "c2.1 has it, by its evidence"),
        ((*GOOD[:-1], add(2, "c1", 6, 72_000)), "goes from 2 to 2"),
        ((*GOOD[:-1], add(5, "c1", 6, 72_000)), "goes from 2 to 5"),
        ((*GOOD, life(73_000, GONE), add(4, "c2", 7, 74_000)), "c1.1 has it, by its evidence"),
    ],
)
def test_a_shard_is_given_away_by_evidence_alone(story: Sequence[Told], sentence: str) -> None:
    assert any(sentence in said for said in found(story)), found(story)


@pytest.mark.parametrize(
    "runs",
    [
        (replace(RUNS[0], end_ms=8_000), *RUNS[1:]),
        (RUNS[0], replace(RUNS[1], start_ms=5_900), RUNS[2]),
        (*RUNS[:1], replace(RUNS[1], asleep=[(74_000, None)]), RUNS[2]),
        (*RUNS[:1], replace(RUNS[1], asleep=[(44_000, 80_000)], end_ms=81_000), RUNS[2]),
        (*RUNS[:2], RUNS[2], ShardRun(0, 3, "c1", 1, 75_000, 76_000)),
    ],
)
def test_two_that_are_awake_together_are_seen(runs: Sequence[ShardRun]) -> None:
    assert any("are awake together for" in said for said in found(runs=runs))


@pytest.mark.parametrize(
    ("effects", "sentence"),
    [
        ((*EFFECTS[:2], replace(EFFECTS[2], taken=True), EFFECTS[3]), "was taken after 2"),
        ((*EFFECTS, replace(EFFECTS[3], container="c2")), "the generation is another's"),
        ((*EFFECTS, replace(EFFECTS[3], epoch=2)), "the generation is another's"),
    ],
)
def test_a_stale_effect_that_was_taken_is_seen(
    effects: Sequence[SinkAnswer], sentence: str
) -> None:
    assert any(sentence in said for said in found(effects=effects))


@pytest.mark.parametrize("runs", [RUNS[:2], (*RUNS[:2], replace(RUNS[2], generation=2))])
def test_a_shard_that_runs_nowhere_or_as_an_older_one_is_missed(runs: Sequence[ShardRun]) -> None:
    assert any("and 3 is meant" in said for said in found(runs=runs))


def test_a_container_that_was_heard_is_not_failed_over() -> None:
    early = tuple(replace(one, at_ms=60_000) if one.body is SILENT else one for one in GOOD)
    assert found(early) == ["c2 was heard 56000 ms before 4"]
