"""Amounts as whole numbers: rounded up, bounded, and never a surprise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import ShardLoad
from projections.loads import AMOUNT_MOST, RESOURCES, UNITS, capacity_of, load_of, units_of

FLOAT_MOST = 1.7976931348623157e308


@pytest.mark.parametrize(
    ("amount", "resource", "units"),
    [
        (0.0, 0, 0),
        (0.001, 0, 1),
        (0.0010001, 0, 2),
        (1e-300, 0, 1),  # what is used at all is not nothing
        (1.5, 0, 1500),
        (1, 1, 1),
        (1024, 1, 1),
        (1025, 1, 2),
        (-1.0, 0, 0),
        (AMOUNT_MOST * 1024, 1, AMOUNT_MOST),
        (AMOUNT_MOST * 1024 + 1, 1, AMOUNT_MOST),
        (2**63 - 1, 2, AMOUNT_MOST),
        (1e306, 0, AMOUNT_MOST),
        (FLOAT_MOST, 0, AMOUNT_MOST),
        (-FLOAT_MOST, 0, 0),
    ],
)
def test_amounts_are_rounded_up_and_bounded(amount: float, resource: int, units: int) -> None:
    assert units_of(amount, resource) == units


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, len(RESOURCES) - 1),
    st.integers(-(2**63), 2**63 - 1),
)
def test_whatever_is_reported_is_a_whole_number_within_bounds(
    amount: float, resource: int, whole: int
) -> None:
    for one in (amount, whole):
        found = units_of(one, resource)
        assert type(found) is int
        assert 0 <= found <= AMOUNT_MOST
        if 0 < one < AMOUNT_MOST * UNITS[resource] / 2:
            assert found >= 1
            units = max(1, math.ceil(one / UNITS[resource]))  # a division may come to nothing
            assert math.isclose(found, units, rel_tol=1e-12)


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.integers(0, 3))
def test_more_is_never_less(one: float, other: float, resource: int) -> None:
    low, high = sorted((one, other))
    assert units_of(low, resource) <= units_of(high, resource)


def test_what_is_not_known_stays_unknown() -> None:
    report = ShardLoad("default", 3, 7, 2, cpu_cores=0.5, memory_bytes=0, job="orders")
    load = load_of(report, 9)
    assert (load.generation, load.number, load.tasks, load.job) == (7, 9, 2, "orders")
    assert load.amounts == (500, 0, None, None)


def test_a_capacity_is_by_resource_and_unknown_where_it_names_none() -> None:
    known = (("network_bytes_per_s", 2048.0), ("cpu_cores", 2.0), ("gpus", 4.0))
    assert capacity_of(known) == (2000, None, None, 2)
    assert capacity_of(()) == (None,) * len(RESOURCES)
    assert len(UNITS) == len(RESOURCES)
