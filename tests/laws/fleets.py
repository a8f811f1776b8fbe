"""Logs of the simulator's fleets of containers, with the jobs whose tasks they run.

The simulator has containers, and what they say of tasks; that the tasks are of jobs which config
expects to run is said here, before anything else.
"""

from __future__ import annotations

from functools import cache

from benchmarks.spoken_log import SpokenLog
from events.topics import TASKS
from simulation.log import PARTITIONS
from simulation.world import START_MS
from tests.laws.played import messages_of

SEEDS = (4, 10, 16, 28)
CONFIG = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 1,
}


@cache
def fleet_log(seed: int) -> SpokenLog:
    """A seed's log; nothing more is to be said in it."""
    messages = messages_of(seed)
    found = SpokenLog(PARTITIONS, START_MS - 1_000_000 // 2)
    for job in sorted({one.key.decode() for one in messages if one.topic == TASKS and one.key}):
        found.expect(job, CONFIG)
        found.list(job, CONFIG, CONFIG["tasks"])
    found.add(messages)
    return found
