"""The scoreboard: each case under each policy, what the least would have been, and who is better.

Pure. Split by time: nothing is tuned on the last third of a trace, and each part has its own rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, NamedTuple

from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import ScalingVerdict, stay
from events.job_config.policies.settings import PolicySettings
from projections.scaling.seen import JobFacts, Minute, Profile
from turbine.lab.plant.backtest import BacktestRun, Case, Score, back_test, score
from turbine.lab.plant.optimum import Optimum, optimum

WHOLE, FIRST, LAST = "whole", "first two thirds", "last third"
TRACE, SCENARIO = "trace", "scenario"
LATE_SHARE = 0.01
"""Of the time in violation: whoever is late for longer cannot be praised for what it saves."""
NOT_CAPACITY = frozenset(
    {"dependency", "straggler", "hot", "poison", "late", "frozen", "vanished", "keys"}
)
"""Kinds of faults that more tasks do not mend."""
VERIFY_MINUTES = 12
"""After which a change is held against what was expected of it: until then one may have tried."""
SAME = 1e-6
"""Of a number: less is no difference."""


NONE: Mapping[str, Optimum] = {}


class ScoreRow(NamedTuple):
    """One case under one policy, in one part of its time."""

    kind: str  # trace or scenario
    case: str
    policy: str
    part: str
    minutes: int
    score: Score
    least: Optimum | None = None
    false_scale_outs: int = 0

    @property
    def over(self) -> float | None:
        """Its cost in parts of the least."""
        return self.score.cost / self.least.cost if self.least and self.least.cost else None


COLUMNS = (*(name for name in Score._fields if name != "explained"), "cost")
"""In which less is better."""


def parts(case: Case) -> Iterator[tuple[str, int, int]]:
    """The whole, and its two parts, by minutes; those before the case's first do not count."""
    begin, split, end = case.begin, case.split, len(case.rates)
    for name, first, last in ((WHOLE, begin, end), (FIRST, begin, split), (LAST, split, end)):
        if first < last:
            yield name, first, last


def least(case: Case) -> dict[str, Optimum]:
    """What the clairvoyant planner spends in each part."""
    return {
        name: optimum(replace(case, rates=case.rates[:last], begin=first))
        for name, first, last in parts(case)
    }


def rows(
    kind: str,
    name: str,
    case: Case,
    policy: ScalingPolicy[Any],
    bounds: Mapping[str, Optimum] = NONE,
) -> list[ScoreRow]:
    """A case under a policy, a row for each part."""
    head = (kind, name, policy.name)
    return rows_of(head, case, back_test(case, policy), bounds)


def rows_of(
    head: tuple[str, str, str], case: Case, run: BacktestRun, bounds: Mapping[str, Optimum] = NONE
) -> list[ScoreRow]:
    """A case that was played, a row for each part; the head is kind, name and policy."""
    return [
        ScoreRow(
            *head,
            part,
            last - first,
            score(run, first, last),
            bounds.get(part),
            false_scale_outs(case, run, first, last),
        )
        for part, first, last in parts(case)
    ]


def false_scale_outs(case: Case, run: BacktestRun, first: int, last: int) -> int:
    """Tasks were added while something went wrong that more of them do not mend, after the time in
    which the first try would have been verified."""
    faults = [one for one in case.nature.faults if one.kind in NOT_CAPACITY]
    return sum(
        any(one.first + VERIFY_MINUTES <= act.minute < one.last for one in faults)
        for act in run.actions
        if first <= act.minute < last and act.after > act.before
    )


# --- verdicts


def better(ours: ScoreRow, other: ScoreRow) -> bool:
    """No more violation and less cost; whoever is in violation too long is judged on that alone."""
    if ours.score.violation_s > other.score.violation_s:
        return False
    late = other.score.violation_s / 60 > LATE_SHARE * other.minutes
    return late or ours.score.cost < other.score.cost


def dominated(found: Iterable[ScoreRow], own: str) -> dict[str, list[str]]:
    """Each case, with the policies that ours is not better than."""
    told = dict[str, list[str]]()
    for case, group in _by_case(found).items():
        ours = group[own]
        others = (one for name, one in group.items() if name != own)
        told[case] = [one.policy for one in others if not better(ours, one)]
    return told


def worst(found: Iterable[ScoreRow], own: str) -> list[tuple[str, str]]:
    """Each case and column in which ours is worse than all others."""
    told = list[tuple[str, str]]()
    for case, group in _by_case(found).items():
        others = [one.score for name, one in group.items() if name != own]
        told += [
            (case, column) for column in COLUMNS if _is_worst(group[own].score, others, column)
        ]
    return told


