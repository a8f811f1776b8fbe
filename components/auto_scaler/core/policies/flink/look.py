"""One look of Flink's autoscaler at a job of one source vertex: its window, rates and target. Pure.

A sample is a minute where the source reconciles about once a minute; a gauge of one instant is the
mean of its minute here. The lag in records stands for `pendingRecords`, a task's memory for the
heap. A vertex that is the whole job sends to nobody who could hold it up: it has no back-pressure.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink.alignment import VertexRoom, aligned
from components.auto_scaler.core.policies.flink.past import VertexChange
from components.auto_scaler.core.verdict import Clamped
from events.job_config.policies.flink import FlinkSettings
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute

READ, LAG, LOAD, BUSY, OBSERVED, HEAP = range(1, 7)
"""Columns of a sample."""
NO_BACK_PRESSURE = 0.0
"""`Minute.blocked_ms` is of who writes to the job, not of the job."""

Window = tuple["Sample", ...]


class Sample(NamedTuple):
    """What one minute leaves in the window; counters begin with the window."""

    at_ms: int
    read: float  # records, a counter
    lag: float  # records
    load: float | None  # busy share of the task that the aggregator picks
    busy_ms: float | None  # of all tasks, a counter
    observed: float | None  # records a second
    heap: float | None  # share of a task's memory


class FlinkLook(NamedTuple):
    """What is made of a window; None where the source has no number and leaves the vertex alone."""

    tasks: int
    asked: f.VertexDemand
    lag: float
    backlog: bool
    rate: float | None  # the true processing rate
    needed: float  # capacity at the target utilization
    band: f.Band
    alpha: float | None
    heap: float | None

    @property
    def outside(self) -> bool:
        """Is the vertex outside its band?"""
        return self.rate is not None and f.outside(self.rate, self.band)


def sampled(window: Window, minute: Minute, job: JobFacts, settings: FlinkSettings) -> Sample:
    """The next sample of a window."""
    last = window[-1] if window else None
    # The source reads a missing pendingRecords as no lag at all. A baseline has its flaws too.
    lag = minute.lag if minute.lag is not None else 0.0
    before = f.mean(window, OBSERVED, settings.observed_true_processing_rate_min_observations)
    threshold_s = settings.observed_true_processing_rate_lag_threshold_s
    observed = f.observation(minute.rate, lag, NO_BACK_PRESSURE, threshold_s, before)
    load, used = _load(minute, settings), minute.memory_mb
    busy = None
    if minute.busy is not None:
        busy = (last.busy_ms or 0.0) if last else 0.0
        busy += minute.busy * MINUTE_MS * minute.tasks
    return Sample(
        minute.at_ms,
        (last.read if last else 0.0) + minute.rate * MINUTE_MS / 1000,
        lag,
        None if load is None else f.rounded(max(0.0, load)),
        busy,
        None if observed is None else f.rounded(observed),
        None if used is None else used / job.memory_mb,
    )


def _load(minute: Minute, settings: FlinkSettings) -> float | None:
    match settings.metrics_busy_time_aggregator:
        case "max":
            return minute.busy_most
        case "avg":
            return minute.busy
        case _:
            busy = [part.busy for part in minute.parts if part.busy is not None]
            return min(busy, default=None)


def looked(
    window: Window,
    tasks: int,
    pace: f.VertexPace,
    changes: tuple[VertexChange, ...],
    settings: FlinkSettings,
) -> FlinkLook | None:
    """What a window says; None where two samples are wanting, the source's error."""
    read, last = f.slope(window, READ), window[-1]
    asked = f.demand(read, f.slope(window, LAG), last.lag, pace)
    if asked is None:
        return None
    behind = f.backlog([(last.lag, read)], settings.backlog_processing_lag_threshold_s)
    observed = f.mean(window, OBSERVED, settings.observed_true_processing_rate_min_observations)
    # A source has no per-second gauge of its input: its rate is the counter's with any aggregator.
    by_busy = f.busy_rate(_busy_ms(window, tasks, settings), read)
    alpha: float | None = 1.0
    if settings.observed_scalability_enabled:
        least = settings.observed_scalability_min_observations
        lowest = settings.observed_scalability_coefficient_min
        alpha = f.coefficient([(one.before, one.rate) for one in changes], least, lowest)
    return FlinkLook(
        tasks,
        asked,
        last.lag,
        behind,
        f.true_rate(by_busy, observed, settings.observed_true_processing_rate_switch_threshold),
        f.capacity(asked, settings.utilization_target, pace, True),
        f.band(asked, settings.least, settings.most, pace, behind),
        alpha,
        f.mean(window, HEAP),
    )


def _busy_ms(window: Window, tasks: int, settings: FlinkSettings) -> float | None:
    if settings.metrics_busy_time_aggregator == "avg":
        busy = f.slope(window, BUSY)
        return None if busy is None else busy / tasks
    load = f.mean(window, LOAD)
    return None if load is None else load * 1000


def raw_target(look: FlinkLook) -> int:
    """Subtasks that the capacity asks for, before anything limits them."""
    assert look.rate is not None
    return f.subtasks(f.factor(look.needed, look.rate), look.tasks)


def steps(
    look: FlinkLook, job: JobFacts, settings: FlinkSettings
) -> tuple[tuple[str, int, str], ...]:
    """The recommended number of tasks, and on its way there what each limit makes of it."""
    tasks, rate, alpha = look.tasks, look.rate, look.alpha
    assert rate is not None
    assert alpha is not None
    grown = f.factor(look.needed, rate, alpha)
    held = f.limited(grown, settings.scale_down_max_factor, settings.scale_up_max_factor)
    lower, upper = f.limits(tasks, settings.vertex_min_parallelism, settings.vertex_max_parallelism)
    groups, most = max(settings.max_parallelism, tasks), max(tasks, job.tasks_max)
    raw = f.subtasks(held, tasks)
    # The parts of `clamped`, told apart.
    least = max(raw, lower)
    keyed = min(least, groups)
    limited = min(keyed, upper)
    wanted = min(limited, most)
    mode = settings.scaling_parallelism_alignment_mode
    aimed = wanted
    if wanted != tasks:
        room = VertexRoom(tasks, wanted, job.partitions, groups, lower, min(upper, most))
        aimed = aligned(room, mode)
    return (
        ("", raw_target(look), ""),
        ("observed-scalability", f.subtasks(grown, tasks), ""),
        ("scale-down.max-factor" if held > grown else "scale-up.max-factor", raw, ""),
        ("vertex.min-parallelism", least, ""),
        ("max-parallelism", keyed, ""),
        ("vertex.max-parallelism", limited, ""),
        ("limits.tasks", wanted, "the job's own limit"),
        (f"alignment {mode}", aimed, "to the number of partitions"),
    )


def target(look: FlinkLook, job: JobFacts, settings: FlinkSettings) -> Clamped:
    """The recommended number of tasks, with all that changed it on its way."""
    (_, raw, _), *rest = steps(look, job, settings)
    value = Clamped(float(raw))
    for name, after, note in rest:
        if after != value.value:
            value = value.through(name, lambda _, to=after: float(to), note)  # type: ignore[misc]  # a default binds it
    return value


def hoped(look: FlinkLook, wanted: int) -> float | None:
    """The rate expected of a number of tasks."""
    if look.rate is None or math.isinf(look.rate):
        return None
    return f.expected(look.rate, look.tasks, wanted)
