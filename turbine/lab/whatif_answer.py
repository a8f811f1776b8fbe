"""The answer of a what-if: three runs on one input, their figures, how they are told. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from projections.scaling.seen import MINUTE_MS
from turbine.lab.backtest import size_text
from turbine.lab.model_error import Honesty
from turbine.lab.plant.backtest import cost
from turbine.lab.plant.learnt import LearntNumber
from turbine.lab.plant.played_job import PlayedMinute, SizeChange
from turbine.lab.plot import Mark, PlottedRun

Row = dict[str, Any]

RECORDED, REPLAYED, OTHER = "recorded", "replayed", "other"
"""What really happened; the plant under the policy that ran; the plant under the other one."""
POINTS = 600
"""Of a series: more are not seen in any picture."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of those that are set side by side."""

    name: str
    policy: Row  # name, settings, mode
    played: Sequence[PlayedMinute]
    deeds: Sequence[SizeChange]
    restarts: int  # of all its tasks, whoever asked for them

    def figures(self, slo_s: float) -> Row:
        """What it cost, and how late it was."""
        hours = _hours(self.played)
        cores = sum(one.size.tasks * one.size.cpu_cores for one in self.played) * hours
        gb = sum(one.size.tasks * one.size.memory_mb for one in self.played) / 1024 * hours
        lags = np.array([one.lag_s for one in self.played])
        middle, late = np.percentile(lags, [50, 99]).tolist()
        return {
            "core_hours": cores,
            "gb_hours": gb,
            "task_hours": sum(one.size.tasks for one in self.played) * hours,
            "cost": cost(cores, gb),
            "lag_s_p50": middle,
            "lag_s_p99": late,
            "lag_s_max": float(lags.max()),
            "slo_violation_s": float((lags > slo_s).sum()) * hours * 3600,
            "rescales": len(self.deeds),
            "restarts": self.restarts,
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer to a what-if: both sides."""

    job: str
    begin_ms: int
    end_ms: int
    interval_ms: int
    slo_s: float
    sides: tuple[Side, ...]  # recorded, replayed, other
    honesty: Honesty
    nature: tuple[LearntNumber, ...]
    notes: tuple[str, ...]

    def to_plain(self, points: int = POINTS) -> Row:
        """The answer as a JSON object."""
        return {
            "job": self.job,
            "from_ms": self.begin_ms,
            "to_ms": self.end_ms,
            "intervals": (count := len(self.sides[0].played)),
            "minutes": round(count * self.interval_ms / MINUTE_MS, 2),
            "interval_ms": self.interval_ms,
            "slo_s": self.slo_s,
            "sides": [self._side(one) for one in self.sides],
            "honesty": self.honesty.to_plain(),
            "nature": [_rounded(one._asdict()) for one in self.nature],
            "notes": list(self.notes),
            "series": self._series(points),
        }

    def _side(self, one: Side) -> Row:
        return {
            "side": one.name,
            "policy": one.policy,
            "figures": _rounded(one.figures(self.slo_s)),
            "decisions": [_deed(deed) for deed in one.deeds],
        }

    def _series(self, points: int) -> Row:
        """Each point is of as many minutes: the mean of rates, the most of lags, the last size."""
        count = len(self.sides[0].played)
        step = -(-count // max(1, points))
        parts = [range(at, min(at + step, count)) for at in range(0, count, step)]
        told: Row = {
            "at_ms": [self.sides[0].played[part[-1]].at_ms for part in parts],
            "rate_in": [
                round(sum(self.sides[0].played[at].rate for at in part) / len(part), 3)
                for part in parts
            ],
        }
        for side in self.sides:
            told[side.name] = {
                "lag_s": [round(max(side.played[at].lag_s for at in part), 3) for part in parts],
                "tasks": [side.played[part[-1]].size.tasks for part in parts],
                "threads": [
                    side.played[part[-1]].size.tasks * side.played[part[-1]].size.threads
                    for part in parts
                ],
            }
        return told


def _hours(played: Sequence[PlayedMinute]) -> float:
    """That one of its intervals lasts."""
    return (played[1].at_ms - played[0].at_ms) / 3_600_000


def _rounded(row: Row) -> Row:
    return {
        name: None
        if isinstance(value, float) and not isfinite(value)
        else (round(value, 4) if isinstance(value, float) else value)
        for name, value in row.items()
    }


def _deed(deed: SizeChange) -> Row:
    return {
        "at_ms": deed.at_ms,
        "action": deed.action,
        "before": deed.before._asdict(),
        "after": deed.after._asdict(),
        "explanation": deed.explanation,
    }


# --- drawn


def picture_of(found: WhatIf) -> tuple[str, list[float], list[PlottedRun], float, float]:
    """What is drawn: the three beside each other; the minutes of an interval come last."""
    title = f"{found.job}: {found.sides[1].policy['name']} and {found.sides[2].policy['name']}"
    courses = [
        PlottedRun(
            side.name,
            [one.size.tasks * one.size.threads for one in side.played],
            [one.lag_s for one in side.played],
            [_mark(found, side.name, deed) for deed in side.deeds],
        )
        for side in found.sides
    ]
    rates = [one.rate for one in found.sides[0].played]
    return title, rates, courses, found.slo_s, found.interval_ms / MINUTE_MS


def _mark(found: WhatIf, lane: str, deed: SizeChange) -> Mark:
    minute = (deed.at_ms - found.begin_ms) // found.interval_ms
    last = len(found.sides[0].played) - 1
    sizes = size_text(deed.before, deed.after)
    text = f"{deed.action}, {sizes}: {deed.explanation}"
    return Mark(min(max(0, minute), last), lane, text)
