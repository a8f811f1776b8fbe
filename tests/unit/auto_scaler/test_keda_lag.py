"""KEDA's Kafka scaler reports the lag that its rules say, partition by partition."""

from __future__ import annotations

import pytest

from components.auto_scaler.core.policies.keda.lag import (
    KedaLagRules,
    Lag,
    Partition,
    divisors,
    even_consumers,
    metric,
    partition_lag,
    summed,
)

PLAIN = KedaLagRules()


@pytest.mark.parametrize(
    ("partition", "rules", "expected"),
    [
        (Partition(100, 60), PLAIN, Lag(40, 40)),
        (Partition(100, 100), PLAIN, Lag(0, 0)),
        (Partition(100, None), PLAIN, Lag(1, 1)),
        (Partition(None, None), PLAIN, Lag(1, 1)),  # latest does not need the end
        (Partition(100, None), KedaLagRules(scale_to_zero_on_invalid_offset=True), Lag(0, 0)),
        (Partition(100, None), KedaLagRules(earliest=True), Lag(100, 100)),
        (Partition(None, None), KedaLagRules(earliest=True), Lag(0, 0)),
        (
            Partition(100, None),
            KedaLagRules(earliest=True, scale_to_zero_on_invalid_offset=True),
            Lag(0, 0),
        ),
        (Partition(None, 60), PLAIN, Lag(0, 0)),
        (Partition(100, 60, 60), PLAIN, Lag(40, 40)),
        (Partition(100, 60, 60), KedaLagRules(exclude_persistent_lag=True), Lag(0, 40)),
        (Partition(100, 60, 59), KedaLagRules(exclude_persistent_lag=True), Lag(40, 40)),
        (Partition(100, 60, None), KedaLagRules(exclude_persistent_lag=True), Lag(40, 40)),
    ],
)
def test_lag_of_a_partition(partition: Partition, rules: KedaLagRules, expected: Lag) -> None:
    assert partition_lag(partition, rules) == expected


def test_only_lag_that_counts_makes_a_partition_lagging() -> None:
    assert summed([Lag(5, 5), Lag(0, 7), Lag(0, 0)]) == (Lag(5, 12), 1)
    assert summed([]) == (Lag(0, 0), 0)


@pytest.mark.parametrize("count", [1, 2, 12, 36, 97, 100])
def test_divisors_are_all_of_them_in_order(count: int) -> None:
    assert divisors(count) == [one for one in range(1, count + 1) if count % one == 0]


def test_nothing_has_no_divisors() -> None:
    assert divisors(0) == []


@pytest.mark.parametrize(
    ("total", "consumers"),
    [(0, 1), (10, 1), (11, 2), (20, 2), (21, 5), (50, 5), (51, 10), (100, 10), (101, 10)],
)
def test_the_least_divisor_that_carries_the_lag(total: int, consumers: int) -> None:
    assert even_consumers(total, 10, 10) == consumers


@pytest.mark.parametrize(
    ("total", "lagging", "rules", "reported", "names"),
    [
        (95, 10, PLAIN, 95, []),
        (109, 10, PLAIN, 109, []),  # 109 // 10 is not above 10: the remainder passes
        (110, 10, PLAIN, 100, ["consumers-max"]),
        (110, 10, KedaLagRules(allow_idle_consumers=True), 110, []),
        (110, 3, KedaLagRules(limit_to_partitions_with_lag=True), 30, ["lagging-partitions"]),
        (31, 3, KedaLagRules(limit_to_partitions_with_lag=True), 31, []),
        (21, 3, KedaLagRules(ensure_even_distribution=True), 50, ["even-distribution"]),
        (20, 3, KedaLagRules(ensure_even_distribution=True), 20, []),
        (999, 3, KedaLagRules(ensure_even_distribution=True), 100, ["even-distribution"]),
        # Idle consumers are allowed, and yet the bound stands where tasks are made even.
        (
            999,
            3,
            KedaLagRules(ensure_even_distribution=True, allow_idle_consumers=True),
            100,
            ["even-distribution"],
        ),
    ],
)
def test_the_metric(
    total: int, lagging: int, rules: KedaLagRules, reported: int, names: list[str]
) -> None:
    found = metric(total, 10, lagging, rules)
    assert found.value == reported
    assert [one.name for one in found.constraints] == names
    assert [one.before for one in found.constraints][:1] == ([total] if names else [])
