"""A job's row once a decision about it stands: the scaler's own, and those of others. Pure."""

from __future__ import annotations

import json
from typing import Any

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    OverrideExpired,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)
from events.job_config.strict_json import canonical_json
from projections.ingress import answer
from projections.scaling.actions import (
    ALERT,
    MOVE,
    REBALANCE,
    REVERT,
    VERIFIED,
    JobSize,
)
from projections.scaling.decision_memory import Done, PastDecision, done_after
from projections.scaling.facts import change_to, differing, facts_of, keys_of
from projections.scaling.row import (
    OWN_ALERTS,
    REVERTED,
    Config,
    LastAnnouncement,
    OpenProposal,
    OwedProposal,
    ScalingRow,
    SyncedState,
)
from turbine_client.identity import valid_until_ms

RESTARTS_MOST = 24
"""Instants of changes that are kept: more than any budget of an hour."""
REASON_CHARS = 512
UNSIZED = JobSize(1, 1, 0.0, 1)
DEEDS = frozenset({ALERT, MOVE, REBALANCE})
"""Verdicts of which something is remembered though no size comes of them."""


def apply(row: ScalingRow, body: Body, now_ms: int) -> ScalingRow:
    """The row once this stands; deciders look ahead of their own words with it."""
    match body:
        case ScalingDecided():
            return _decided(row, body, now_ms)
        case ScalingDeclined():
            return _declined(row, body, now_ms)
        case ScalingVerified():
            done = done_after(row.done, PastDecision(VERIFIED, "", False), UNSIZED, now_ms)
            return row._replace(done=done, change=None)
        case ScalingReverted():
            return _reverted(row, body, now_ms)
        case AlertRaised() | AlertCleared() if body.alert in OWN_ALERTS:
            raised = isinstance(body, AlertRaised)
            one = frozenset({body.alert})
            return row._replace(alerts=row.alerts | one if raised else row.alerts - one)
        case JobConfigChanged():
            return _configured(row, body)
        case OverrideExpired():
            config = _newer(row.config, body.versions, body.expected_json)
            pinned = keys_of(body.layer_json or "{}")
            return _overridden(row._replace(config=config._replace(oncall=pinned)))
        case JobConfigRejected(ingress="scaler"):
            return _rejected(row, body)
        case JobDeleted():
            config = Config(versions=body.versions)
            return row._replace(config=config, done=Done(), change=None, told=LastAnnouncement())
        case _:
            row = row._replace(change=_synced(row, body, now_ms))
            return row._replace(running=running_after(row.running, body))


# --- own words


def _decided(row: ScalingRow, body: ScalingDecided, now_ms: int) -> ScalingRow:
    tasks = body.final_tasks
    said = body.explanation[:REASON_CHARS]
    told = LastAnnouncement(body.action, body.symptom, body.diagnosis, tasks, now_ms, said)
    if body.mode != "act":
        return row._replace(told=told)
    before = row.size or UNSIZED
    wanted = size_after(before, body.set_json)
    deed = PastDecision(
        body.action,
        body.diagnosis,
        wanted != before,
        None,
        body.verify_ms,
        _number(body.evidence_json, "reads_records_per_s"),
        body.expected_records_per_s,
    )
    change = OpenProposal(
        body.change_id,
        body.set_json,
        body.clear,
        body.expected_version,
        body.action,
        body.diagnosis,
        before,
        wanted,
        body.verify_ms,
        now_ms,
    )
    return row._replace(
        told=told,
        done=done_after(row.done, deed, before, now_ms),
        change=change,
        owed=(*row.owed, owed_by(change, body.explanation)),
        restarts=(*row.restarts[1 - RESTARTS_MOST :], now_ms),
    )


def owed_by(change: OpenProposal, reason: str) -> OwedProposal:
    """The proposal that a change is."""
    said = reason[:REASON_CHARS]
    return OwedProposal(change.id, change.expected_version, change.set_json, change.clear, said)


def size_after(before: JobSize, set_json: str) -> JobSize:
    """The size once that is set."""
    made: Any = json.loads(set_json)
    resources = made.get("resources", {})
    return JobSize(
        made.get("tasks", before.tasks),
        made.get("threads_per_task", before.threads),
        resources.get("cpu_cores", before.cpu_cores),
        resources.get("memory_mb", before.memory_mb),
    )


