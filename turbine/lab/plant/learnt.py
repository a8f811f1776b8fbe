"""How a job behaves, learnt from what its log tells: each number with where it is from. Pure.

A plant of that nature reads as the job did. What nobody has told is said to be unknown, with what
is taken in its place; where nothing tells what its threads can read, there is no plant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from projections.scaling.facts import Facts
from projections.scaling.seen import Minute
from turbine.lab.plant.job_model import STATEFUL_S, STATELESS_S, Nature
from turbine.lab.plant.plant import MINUTE_S
from turbine_client.errors import BadRequest

BUSY_LEAST = 0.05
"""Below, what a thread could read is guessed; the scaler's own bound."""
WAITS_S = 1.0
"""Of backlog: a job that nobody says is busy, and has more of it, reads all that it can."""
EVEN = 720
"""Partitions of a job of which nobody knows how many it has: so many that any number of tasks
shares them evenly, or nearly."""
BELIEF = 0.05
"""In step-with-threads, as one tried size that is far away: the scaler's own."""
POWER_LEAST = 0.5
SLOW = 0.6
"""Of what threads usually read: minutes below it tell of something else than the job."""
TRIES = 3
LUCK_LEAST, LUCK_MOST = 0.05, 4.0
"""Of a minute, in parts of the usual: what lies beyond is a fault of what was measured."""
RESTART_MOST_S = 600.0
"""Of a plan that is a restart: one that took longer waited for something else."""


class LearntNumber(NamedTuple):
    """One number about the job, and who says so."""

    name: str
    value: Any
    source: str
    known: bool = True


class Fit(NamedTuple):
    """What threads read: records a second of one, and what more of them add."""

    per_thread: float
    power: float
    minutes: int

    def reads(self, threads: int) -> float:
        """The rate at which so many threads read together."""
        together: float = float(max(1, threads)) ** self.power
        return self.per_thread * together


class LearntNature(NamedTuple):
    """A nature, and how it is known. What is told is in the job's own time; the nature is in that
    of the plant, in which each of its minutes is one."""

    nature: Nature
    told: tuple[LearntNumber, ...]
    fit: Fit


class Unlearnt(BadRequest):
    """What the log would have to tell, and does not; one sentence."""


def learn(
    minutes: Sequence[Minute],
    facts: Facts,
    weights: Mapping[tuple[str, int], float],
    restarts_s: Sequence[float],
    *,
    stateful: bool,
) -> LearntNature:
    """From the minutes of a job, what its partitions got, and what its plans took."""
    pace = MINUTE_S * 1000 / facts.interval_ms
    fit, capacity = _capacity(minutes, facts.size.threads)
    luck = LearntNumber(
        "luck",
        None,
        "each minute's own reading, in parts of the capacity, where it was busy enough",
    )
    count, partitions = _partitions(facts, weights)
    shares, spread = _shares(facts, weights, count)
    restart_s, restart = _restart(minutes, restarts_s, stateful=stateful)
    record_bytes, size = _bytes(minutes)
    base_mb, memory = _memory(minutes, facts.size.memory_mb, stateful=stateful)
    nature = Nature(
        fit.per_thread,
        count,
        fit.power,
        weights=shares,
        restart_s=restart_s * pace,
        move_s=restart_s * pace,
        base_mb=base_mb,
        bytes_per_record=record_bytes,
        stateful=stateful,
    )
    state = LearntNumber("stateful", stateful, "the tasks' reports")
    return LearntNature(
        nature, (*capacity, luck, partitions, spread, restart, size, memory, state), fit
    )


def places(facts: Facts, weights: Mapping[tuple[str, int], float]) -> list[tuple[str, int]] | None:
    """Topics with their partitions in the plant's order; None where nobody knows them."""
    if facts.partitions is not None:
        return [(topic, count or 0) for topic, count in sorted(facts.inputs)]
    counts = dict[str, int]()
    for topic, number in weights:
        counts[topic] = max(counts.get(topic, 0), number + 1)
    return sorted(counts.items()) if counts else None


# --- capacity


def could(minute: Minute) -> float | None:
    """Records a second that its tasks would have read, had they been busy throughout; None where
    the minute does not tell."""
    if minute.down_s > 0 or minute.heard < 1 or minute.rate <= 0:
        return None
    if minute.busy is not None:
        return minute.rate / minute.busy if minute.busy >= BUSY_LEAST else None
    waits = minute.lag is not None and minute.lag > WAITS_S * minute.rate
    return minute.rate if waits else None


