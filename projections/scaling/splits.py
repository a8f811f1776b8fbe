"""What single partitions of a task get and have left, packed for a row of all tasks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan
from struct import Struct
from typing import NamedTuple

from events.generated.records import PartitionLag, TaskLoadReported

TOPICS_MOST = 256
TOPIC_CHARS = 249
"""As long as Kafka lets a topic's name be."""
SPLIT_MOST = 2_048
"""Partitions of a job that are kept, as many for each task as for this one: who has more of them
spreads what is hot by itself."""

SILENT_WINDOWS = 3
AGED = 0.9
"""Of a window: by as much a record ages in it that is not read."""
MOST = 1e30
"""Of a rate or a lag: no job comes near it, and no sum of some leaves single precision."""

_ONE = Struct("<HIffff")  # 22 bytes; single precision tells a hot partition from others well enough
_NOTHING = (0, 0, nan, nan, nan, nan)


class PartitionShare(NamedTuple):
    """The rates and the lag of one partition."""

    topic: str
    partition: int
    came: float | None  # records a second that came in
    lag: float | None  # records
    lag_s: float | None  # age of the oldest one
    rate: float | None  # records a second that were read


class Split(NamedTuple):
    """The partitions of one report, packed."""

    topics: tuple[str, ...]  # that numbers stand for, with those that are new
    packed: bytes
    stuck: int  # partitions of which nothing was read, though records waited for all the time


def split_of(body: TaskLoadReported, topics: tuple[str, ...], before: bytes) -> Split:
    """A report's partitions, held against the report before it."""
    if not body.partitions or len(body.partitions) * body.tasks > SPLIT_MOST:
        return Split(topics, b"", 0)
    last = {(one[0], one[1]): one for one in _ONE.iter_unpack(before)}
    window_s, stuck, out = body.window_ms / 1000, 0, []
    # A task that read nothing at all may be amid a long batch; after some windows it is not.
    least_s = window_s * (1 if body.records_in_per_s > 0 else SILENT_WINDOWS)
    for one in sorted(body.partitions, key=_place):
        if one.topic not in topics:
            if len(topics) >= TOPICS_MOST or len(one.topic) > TOPIC_CHARS:
                continue
            topics = (*topics, one.topic)
        at, partition = topics.index(one.topic), one.partition & 0xFFFFFFFF
        lag, age_s = _single(one.lag_records), _single(one.lag_ms) / 1000
        rate = _single(one.records_in_per_s)
        _, _, _, lag_before, age_before_s, _ = last.get((at, partition), _NOTHING)
        came = rate + (lag - lag_before) / window_s
        came = came if isnan(came) else max(0.0, came)
        # Where nobody counts what was read of it, its oldest record tells: it grew as old.
        idle = age_s - age_before_s >= AGED * window_s if isnan(rate) else rate == 0
        stuck += lag > 0 and idle and age_s >= least_s
        out.append(_ONE.pack(at, partition, came, lag, age_s, rate))
    return Split(topics, b"".join(out), stuck)


def _place(one: PartitionLag) -> tuple[str, int]:
    return one.topic, one.partition


def _single(value: float | None) -> float:
    """As single precision holds it; what is unknown is no number."""
    if value is None:
        return nan
    return float(value) if 0 <= value <= MOST else (0.0 if value < 0 else MOST)


def shares(split: bytes, topics: tuple[str, ...]) -> Iterator[PartitionShare]:
    """The partitions that `split_of` packed."""
    for at, partition, came, lag, age_s, rate in _ONE.iter_unpack(split):
        yield PartitionShare(
            topics[at], partition, _known(came), _known(lag), _known(age_s), _known(rate)
        )


def _known(value: float) -> float | None:
    return None if isnan(value) else value
