"""Logs of the simulator as messages, with all that goes wrong in them, for who reads whole logs."""

from __future__ import annotations

from components.runtime.kafka.intake import Message
from events.topics import BY_SHORT, CLOCK
from events.wire.codec import headers_of
from simulation.bounds import bounded
from simulation.log import PARTITION, PARTITIONS
from simulation.world import SimulatedWorld
from tests.kit.played import played_once
from turbine.read.sources.held import HeldSource
from turbine.read.sources.log import Log

MINUTES = 12
SEEDS = (2, 3, 4, 5)
"""Jobs that sync, jobs with a scaler of the simulator's, a fleet, and jobs with the auto scaler."""


@played_once
def messages_of(seed: int, minutes: int = MINUTES) -> tuple[Message, ...]:
    """All records of a seed, each place in its order."""
    world = SimulatedWorld(seed, minutes * 60_000)
    with bounded(world.swarm.bounds):
        world.run()
    found = []
    for at, lines in sorted(world.log.lines.items()):
        topic = at.partition("/")[0]
        for line in lines:
            record = line.record
            keyless = topic == CLOCK or record.kind == "ClockTicked"
            key = None if keyless else record.key.encode()
            headers = [*headers_of(record, topic)]
            found.append(
                Message(topic, PARTITION, line.offset, line.at_ms, key, record.value, headers)
            )
    return tuple(found)


def source_of(messages: tuple[Message, ...]) -> HeldSource:
    """A log of these, with all our topics."""
    return HeldSource(messages, dict.fromkeys(BY_SHORT, PARTITIONS))


def log_of(seed: int) -> Log:
    """The log of a seed."""
    return Log(source=source_of(messages_of(seed)))
