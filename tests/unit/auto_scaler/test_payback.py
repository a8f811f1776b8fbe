"""A smaller size is taken once it would have paid for its restart, and not before."""

from __future__ import annotations

from random import Random

import pytest

from components.auto_scaler.core.policies.turbine.demand import carries
from components.auto_scaler.core.policies.turbine.payback import STRETCHES, ShrinkTerms, offer
from components.auto_scaler.core.policies.turbine.shapes import (
    SizeRoom,
    price_of,
    price_of_size,
    shaped,
)
from projections.scaling.capacity import Curve
from projections.scaling.seen import JobFacts

JOB = JobFacts("clicks", 2, 5, 1.25, 384, partitions=120, tasks_max=32)
CURVE = Curve().taught(10, 10_000.0)
ROOM = SizeRoom(0.2, 384)
TERMS = ShrinkTerms(least=0.0, factor=1.0, wait_s=30.0, minutes=3.0, share=0.03, look_back=120)


def waited(rate: float) -> int:
    """Minutes of that rate after which a smaller size is offered, to a job that was full before."""
    arrived = [10_000.0] * 120
    for minute in range(1, 200):
        arrived = [*arrived[1:], rate]
        if offer(CURVE, JOB, arrived, TERMS, ROOM) is not None:
            return minute
    return 200


def test_what_saves_more_is_waited_for_less() -> None:
    waits = [waited(rate) for rate in (1_000.0, 4_000.0, 6_000.0, 8_000.0, 9_000.0, 9_900.0)]
    assert waits == sorted(waits)
    assert waits[0] == STRETCHES[0]
    assert waits[-1] == 200, "a hundredth is not worth a restart"


def test_it_would_have_saved_its_price() -> None:
    for rate in (1_000.0, 4_000.0, 6_000.0, 8_000.0):
        found = offer(CURVE, JOB, [10_000.0] * 60 + [rate] * 60, TERMS, ROOM)
        assert found is not None
        assert found.saves * found.minutes >= TERMS.minutes
        assert found.saves == pytest.approx(1 - price_of_size(found.size) / price_of(JOB))
        assert CURVE.reads(found.size.tasks * found.size.threads) >= rate * 0.9


def test_a_dearer_restart_is_waited_for_longer() -> None:
    arrived = [10_000.0] * 60 + [5_000.0] * 10
    assert offer(CURVE, JOB, arrived, TERMS, ROOM) is not None
    assert offer(CURVE, JOB, arrived, TERMS._replace(minutes=18.0), ROOM) is None


@pytest.mark.parametrize("seed", range(60))
def test_no_stretch_is_missed_by_looking_at_its_bound_first(seed: int) -> None:
    rng = Random(seed)
    level = rng.uniform(500, 11_000)
    arrived = [level * rng.uniform(0.7, 1.3) * (rng.random() < 0.97 or 2) for _ in range(120)]
    least = rng.choice([0.0, level])
    terms = TERMS._replace(least=least, minutes=rng.uniform(1, 18), factor=rng.uniform(1, 1.2))
    best = None
    for minutes in (*STRETCHES[:-1], 120):
        need = max(least, carries(arrived[-minutes:], terms.wait_s)) * terms.factor
        size = shaped(CURVE, JOB, need, ROOM)
        saves = 1 - price_of_size(size) / price_of(JOB)
        if best is None and saves >= terms.share and saves * minutes >= terms.minutes:
            best = (size, minutes)
    found = offer(CURVE, JOB, arrived, terms, ROOM)
    assert (None if found is None else (found.size, found.minutes)) == best


@pytest.mark.parametrize("seed", range(30))
def test_more_input_never_gets_a_smaller_size(seed: int) -> None:
    rng = Random(seed)
    arrived = [rng.uniform(500, 6_000) for _ in range(120)]
    more = [one * rng.uniform(1, 1.5) for one in arrived]
    few, many = (offer(CURVE, JOB, some, TERMS, ROOM) for some in (arrived, more))
    if many is not None:
        assert few is not None
        assert price_of_size(few.size) <= price_of_size(many.size)


def test_of_a_few_minutes_nobody_concludes_anything() -> None:
    assert offer(CURVE, JOB, [1.0] * (STRETCHES[0] - 1), TERMS, ROOM) is None
    assert offer(CURVE, JOB, [], TERMS, ROOM) is None