def _declined(row: ScalingRow, body: ScalingDeclined, now_ms: int) -> ScalingRow:
    change = row.change
    if body.change_id is not None:
        if change is None or change.id != body.change_id:
            return row
        done = row.done._replace(open=None)
        retry_ms = valid_until_ms(body.change_id) + 1
        return row._replace(change=None, done=done, retry_ms=retry_ms)
    said = body.explanation[:REASON_CHARS]
    row = row._replace(
        told=LastAnnouncement(body.action, body.reason, body.diagnosis, 0, now_ms, said)
    )
    if body.action not in DEEDS or body.mode != "act":
        return row
    # Nothing was done about it: only its cause is remembered, and the next look finds the same.
    deed = PastDecision(ALERT, body.diagnosis, False)
    return row._replace(done=done_after(row.done, deed, row.size or UNSIZED, now_ms))


def _reverted(row: ScalingRow, body: ScalingReverted, now_ms: int) -> ScalingRow:
    until = _number(body.measures_json, "held_until_ms")
    sized = body.revert_change_id is not None
    deed = PastDecision(REVERT, "no-gain", sized, None if until is None else int(until))
    row = row._replace(done=done_after(row.done, deed, UNSIZED, now_ms))
    change = row.change
    if body.revert_change_id is None or change is None:
        return row._replace(change=None)
    back = _back(row, change, body.revert_change_id, now_ms)
    restarts = (*row.restarts[1 - RESTARTS_MOST :], now_ms)
    owed = (*row.owed, owed_by(back, body.explanation))
    told = LastAnnouncement(REVERT, REVERTED, change.diagnosis, change.before.tasks, now_ms)
    return row._replace(change=back, owed=owed, restarts=restarts, told=told)


def _back(row: ScalingRow, change: OpenProposal, name: str, now_ms: int) -> OpenProposal:
    """The proposal that takes a change back: what it had set becomes what it was."""
    have = row.size or change.wanted
    return OpenProposal(
        name,
        canonical_json(change_to(change.before, have)),
        (),
        row.config.versions.scaler,
        REVERT,
        change.diagnosis,
        have,
        change.before,
        None,
        now_ms,
    )


def _number(text: str, name: str) -> float | None:
    plain: Any = json.loads(text)
    found = plain.get(name) if isinstance(plain, dict) else None
    return float(found) if isinstance(found, int | float) else None


# --- the job service's


def _newer(config: Config, versions: LayerVersions, expected_json: str) -> Config:
    return config._replace(versions=versions, facts=facts_of(expected_json))


def _configured(row: ScalingRow, body: JobConfigChanged) -> ScalingRow:
    config = _newer(row.config, body.versions, body.expected_json)
    match body.layer:
        case "base":
            config = config._replace(alive=True)
        case "oncall":
            config = config._replace(oncall=keys_of(body.layer_json))
        case "scaler":
            config = config._replace(scaler=keys_of(body.layer_json))
            row = row._replace(ingress=answer(row.ingress, body.change_id))
        case _:
            config = config._replace()
    change = row.change
    if change is not None and body.change_id == change.id:
        change = change._replace(version=body.version)
    return _overridden(row._replace(config=config, change=change))


def _overridden(row: ScalingRow) -> ScalingRow:
    """Whoever changes what we had set has the last word: there is nothing left to be held against
    what was expected."""
    change, size = row.change, row.size
    if change is None or change.version is None or size is None:
        return row
    asked = keys_of(change.set_json)
    gone = bool(differing(change.wanted, size) & asked)
    return row._replace(change=change._replace(overridden=change.overridden or gone))


def _rejected(row: ScalingRow, body: JobConfigRejected) -> ScalingRow:
    row = row._replace(ingress=answer(row.ingress, body.change_id))
    change = row.change
    if change is None or change.id != body.change_id:
        return row
    return row._replace(change=change._replace(refused=body.reason or "rejected"))


# --- the state syncer's


def running_after(running: SyncedState, body: Body) -> SyncedState:
    """How far the syncer has come."""
    match body:
        case SyncPlanned():
            return running._replace(plan=body.plan_id)
        case SyncCommitted():
            return SyncedState(body.versions, body.state, "", running.quarantined)
        case SyncFailed(change_id=None, plan_id=running.plan):
            return running._replace(plan="")
        case JobQuarantined():
            return running._replace(quarantined=True)
        case JobReleased():
            return running._replace(quarantined=False)
        case _:
            return running


def _synced(row: ScalingRow, body: Body, now_ms: int) -> OpenProposal | None:
    """Our change is in effect with the first commit of its version."""
    change = row.change
    if change is None or not isinstance(body, SyncCommitted) or change.effect_ms is not None:
        return change
    if change.version is None or body.versions.scaler < change.version:
        return change
    # What takes another change back is over with it: nothing is expected of it.
    return None if change.action == REVERT else change._replace(effect_ms=now_ms)
