"""How far a what-if is off: recorded histories played again by the policy that made them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.children import ROOT
from benchmarks.figures import Result, say
from benchmarks.recorded_job import Recorded
from turbine.lab.backtest import case_of_trace
from turbine.lab.model_error import AGREED, COST_OFF, LATE_OFF, MATCH_INTERVALS, SAME_SIZE
from turbine.lab.plant.backtest import DAY_MINUTES, Case
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.recording import record
from turbine.lab.scoreboard import files_in
from turbine.lab.whatif import what_if

TRACES = ROOT.parent / "shared" / "traces"
DAYS, QUICK_DAYS = 3, 1
JOB = "recorded"
POLICY: Mapping[str, Any] = {"name": "turbine", "mode": "act"}
OTHERS = ("turbine", "flink")
"""Asked about: other settings of the same policy, and one that remembers each look."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {"turbine": {"margin": 1.3}, "flink": {}}
FAULTS = ("dependency", "hot-key", "slow-node", "poison", "oom-ramp", "metric-loss")
"""Scenarios in which something breaks that a plant is not told of: it has to say that it is off."""
LEFT_OUT = ("backlog",)
"""Its history is twelve days in which nothing is decided for the first five."""


def measure(quick: bool, traces: Path | None = None, days: int | None = None) -> Result:
    """Every trace and scenario: recorded with late reports and restarts of chance, then asked."""
    directory = traces if traces is not None else TRACES
    days = days or (QUICK_DAYS if quick else DAYS)
    told = list[dict[str, Any]]()
    for kind, name, case in _cases(directory, days, quick=quick):
        say(f"{kind} {name}, {len(case.rates):,} minutes")
        told.append({"kind": kind, "case": name, **_asked(case)})
    figures = dict[str, Any]()
    for kind in ("trace", "scenario", "fault"):
        some = [one for one in told if one["kind"] == kind]
        if some:
            figures |= {f"{kind}_{name}": value for name, value in _means(some).items()}
    figures |= _pace(told)
    return Result("whatif", figures, {}, _notes(directory, days), told)


def _cases(directory: Path, days: int, *, quick: bool) -> Iterator[tuple[str, str, Case]]:
    files = files_in(directory) if directory.is_dir() else []
    for path in files[:2] if quick else files:
        case = case_of_trace(path, days)
        yield "trace", path.name.partition(".")[0], case
    names = [one for one in SCENARIOS if one not in LEFT_OUT]
    for name in names[:3] if quick else names:
        yield "fault" if name in FAULTS else "scenario", name, SCENARIOS[name]()


def _asked(case: Case) -> dict[str, Any]:
    """One history: what the plant under the same policy made of it, and what each answer took."""
    log = Recorded(record(case, JOB, POLICY, disturbed=True))
    row = dict[str, Any](minutes=len(case.rates), records=len(log.reads))
    for policy in OTHERS:
        begun = time.perf_counter()
        found = what_if(log, JOB, policy, SETTINGS[policy])
        took_s = time.perf_counter() - begun
        row[f"{policy}_s_per_day"] = round(took_s * DAY_MINUTES / len(case.rates), 3)
        told = found.honesty.to_plain()
        row |= {name: value for name, value in told.items() if name != "tolerance"}
    return row


def _means(some: list[dict[str, Any]]) -> dict[str, Any]:
    def of(name: str) -> float | None:
        known = [one[name] for one in some if one[name] is not None]
        return round(mean(known), 4) if known else None

    real, played = (sum(one[name] for one in some) for name in ("real", "played"))
    return {
        "histories": len(some),
        "within_tolerance": sum(one["within_tolerance"] for one in some),
        "decisions": real,
        "decisions_of_plant": played,
        "agreement": of("agreement"),
        "direction": of("direction"),
        "size": of("size"),
        "timing_minutes_median": of("timing_minutes_median"),
        "same_size": of("same_size"),
        "cost_off": round(mean(abs(one["cost_off"]) for one in some), 4),
        "lag_off_s_median": of("lag_off_s_median"),
        "lag_off_s_p95": of("lag_off_s_p95"),
        "late_off": of("late_off"),
    }


def _pace(told: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{policy}_s_per_day": round(mean(one[f"{policy}_s_per_day"] for one in told), 3)
        for policy in OTHERS
    }


NOTES = """\
a history is a job under `turbine`, up to 64 tasks, with reports up to 15 s late and restarts of 0.7
 to 1.5 times the usual; nothing of it is known to the plant but its log
agreement: decisions found again within {minutes} min and in the same direction, of all on the side
 with more
within_tolerance: agreement {agreed:.0%}, the same size {same:.0%} of the time, cost off by
 {cost:.0%} at most, late by the SLO on one side alone {late:.0%} of the time at most
fault: scenarios of causes that the plant does not play again (one slow machine, a poisoned
 partition, memory that runs out): there the answer says that it is off
s_per_day: seconds of one core for a day of one job: reading, learning and both runs; flink looks at
 two hours of minutes again with each look"""


def _notes(directory: Path, days: int) -> list[str]:
    where = "" if directory.is_dir() else f"; there are no traces in {directory.name}/"
    told = NOTES.format(
        minutes=MATCH_INTERVALS, agreed=AGREED, same=SAME_SIZE, cost=COST_OFF, late=LATE_OFF
    )
    last = f"the last {days} days of each trace, those before are its usual days{where}"
    return [last, *told.replace("\n ", " ").splitlines()]
