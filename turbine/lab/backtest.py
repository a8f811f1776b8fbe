"""A trace or scenario under a policy: what is played, what came of it, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from components.auto_scaler.core.catalogue import BadPolicy, policy_of
from components.auto_scaler.core.policies.turbine.shapes import even
from components.auto_scaler.core.policy import ScalingPolicy
from events.job_config.strict_json import shorten
from projections.scaling.actions import (
    MOVE,
    REBALANCE,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from turbine.lab.plant.backtest import (
    DAY_MINUTES,
    Action,
    BacktestRun,
    Case,
    Score,
    back_test,
    score,
)
from turbine.lab.plant.cases import SCENARIOS, case_of
from turbine.lab.plant.optimum import Optimum
from turbine.lab.plant.optimum import optimum as least
from turbine.lab.plot import Mark, Picture
from turbine.ops.generate import open_trace
from turbine.ops.traffic import MINUTE_S, TRACE_LINES_MAX, BadTrace
from turbine_client.errors import BadRequest

Row = dict[str, Any]

RATE_MAX = 1e12
"""Events in a minute; no job reads as many, and sums of more lose single ones."""
RATE_LEAST = 1e-9
"""Events in the busiest minute of a trace that has any: what is scaled up from less has no end."""
THREADS_MAX = 16_000_000
"""That the busiest minute could use; sixteen carry what counts as the peak."""
ENDINGS = ("", ".csv", ".csv.gz")


class BadBackTest(BadRequest):
    """What cannot be played; the sentence says which option, and the remedy."""


@dataclass(frozen=True, slots=True)
class PlayedCase:
    """A case under a policy, to its end."""

    case: Case
    run: BacktestRun
    best: Optimum | None = None  # of the minutes that are scored

    def scores(self) -> dict[str, tuple[int, int, Score]]:
        """Of the whole and its two parts, each with its minutes; none of a part without any."""
        first, split, last = self.case.begin, self.case.split, len(self.case.rates)
        spans = {
            "whole": (first, last),
            "first_two_thirds": (first, split),
            "last_third": (split, last),
        }
        return {
            name: (begin, end, score(self.run, begin, end))
            for name, (begin, end) in spans.items()
            if begin < end
        }


# --- what is played


def find_trace(name: str, directory: Path | None) -> Path:
    """The file that a name means: itself, or one of the directory."""
    if directory is None:
        return Path(name)
    if not directory.is_dir():
        raise BadBackTest(f"--traces: {directory} is no directory; name one that holds traces")
    for ending in ENDINGS:
        if (path := directory / f"{name}{ending}").is_file():
            return path
    there = sorted(path.name for path in directory.glob("*.csv*"))
    has = f"use one of {', '.join(there)}" if there else "it holds no .csv and no .csv.gz"
    raise BadBackTest(f"--trace: {directory} has no {shorten(name)}; {has}")


def case_of_trace(path: Path, days: int | None = None) -> Case:
    """A job that fits a trace. Of `days` the last are played, and those before are its history."""
    try:
        rates = per_second(open_trace(path), str(path))
    except BadTrace as bad:
        raise BadBackTest(f"--trace: {bad}") from None
    minutes = len(rates) if days is None else days * DAY_MINUTES
    if minutes > len(rates):
        raise BadBackTest(
            f"--days: {path} has {len(rates):,} minutes, and {days} days are {minutes:,}; ask for"
            " fewer, or leave the option out"
        )
    cut = len(rates) - minutes
    case = case_of(path.name.partition(".")[0], rates[cut:], rates[:cut])
    if max(*case.rates, 0.0, *case.history) > THREADS_MAX * case.nature.per_thread:
        raise BadBackTest(
            f"--trace: {path} has minutes of more than a million times what its busy ones have;"
            " correct its rates"
        )
    return case


def per_second(minutes: Sequence[tuple[int, float]], name: str) -> list[float]:
    """Records a second of each minute from the first to the last; between lines that are further
    apart the rate changes in a straight line, as where a load is generated."""
    at, rates = [minute for minute, _ in minutes], [rate for _, rate in minutes]
    span = at[-1] - at[0] + 1
    if span > TRACE_LINES_MAX:
        raise BadTrace(
            f"{name} goes from minute {at[0]} to {at[-1]}, and at most {TRACE_LINES_MAX} minutes"
            " can be played; play a part of it"
        )
    if max(rates) > RATE_MAX:
        raise BadTrace(
            f"{name} has {max(rates):g} events in a minute, and at most {RATE_MAX:g} can be played;"
            " correct its rates"
        )
    if 0 < max(rates) < RATE_LEAST:
        raise BadTrace(
            f"{name} has {max(rates):g} events in its busiest minute, and at least {RATE_LEAST:g}"
            " can be played; correct its rates"
        )
    since = np.array([one - at[0] for one in at])
    filled: list[float] = (np.interp(np.arange(span), since, rates) / MINUTE_S).tolist()
    return filled


def case_of_scenario(name: str) -> Case:
    """A scenario by its name."""
    made = SCENARIOS.get(name)
    if made is None:
        known = ", ".join(SCENARIOS)
        raise BadBackTest(f"--scenario: there is no {shorten(name)}; use one of {known}")
    return made()


def chosen_policy(name: str, settings: Mapping[str, Any]) -> ScalingPolicy[Any]:
    """A policy with settings, or a sentence about the option that does not fit."""
    try:
        known = settings_of(policy_of(name, {}))
    except BadPolicy as bad:
        raise BadBackTest(f"--policy: {bad}") from None
    for key in settings:
        if key not in known:
            raise BadBackTest(
                f"--set {shorten(key)}: policy {name} has no such setting; it has"
                f" {', '.join(known)}"
            )
    try:
        return policy_of(name, settings)
    except BadPolicy as bad:
        told = str(bad).removeprefix("policy.settings").lstrip(".:").strip()
        key = told.partition(":")[0].partition(".")[0]
        usual = f"; by default it is {known[key]!r}" if key in known else "; correct it"
        raise BadBackTest(f"--set {told}{usual}") from None


def settings_of(policy: ScalingPolicy[Any]) -> Row:
    """All of them by name, as they are in force."""
    settings = getattr(policy, "settings", None)
    return {} if settings is None else dict(settings.model_dump(mode="json"))


def play(case: Case, policy: ScalingPolicy[Any], *, with_optimum: bool = False) -> PlayedCase:
    """The whole case; the optimum is of the minutes that are scored."""
    run = back_test(case, policy)
    return PlayedCase(case, run, least(case) if with_optimum else None)


# --- what is told


def to_plain(played: PlayedCase, policy: ScalingPolicy[Any], actions: int) -> Row:
    """What came of it, as JSON, with the last so many actions."""
    case, taken = played.case, played.run.actions
    last = taken[-actions:] if actions else []
    return {
        "policy": {
            "name": policy.name,
            "version": policy.version,
            "settings": settings_of(policy),
        },
        "seed": case.seed,
        "minutes": len(case.rates),
        "history_minutes": len(case.history),
        "scores": {
            name: {"first_minute": first, "minutes": end - first, **_score(one)}
            for name, (first, end, one) in played.scores().items()
        },
        "optimum": _optimum(played),
        "actions_taken": len(taken),
        "actions": [action_row(played.run, one) for one in last],
    }


def _score(one: Score) -> Row:
    return {**{name: _rounded(value) for name, value in one._asdict().items()},
            "cost": _rounded(one.cost)}  # fmt: skip


def _optimum(played: PlayedCase) -> Row | None:
    best = played.best
    if best is None:
        return None
    cost = played.scores()["whole"][2].cost
    return {
        "cost": _rounded(best.cost),
        "violation_s": _rounded(best.violation_s),
        "cost_ratio": _rounded(cost / best.cost) if best.cost > 0 else None,
    }


def action_row(run: BacktestRun, one: Action) -> Row:
    """An action with its reasons."""
    verdict, before = one.verdict, run.sizes[one.minute]
    after = verdict.size or before
    return {
        "minute": one.minute,
        "action": verdict.action,
        "before": before._asdict(),
        "after": after._asdict(),
        "task": verdict.task,
        "symptom": verdict.symptom,
        "diagnosis": verdict.diagnosis,
        "explanation": verdict.explanation,
        "raw_tasks": verdict.raw,
        "constraints": [_finite(asdict(told)) for told in verdict.constraints],
        "alternatives": [told.to_plain() for told in verdict.alternatives],
        "expects": None if verdict.expects is None else _finite(verdict.expects._asdict()),
    }


def _rounded(value: float) -> float:
    return round(value, 4)


def _finite(row: Row) -> Row:
    """JSON has no infinity: what has no end is null."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
    }


