"""Every policy on every trace and scenario, beside the least that a planner of the future needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.children import ROOT, ChildFailed
from benchmarks.figures import Result, say
from components.auto_scaler.core.catalogue import policy_of
from components.runtime.process.local import LocalFailed
from turbine.lab.backtest import BadBackTest
from turbine.lab.plant.cases import SCENARIOS, TASKS_MAX
from turbine.lab.plant.scoreboard import (
    SCENARIO,
    TRACE,
    WHOLE,
    ScoreRow,
    Still,
    dominated,
    rows,
    saved,
    speedup,
    to_plain,
)
from turbine.lab.plant.storm import JOBS, MORE, Weathered, storm
from turbine.lab.scoreboard import (
    OWN,
    PLAYED,
    Question,
    answered,
    count_empty,
    figures_of,
    files_in,
    questions,
    rows_of,
    scenarios_of,
    standings,
    totals,
    traces_of,
    what,
)
from turbine.ops.generate import open_trace

TRACES = ROOT.parent / "shared" / "traces"
POLICIES = PLAYED
BACKLOG = "backlog"
QUICK_DAYS, QUICK_JOBS = 2, 50


def measure(quick: bool, traces: Path | None = None, days: int | None = None) -> Result:
    """All policies with their defaults; a process a core."""
    directory = traces if traces is not None else TRACES
    files = files_in(directory)
    days = min(days or QUICK_DAYS, QUICK_DAYS) if quick else days
    jobs = QUICK_JOBS if quick else JOBS
    asked = [*_asked(files, days)]
    asked += [{"do": "weather", "policy": OWN, "job": number} for number in range(jobs)]
    say(f"{len(files)} traces and {len(SCENARIOS)} scenarios under {len(POLICIES)} policies")
    try:
        answers = answered(asked, _progress)
    except LocalFailed as failed:
        raise ChildFailed(str(failed)) from None
    found = rows_of(asked, answers)
    figures = figures_of(found, OWN) | _of_all(found) | _of_storm(answers[-jobs:])
    notes = [*_notes(directory, files, days, jobs), *_shortfalls(found)]
    told = [to_plain(one) for one in [*found, *totals(found)]]
    return Result("scoreboard", figures, {}, notes, told)


def _asked(files: Sequence[Path], days: int | None) -> list[Question]:
    for path in files:
        open_trace(path)  # whoever is wrong is told here, and not by a process that fell
    try:
        traces = traces_of(files, days, last=False)
    except BadBackTest as bad:
        raise ChildFailed(str(bad)) from None
    return questions([*traces, *scenarios_of(SCENARIOS)], POLICIES)


def _progress(asked: Question, done: int, count: int) -> None:
    if asked["do"] != "weather":
        say(f"{what(asked)} ({done} of {count})")


# --- figures


def _of_all(found: Sequence[ScoreRow]) -> dict[str, float]:
    whole = [one for one in found if one.part == WHOLE]
    ours = [one for one in whole if one.policy == OWN]
    scenarios = [one for one in whole if one.kind == SCENARIO and one.policy != Still.name]
    traces = [one for one in whole if one.kind == TRACE]
    backlog = next(one for one in ours if one.case == BACKLOG)
    figures: dict[str, float] = {
        "scenarios": len(SCENARIOS),
        "scenarios_dominated": count_empty(dominated(scenarios, OWN)),
        "unexplained": sum(one.score.explained < 1 for one in ours),
        "false_scale_outs": sum(one.false_scale_outs for one in ours),
        "backlog_speedup": speedup(SCENARIOS[BACKLOG](), backlog),
        "backlog_speedup_unlimited": _unlimited(),
    }
    if traces:
        less = saved(traces, OWN)
        figures |= {"cpu_saved_percent": less.cpu, "memory_saved_percent": less.memory}
    return figures


def _unlimited() -> float:
    """The same once the limit of the backlog's job is lifted."""
    case = SCENARIOS[BACKLOG]()
    case = replace(case, job=case.job._replace(tasks_max=TASKS_MAX))
    return speedup(case, rows(SCENARIO, BACKLOG, case, policy_of(OWN, {}))[0])


def _of_storm(answers: Sequence[Any]) -> dict[str, float]:
    told = storm(Weathered(tuple(one[0]), tuple(one[1]), tuple(one[2])) for one in answers)
    return {f"storm_{name}": value for name, value in told._asdict().items()}


# --- what is said


def _notes(directory: Path, files: Sequence[Path], days: int | None, jobs: int) -> list[str]:
    if files:
        span = "whole" if days is None else f"their first {days} days"
        played = f"{len(files)} traces of {directory}, {span}; each with a job that fits its peak"
    else:
        played = f"no trace lies in {directory}: only scenarios ran (--traces DIR names another)"
    return [
        played,
        "parts: the whole, the first two thirds, and the last third, on which nothing was tuned",
        "cost: core-hours, and a core-hour for 8 GB-hours; least: a bound from below, no plan",
        "columns_worst: cases, traces and scenarios, and columns in which ours is worse than all",
        "saved: against the job as it is provisioned for the peak of its trace (policy `still`)",
        "backlog_speedup: against the time that the job needs as it stands; it may have 32 tasks",
        f"backlog_speedup_unlimited: the same with up to {TASKS_MAX} tasks",
        f"storm: {jobs:,} jobs with {MORE:g} times as much from one minute to the next",
    ]


def _shortfalls(found: Sequence[ScoreRow]) -> Iterator[str]:
    """Where ours is not what it should be, by name."""
    for one in standings(found, OWN):
        if one.kind == TRACE and one.not_better_than:
            yield f"{one.part}: on {one.case} not better than {', '.join(one.not_better_than)}"
        for column in one.worst_in:
            yield f"{one.part}: the worst on {one.case} in {column}"
