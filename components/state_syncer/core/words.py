"""What the state syncer says, put into words. Pure."""

from __future__ import annotations

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    JobQuarantined,
    LayerVersions,
    SyncCommitted,
    SyncFailed,
)
from events.job_config.strict_json import canonical_json
from projections.ingress import Ask
from projections.syncs import QUARANTINED, RUNNING, FailureStreak, Quarantine, Sync, SyncPlan

ROUND_MS = 30_000
"""Until a plan that failed is tried again: the paper's round of the syncer."""
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
    row: Sync, tasks: int, running_json: str, state: str, change_id: str | None, *, first: bool
) -> SyncCommitted:
    """Without a plan: of the list that runs, or above all that did."""
    runs = row.running if state == RUNNING or first else None
    return SyncCommitted(
        job=row.name,
        plan_id=vector(row.versions),
        kind="simple",
        versions=row.versions,
        generation=row.generation if runs is None else runs.generation,
        running_json=running_json,
        state=state,
        tasks=tasks,
        change_id=change_id,
        held=row.held,
        reset_json=row.reset,
    )


def failed(row: Sync, plan: SyncPlan, cause: str, explanation: str, now_ms: int) -> SyncFailed:
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


def quarantined(row: Sync, trouble: FailureStreak) -> JobQuarantined:
    return JobQuarantined(
        job=row.name,
        plan_id=trouble.plan_id,
        signature=trouble.signature,
        versions=trouble.versions,
        step=trouble.step,
        name=trouble.name,
        cause=trouble.cause,
        explanation=trouble.explanation,
        failures=trouble.failures,
    )


def alerting(row: Sync, why: Quarantine) -> AlertRaised:
    versions = vector(why.versions)
    return AlertRaised(
        subject=row.name,
        alert=QUARANTINED,
        severity="critical",
        cause=(
            f"{row.name} could not be brought to version {versions}: {why.step} failed too often,"
            f" last because {why.explanation}"
        ),
        runbook=RUNBOOK,
        details_json=canonical_json({"versions": versions, "step": why.step, "cause": why.cause}),
    )


def cleared(row: Sync, explanation: str) -> AlertCleared:
    return AlertCleared(subject=row.name, alert=QUARANTINED, explanation=explanation)


def vector(versions: LayerVersions) -> str:
    """As people read it: base, provisioner, scaler, oncall."""
    return f"{versions.base}.{versions.provisioner}.{versions.scaler}.{versions.oncall}"