def size_text(before: JobSize, after: JobSize) -> str:
    """`10x1 -> 3x3`: tasks and threads, and memory where that changes."""
    if before == after:
        return _size(before, memory=False)
    memory = before.memory_mb != after.memory_mb
    return f"{_size(before, memory=memory)} -> {_size(after, memory=memory)}"


def _size(one: JobSize, *, memory: bool) -> str:
    return f"{one.tasks}x{one.threads}" + (f" {one.memory_mb} MiB" if memory else "")


# --- what is drawn


def picture_of(played: PlayedCase, title: str) -> Picture:
    """The picture of a run over time."""
    case, run = played.case, played.run
    carried = {size: _carries(case, size) for size in set(run.sizes)}
    return Picture(
        title=title,
        rates=run.rates,
        capacity=[carried[size] for size in run.sizes],
        tasks=run.tasks,
        threads=[size.tasks * size.threads for size in run.sizes],
        lag_s=run.lag_s,
        slo_s=run.slo_s,
        split=played.case.split,
        marks=[_mark(run, one) for one in run.actions],
    )


def _carries(case: Case, size: JobSize) -> float:
    nature = case.nature
    return nature.capacity(size.tasks, size.threads) * even(nature.partitions, size.tasks)


def _mark(run: BacktestRun, one: Action) -> Mark:
    verdict, before = one.verdict, run.sizes[one.minute]
    after = verdict.size or before
    lanes = {SCALE_UP: "up", SCALE_DOWN: "down", MOVE: "move", REBALANCE: "move"}
    sizes = size_text(before, after)
    text = f"{verdict.action}, {sizes}: {verdict.explanation}"
    return Mark(one.minute, lanes.get(verdict.action, "other"), text)
