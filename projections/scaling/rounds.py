"""Puts what the tasks of a job report together into minutes of the job: by one topic alone. Pure.

Tasks report each for itself. A round is one report of every task; a minute is what a closed round
adds up to. Nothing here looks at a config or at a decision: reports say which specs they ran under
and how many tasks these have, so the same partition of loads gives the same minutes to every
reader, however far it has read the journal.
"""

from __future__ import annotations

from typing import NamedTuple

from immutables import Map

from events.generated.records import TaskLoadReported
from projections.scaling.seen import Minute, Part
from projections.scaling.splits import MOST, split_of

TASKS_MOST = 2_048
"""Tasks of a job that are listened to one by one; of a larger one the first stand for the others,
so that a row is bounded. No job of one tenant comes near it."""
PARTS_MOST = 512
"""Tasks whose minutes are told one by one: with more of them, one that is slow is not what makes a
job late."""
LATE = 1.5
"""Windows that a round waits for its last task; who is later than that is not heard."""
LEAST = 1e-9
"""Records a second, one in thirty years: less is none. Quotients and powers of smaller ones may be
more than a float holds, which would end the process that decides for many jobs."""
NAME_CHARS = 128
MIB = 2**20


class NewestReport(NamedTuple):
    """The newest report of one task under the specs of the moment."""

    shard: int
    epoch: int
    report: int
    round: int  # in which it was heard
    window_ms: int
    rate: float
    bytes_rate: float
    lag: float | None
    lag_ms: float | None
    busy: float | None
    memory: float | None  # bytes
    oom: bool
    stateful: bool
    stuck: int  # partitions
    container: str = ""
    split: bytes = b""  # by partition, as `splits` packs it


class Rounds(NamedTuple):
    """Of one job: the round that is open, and what the next one is held against."""

    specs: int = 0  # the greatest generation heard of; what is older is void
    tasks: int = 0
    threads: int = 0
    number: int = 0  # of the round that is open
    listened: int = 0  # tasks that were heard in it
    begun_ms: int = 0  # its first report; 0: there is none yet
    heard: Map[int, NewestReport] = Map()
    topics: tuple[str, ...] = ()  # that splits name by number
    at_ms: int = 0  # the newest report
    stop_ms: int | None = None  # the last report before these specs, until their first round closes
    start_ms: int = 0  # the begin of their first window
    closed_ms: int = 0  # the end of the last round
    lag: float | None = None  # then
    stateful: bool = False


def rounds_after(rounds: Rounds, body: TaskLoadReported, at_ms: int) -> tuple[Rounds, list[Minute]]:
    """With one report more; minutes of the rounds that it closes, none, one or two."""
    minutes: list[Minute] = []
    at_ms = max(at_ms, rounds.at_ms)
    specs = body.generation.specs
    if specs < rounds.specs or not 0 <= body.task < body.tasks or body.window_ms <= 0:
        return rounds, minutes
    if specs > rounds.specs:
        rounds = _reshaped(rounds, body, at_ms)
    if body.task >= TASKS_MOST:
        return rounds._replace(at_ms=at_ms), minutes
    known = rounds.heard.get(body.task)
    if known is not None and _named(body) <= (known.shard, known.epoch, known.report):
        return rounds, minutes
    again = known is not None and known.round == rounds.number
    if rounds.begun_ms and (again or at_ms - rounds.begun_ms > LATE * body.window_ms):
        rounds, minute = _closed(rounds)
        minutes.append(minute)
    rounds = _with(rounds, body, at_ms)
    if rounds.listened >= min(rounds.tasks, TASKS_MOST):
        rounds, minute = _closed(rounds)
        minutes.append(minute)
    return rounds, minutes


def _named(body: TaskLoadReported) -> tuple[int, int, int]:
    return body.generation.shard, body.epoch, body.count


def _reshaped(rounds: Rounds, body: TaskLoadReported, at_ms: int) -> Rounds:
    """Other specs: what was heard of the round that was open is of tasks that are no more."""
    return Rounds(
        body.generation.specs,
        number=rounds.number + 1,
        at_ms=at_ms,
        stop_ms=rounds.stop_ms if rounds.stop_ms is not None else rounds.at_ms or None,
        start_ms=at_ms - body.window_ms,
        closed_ms=rounds.closed_ms,
        lag=rounds.lag,
    )


