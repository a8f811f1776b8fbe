"""The simulated log: one partition of every topic, with the ways in which a real one misbehaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from components.runtime.core.store import CLAIM, RowEntry
from events.topics import BY_SHORT, CLOCK, place
from events.wire.codec import SKIPPED, Read, Record, headers_of, read_message
from turbine.lab.kernel import VirtualClock

PARTITION = 0
PARTITIONS = 1
TICKS = place(CLOCK, PARTITION)
RECORDS_MOST = 500_000
"""Of one seed; two hours of a dozen containers come to some 35,000. Beyond it somebody says the
same for ever, and a run that never ends finds nothing."""


@dataclass(frozen=True, slots=True)
class SimulatedRecord:
    """A record as it lies in the log. `build` is the oldest build that can read it."""

    offset: int
    at_ms: int
    record: Record
    build: int


class SimulatedLog:
    """Appends in the broker's time, reads by offset; what was appended never changes."""

    def __init__(
        self,
        clock: VirtualClock,
        *,
        over_the_wire: bool,
        heard: Callable[[str], None] | None = None,
    ) -> None:
        self.lines: dict[str, list[SimulatedRecord]] = {
            place(short, PARTITION): [] for short in BY_SHORT
        }
        self.appended = 0
        self._clock = clock
        self._heard = heard  # called with the place of each new line
        self._times: dict[str, list[int]] = {at: [] for at in self.lines}
        self._wire = over_the_wire
        self._last_ms = 0
        # What readers of one build that fold the same kinds get to see: the same objects for all.
        self._seen: dict[tuple[str, frozenset[str] | None, int], list[Read]] = {}

    def append(self, topic: str, record: Record, build: int = 1) -> SimulatedRecord:
        """The record, at the end of its topic, in the broker's time."""
        at = place(topic, PARTITION)
        self._last_ms = max(self._last_ms, self._clock.now_ms)
        line = SimulatedRecord(len(self.lines[at]), self._last_ms, record, build)
        self.lines[at].append(line)
        self._times[at].append(line.at_ms)
        self.appended += 1
        assert self.appended < RECORDS_MOST, f"a log without an end: the last is {record.kind}"
        if self._heard is not None:
            self._heard(at)
        return line

    def end(self, at: str) -> int:
        """The next offset of the place."""
        return len(self.lines[at])

    def possible(self, at: str, offset: int, by_ms: int) -> bool | None:
        """Was all below the offset there by then? None: it is beyond the end as yet."""
        times = self._times.get(at)
        if times is None:
            return False
        if offset > len(times):
            return None
        return offset <= 0 or times[offset - 1] <= by_ms

    def read(self, at: str, offset: int, folds: frozenset[str] | None, build: int) -> Read:
        """The record as a reader of that build, which folds these kinds, gets to see it."""
        seen = self._seen.get((at, folds, build))
        if seen is None:
            seen = self._seen[at, folds, build] = []
        for line in self.lines[at][len(seen) : offset + 1]:
            seen.append(self._read(at, line, folds, build))
        return seen[offset]

    def _read(
        self, at: str, line: SimulatedRecord, folds: frozenset[str] | None, build: int
    ) -> Read:
        topic = at.partition("/")[0]
        record = line.record
        if self._wire and topic != CLOCK:
            record = self._over_the_wire(topic, line)
        seen = record.body
        if line.build > build:
            seen = None
        elif folds is not None and record.kind not in folds:
            seen = SKIPPED
        if seen is not record.body:
            record = replace(record, body=seen)
        return Read(at, topic, line.offset, line.at_ms, record)

    def _over_the_wire(self, topic: str, line: SimulatedRecord) -> Record:
        """The same through headers and bytes: nothing may hide in the simulator's objects."""
        record = line.record
        read = read_message(
            topic,
            PARTITION,
            line.offset,
            line.at_ms,
            record.key.encode(),
            record.value,
            headers_of(record, topic),
            PARTITIONS,
        )
        assert read.record == record, (read.record, record)
        return read.record


class Keep:
    """The topic that keeps one component's rows; compaction may strike at any moment."""

    def __init__(self) -> None:
        self.entries: list[RowEntry] = []
        self.newest = -1  # the newest claim
        self.zombies = 0  # entries of owners that somebody had claimed after
        self._next = 0

    def append(self, entry: RowEntry) -> int:
        """The entry at the end; the offset it got."""
        self.entries.append(RowEntry(entry.key, entry.value, entry.claim, self._next))
        self.zombies += entry.claim not in (self.newest, -1)
        self._next += 1
        return self._next - 1

    def claim(self, number: int) -> int:
        """A new owner's claim; its offset fences all before it."""
        self.newest = self.append(RowEntry(f"{CLAIM}{number}", b"{}", -1))
        return self.newest

    def copy(self) -> Keep:
        """Another topic with the same in it."""
        other = Keep()
        other.entries, other.newest, other._next = list(self.entries), self.newest, self._next
        return other

    def compact(self) -> None:
        """Only the newest entry of each key stays, whoever wrote it."""
        newest = {entry.key: entry for entry in self.entries}
        self.entries = sorted(newest.values(), key=lambda entry: entry.offset)

    def lose(self) -> None:
        """All that was kept is gone."""
        self.entries = []


def ends_of(log: SimulatedLog, places: Iterable[str]) -> dict[str, int]:
    """The ends of these places, the clock's among them."""
    return {at: log.end(at) for at in places}
