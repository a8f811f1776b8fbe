"""Deadlines are as long as the machine needs, by one setting."""

from __future__ import annotations

import time

import pytest

from infra import waiting
from infra.waiting import MOST, PATIENCE, patience_of, until, within


@pytest.mark.parametrize(
    ("told", "load", "found"),
    [
        (None, 0.0, 1.0),
        (None, 1.9, 1.0),
        (None, 4.0, 2.0),
        (None, 400.0, MOST),
        ("3", 0.0, 3.0),
        ("0.5", 40.0, 0.5),
    ],
)
def test_it_is_what_is_set_or_what_the_load_asks(
    told: str | None, load: float, found: float
) -> None:
    assert patience_of({} if told is None else {PATIENCE: told}, load, 2) == found


@pytest.mark.parametrize("told", ["", "much", "0", "-1", "inf", "nan"])
def test_what_is_no_number_above_0_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match=f"{PATIENCE} is {told!r}: set a number above 0"):
        patience_of({PATIENCE: told}, 0.0, 2)


def test_every_deadline_is_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "patience", lambda: 4.0)
    assert within(10) == 40
    began = time.monotonic()
    with pytest.raises(AssertionError, match=r"^not within 0\.2 s: it comes$"):
        until(lambda: False, "it comes", 0.05, 0.001)
    assert time.monotonic() - began >= 0.2


def test_who_waits_goes_on_as_soon_as_it_holds() -> None:
    answers = iter([0, "", [1]])
    assert until(lambda: next(answers), "the third", pause_s=0.0) < within(60)
    assert list(answers) == []


def test_the_failure_and_its_words_are_those_of_who_waits() -> None:
    seen = []
    with pytest.raises(TimeoutError, match=r"saw [12] so far"):
        until(
            lambda: seen.append(1),
            lambda: f"saw {min(len(seen), 2)} so far",
            within_s=0.001,
            failure=TimeoutError,
        )
