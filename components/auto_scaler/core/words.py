"""What the auto scaler says, put into records. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from components.auto_scaler.core.evaluation import EvaluatedJob, evidence_of, finite, job_of
from components.auto_scaler.core.verdict import ScalingVerdict
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Constraint,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    Severity,
)
from events.job_config.strict_json import canonical_json
from projections.scaling.facts import Facts
from projections.scaling.row import (
    ADVICE,
    HOT_ALERT,
    MEMORY_ALERT,
    SLOW_ALERT,
    STRAGGLER_ALERT,
    STUCK_ALERT,
    OpenProposal,
    ScalingRow,
)
from turbine_client.identity import change_id

PATIENCE_MS = 60_000
"""Validity of a proposal: longer than a busy job service takes, and no longer, since one that was
refused is not followed by another before its time is over."""
COUNT_MOST = 2**31 - 1
TOLD_MOST = 16
"""Constraints and alternatives of one decision."""

ALERT_OF = {
    "straggler": STRAGGLER_ALERT,
    "skew": HOT_ALERT,
    "stuck-partition": STUCK_ALERT,
    "dependency": SLOW_ALERT,
    "memory": MEMORY_ALERT,
}
"""By the cause that was found; a cause that no alert names is told as the job's decline alone."""
SEVERITY: dict[str, Severity] = {ADVICE: "info", STUCK_ALERT: "critical"}


def named(row: ScalingRow, set_json: str, clear: tuple[str, ...], now_ms: int) -> str:
    """The id of a proposal: who asks for the same at the same version asks once."""
    said = hashlib.sha256(canonical_json([set_json, list(clear)]).encode()).hexdigest()[:12]
    version = row.config.versions.scaler
    return change_id(now_ms + PATIENCE_MS, f"auto-scaler.{version}.{said}")


def decided(
    row: ScalingRow,
    looked: EvaluatedJob,
    facts: Facts,
    asked: tuple[dict[str, Any], tuple[str, ...]],
    now_ms: int,
    *,
    tasks: int,
    constraints: tuple[Constraint, ...] = (),
) -> ScalingDecided:
    """What a verdict asks for."""
    verdict, expects = looked.verdict, looked.verdict.expects
    set_json, clear = canonical_json(asked[0]), asked[1]
    evidence = evidence_of(row, facts, looked.job, now_ms)
    if verdict.reads is not None:
        evidence["reads_records_per_s"] = verdict.reads
    return ScalingDecided(
        job=row.name,
        change_id=named(row, set_json, clear, now_ms),
        expected_version=row.config.versions.scaler,
        set_json=set_json,
        symptom=verdict.symptom,
        diagnosis=verdict.diagnosis,
        raw_tasks=min(max(verdict.raw, 0), COUNT_MOST),
        final_tasks=tasks,
        constraints=constraints[:TOLD_MOST],
        evidence_json=canonical_json(finite(evidence)),
        clear=clear,
        policy=facts.policy,
        action=verdict.action,
        alternatives=verdict.alternatives[:TOLD_MOST],
        explanation=verdict.explanation,
        mode=facts.mode,
        expected_records_per_s=None if expects is None else finite(expects.rate),
        verify_ms=None if expects is None else expects.by_ms,
    )


def declined(
    row: ScalingRow,
    verdict: ScalingVerdict,
    facts: Facts,
    now_ms: int,
    *,
    reason: str,
    explanation: str = "",
    constraints: tuple[Constraint, ...] = (),
    until_ms: int | None = None,
) -> ScalingDeclined:
    """Why a look comes to nothing."""
    evidence = evidence_of(row, facts, job_of(row, facts, now_ms), now_ms)
    if verdict.task is not None:
        evidence["task"] = verdict.task
    return ScalingDeclined(
        job=row.name,
        reason=reason,
        explanation=explanation or verdict.explanation,
        action=verdict.action,
        until_ms=verdict.until_ms if until_ms is None else until_ms,
        evidence_json=canonical_json(evidence),
        symptom=verdict.symptom,
        diagnosis=verdict.diagnosis,
        policy=facts.policy,
        mode=facts.mode,
        constraints=(*verdict.constraints, *constraints)[:TOLD_MOST],
    )


def given_up(
    row: ScalingRow, change: OpenProposal, reason: str, explanation: str
) -> ScalingDeclined:
    """A proposal, or the outcome of one, is waited for no more."""
    evidence = canonical_json({"decided_ms": change.decided_ms, "tasks": change.wanted.tasks})
    return ScalingDeclined(
        job=row.name,
        reason=reason,
        explanation=explanation,
        change_id=change.id,
        action=change.action,
        evidence_json=evidence,
        diagnosis=change.diagnosis,
        policy="unknown" if row.config.facts is None else row.config.facts.policy,
    )


def verified(row: ScalingRow, change: OpenProposal, explanation: str) -> ScalingVerified:
    """The change did what it was to do."""
    return ScalingVerified(row.name, change.id, explanation, _measures(row, change, {}))


def reverted(
    row: ScalingRow,
    change: OpenProposal,
    explanation: str,
    back: str | None,
    until_ms: int | None = None,
) -> ScalingReverted:
    """The change did not help."""
    measures = _measures(row, change, {"held_until_ms": until_ms})
    return ScalingReverted(row.name, change.id, explanation, measures, back)


def _measures(row: ScalingRow, change: OpenProposal, more: dict[str, Any]) -> str:
    newest, opened = row.learnt.known.seen.newest, row.done.open
    told = {
        "before": change.before._asdict(),
        "after": change.wanted._asdict(),
        "effect_ms": change.effect_ms,
        "before_records_per_s": None if opened is None else opened.could,
        "expected_records_per_s": None if opened is None else opened.expected,
        "rate_records_per_s": None if newest is None else newest.rate,
        "busy": None if newest is None else newest.busy,
        "lag_s": None if newest is None else newest.lag_s,
        **more,
    }
    return canonical_json(finite(told))


def raised(row: ScalingRow, alert: str, cause: str, details: dict[str, Any]) -> AlertRaised:
    """An alert about the job, with its severity and its runbook."""
    return AlertRaised(
        subject=row.name,
        alert=alert,
        severity=SEVERITY.get(alert, "warning"),
        cause=cause,
        runbook=f"docs/runbooks/{alert}.md",
        details_json=canonical_json(finite(details)),
    )


def cleared(row: ScalingRow, alert: str, explanation: str) -> AlertCleared:
    """The end of an alert about the job, and why."""
    return AlertCleared(subject=row.name, alert=alert, explanation=explanation)