def _with(rounds: Rounds, body: TaskLoadReported, at_ms: int) -> Rounds:
    known = rounds.heard.get(body.task)
    split = split_of(body, rounds.topics, b"" if known is None else known.split)
    heard = NewestReport(
        body.generation.shard,
        body.epoch,
        body.count,
        rounds.number,
        body.window_ms,
        _rate(body.records_in_per_s),
        _rate(body.bytes_in_per_s),
        _bounded(body.lag_records),
        _bounded(body.lag_ms),
        None if body.busy_share is None else min(1.0, max(0.0, body.busy_share)),
        _bounded(body.memory_bytes),
        body.oom,
        bool(body.state_rows or body.state_bytes),
        split.stuck,
        body.container[:NAME_CHARS],
        split.packed,
    )
    return rounds._replace(
        tasks=body.tasks,
        threads=max(0, body.threads),
        heard=rounds.heard.set(body.task, heard),
        topics=split.topics,
        listened=rounds.listened + 1,
        begun_ms=rounds.begun_ms or at_ms,
        at_ms=at_ms,
        start_ms=min(rounds.start_ms, at_ms - body.window_ms),
        stateful=rounds.stateful or heard.stateful,
    )


def _rate(amount: float) -> float:
    return min(amount, MOST) if amount >= LEAST else 0.0


def _bounded(amount: float | None) -> float | None:
    return None if amount is None else min(max(0.0, float(amount)), MOST)


def _round(rounds: Rounds) -> list[tuple[int, NewestReport]]:
    """The tasks of the open round, by index."""
    number = rounds.number
    return sorted((task, one) for task, one in rounds.heard.items() if one.round == number)


def _closed(rounds: Rounds) -> tuple[Rounds, Minute]:
    """The minute of the open round, and a new round."""
    heard = _round(rounds)
    listened = min(rounds.tasks, TASKS_MOST)
    share = min(1.0, len(heard) / listened)
    scale = rounds.tasks / listened  # of a job that is larger than what is listened to
    ones = [one for _, one in heard]
    rate = scale * sum([one.rate for one in ones])
    lag = _sum([one.lag for one in ones], scale) if share >= 1 else None
    records = sum([one.rate for one in ones])
    memory = [one.memory for one in ones if one.memory is not None]
    busy = [one.busy for one in ones if one.busy is not None]
    whole = len(busy) == len(ones) and share >= 1
    minute = Minute(
        at_ms=rounds.at_ms,
        tasks=rounds.tasks,
        arrived=_arrived(rounds, ones, rate, lag),
        rate=rate,
        lag=lag,
        lag_s=_worst_s(ones),
        busy=sum(busy) / len(busy) if whole else None,
        busy_most=max(busy, default=None),
        memory_mb=max(memory) / MIB if memory else None,
        oom=any(one.oom for one in ones),
        down_s=_down_s(rounds),
        heard=share,
        bytes_per_record=sum([one.bytes_rate for one in ones]) / records if records > 0 else None,
        stuck=sum([one.stuck for one in ones]) if rate > 0 else 0,
        parts=_parts(heard),
        threads=rounds.threads,
    )
    rounds = rounds._replace(
        number=rounds.number + 1,
        listened=0,
        begun_ms=0,
        stop_ms=None,
        closed_ms=rounds.at_ms,
        lag=lag,
    )
    return rounds, minute


def _sum(amounts: list[float | None], scale: float) -> float | None:
    known = [one for one in amounts if one is not None]
    return scale * sum(known) if len(known) == len(amounts) else None


def _worst_s(ones: list[NewestReport]) -> float | None:
    """The age of the oldest record; nobody knows it where one task does not."""
    known = [one.lag_ms for one in ones if one.lag_ms is not None]
    return max(known) / 1000 if known and len(known) == len(ones) else None


def _arrived(
    rounds: Rounds, ones: list[NewestReport], rate: float, lag: float | None
) -> float | None:
    """Records a second that came in since the last round: those that were read, and those by which
    more are left."""
    if lag is None or rounds.lag is None or not rounds.closed_ms:
        return None
    gap_ms = rounds.at_ms - rounds.closed_ms
    if gap_ms <= 0:
        return None
    # Between two shapes of the job nothing was read: only in the windows of the new one.
    read_ms = gap_ms
    if rounds.stop_ms is not None:
        read_ms = min(gap_ms, max([one.window_ms for one in ones]))
    return max(0.0, (rate * read_ms + (lag - rounds.lag) * 1000) / gap_ms)


def _down_s(rounds: Rounds) -> float:
    """From the last word of the tasks before to the first window of these."""
    if rounds.stop_ms is None:
        return 0.0
    return max(0, rounds.start_ms - rounds.stop_ms) / 1000


def _parts(heard: list[tuple[int, NewestReport]]) -> tuple[Part, ...]:
    if not 1 < len(heard) <= PARTS_MOST:
        return ()
    return tuple(
        [
            Part(
                task,
                one.rate,
                one.busy,
                one.lag,
                None if one.lag_ms is None else one.lag_ms / 1000,
                None if one.memory is None else one.memory / MIB,
            )
            for task, one in heard
        ]
    )
