"""Containers of a simulated fleet are not forgotten when all that is older than an hour expires."""

from __future__ import annotations

import pytest

from components.runtime.core.step import Stepper
from components.shard_manager.decide import component
from events.generated.records import ShardAdded
from events.topics import CONTAINERS, place
from projections.fleet import TierFleet
from projections.timing import Timing
from simulation.bounds import bounded
from simulation.log import PARTITION, TICKS
from simulation.process import read_on, reader
from simulation.world import START_MS, SimulatedWorld

LIVES = place(CONTAINERS, PARTITION)
FAULTS_MS = 600_000
KEPT_MS = Timing().again_ms + 900_000
"""An hour, and as long as one that slept or was mute may be late with what it says again."""


def row_of(owner: Stepper[TierFleet], world: SimulatedWorld) -> TierFleet:
    order = sorted(owner.places - {TICKS})
    read_on(owner, world.log, [TICKS, *order])
    row = owner.held["default/placement"].row
    assert row is not None
    return row


@pytest.mark.parametrize("seed", [4, 10])
def test_the_last_hour_tells_who_lives_and_who_holds_what(seed: int) -> None:
    """They began in ten minutes full of faults, and have lived on since."""
    world = SimulatedWorld(seed, FAULTS_MS)
    with bounded(world.swarm.bounds):
        world.run()
        while world.clock.now_ms < START_MS + FAULTS_MS + 2 * KEPT_MS:
            world.heal()
        whole = row_of(reader(component, world.log), world)
        late = reader(component, world.log)
        cut_ms = world.clock.now_ms - KEPT_MS
        late.seen[LIVES] = cut = sum(one.at_ms < cut_ms for one in world.log.lines[LIVES])
        row = row_of(late, world)
    bodies = [one.record.body for one in world.log.lines[LIVES][cut:]]
    since = {(one.shard, one.generation) for one in bodies if isinstance(one, ShardAdded)}
    living = {name: life for name, life in whole.lives.items() if life.lives}
    assert living
    assert {name: (one.epoch, one.state) for name, one in row.lives.items() if one.lives} == {
        name: (one.epoch, one.state) for name, one in living.items()
    }
    held = {shard: whole.held(shard) for shard in range(whole.shards)}
    old = [shard for shard, grant in whole.grants.items() if (shard, grant.generation) not in since]
    assert any(held[shard] for shard in old), "they were added before"
    assert {shard: row.held(shard) for shard in held} == held
    assert row.grants == whole.grants
    assert row.open == whole.open
