"""KEDA's Kafka scaler: the lag of a consumer group that it reports, from its offsets. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import NamedTuple

from components.auto_scaler.core.verdict import Clamped


class KedaLagRules(NamedTuple):
    """The options of the scaler that change a number; the defaults are the source's."""

    lag_threshold: int = 10
    earliest: bool = False  # offsetResetPolicy; latest is the default
    scale_to_zero_on_invalid_offset: bool = False
    exclude_persistent_lag: bool = False
    limit_to_partitions_with_lag: bool = False
    ensure_even_distribution: bool = False
    allow_idle_consumers: bool = False


class Partition(NamedTuple):
    """What is known of a partition at one poll."""

    end: int | None  # None: the broker did not tell it
    committed: int | None  # None: nothing is committed yet
    before: int | None = None  # committed at the poll before; None at the first


class Lag(NamedTuple):
    """Of a partition or of all of them."""

    scaling: int  # what the size follows
    total: int  # what activation follows: persistent lag included


def partition_lag(partition: Partition, rules: KedaLagRules) -> Lag:
    """End less committed, but for what is invalid, unknown or persistent."""
    if partition.committed is None and not rules.earliest:
        return Lag(0, 0) if rules.scale_to_zero_on_invalid_offset else Lag(1, 1)
    if partition.committed is None and rules.scale_to_zero_on_invalid_offset:
        return Lag(0, 0)
    if partition.end is None:
        return Lag(0, 0)  # the source's own reading: a partition that is not told has no lag
    if partition.committed is None:
        return Lag(partition.end, partition.end)
    lag = partition.end - partition.committed
    if rules.exclude_persistent_lag and partition.before == partition.committed:
        return Lag(0, lag)
    return Lag(lag, lag)


def summed(lags: Iterable[Lag]) -> tuple[Lag, int]:
    """The lag of a group, and how many partitions have some that counts."""
    scaling = total = lagging = 0
    for lag in lags:
        scaling += lag.scaling
        total += lag.total
        lagging += lag.scaling > 0
    return Lag(scaling, total), lagging


def divisors(count: int) -> list[int]:
    """All of them, the least first; none below 1."""
    if count < 1:
        return []
    low = [one for one in range(1, isqrt(count) + 1) if count % one == 0]
    return low + [count // one for one in reversed(low) if one * one != count]


def even_consumers(total: float, partitions: int, threshold: int) -> int:
    """The least divisor of the partitions that carries the lag; all partitions where none does."""
    carrying = (one for one in divisors(partitions) if one * threshold >= total)
    return next(carrying, partitions)


def metric(total: int, partitions: int, lagging: int, rules: KedaLagRules) -> Clamped:
    """The lag that is handed to the HPA: even, and for no more consumers than have work."""
    reported, threshold = Clamped(total), rules.lag_threshold
    bounded = not rules.allow_idle_consumers
    if not (bounded or rules.limit_to_partitions_with_lag or rules.ensure_even_distribution):
        return reported
    if rules.ensure_even_distribution:
        reported = reported.through(
            "even-distribution",
            lambda lag: even_consumers(lag, partitions, threshold) * threshold,
            "records of lag, raised to what a divisor of the partitions carries",
        )
    bound = lagging if rules.limit_to_partitions_with_lag else partitions
    # The source divides whole numbers: a remainder below one threshold passes the bound.
    return reported.through(
        "lagging-partitions" if rules.limit_to_partitions_with_lag else "consumers-max",
        lambda lag: bound * threshold if lag // threshold > bound else lag,
        f"records of lag, for at most {bound} consumers",
    )
