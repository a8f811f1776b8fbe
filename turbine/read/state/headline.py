"""How each task stands, and how many of a job's do what is expected of them. Pure.

A task tells that it has begun, and nothing tells of it again until it ends: whether it runs now is
for its container's life to say. Every surface that names a task's state or counts tasks asks here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from projections.fleet import TierFleet
from projections.reports import Report
from projections.syncs import RUNNING, Sync
from turbine.read.state.running import LastSeen, Sightings
from turbine.read.state.shards import state_of as container_state

LOST, UNHEARD, HELD = "lost", "unheard", "quarantined"
STATES = (
    RUNNING,
    "waiting",
    "restarting",
    "failed",
    "stopping",
    "stopped",
    UNHEARD,
    LOST,
    HELD,
)
"""Of tasks. Only the first one counts as running."""
UNHEALTHY = ("restarting", "failed", HELD)
"""What goes on until somebody does something."""
NOT_HEARD = ("unheard", "silent")
"""Words for a container of which nothing is heard, as lists of containers have them."""


class Lived(NamedTuple):
    """What is known of one container's lives."""

    epoch: int = 0  # the newest
    over: int = 0  # the newest that is over
    heard: bool = True  # whether the newest is


Lives = Mapping[str, Lived]
"""By the container's name. Of one that no tier has heard of nobody knows whether it lives."""
UNTOLD = Lived()


class StandingTask(NamedTuple):
    """One task as it stands."""

    task: int
    state: str
    report: Report | None
    seen: LastSeen | None


class Count(NamedTuple):
    """The tasks of one job."""

    wanted: int  # as many as config expects; none of a job that is paused or deleted
    running: int  # of those
    unhealthy: int  # of those
    states: Mapping[str, int]  # of all, with those that ought not to be there

    @property
    def lacking(self) -> int:
        """Those that should run and do not."""
        return self.wanted - self.running


def lives_of(tiers: Iterable[TierFleet]) -> dict[str, Lived]:
    """Of each container that any of these tiers knows. All of them read of all containers; whether
    one is heard is for its own tier to say, which has the limits for it."""
    found: dict[str, Lived] = {}
    for row in tiers:
        for name, life in row.lives.items():
            known = found.get(name, UNTOLD)
            quiet = life.tier == row.tier and container_state(row, life) in NOT_HEARD
            found[name] = Lived(
                max(known.epoch, life.epoch),
                max(known.over, life.over, life.epoch - 1),
                known.heard and not quiet,
            )
    return found


def size_of(sync: Sync) -> int:
    """How many tasks config expects to run now, whatever is in the way of them."""
    return _size_in(sync.expected_json) if sync.alive and not sync.held else 0


@lru_cache(maxsize=8192)
def _size_in(expected_json: str) -> int:
    config = json.loads(expected_json)
    return 0 if config.get("paused") is True else int(config.get("tasks", 1))


def tasks_of(sync: Sync, sightings: Sightings, lives: Lives) -> Iterator[StandingTask]:
    """The tasks that should run, and those that run although they should not."""
    listed = 0 if sync.listed is None else sync.listed.tasks
    generation = 0 if sync.listed is None else sync.listed.generation
    wanted = range(max(listed, size_of(sync)))
    extra = {at for at, report in sync.tasks.items() if not report.stopped and at not in wanted}
    for at in sorted(extra.union(wanted)):
        report = sync.tasks.get(at)
        seen = None if report is None else sightings.seen(sync.name, at, report)
        state = _told(report, generation, listed=at < listed)
        if report is not None and seen is not None and not (report.stopped or report.final):
            state = _lived(state, seen, lives)
        elif state in ("waiting", "stopped") and sync.quarantine is not None:
            state = HELD  # nobody starts it before a person has done something
        yield StandingTask(at, state, report, seen)


def _told(report: Report | None, generation: int, *, listed: bool) -> str:
    """As the task's own last word has it."""
    if report is None or (report.stopped and report.specs < generation):
        return "waiting"  # for a container to start it
    if report.stopped:
        return "stopped"
    if not listed or report.specs < generation:
        return "stopping"  # of an older list, and not known to have ended
    if report.failed:
        return "failed" if report.final else "restarting"
    return RUNNING


def _lived(state: str, seen: LastSeen, lives: Lives) -> str:
    """What becomes of that word by what is known of the life in which it was said."""
    life = lives.get(seen.container, UNTOLD)
    if seen.epoch <= life.over:
        return LOST
    return state if life.heard or seen.epoch > life.epoch else UNHEARD


def count_of(sync: Sync, tasks: Iterable[StandingTask]) -> Count:
    """What a job's tasks add up to."""
    wanted, all_of_them = size_of(sync), Counter[str]()
    ours = Counter[str]()
    for one in tasks:
        all_of_them[one.state] += 1
        ours[one.state] += one.task < wanted
    unhealthy = sum(ours[state] for state in UNHEALTHY)
    return Count(wanted, ours[RUNNING], unhealthy, all_of_them)
