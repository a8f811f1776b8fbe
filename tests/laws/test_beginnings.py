"""A life that begins with what was kept knows what the whole log tells, whoever died when."""

from __future__ import annotations

import random
from functools import partial

import pytest

from simulation.bounds import bounded
from simulation.checkers.beginnings import check_beginnings, told
from simulation.run import HORIZON_MS
from simulation.standing import PLACES, StandingPublishers
from simulation.world import NEWEST_BUILD, SimulatedWorld

SEEDS = (2, 4, 5, 8)
"""Jobs that come to run, containers, and jobs that are sized as well."""
STEPS = 6


def played(seed: int) -> SimulatedWorld:
    world = SimulatedWorld(seed, HORIZON_MS // 4)
    with bounded(world.swarm.bounds):
        world.run()
    return world


@pytest.mark.parametrize("seed", SEEDS)
def test_a_publisher_may_die_after_any_of_its_transactions(seed: int) -> None:
    """What is kept is much at once: whole keys, and the positions last. At each cut of it a life
    begins; and the publisher's heir goes on from there."""
    world, cuts = played(seed), 0
    log, whole = world.log, told(world.log, NEWEST_BUILD, None)
    assert whole.lists or whole.tier[0]
    step = 1 + max(map(log.end, PLACES)) // STEPS
    heir = StandingPublishers(log, NEWEST_BUILD)
    while any(heir.owner.seen.get(at, 0) < log.end(at) for at in PLACES):
        heir.read(step)
        for cut in range(STEPS):
            one = StandingPublishers(log, NEWEST_BUILD, heir.keep.copy())
            one.read(step)
            one.transact(dies=partial(min, cut))
            assert told(log, NEWEST_BUILD, one.kept()) == whole
            one.read(log.appended)
            one.transact()
            assert told(log, NEWEST_BUILD, one.kept()) == whole
            cuts += 1
        heir.transact()
    assert cuts >= STEPS * STEPS - STEPS


@pytest.mark.parametrize("seed", SEEDS)
def test_it_may_be_behind_die_and_lose_what_was_replaced(seed: int) -> None:
    world = played(seed)
    assert list(check_beginnings(world.log, NEWEST_BUILD, random.Random(seed))) == []
