"""What is written again and again is written at a pace."""

from __future__ import annotations

import logging

import pytest

from components.runtime.process.logs import LineRate, _Limit


def test_so_many_a_second_and_no_more() -> None:
    pace = LineRate(2)
    assert [pace.fits(7) for _ in range(4)] == [True, True, False, False]
    assert [pace.fits(8) for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(("name", "passed"), [("aiokafka.conn", 5), ("components.runtime", 20)])
def test_a_broker_that_is_down_is_told_five_times_a_second(name: str, passed: int) -> None:
    limit = _Limit()
    record = logging.makeLogRecord({"name": name, "created": 7.0})
    assert sum(limit.filter(record) for _ in range(20)) == passed
