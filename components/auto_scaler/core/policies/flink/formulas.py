"""What Flink's autoscaler makes of rates: capacity, its band, and the factor of a vertex. Pure.

General over jobs of several vertices, as the source is; the policy has one. Unknown is None, where
the source has NaN. A series is a sequence of rows, oldest first, each with its time in front.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

Row = Sequence[float | None]

INT_MAX = 2**31 - 1
"""The source counts subtasks in 32 bits, and a larger target becomes this one."""


class VertexDemand(NamedTuple):
    """What a vertex is asked for, in records a second."""

    rate: float  # that comes in
    catch_up: float  # beside it, for what lies there already


class VertexFlow(NamedTuple):
    """Of a vertex over the window, in records a second."""

    read: float | None
    written: float | None


class Band(NamedTuple):
    """Rates that can be processed with which a vertex is left alone."""

    up: float  # below it is too little
    down: float  # above it is too much


class VertexPace(NamedTuple):
    """The times that capacity is made of, in whole seconds."""

    catch_up_s: int
    restart_s: int


def slope(rows: Sequence[Row], column: int) -> float | None:
    """How fast a value grows, a second: by the first and the last known one alone."""
    first = next((row for row in rows if row[column] is not None), None)
    last = next((row for row in reversed(rows) if row[column] is not None), None)
    if first is None or last is None or first is last:
        return None
    begun, ended, since, until = first[column], last[column], first[0], last[0]
    assert begun is not None
    assert ended is not None
    assert since is not None
    assert until is not None
    return 1000 * (ended - begun) / max(until - since, 1)


def mean(rows: Sequence[Row], column: int, least: int = 1) -> float | None:
    """Of the known values; infinite ones count only where there is no other."""
    known = [value for row in rows if (value := row[column]) is not None]
    if not known:
        return None
    total = sum(known)
    if total == math.inf:
        known = [value for value in known if value != math.inf]
        if not known:
            return math.inf
        total = sum(known)
    return None if len(known) < least else total / len(known)


def demand(
    read: float | None, lag_growth: float | None, lag: float, pace: VertexPace
) -> VertexDemand | None:
    """Of a source; None is the source's error for want of a rate."""
    if read is None or lag_growth is None:
        return None
    return VertexDemand(
        max(0.0, read + lag_growth), lag / pace.catch_up_s if pace.catch_up_s else 0.0
    )


def edge_rate(
    sender: str, receiver: str, inputs: Mapping[str, Sequence[str]], flows: Mapping[str, VertexFlow]
) -> float | None:
    """Records a second on an edge, which nothing measures."""
    read, beside = flows[receiver].read, 0.0
    for other in inputs[receiver]:
        if other == sender:
            continue
        written, outputs = flows[other].written, sum(other in ends for ends in inputs.values())
        if outputs != 1 or written is None:
            return flows[sender].written
        beside += written
    return None if read is None else read - beside


def output_ratio(
    sender: str, receiver: str, inputs: Mapping[str, Sequence[str]], flows: Mapping[str, VertexFlow]
) -> float:
    """Records that an edge carries for each that its sender reads."""
    read = flows[sender].read
    if not read or read < 0:
        return 0.0  # a ratio of a silent vertex would be outrageous
    return max(0.0, edge_rate(sender, receiver, inputs, flows) or 0.0) / read


def demands(
    inputs: Mapping[str, Sequence[str]],
    sources: Mapping[str, VertexDemand],
    flows: Mapping[str, VertexFlow],
) -> dict[str, VertexDemand]:
    """Of all vertices; `inputs` names them in topological order."""
    found: dict[str, VertexDemand] = {}
    for vertex, senders in inputs.items():
        if not senders:
            found[vertex] = sources[vertex]
            continue
        ratios = [(found[one], output_ratio(one, vertex, inputs, flows)) for one in senders]
        rate = sum(one.rate * ratio for one, ratio in ratios)
        found[vertex] = VertexDemand(rate, sum(one.catch_up * ratio for one, ratio in ratios))
    return found


def busy_rate(busy_ms: float | None, rate: float | None) -> float | None:
    """What could be processed in all of the time, by the busy part of each second."""
    if rate == 0:
        return math.inf  # nothing comes in: any power is assumed until data flows
    if rate is None or busy_ms is None:
        return None
    return rate / (busy_ms / 1000) if busy_ms else math.inf


def observed_rate(rate: float, blocked_ms: float) -> float | None:
    """What was processed of a backlog, without the time for which the source was held up."""
    return None if blocked_ms >= 1000 else rate / (1 - blocked_ms / 1000)


