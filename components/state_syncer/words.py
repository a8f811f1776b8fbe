"""What the state syncer says, put into words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from events.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobQuarantined,
    LayerVersions,
    SyncCommitted,
    SyncFailed,
)
from events.strict_json import canonical_json
from projections.ingress import Ask
from projections.syncs import Plan, Sync

ROUND_MS = 30_000
"""Until a plan that failed is tried again: the paper's round of the syncer."""
ALERT = "job-quarantined"
RUNBOOK = "docs/runbooks/job-quarantined.md"


def refused(row: Sync, ask: Ask, cause: str, explanation: str) -> SyncFailed:
    return SyncFailed(
        job=row.name,
        plan_id="",
        signature="",
        versions=row.versions,
        step=0,
        name="",
        cause=cause,
        explanation=explanation,
        failures=0,
        change_id=ask.id,
    )


def commit(
    row: Sync, tasks: int, running_json: str, state: str, change_id: str | None
) -> SyncCommitted:
    return SyncCommitted(
        job=row.name,
        plan_id=vector(row.versions),
        kind="simple",
        versions=row.versions,
        generation=row.running.generation if row.running is not None else row.generation,
        running_json=running_json,
        state=state,
        tasks=tasks,
        change_id=change_id,
        held=row.held,
    )


def failed(row: Sync, plan: Plan, cause: str, explanation: str, now_ms: int) -> SyncFailed:
    counts = cause != "overtaken"
    known = row.trouble
    before = known.failures if known is not None and known.signature == plan.signature else 0
    return SyncFailed(
        job=row.name,
        plan_id=plan.id,
        signature=plan.signature,
        versions=plan.versions,
        step=max(plan.at, 0),
        name=plan.step,
        cause=cause,
        explanation=explanation,
        failures=before + 1 if counts else 0,
        retry_ms=now_ms + ROUND_MS if counts else None,
    )


def quarantined(row: Sync, plan: Plan, failed: SyncFailed) -> Iterator[Body]:
    yield JobQuarantined(
        job=row.name,
        plan_id=plan.id,
        signature=plan.signature,
        versions=plan.versions,
        step=failed.step,
        name=failed.name,
        cause=failed.cause,
        explanation=failed.explanation,
        failures=failed.failures,
    )
    yield AlertRaised(
        subject=row.name,
        alert=ALERT,
        severity="critical",
        cause=(
            f"{row.name} could not be brought to version {vector(plan.versions)}:"
            f" {failed.name} failed {failed.failures} times, last because {failed.explanation}"
        ),
        runbook=RUNBOOK,
        details_json=canonical_json(
            {
                "versions": vector(plan.versions),
                "step": failed.name,
                "cause": failed.cause,
                "plan": plan.id,
            }
        ),
    )


def cleared(row: Sync, explanation: str) -> AlertCleared:
    return AlertCleared(subject=row.name, alert=ALERT, explanation=explanation)


def vector(versions: LayerVersions) -> str:
    """As people read it: base, provisioner, scaler, oncall."""
    return f"{versions.base}.{versions.provisioner}.{versions.scaler}.{versions.oncall}"
