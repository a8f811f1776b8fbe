"""Containers of a simulated fleet are not forgotten when all that is older than an hour expires."""

from __future__ import annotations

import pytest

from components.runtime.step import Owner
from components.shard_manager.decide import component
from events.topics import CONTAINERS, place
from projections.fleet import Fleet
from projections.timing import Timing
from simulation.bounds import bounded
from simulation.log import PARTITION, TICKS
from simulation.process import read_on, reader
from simulation.run import live_through
from simulation.world import World

LIVES = place(CONTAINERS, PARTITION)
KEPT_MS = Timing().again_ms + 900_000
"""An hour, and as long as one that slept or was mute may be late with what it says again."""


def row_of(owner: Owner[Fleet], world: World) -> Fleet:
    order = sorted(owner.places - {TICKS})
    read_on(owner, world.log, [TICKS, *order])
    row = owner.held["default/placement"].row
    assert row is not None
    return row


@pytest.mark.parametrize("seed", [4, 10])
def test_the_last_hour_tells_who_lives_and_who_holds_what(seed: int) -> None:
    world = World(seed)
    with bounded(world.swarm.bounds):
        assert live_through(world, []).log
        whole = row_of(reader(component, world.log), world)
        late = reader(component, world.log)
        cut_ms = world.clock.now_ms - KEPT_MS
        late.seen[LIVES] = sum(line.at_ms < cut_ms for line in world.log.lines[LIVES])
        row = row_of(late, world)
    assert 0 < late.seen[LIVES] == world.log.end(LIVES)
    living = {name: life for name, life in whole.lives.items() if life.lives}
    assert living
    assert {name: (one.epoch, one.state) for name, one in row.lives.items() if one.lives} == {
        name: (one.epoch, one.state) for name, one in living.items()
    }
    held = {shard: whole.held(shard) for shard in range(whole.shards)}
    assert any(held.values())
    assert {shard: row.held(shard) for shard in held} == held
    assert row.grants == whole.grants
    assert row.open == whole.open
