"""The whole fleet at a glance: the paper's three numbers, jobs, tiers and alerts, the worst first.
Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from projections.syncs import DELETED
from turbine.read.answers.alerts import Alert, by_gravity
from turbine.read.answers.lines import (
    BY_STATE,
    ORDERS,
    STATES_WORST,
    JobLine,
    badness,
    some_of,
)
from turbine.read.answers.tiers import Container, TierLine, containers, tier_line
from turbine.read.plain import made, means
from turbine.read.state.headline import HELD, LOST, UNHEARD
from turbine.read.state.view import View

OFFENDERS_MOST = 20
ALERTS_MOST = 100
SORTS = ("worst", "lag", "rate", "tasks", "changed", "name")
"""By which jobs stand, what is most pressing first."""


@dataclass(frozen=True, slots=True)
class Share:
    """A number of tasks, and of how many."""

    count: int
    percent: Annotated[float, means("Of the tasks that are wanted; 0 where none is.")]


@dataclass(frozen=True, slots=True)
class Totals:
    """The paper's three numbers, over all tasks that should run (Turbine VII)."""

    jobs: Annotated[int, means("Jobs that are not deleted.")]
    tasks_wanted: Annotated[int, means("By config, of jobs that are not paused.")]
    tasks_running: int
    tasks_not_running: Share
    tasks_lagging: Annotated[Share, means("Behind by more than their job's slo.lag_seconds.")]
    tasks_unhealthy: Annotated[Share, means("They crash, or wait for a person.")]
    tasks_unknown: Annotated[int, means("Without a report of late: nobody knows their lag.")]
    jobs_by_state: dict[str, int]
    tasks_by_state: Annotated[dict[str, int], means(BY_STATE)]


@dataclass(frozen=True, slots=True)
class Offender(JobLine):
    """A job that needs to be looked at, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Fleet:
    """The whole fleet at a glance."""

    at_ms: int
    now_ms: Annotated[int, means("The log's own time: its greatest tick.")]
    totals: Annotated[Totals, means("Of the jobs that the filter leaves.")]
    hidden: Annotated[int, means("Jobs that the filter leaves out.")]
    offenders: Annotated[tuple[Offender, ...], means("The jobs to look at first, 20 at most.")]
    jobs: Annotated[tuple[JobLine, ...], means("As many as were asked for.")]
    alerts: Annotated[tuple[Alert, ...], means("The gravest first.")]
    tiers: tuple[TierLine, ...]
    containers: Annotated[
        tuple[Container, ...], means("As many as were asked for, the fullest first.")
    ]
    dead_letters: int


def fleet(
    view: View,
    lines: Iterable[JobLine],
    query: str = "",
    sort: str = SORTS[0],
    most: int | None = None,
) -> Fleet:
    """The fleet of a view, or of the jobs that a filter leaves, with that many of them; None: all.
    BadFilter where the filter cannot be understood."""
    living = [line for line in lines if line.state != DELETED]
    jobs = some_of(living, query)
    names = {line.tier for line in jobs}
    tiers = [name for name in sorted(view.tiers) if not query or name in names]
    about = {*tiers, *(line.job for line in jobs)}
    alerts = by_gravity(
        found for found in view.alerts.values() if not query or found.subject in about
    )
    hosts = [] if most == 0 else [one for name in tiers for one in _hosts(view, name)]
    return Fleet(
        at_ms=view.at_ms,
        now_ms=view.now_ms,
        totals=totals(jobs),
        hidden=len(living) - len(jobs),
        offenders=tuple(offenders(jobs)),
        jobs=() if most == 0 else tuple(sorted(jobs, key=ORDERS[sort])[:most]),
        alerts=tuple(alerts if most is None else alerts[: max(ALERTS_MOST, most)]),
        tiers=tuple(tier_line(view, name) for name in tiers),
        containers=tuple(sorted(hosts, key=_fullest)[:most]),
        dead_letters=view.dead_letters,
    )


def _hosts(view: View, tier: str) -> list[Container]:
    return containers(view.tiers[tier], gone=False)


def _fullest(found: Container) -> tuple[bool, float, str]:
    """The order of containers: those that do not just run, then the fullest."""
    shares = [load.share or 0.0 for load in found.load.values()]
    return found.state == "serving", -max(shares, default=0.0), found.container


def totals(lines: Iterable[JobLine]) -> Totals:
    """The sums of jobs that are not deleted."""
    living = [line for line in lines if line.state != DELETED]
    wanted = sum(line.tasks for line in living)
    states = Counter[str]()
    for line in living:
        states.update(line.tasks_by_state)

    def share(count: int) -> Share:
        return Share(count, round(100 * count / wanted, 3) if wanted else 0.0)

    return Totals(
        jobs=len(living),
        tasks_wanted=wanted,
        tasks_running=sum(line.running for line in living),
        tasks_not_running=share(sum(line.not_running for line in living)),
        tasks_lagging=share(sum(line.lagging for line in living)),
        tasks_unhealthy=share(sum(line.unhealthy for line in living)),
        tasks_unknown=sum(line.unknown for line in living),
        jobs_by_state=dict(sorted(Counter(line.state for line in living).items())),
        tasks_by_state=dict(sorted(states.items())),
    )


def offenders(lines: Iterable[JobLine]) -> list[Offender]:
    """The jobs that need to be looked at first, the worst first, each with why."""
    found = [(line, why) for line in lines if line.state != DELETED and (why := _why(line))]
    worst = sorted(found, key=lambda pair: badness(pair[0]))[:OFFENDERS_MOST]
    return [made(Offender, line, why=why) for line, why in worst]


def _why(line: JobLine) -> str:
    said = []
    if line.state in STATES_WORST:
        said.append(line.state)
    states = line.tasks_by_state
    if failing := line.unhealthy - states.get(HELD, 0):
        said.append(f"{failing} of {line.tasks} tasks fail")
    if line.not_running:
        words = [f"{states[state]} {state}" for state in (UNHEARD, LOST) if state in states]
        more = f" ({', '.join(words)})" if words else ""
        said.append(f"{line.not_running} of {line.tasks} tasks do not run{more}")
    if line.lagging:
        said.append(f"{line.lagging} of {line.tasks} tasks lag")
    if line.alerts:
        said.append(f"{line.alerts} alert{'' if line.alerts == 1 else 's'}")
    return ", ".join(said)
