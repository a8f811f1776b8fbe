"""Who is told that tasks of a job fail, and when that is over. Pure.

A task that fails is started again, and most failures pass: nobody is woken by them. Some do not: a
program that was refused, an input or offsets that are gone, a sixth failure in a row.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.generated.records import AlertCleared, AlertRaised, Body
from events.job_config.strict_json import canonical_json
from projections.reports import Report
from projections.syncs import FAILING, RUNNING, Sync

RUNBOOK = "docs/runbooks/tasks-failing.md"
STEADY_MS = 180_000
"""A task that was started again has to run as long before the alert is cleared: it waits a minute
between two tries, and may fail minutes after a start."""


def tell(row: Sync, now_ms: int) -> Iterator[Body]:
    """Raises the alert once, and clears it. While a plan is in progress its words are enough."""
    if row.plan is not None:
        return
    if not row.failing:
        found = [(at, report) for at, report in _current(row) if report.pressing]
        if found:
            yield _raised(row, found)
    elif steady_ms(row) <= now_ms and not any(report.failed for _, report in _current(row)):
        yield AlertCleared(subject=row.name, alert=FAILING, explanation=_why_over(row))


def steady_ms(row: Sync) -> int:
    """From when on all tasks have run for long enough, as far as is known."""
    return max(
        (report.at_ms + STEADY_MS for _, report in _current(row) if report.attempt > 1),
        default=0,
    )


def _current(row: Sync) -> Iterator[tuple[int, Report]]:
    """What is known of the tasks that run, or should."""
    running = row.running
    if running is None or running.state != RUNNING:
        return
    for at, report in row.tasks.items():
        if at < running.tasks and report.specs >= running.generation:
            yield at, report


def _raised(row: Sync, found: list[tuple[int, Report]]) -> AlertRaised:
    at, report = min(found, key=lambda one: one[0])
    others = f", and so have {len(found) - 1} others" if len(found) > 1 else ""
    again = "will not be started again" if report.final else "is started again in vain"
    return AlertRaised(
        subject=row.name,
        alert=FAILING,
        severity="critical",
        cause=f"{row.name}/{at} has failed and {again} ({report.cause}){others}: "
        f"{report.explanation}",
        runbook=RUNBOOK,
        details_json=canonical_json({"task": at, "cause": report.cause, "tasks": len(found)}),
    )


def _why_over(row: Sync) -> str:
    if row.running is None or row.running.state != RUNNING:
        return "the job does not run any more"
    return "all its tasks run again"