def observation(
    rate: float, lag: float, blocked_ms: float, lag_s: float, before: float | None
) -> float | None:
    """One sample of the observed rate; what was observed before, where nothing is to be seen."""
    if rate == 0:
        return math.inf  # so that a silent source can shrink
    if lag < lag_s * rate:
        return before
    seen = observed_rate(rate, blocked_ms)
    return before if seen is None else seen


def true_rate(by_busy: float | None, observed: float | None, threshold: float) -> float | None:
    """The observed rate where busy time says far more than it, or nothing."""
    if observed is None:
        return by_busy
    if by_busy is None or math.isinf(by_busy) or by_busy > observed * (1 + threshold):
        return observed
    return by_busy


def rounded(value: float) -> float:
    """As the source keeps what it has measured: three places, but nothing becomes 0."""
    return round(value, 3) or value


def capacity(
    asked: VertexDemand, utilization: float, pace: VertexPace, with_restart: bool
) -> float:
    """What has to be processed: the rate at a utilization, the backlog, and what a restart adds."""
    share = min(1.0, max(0.0, utilization))
    if share == 0:
        return math.inf
    restart = asked.rate * pace.restart_s / pace.catch_up_s if pace.catch_up_s else 0.0
    total = asked.catch_up + (restart if with_restart else 0.0) + asked.rate / share
    return math.floor(total + 0.5)  # halves go up, and not to the even neighbour


def backlog(sources: Iterable[tuple[float, float | None]], threshold_s: float) -> bool:
    """Is any source, by its lag and its rate, too far behind to be shrunk?"""
    return any(
        rate is not None and lag > 0 and (rate == 0 or lag / rate > threshold_s)
        for lag, rate in sources
    )


def band(asked: VertexDemand, least: float, most: float, pace: VertexPace, behind: bool) -> Band:
    """The rates between which a vertex is left alone; with a backlog none is too much."""
    upper, lower = (1.0, 0.0) if behind else (most, least)
    return Band(capacity(asked, upper, pace, False), capacity(asked, lower, pace, True))


def outside(rate: float, edges: Band) -> bool:
    """Is what can be processed too little or too much? The edges themselves are neither."""
    return rate < edges.up or rate > edges.down


def gate(changes: Iterable[bool]) -> bool:
    """Is anything done to a job? Of the vertices that would change, one has to be outside."""
    return any(changes)


def factor(needed: float, rate: float, alpha: float = 1.0) -> float:
    """By how much a vertex has to grow."""
    if rate == 0:
        return math.inf if needed else 1.0
    return needed / rate / alpha


def limited(grown: float, down_max: float, up_max: float) -> float:
    """A factor that neither cuts nor grows more than it may at once."""
    return min(max(grown, 1 - down_max), 1 + up_max)


def subtasks(grown: float, tasks: int) -> int:
    """A factor as a number of subtasks."""
    return INT_MAX if grown * tasks >= INT_MAX else math.ceil(grown * tasks)


def limits(tasks: int, least: int, most: int) -> tuple[int, int]:
    """What a vertex may have: a limit that it has passed already does not move it."""
    return min(tasks, least), max(tasks, most)


def clamped(raw: int, lower: int, upper: int, max_parallelism: int) -> int:
    """A number of subtasks within the limits."""
    return min(max(lower, raw), max_parallelism, upper)


def expected(rate: float, tasks: int, wanted: int) -> float:
    """What should be processed afterwards, were a vertex linear."""
    return rate / tasks * wanted


def gained(rate: float, before: float, hoped: float) -> float:
    """The share of a hoped increase that came; -inf, too little, where it cannot be told."""
    if hoped == before or math.isinf(before):
        return -math.inf
    return (rate - before) / (hoped - before)


def coefficient(
    history: Sequence[tuple[int, float | None]], least: int, lowest: float
) -> float | None:
    """How much less than linearly a vertex grew, by its sizes and rates, oldest first.

    None is the source's error: an infinite rate at the smallest size makes it no number.
    """
    if not history or len(history) < least:
        return 1.0
    rates = [rate for _, rate in history if rate is not None]
    if len(rates) < len(history):
        return 1.0
    # Of equal sizes the newest. The source looks for a size of one apart; that is the least anyway.
    size, baseline = min(zip((n for n, _ in reversed(history)), reversed(rates), strict=True),
                         key=lambda one: one[0])  # fmt: skip
    baseline /= size
    weighed = sum(n * rate for (n, _), rate in zip(history, rates, strict=True))
    if math.isinf(baseline) or not (baseline or weighed):
        return None
    if not baseline:
        return 1.0
    alpha = weighed / (sum(n * n for n, _ in history) * baseline)
    alpha = max(lowest, min(1.0, alpha))
    return float(Decimal(repr(alpha)).quantize(Decimal("0.01"), ROUND_CEILING))
