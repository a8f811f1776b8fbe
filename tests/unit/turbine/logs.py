"""Logs in files for tests: what the simulator's fleet said in a seed, as a broker would have it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from components.runtime.kafka.intake import Message
from events.topics import BY_SHORT, CLOCK, JOURNAL, place
from events.wire.codec import Read, headers_of
from simulation.world import SimulatedWorld
from tests.kit.played import played_once
from turbine.read.records import to_export
from turbine.read.sources.held import HeldSource
from turbine.read.sources.log_lines import FileHead, LogFileWriter
from turbine.read.state.framed import FramedLog

SEED = 53
"""Of jobs with an auto scaler, whose usual bounds hold."""
FORGED_SEED = 47
"""Of jobs about which much is forged."""
STATEFUL_SEED = 35
"""At whose end a job runs that keeps state."""
TIER_SEED = 28
"""Of a tier with its containers."""
HORIZON_MS = 20 * 60_000


@played_once
def told(seed: int = SEED, horizon_ms: int = HORIZON_MS) -> tuple[Message, ...]:
    """All messages of one seed, in the order of their times."""
    world = SimulatedWorld(seed, horizon_ms)
    world.run()
    found = [
        Message(
            topic,
            0,
            line.offset,
            line.at_ms,
            None if topic == CLOCK else line.record.key.encode(),
            line.record.value,
            list(headers_of(line.record, topic)),
        )
        for topic, one in BY_SHORT.items()
        if one.kind != "rows"
        for line in world.log.lines[place(topic, 0)]
    ]
    return tuple(sorted(found, key=lambda one: one.at_ms))


def log_of_reads(reads: Iterable[Read]) -> FramedLog:
    """A log in memory of what was read, one partition a topic."""
    messages = [
        Message(
            one.topic,
            0,
            one.offset,
            one.at_ms,
            one.record.key.encode(),
            one.record.value,
            [*headers_of(one.record, one.topic)],
        )
        for one in reads
    ]
    return FramedLog(source=HeldSource(messages, dict.fromkeys(BY_SHORT, 1)))


def write(path: Path, messages: Iterable[Message]) -> Path:
    """A file with these messages, one partition a topic."""
    ends: dict[str, int] = {}
    known = list(messages)
    for one in known:
        ends[one.place] = max(ends.get(one.place, 0), one.offset + 1)
    topics = {short: 1 for short, one in BY_SHORT.items() if one.kind != "rows"}
    with LogFileWriter(path) as lines:
        lines.put(FileHead(topics | {JOURNAL: 1}, {}, ends).to_plain())
        for one in known:
            lines.record(one, to_export(one, 1))
        lines.end()
    return path