def sums(found: Sequence[ScoreRow]) -> list[ScoreRow]:
    """A row for each policy, as if all cases were one; shares and tails are means."""
    by_policy = dict[str, list[ScoreRow]]()
    for one in found:
        by_policy.setdefault(one.policy, []).append(one)
    return [_sum(policy, group) for policy, group in by_policy.items()]


def _sum(policy: str, group: Sequence[ScoreRow]) -> ScoreRow:
    count = len(group)
    total = Score(*map(sum, zip(*(one.score for one in group), strict=True)))
    total = total._replace(lag_s_p99=total.lag_s_p99 / count, explained=total.explained / count)
    total = total._replace(converge_minutes=total.converge_minutes / count)
    minutes, false = sum(one.minutes for one in group), sum(one.false_scale_outs for one in group)
    return ScoreRow("all", "all", policy, group[0].part, minutes, total, None, false)


def _is_worst(ours: Score, others: Sequence[Score], column: str) -> bool:
    value = getattr(ours, column)
    return bool(others) and all(value > getattr(one, column) + SAME * abs(value) for one in others)


def mean_over(found: Iterable[ScoreRow], own: str) -> float | None:
    """Mean of cost over the least, over all cases."""
    ratios = [over for one in found if one.policy == own and (over := one.over) is not None]
    return sum(ratios) / len(ratios) if ratios else None


def _by_case(found: Iterable[ScoreRow]) -> dict[str, dict[str, ScoreRow]]:
    cases = dict[str, dict[str, ScoreRow]]()
    for one in found:
        cases.setdefault(one.case, {})[one.policy] = one
    return cases


# --- savings and recoveries


class Still(ScalingPolicy[None]):
    """A job that is left as it was provisioned: what scaling saves is held against it."""

    name: ClassVar[str] = "still"
    model: ClassVar[type[PolicySettings]] = PolicySettings  # there is nothing to set

    def begin(self, job: JobFacts) -> None:
        """A policy that knows nothing of its job."""

    def learn(self, memory: None, job: JobFacts, minute: Minute) -> None:
        """Learns nothing from a minute either."""

    def detect(self, memory: None, job: JobFacts, now_ms: int) -> str:  # noqa: ARG002 - it never looks
        """No symptom, whatever is wrong."""
        return ""

    def diagnose(self, memory: None, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - it is never asked
        """No cause, as there is no symptom."""
        return ""

    def resolve(
        self,
        memory: None,
        job: JobFacts,  # noqa: ARG002 - it is never asked
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - it is never asked
        now_ms: int,  # noqa: ARG002 - it is never asked
    ) -> tuple[None, ScalingVerdict]:
        """No action, and a verdict that says so."""
        return memory, stay("it is left as it is", *found)


class Saved(NamedTuple):
    """In percent of what jobs use that are left as they were provisioned."""

    cpu: float
    memory: float


def saved(found: Sequence[ScoreRow], own: str) -> Saved:
    """By one policy, over all cases."""
    used, stood = (
        [
            sum(getattr(one.score, column) for one in found if one.policy == policy)
            for column in ("cpu_hours", "gb_hours")
        ]
        for policy in (own, Still.name)
    )
    return Saved(*(100 * (1 - mine / its) for mine, its in zip(used, stood, strict=True)))


def drain_minutes(case: Case) -> float:
    """In which a job that nobody scales reads what came before the case's first minute, while as
    much comes in as at its end."""
    spare = case.nature.capacity(case.job.tasks, case.job.threads) - case.rates[-1]
    return sum(case.rates[: case.begin]) / spare if spare > 0 else inf


def speedup(case: Case, row: ScoreRow) -> float:
    """How much sooner the backlog is read; 0 where it never is."""
    took = row.score.converge_minutes
    return drain_minutes(case) / took if 0 < took < row.minutes else 0.0


# --- how it is told


def to_plain(row: ScoreRow) -> dict[str, Any]:
    """One line of the table."""
    told: dict[str, Any] = {"kind": row.kind, "case": row.case, "policy": row.policy}
    told |= {"part": row.part, "minutes": row.minutes, **row.score._asdict()}
    told |= {"cost": row.score.cost, "false_scale_outs": row.false_scale_outs}
    if row.least is not None:
        told |= {"least_cost": row.least.cost, "least_violation_s": row.least.violation_s}
        told["over_least"] = row.over
    return told


def of_plain(told: Mapping[str, Any]) -> ScoreRow:
    """A row that another process has told."""
    bound = None
    if "least_cost" in told:
        bound = Optimum(told["least_cost"], told["least_violation_s"])
    return ScoreRow(
        told["kind"],
        told["case"],
        told["policy"],
        told["part"],
        told["minutes"],
        Score(*(told[name] for name in Score._fields)),
        bound,
        told["false_scale_outs"],
    )
