"""Rows as plain JSON: long runs of numbers lie column by column, and come back as they were."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode

import pytest

from projections.scaling.ring import MINUTES, Ring, kept
from projections.scaling.row import LearntLoads, ScalingRow
from projections.scaling.row_json import dump, form_of, load
from projections.scaling.seen import Minute

START_MS = 1_800_000_000_000


def _ring(minutes: int) -> Ring:
    ring: Ring = b""
    for one in range(minutes):
        at_ms, arrived = START_MS + 60_000 * one, 5_000.0 + 37.7 * (one * 7919 % 101)
        ring = kept(ring, Minute(at_ms, 3, arrived, arrived + 1.5, 40.0, 0.3, 0.8, 0.9, 300.0))
    return ring


@pytest.mark.parametrize("minutes", [0, 1, 2, MINUTES, MINUTES + 5])
def test_minutes_come_back_as_they_were(minutes: int) -> None:
    row = ScalingRow("clicks", learnt=LearntLoads(ring=_ring(minutes)))
    assert load(json.loads(json.dumps(dump(row)))) == row


@pytest.mark.parametrize("numbers", [(), (0.0,), (1.5, -2.25e300, 1e-9)])
def test_numbers_come_back_as_they_were(numbers: tuple[float, ...]) -> None:
    form = form_of(tuple[float, ...])
    assert form.load(form.dump(numbers)) == numbers


def test_a_ring_that_was_cut_is_no_ring() -> None:
    form = form_of(Ring)
    with pytest.raises(ValueError, match="size"):
        form.load(b64encode(_ring(2)[:-1]).decode())


def test_columns_pack_better_than_minutes() -> None:
    ring = _ring(MINUTES)
    by_columns = len(zlib.compress(form_of(Ring).dump(ring).encode()))
    assert by_columns < 0.75 * len(zlib.compress(b64encode(ring)))
