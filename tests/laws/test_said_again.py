"""Nothing that life and placement rest on expires before it is said again.

All that was said of containers before some hour is cut off, as expiry does, and the rest is folded
with the chain and with what operators asked for, which do not expire.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.shard_manager.decide import decide
from events.generated.records import (
    Body,
    ContainerReassigned,
    ContainerStarted,
    PlacementPlanned,
    ShardAdded,
    ShardDropped,
    ShardDropRequested,
    ShardLoad,
    ShardLoadsReported,
)
from events.wire.codec import Read
from projections.capacity import Capacity
from projections.capacity_folds import fold as count
from projections.fleet import TierFleet
from projections.fleet_folds import fold
from projections.hold import ContainerHold
from projections.hold import fold as hear
from tests.laws.test_fleet import TURNS, steps
from tests.unit.shard_manager.fleets import Tale

TENTH = {"time_per_mille": 100}
HOMES = {"c2": "containers.v1/1", "c3": "containers.v1/1"}
WEIGH_S, SPEAK_S = 60, 30
tiers = st.tuples(
    st.integers(1, 7),
    st.sampled_from(((), ("north",), ("north", "south"))),
    st.sampled_from(({}, {"placement": "hashed"}, {"brake": 1000})),
)


class Container:
    """What a container knows of itself by the log alone, as the real one does."""

    def __init__(self, tale: Tale, name: str) -> None:
        self.tale, self.name, self.epoch = tale, name, tale.epochs[name]
        self.row = ContainerHold(name, self.epoch)
        self.said: set[tuple[type[Body], int, int]] = set()
        self.began: ContainerStarted | None = None
        self._at = 0

    def read(self) -> Container:
        """What has come since."""
        for read in self.tale.log[self._at :]:
            body = read.record.body
            if read.topic == "tiers.v1" or read.record.key == self.name:
                self.row = hear(self.row, read)
            if read.record.key == self.name:
                self._note(body)
        self._at = len(self.tale.log)
        return self

    def _note(self, body: Body | None) -> None:
        match body:
            case ContainerStarted():
                self.began = body
            case ShardAdded() | ShardDropped():
                self.said.add((type(body), body.shard, body.generation))
            case ShardLoadsReported():  # of what it has
                self.said |= {(ShardAdded, one.shard, one.generation) for one in body.loads}
            case _:
                pass

    def weighs(self, number: int) -> ShardLoadsReported:
        held = [
            ShardLoad("default", shard, wish.generation, 1, cpu_cores=0.5)
            for shard, wish in sorted(self.row.wishes.items())
            if wish.wanted and (ShardAdded, shard, wish.generation) in self.said
        ]
        return ShardLoadsReported(self.name, self.epoch, number, 60_000, tuple(held))

    def again(self) -> list[Body]:
        """As `TaskManager` says it each hour."""
        assert self.began is not None
        out: list[Body] = [self.began]
        if (told := self.row.tenancy) is not None:
            words = told.decision_id, told.explanation
            out.append(ContainerReassigned(self.name, told.tier, told.number, *words))
        for shard, wish in sorted(self.row.wishes.items()):
            gone = (ShardDropped, shard, wish.generation) in self.said
            if gone and not wish.wanted and not wish.passed:
                out.append(ShardDropped(self.name, self.epoch, "default", shard, wish.generation))
        return out


def hours(tale: Tale) -> None:
    """More than two of the tier's own go by; who is not mute says all again that it rests on."""
    hour_s = tale.fleet.timing.again_ms // 1_000
    all_of_them = {name: Container(tale, name) for name in sorted(tale.epochs)}
    for second in range(1, 2 * hour_s + 90):
        tale.now_ms += 1_000
        tale.tick()
        for name, one in all_of_them.items():
            life = tale.fleet.lives[name]
            if name in tale.mute or not life.lives:
                continue
            tale.beat(name, life.state if life.state != "unknown" else "serving")
            if second % WEIGH_S == 0:
                tale.life(one.read().weighs(10_000 + second))
            if second % hour_s == 0:
                for body in one.read().again():
                    tale.life(body)
        if second % SPEAK_S == 0:
            tale.settle()


def folded(reads: list[Read]) -> tuple[TierFleet, Capacity]:
    """The rows of both managers."""
    row, room = TierFleet("default"), Capacity("default")
    for read in reads:
        row, room = fold(row, read), count(room, read)
    return row, room


def lives(row: TierFleet) -> dict[str, object]:
    """Who lives, and as what."""
    return {
        name: (life.epoch, life.place, life.state, life.tier, life.region, life.capacity)
        for name, life in row.lives.items()
        if life.lives
    }


def shards(row: TierFleet) -> dict[int, object]:
    """Where each is, what is still to come about it, and whether somebody may have it."""
    return {
        shard: (row.grants.get(shard), shard in row.open, row.held(shard), row.given_up(shard))
        for shard in range(row.shards)
    }


def acts(row: TierFleet, now_ms: int) -> list[Body]:
    """What is done to containers and shards now; plans count what was ever heard."""
    return [body for body in decide(row, now_ms) if not isinstance(body, PlacementPlanned)]


@settings(deadline=None, max_examples=12)
@given(tiers, st.lists(steps.filter(lambda step: step[0] != "confirm"), max_size=10))
def test_who_lives_and_what_they_hold_is_told_by_the_last_two_hours(
    tier: tuple[int, tuple[str, ...], dict[str, Any]], story: list[tuple[Any, ...]]
) -> None:
    each, regions, settled = tier
    tale = Tale(each, regions, json.dumps(settled | TENTH), homes=HOMES)
    tale.start("c0", "c2", region="north")
    for step in story:
        TURNS[step[0]](tale, *step[1:])
    tale.settle()
    forgets_nobody(tale)


def test_what_was_given_up_and_taken_by_nobody_is_not_forgotten() -> None:
    """Else its container would be failed over for not giving it up."""
    tale = Tale(2, settings=json.dumps(TENTH), homes=HOMES)
    tale.start("c0", "c2")
    tale.settle()
    [shard] = [shard for shard, name in tale.holders().items() if name == "c0"]
    why = ("plan", "moved", tale.now_ms + 6_000, "c2")
    tale.told(ShardDropRequested("default", shard, 1, "c0", 1, *why))
    for name in ("c0", "c2"):
        tale.drain(name)
    tale.dropped("c0", shard)
    tale.settle()
    forgets_nobody(tale)
    assert tale.fleet.given_up(shard)
    assert tale.fleet.grants[shard].container == "c0"


def forgets_nobody(tale: Tale) -> None:
    """All that was said of containers so far expires, and the managers fold the log anew."""
    cut = len(tale.log)
    hours(tale)
    kept = [one for at, one in enumerate(tale.log) if at >= cut or one.topic != "containers.v1"]
    assert len(kept) < len(tale.log)
    row, room = folded(kept)
    assert lives(row) == lives(tale.fleet)
    assert shards(row) == shards(tale.fleet)
    assert row.silent == tale.fleet.silent
    assert all(row.tenants.get(name) == tale.fleet.tenants.get(name) for name in lives(row))
    assert {name: row.takes(name) for name in tale.epochs} == {
        name: tale.fleet.takes(name) for name in tale.epochs
    }
    assert acts(row, tale.now_ms) == acts(tale.fleet, tale.now_ms)
    _, whole = folded(tale.log)
    assert (room.rooms, room.capacity, room.used) == (whole.rooms, whole.capacity, whole.used)