def _capacity(minutes: Sequence[Minute], threads: int) -> tuple[Fit, tuple[LearntNumber, ...]]:
    """A line on logarithms through what busy minutes could read, as the scaler's own curve is; here
    minutes do not fade, and those of another cause are left out."""
    points = [
        (log(one.tasks * (one.threads or threads)), log(rate), (one.busy or 1.0) ** 2)
        for one in minutes
        if (rate := could(one)) is not None
    ]
    if not points:
        raise Unlearnt(
            "no report tells what its threads can read: none says that a task was busy for"
            f" {BUSY_LEAST:.0%} of its time or more, and none had records left to read"
        )
    x, y, weight = (np.array(column) for column in zip(*points, strict=True))
    kept = np.ones(len(x), dtype=bool)
    for _ in range(TRIES):
        power, at = _line(x[kept], y[kept], weight[kept])
        told = y - (at + power * x) > log(SLOW)
        if not told.any() or (told == kept).all():
            break
        kept = told
    power, at = _line(x[kept], y[kept], weight[kept])
    fit = Fit(exp(at), power, int(kept.sum()))
    sizes = len({round(exp(one)) for one in x[kept].tolist()})
    source = f"{fit.minutes} busy minutes, of {sizes} number{'s' * (sizes != 1)} of threads"
    tried = source if sizes > 1 else "no other number of threads was tried: taken as in step"
    return fit, (
        LearntNumber("records_per_s_of_a_thread", fit.per_thread, source),
        LearntNumber("power_of_threads", fit.power, tried, sizes > 1),
    )


def _line(x: Any, y: Any, weight: Any) -> tuple[float, float]:
    total = weight.sum()
    mean_x, mean_y = (weight * x).sum() / total, (weight * y).sum() / total
    wide = (weight * (x - mean_x) ** 2).sum() / total
    along = (weight * (x - mean_x) * (y - mean_y)).sum() / total
    power = min(1.0, max(POWER_LEAST, float((along + BELIEF) / (wide + BELIEF))))
    return power, float(mean_y - power * mean_x)


def luck_of(minute: Minute, fit: Fit, threads: int) -> float | None:
    """What its threads could read, in parts of the usual; None where it does not tell."""
    rate = could(minute)
    if rate is None:
        return None
    share = rate / fit.reads(minute.tasks * (minute.threads or threads))
    return min(LUCK_MOST, max(LUCK_LEAST, share))


# --- the rest


def _partitions(facts: Facts, weights: Mapping[tuple[str, int], float]) -> tuple[int, LearntNumber]:
    found = places(facts, weights)
    if found is None:
        source = f"nobody tells; {EVEN} taken, which any number of tasks shares evenly"
        return EVEN, LearntNumber("partitions", None, source, known=False)
    count = sum(number for _, number in found)
    source = "its config" if facts.partitions is not None else "the tasks' reports"
    return count, LearntNumber("partitions", count, source)


def _shares(
    facts: Facts, weights: Mapping[tuple[str, int], float], count: int
) -> tuple[tuple[float, ...], LearntNumber]:
    """Of the partitions; what nothing came to still has a little, since a plant divides by it."""
    found, total = places(facts, weights), sum(weights.values())
    if found is None or total <= 0:
        told = LearntNumber(
            "weights", None, "no report tells of partitions; taken as even", known=False
        )
        return (), told
    ones = [(topic, number) for topic, many in found for number in range(many)]
    shares = tuple([max(1e-6, weights.get(one, 0.0) / total) for one in ones])
    most = max(shares) * count
    return shares, LearntNumber(
        "weights", f"the largest is {most:.3g} of the mean", "the tasks' reports"
    )


def _restart(
    minutes: Sequence[Minute], restarts_s: Sequence[float], *, stateful: bool
) -> tuple[float, LearntNumber]:
    if restarts_s:
        restart_s = median(restarts_s)
        return restart_s, LearntNumber("restart_s", restart_s, _plans(len(restarts_s)))
    down = [one.down_s for one in minutes if 0 < one.down_s <= RESTART_MOST_S]
    if down:  # what was read before the last report counts in: the least is least wrong
        return min(down), LearntNumber("restart_s", min(down), "the least time without a report")
    restart_s = STATEFUL_S if stateful else STATELESS_S
    source = f"it never restarted; {restart_s:g} taken, as is usual"
    return restart_s, LearntNumber("restart_s", None, source, known=False)


def _plans(count: int) -> str:
    return f"{count} plan{'s' * (count != 1)} of the state syncer, from its beginning to its end"


def _bytes(minutes: Sequence[Minute]) -> tuple[float, LearntNumber]:
    known = [one.bytes_per_record for one in minutes if one.bytes_per_record is not None]
    if not known:
        return 0.0, LearntNumber("bytes_per_record", None, "no report tells", known=False)
    return median(known), LearntNumber("bytes_per_record", median(known), f"{len(known)} minutes")


def _memory(
    minutes: Sequence[Minute], given_mb: int, *, stateful: bool
) -> tuple[float, LearntNumber]:
    """The most that a task had; how much of it is state, and goes with the tasks, nobody tells."""
    known = [one.memory_mb for one in minutes if one.memory_mb is not None]
    if not known:
        source = f"no report tells; half of the {given_mb} MiB taken"
        return given_mb / 2, LearntNumber("memory_mb_of_a_task", None, source, known=False)
    source = f"the most of {len(known)} minutes"
    if stateful:
        source += "; how much of it is state is unknown, so a task has as much at any size"
    return max(known), LearntNumber("memory_mb_of_a_task", max(known), source, not stateful)
