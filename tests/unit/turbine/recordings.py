"""Recorded histories of one job, each played once for all tests, and commands that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.recorded_job import Recorded
from events.wire.codec import Read
from projections.scaling.seen import MINUTE_MS
from tests.kit.played import played_once
from tests.unit.turbine.logs import log_of_reads
from turbine.lab.plant.backtest import Case
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.recording import record
from turbine.read.answers.scaling import words_of
from turbine.read.sources.log import Standing

JOB = "clicks"


def case_of(scenario: str, minutes: int | None = None) -> Case:
    """A scenario, or its first minutes."""
    case = SCENARIOS[scenario]()
    return case if minutes is None else replace(case, rates=case.rates[:minutes])


@played_once
def reads_of(
    scenario: str,
    policy: str = "turbine",
    mode: str = "act",
    *,
    minutes: int | None = None,
    disturbed: bool = False,
    interval_ms: int = MINUTE_MS,
) -> tuple[Read, ...]:
    """All that its log says."""
    asked: Mapping[str, Any] = {"name": policy, "mode": mode}
    case = case_of(scenario, minutes)
    return tuple(record(case, JOB, asked, disturbed=disturbed, interval_ms=interval_ms))


def recorded(scenario: str, *more: str, **others: Any) -> Recorded:
    """Its log."""
    return Recorded(reads_of(scenario, *more, **others))


def words(log: Recorded) -> Sequence[Standing]:
    """What the scaler said."""
    return words_of(log.decisions(job=JOB))


def serve(monkeypatch: pytest.MonkeyPatch, log: Recorded) -> Recorded:
    """From now on the commands read it."""
    for module in ("reading", "backtest"):
        monkeypatch.setattr(f"turbine.cli.{module}.open_log", lambda _: log)
    monkeypatch.setattr("turbine.cli.reasons.open_log", lambda _: log_of_reads(log.reads))
    return log
