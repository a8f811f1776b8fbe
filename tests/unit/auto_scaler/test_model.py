"""What a minute teaches, and what none does: numbers that were told before are no measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from components.auto_scaler import decide
from components.auto_scaler.core import logic_1
from components.runtime.core.component import Component
from events.generated.records import AlertRaised, Body, ScalingDecided, ScalingDeclined
from projections.scaling.model import JobModel, learn
from projections.scaling.row import ScalingRow
from projections.scaling.seen import MINUTE_MS, Minute
from tests.unit.auto_scaler.desk import Desk


def minute(at: int, rate: float, **more: float) -> Minute:
    """One task of one thread that is busy throughout."""
    return Minute(at * MINUTE_MS, 1, rate, rate, 7_000.0, 90.0, 1.0, 1.0, 100.0)._replace(**more)


def after(minutes: Sequence[Minute], known: JobModel | None = None) -> JobModel:
    known = known or JobModel()
    for one in minutes:
        known = learn(known, one.tasks, one)
    return known


BUSY: dict[str, Any] = {"busy_share": 1.0}
TEN_A_SECOND = [minute(at, 10.0 + at / 100) for at in range(1, 10)]


@pytest.mark.parametrize("times", [1, 7, 60])
def test_what_is_told_again_teaches_nothing_however_often(times: int) -> None:
    once = after([*TEN_A_SECOND, minute(10, 49.2)])
    again = after([minute(at, 49.2) for at in range(11, 11 + times)], once)
    assert again.curve == once.curve != after(TEN_A_SECOND).curve
    assert again.seen.same == times
    assert after([minute(99, 10.0)], again).curve != again.curve, "what is new teaches again"


def test_a_minute_that_not_all_told_makes_nothing_new_of_what_is_told_again() -> None:
    once = after([*TEN_A_SECOND, minute(10, 49.2)])
    lost = minute(11, 40.0)._replace(heard=0.9, lag=None, lag_s=None, busy=None)
    again = after([lost, *(minute(at, 49.2) for at in range(12, 15))], once)
    assert again.curve == once.curve


def test_what_is_new_each_minute_teaches_each_minute() -> None:
    """It may be that the job became faster."""
    faster = after([minute(at, 49.2 + at / 100) for at in range(10, 40)], after(TEN_A_SECOND))
    assert faster.curve.reads(1) > 30


# --- what is decided on it


def frozen_then(rate: float) -> Desk:
    """A task that reads ten records a second; then seven minutes of numbers that it told of a
    faster time; then the truth again, in which it falls behind."""
    desk = Desk().runs(tasks=1)
    for _ in range(9):
        desk.minute(10.0, **BUSY)
    for _ in range(7):
        desk.minute(0.0, records_in_per_s=49.2, **BUSY, lag_records=7_134, lag_ms=722_000)
    for at in range(3):
        late = {"lag_records": 112_000 + 3_000 * at, "lag_ms": 477_000 + 60_000 * at}
        desk.minute(rate, **BUSY, **late)
    return desk


def said_by(component: Component[ScalingRow], desk: Desk) -> list[Body]:
    row = None
    for read in desk.reads:
        row = component.fold(row, read)
    assert row is not None
    return list(component.decide(row, desk.now_ms))


def test_a_job_that_is_too_small_grows_though_its_metrics_were_frozen() -> None:
    """It reads what one thread always read: who had learnt from the frozen minutes would take it
    for one that waits for another, and leave it alone for good."""
    desk = frozen_then(10.0)
    [body] = desk.decide()
    assert isinstance(body, ScalingDecided)
    assert (body.action, body.diagnosis) == ("scale-up", "under-capacity")


def test_a_job_whose_tasks_wait_for_another_gets_no_task_though_its_metrics_were_frozen() -> None:
    declined, alert = frozen_then(2.0).decide()
    assert isinstance(declined, ScalingDeclined)
    assert (declined.action, declined.diagnosis) == ("alert", "dependency")
    assert isinstance(alert, AlertRaised)


def test_the_first_logic_still_says_what_it_said() -> None:
    desk = frozen_then(10.0)
    declined, alert = said_by(logic_1.component, desk)
    assert isinstance(declined, ScalingDeclined)
    assert (declined.action, declined.diagnosis) == ("alert", "dependency")
    assert isinstance(alert, AlertRaised)
    assert said_by(decide.component, desk) == list(desk.decide())
    assert logic_1.component.logic == "auto-scaler/1" != decide.component.logic
