"""What is remembered of decisions: the same of a verdict as of the record that it became."""

from __future__ import annotations

import pytest

from components.auto_scaler.core.policies.turbine.look import decided
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
    deed_of,
    stay,
)
from projections.scaling.actions import (
    ALERT,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
    VERIFIED,
    JobSize,
)
from projections.scaling.decision_memory import (
    Done,
    Open,
    PastDecision,
    done_after,
)
from projections.scaling.model import JobModel
from projections.scaling.seen import JobFacts

SIZE = JobSize(4, 1, 0.25, 256)
UP = PastDecision(SCALE_UP, "under-capacity", True, None, 99, 400.0, 800.0)
OPENED = Done(acted_ms=5, open=Open(99, SIZE, 400.0, 800.0))


def test_who_stays_remembers_nothing() -> None:
    assert done_after(OPENED, deed_of(stay("well")), SIZE, 9) is OPENED


def test_more_is_held_against_what_it_was_to_bring_and_less_is_not() -> None:
    assert done_after(Done(), UP, SIZE, 5) == OPENED
    down = UP._replace(action=SCALE_DOWN)
    assert done_after(OPENED, down, SIZE, 9) == Done(acted_ms=9)
    for unknown in (UP._replace(by_ms=None), UP._replace(reads=None), UP._replace(expected=None)):
        assert done_after(Done(), unknown, SIZE, 5) == Done(acted_ms=5)


def test_what_is_verified_is_over_and_counts_anew() -> None:
    failed = OPENED._replace(fails=3)
    assert done_after(failed, PastDecision(VERIFIED, "", sized=False), SIZE, 9) == Done(acted_ms=5)


def test_what_is_taken_back_is_not_tried_again_for_a_while() -> None:
    back = PastDecision(REVERT, "no-gain", sized=True, until_ms=1_000)
    once = done_after(OPENED, back, SIZE, 9)
    assert once == Done(acted_ms=9, held_ms=1_000, fails=1)
    assert done_after(once, back._replace(until_ms=500), SIZE, 10).held_ms == 1_000
    assert done_after(once, back, SIZE, 10).fails == 2


def test_what_is_only_closed_holds_nobody_up() -> None:
    assert done_after(OPENED, PastDecision(REVERT, "", sized=False), SIZE, 9) == Done(acted_ms=5)
    assert done_after(OPENED, PastDecision(REVERT, "", sized=True), SIZE, 9) == Done(acted_ms=9)


@pytest.mark.parametrize("action", [MOVE, REBALANCE])
def test_what_is_done_about_one_task_is_no_size(action: str) -> None:
    done = done_after(Done(), PastDecision(action, "skew", sized=False), SIZE, 9)
    assert done == Done(acted_ms=9, other_ms=9, mended_ms=9)


def test_a_cause_that_tasks_do_not_mend_is_remembered_until_the_job_was_well() -> None:
    done = done_after(Done(), PastDecision(ALERT, "dependency", sized=False), SIZE, 100)
    assert done == Done(other_ms=100)
    assert done_after(Done(), PastDecision(ALERT, "memory", sized=False), SIZE, 100) == Done()
    known = JobModel(done=done, lows=((90, 0.0), (100, 1.0), (160, 80.0)))
    assert known.other(slo_s=90.0)
    assert not known._replace(lows=((160, 45.0),)).other(slo_s=90.0)
    assert not JobModel().other(slo_s=90.0)


def test_a_verdict_counts_by_what_it_says() -> None:
    verdict = ScalingVerdict(
        SCALE_UP,
        "lag",
        "under-capacity",
        "because",
        size=SIZE,
        expects=Expectation(99, 800.0),
        reads=400.0,
    )
    assert deed_of(verdict) == UP
    known = decided(JobModel(), verdict, JobFacts("orders", 4, memory_mb=256), 5)
    assert known.done == OPENED
