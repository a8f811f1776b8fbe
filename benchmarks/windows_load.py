"""Loads for windowed counts: a piece of a recorded load as events, and their count by brute force.

An event's own time is the instant at which the recording has it due, some are late, and at the end
some come too late for any window. Pure, but for reading the recordings.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.children import ROOT
from turbine.ops.generate import open_trace
from turbine.ops.traffic import Draws, RecordShape, played

TRACES = ROOT.parent / "shared" / "traces"
"""Recordings of minutes and rates, as `turbine generate --trace` reads them. Where there are none,
a load is made up."""
MINUTES, EVENTS = 120, 6_000
"""Of a piece, and how many events it is stretched to: rates keep their shape."""
PARTITIONS, KEYS, SKEW = 4, 40, 0.8
WINDOW_MS, SLIDE_MS = 600_000, 300_000
LATE_SHARE, LATE_MS, WAITED_MS = 0.15, 1_200_000, 1_500_000
"""Late events come within what is waited for, so each of them counts. They are late by more than
several batches take in: who did not wait would leave some out."""
TOO_LATE = 200
MINUTE_MS = 60_000
END = "end"
"""The key of events that only move the watermark on."""

Rates = Sequence[tuple[int, float]]
Window = tuple[str, int]
"""A key, and the begin of a window."""


class Event(NamedTuple):
    """One message."""

    partition: int
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a recording."""

    name: str
    rates: Rates


def recordings(directory: Path = TRACES) -> list[Piece]:
    """All that there are, or one that is made up."""
    found = [
        Piece(path.name.partition(".")[0], open_trace(path))
        for path in sorted(directory.glob("*.csv.gz"))
    ]
    return found or [made_up()]


def made_up(days: int = 2, seed: int = 5) -> Piece:
    """Days with their ups and downs, bursts and gaps."""
    dice = random.Random(seed)
    rates = list[tuple[int, float]]()
    burst = 1.0
    for minute in range(days * 1440):
        if dice.random() < 0.01:
            burst = dice.choice((0.0, 3.0, 6.0))
        elif dice.random() < 0.1:
            burst = 1.0
        day = 1.2 + math.sin(2 * math.pi * minute / 1440)
        rates.append((minute, burst * day * dice.uniform(20, 60)))
    return Piece("made-up", rates)


def piece_of(whole: Piece, dice: random.Random) -> Piece:
    """Some two hours of it in which something happens."""
    while True:
        begin = dice.randrange(max(1, len(whole.rates) - MINUTES))
        rates = whole.rates[begin : begin + MINUTES]
        if sum(rate for _, rate in rates) > 0:
            return Piece(f"{whole.name}@{rates[0][0]}", rates)


def events_of(piece: Piece, begin_ms: int, dice: random.Random) -> list[Event]:
    """What is sent, in its order."""
    due = played(piece.rates).total or 0
    schedule = played(piece.rates, scale=EVENTS / max(1, due))
    shape = RecordShape(KEYS, SKEW, 80, LATE_SHARE, LATE_MS)
    draws = Draws(dice, shape)
    found = list[Event]()
    for number in range(schedule.total or 0):
        at_ms = begin_ms + int(1000 * schedule.due_s(number + 1))
        found.append(_event(*draws.record(number, at_ms)))
    return found


def too_late(begin_ms: int, dice: random.Random) -> list[Event]:
    """Events of windows that are long over."""
    draws = Draws(dice, RecordShape(KEYS, SKEW, 80))
    times_ms = [begin_ms + dice.randrange(MINUTES * MINUTE_MS) for _ in range(TOO_LATE)]
    return [_event(*draws.record(number, at_ms)) for number, at_ms in enumerate(times_ms)]


def closing(begin_ms: int, number: int) -> list[Event]:
    """One event in each partition, so far ahead that all windows before it are over."""
    at_ms = begin_ms + MINUTES * MINUTE_MS + number * 2 * (WINDOW_MS + WAITED_MS)
    value = json.dumps({"at_ms": at_ms})
    return [Event(partition, END, value) for partition in range(PARTITIONS)]


def _event(key: str, value: str) -> Event:
    return Event(int(key.removeprefix("k")) % PARTITIONS, key, value)


# --- counts


def brute_force(messages: Iterable[tuple[str, str]]) -> Counter[Window]:
    """Keys and values counted in windows of their own time, one by one."""
    found = Counter[Window]()
    for key, value in messages:
        at_ms = json.loads(value)["at_ms"]
        begin_ms = at_ms - at_ms % SLIDE_MS
        while begin_ms > at_ms - WINDOW_MS:
            found[key, begin_ms] += 1
            begin_ms -= SLIDE_MS
    return found


class Compared(NamedTuple):
    """What the job wrote, against the brute force."""

    missing: int
    doubled: int
    wrong: int

    @property
    def equal(self) -> bool:
        """Each window once, with its count."""
        return not any(self)


def compare(wanted: Mapping[Window, int], written: Sequence[tuple[Window, int]]) -> Compared:
    """Windows that are not there, that are there again, and whose count is another, or that nobody
    has counted at all."""
    times = Counter(window for window, _ in written)
    return Compared(
        sum(window not in times for window in wanted),
        sum(count - 1 for count in times.values()),
        sum(wanted.get(window) != count for window, count in written),
    )


def out_of_order(events: Sequence[Event]) -> int:
    """How many events of a partition lie behind one that came before."""
    latest = [0] * PARTITIONS
    behind = 0
    for event in events:
        at_ms = json.loads(event.value)["at_ms"]
        behind += at_ms < latest[event.partition]
        latest[event.partition] = max(latest[event.partition], at_ms)
    return behind


def steps(dice: random.Random) -> Iterator[tuple[int, str, float]]:
    """To how many tasks the job goes in turn, whom that meets with kill -9, and how long after."""
    victims = ["python", "java", dice.choice(["python", "java"])]
    dice.shuffle(victims)
    tasks = [4, 1, 2]
    yield from ((n, victim, dice.uniform(0, 3)) for n, victim in zip(tasks, victims, strict=True))
