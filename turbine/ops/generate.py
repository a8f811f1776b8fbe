"""Sends a schedule's records to a topic, evenly; where the broker is slow, late and not fewer.

The pace is open-loop: what is due follows from the time since the beginning alone. Were it taken
from when the last record was sent, a broker that is slow would be asked for less, and look well.
"""

from __future__ import annotations

import gzip
import io
import random  # noqa: TID251 - a load is drawn from its seed, and nothing is decided by it
import time  # noqa: TID251 - a load is paced by real time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from components.runtime.kafka.feed import TopicFeed
from components.runtime.kafka.inputs import create_topic
from components.runtime.process.loop import StopSignal
from turbine.ops.traffic import BadTrace, Draws, RateSchedule, RecordShape, read_trace, whole
from turbine_client.clients import counts_of
from turbine_client.settings import Settings

TURN_S = 0.005
"""The shortest wait: at 50,000 a second 250 records come together, which nobody sees."""
TURN_MAX_S = 0.25
"""The longest: a signal, a failure and the progress are heeded between two turns."""
TURN_RECORDS = 5_000
"""Of one turn; a run that is behind takes many, one right after the other."""
TOLD_S = 1.0
TRACE_LINE_MAX = 1_000
LAST_S = 10.0
"""For what is on its way when somebody ends the run; without that, delivery has its own limit."""


@dataclass(frozen=True, slots=True)
class GeneratorProgress:
    """How far a run has come."""

    sent: int  # and acknowledged by the broker
    seconds: float
    behind_s: float  # how late the oldest record is that is due and not acknowledged


class Generator:
    """One run. Where records go and what time it is come from outside; used from one thread."""

    def __init__(
        self,
        outlet: TopicFeed,
        schedule: RateSchedule,
        draws: Draws,
        *,
        records: int | None = None,
        begin_ms: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outlet, self._schedule, self._draws = outlet, schedule, draws
        self._records, self._begin_ms, self._now = records, begin_ms, now
        self._began_s = now()
        self._offered = 0

    def run(
        self, stop: StopSignal, progress: Callable[[GeneratorProgress], None]
    ) -> GeneratorProgress:
        """Until the schedule ends, the records are sent or it is told to stop; what came of it.

        Heeded once a second.
        """
        told_s = TOLD_S
        while not stop.wanted:
            elapsed_s = self._elapsed_s()
            self._turn(elapsed_s, stop)
            if self._done(elapsed_s):
                break
            if elapsed_s >= told_s:
                progress(self._progress())
                told_s = int(elapsed_s) + TOLD_S
            stop.wait(self._pause_s())
        self._settle(stop)
        sent, seconds = self._sent, self._elapsed_s()
        behind_s = seconds - self._schedule.due_s(sent) if sent else 0.0
        return GeneratorProgress(sent, seconds, max(0.0, behind_s))

    def _elapsed_s(self) -> float:
        return self._now() - self._began_s

    @property
    def _sent(self) -> int:
        return max(0, self._offered - self._outlet.waiting)

    def _turn(self, elapsed_s: float, stop: StopSignal) -> None:
        """Offers what is due, or as much of it as one turn may."""
        count = min(self._due(elapsed_s) - self._offered, TURN_RECORDS)
        if count > 0:
            first_s = self._schedule.due_s(self._offered + 1)
            last_s = self._schedule.due_s(self._offered + count)
            # A record bears the instant at which it was due, however late it is. Within a turn the
            # instants lie on a straight line: to ask for each takes longer than to draw a record.
            step_ms = 1000 * (last_s - first_s) / max(1, count - 1)
            for at in range(count):
                due_ms = self._begin_ms + int(1000 * first_s + at * step_ms)
                if not self._offer(due_ms, stop):
                    return
        self._outlet.turn()

    def _offer(self, due_ms: int, stop: StopSignal) -> bool:
        """One record, once there is room for it; False where the run is over before."""
        key, value = self._draws.record(self._offered, due_ms)
        while not self._outlet.offer(key, value):
            self._outlet.turn(TURN_MAX_S)
            if stop.wanted:
                return False
        self._offered += 1
        return True

    def _due(self, elapsed_s: float) -> int:
        due = whole(self._schedule.due(elapsed_s))
        return due if self._records is None else min(due, self._records)

    def _done(self, elapsed_s: float) -> bool:
        if self._offered == self._records:
            return True
        return elapsed_s >= self._schedule.end_s and self._offered == self._due(elapsed_s)

    def _pause_s(self) -> float:
        """Until the next record is due; nothing where one is already."""
        elapsed_s = self._elapsed_s()
        if self._due(elapsed_s) > self._offered:
            return 0.0
        next_s = min(self._schedule.due_s(self._offered + 1), self._schedule.end_s)
        return min(max(next_s - elapsed_s, TURN_S), TURN_MAX_S)

    def _progress(self) -> GeneratorProgress:
        sent, elapsed_s = self._sent, self._elapsed_s()
        return GeneratorProgress(
            sent, elapsed_s, max(0.0, elapsed_s - self._schedule.due_s(sent + 1))
        )

    def _settle(self, stop: StopSignal) -> None:
        """Returns when all is acknowledged, or after a while where somebody waits for the end."""
        limit_s: float | None = None
        while self._outlet.settle(TURN_MAX_S):
            if stop.wanted:
                limit_s = limit_s or self._now() + LAST_S
                if self._now() > limit_s:
                    return


def generate(
    settings: Settings,
    topic: str,
    schedule: RateSchedule,
    shape: RecordShape,
    *,
    seed: int,
    records: int | None,
    stop: StopSignal,
    progress: Callable[[GeneratorProgress], None],
) -> GeneratorProgress:
    """Plays a schedule into a topic that is there; what the broker has acknowledged in the end."""
    stream = random.Random(seed)  # noqa: S311 - the same seed has to make the same load
    draws, feed = Draws(stream, shape), TopicFeed(settings, topic)
    begin_ms = time.time_ns() // 1_000_000
    run = Generator(feed, schedule, draws, records=records, begin_ms=begin_ms)
    return run.run(stop, progress)


def prepare_topic(settings: Settings, topic: str, partitions: int | None) -> tuple[int, bool]:
    """How many partitions the topic has, and whether it was created for this."""
    count = counts_of(settings).get(topic)
    if count is not None:
        return count, False
    wanted = partitions or settings.partitions
    if create_topic(settings, topic, wanted):
        return wanted, True
    return counts_of(settings).get(topic, wanted), False


def _lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """A file without ends of lines, such as a device, would be read for ever."""
    while line := text.readline(TRACE_LINE_MAX + 1):
        if len(line) > TRACE_LINE_MAX:
            raise BadTrace(
                f"{path} has a line of more than {TRACE_LINE_MAX} characters;"
                " name a CSV of minute_index,rate"
            )
        yield line


def open_trace(path: Path) -> list[tuple[int, float]]:
    """The minutes of a CSV, packed or not; BadTrace where it cannot be played."""
    try:
        with path.open("rb") as file:
            packed = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            return read_trace(_lines(io.TextIOWrapper(packed, "utf-8-sig"), path), str(path))
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise BadTrace(f"{path} is not packed by gzip, or not whole; pack it again") from None
    except UnicodeDecodeError:
        raise BadTrace(f"{path} is no text; name a CSV of minute_index,rate") from None
    except OSError as error:
        raise BadTrace(f"{path} cannot be read ({error.strerror}); name another file") from None
