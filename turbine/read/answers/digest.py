"""What changed in a span of the log, job by job, for who takes over a shift. Pure.

A job is told of once, with all that happened to it: who wanted what, what the scaler did and
whether it helped, which alerts are open. What needs somebody comes first. What a record says is its
one sentence, as everywhere.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    SyncFailed,
)
from events.sentences import sentence
from turbine.read.answers.alert_kinds import SEVERITIES
from turbine.read.answers.journal import body_of
from turbine.read.differences import differences
from turbine.read.plain import plain
from turbine.read.sources.log import Standing

Row = dict[str, Any]

KINDS = frozenset(
    one.__name__
    for one in (
        AlertCleared,
        AlertRaised,
        JobConfigChanged,
        JobConfigRejected,
        JobDeleted,
        JobQuarantined,
        JobReleased,
        OverrideExpired,
        ScalingDecided,
        ScalingReverted,
        ScalingVerified,
        SyncCommitted,
        SyncFailed,
    )
)
PATHS_KEPT = 5
"""Of one change: a config that is new differs in all of its paths."""
NEEDS, LOOK, FINE = "needs you", "look", "fine"
STANDS = (NEEDS, LOOK, FINE)
"""How a job is left at the end of the span: the worst first."""


@dataclass(slots=True)
class Story:
    """All that is told of one job, while it is read."""

    job: str
    expected: Row = field(default_factory=dict)
    open: dict[str, Row] = field(default_factory=dict)  # alerts, by name
    cleared: list[Row] = field(default_factory=list)
    config: list[Row] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    scaling: dict[str, Row] = field(default_factory=dict)  # by change
    syncs: Counter[str] = field(default_factory=Counter)
    failed: Row | None = None  # the last plan without effect, unless a later one came into effect
    quarantine: Row | None = None
    released: list[Row] = field(default_factory=list)
    versions: LayerVersions | None = None  # of what is expected
    waits_ms: int | None = None  # since when that is not in effect

    def changed(self) -> bool:
        """Did anything happen, or is anything still open?"""
        return any(
            (self.open, self.cleared, self.config, self.rejected, self.scaling, self.syncs)
        ) or bool(self.quarantine or self.released or self.waits_ms is not None)


def digest(
    decisions: Iterable[Standing], tiers: Iterable[Row], since_ms: int, until_ms: int
) -> Row:
    """The digest of what stands in the journal, with what is told of tiers (`digest_tiers`)."""
    stories: dict[str, Story] = {}
    for one in decisions:
        body = body_of(one)
        if not one.stands or body is None or one.read.at_ms > until_ms:
            continue
        job = one.read.record.key
        story = stories.setdefault(job, Story(job))
        tell(story, one, body, within=one.read.at_ms >= since_ms)
    told = [to_plain(story) for story in stories.values() if story.changed()]
    return {
        "since_ms": since_ms,
        "until_ms": until_ms,
        "jobs": sorted(told, key=worst_first),
        "quiet": sum(bool(story.expected) and not story.changed() for story in stories.values()),
        "tiers": list(tiers),
    }


def tell(story: Story, one: Standing, body: Body, *, within: bool) -> None:
    """Adds a decision; of what was before the span only what it left behind is kept."""
    at: Row = {"at_ms": one.read.at_ms, "id": one.read.record.id, "text": sentence(body)}
    match body:
        case AlertRaised() | AlertCleared():
            _alert(story, at, body, within=within)
        case JobConfigChanged() | OverrideExpired() | JobDeleted():
            _config(story, at, body, within=within)
        case JobConfigRejected() if within:
            story.rejected.append(at | _some(body, "ingress", "reason", "author", "path"))
        case ScalingDecided() | ScalingVerified() | ScalingReverted():
            _scaling(story, at, body, within=within)
        case SyncCommitted() | SyncFailed():
            _sync(story, at, body, within=within)
        case JobQuarantined():
            story.quarantine = at | {"cause": body.cause, "explanation": body.explanation}
        case JobReleased():
            story.quarantine = None
            if within:
                story.released.append(at | _some(body, "author", "reason"))
        case _:
            return


def _some(body: Body, *names: str) -> Row:
    return {name: getattr(body, name) for name in (*names, "explanation")}


def _alert(story: Story, at: Row, body: AlertRaised | AlertCleared, *, within: bool) -> None:
    if isinstance(body, AlertRaised):
        names = ("alert", "severity", "cause", "runbook")
        before = story.open.get(body.alert)
        told = {name: getattr(body, name) for name in names}
        # One that is raised again, with another cause, is open since it was raised first.
        story.open[body.alert] = at | told | ({} if before is None else {"at_ms": before["at_ms"]})
        return
    raised = story.open.pop(body.alert, None)
    if within:
        since = {"raised_ms": None if raised is None else raised["at_ms"]}
        story.cleared.append(at | since | {"alert": body.alert, "explanation": body.explanation})


def _config(
    story: Story, at: Row, body: JobConfigChanged | OverrideExpired | JobDeleted, *, within: bool
) -> None:
    expected: Row = {} if isinstance(body, JobDeleted) else json.loads(body.expected_json)
    found = differences(story.expected, expected)
    existed, story.expected = bool(story.expected), expected
    story.versions = body.versions
    story.waits_ms = at["at_ms"] if story.waits_ms is None else story.waits_ms
    if not within:
        return
    match body:
        case JobDeleted():
            what, author, reason = "deleted", body.author, body.reason
        case OverrideExpired():
            what, author, reason = "expired", "", "its time was over"
        case _:
            what, author, reason = "changed" if existed else "created", body.author, body.reason
    story.config.append(
        at
        | {
            "what": what,
            "layer": getattr(body, "layer", None),
            "version": getattr(body, "version", None),
            "author": author,
            "reason": reason,
            "expires_ms": body.expires_ms if isinstance(body, JobConfigChanged) else None,
            "differences": plain(found[:PATHS_KEPT]),
            "more": max(0, len(found) - PATHS_KEPT),
        }
    )


def _scaling(
    story: Story, at: Row, body: ScalingDecided | ScalingVerified | ScalingReverted, *, within: bool
) -> None:
    if isinstance(body, ScalingDecided):
        if within:
            tasks = story.expected.get("tasks", 1) if story.expected else None
            told = _some(body, "policy", "mode", "action", "diagnosis")
            size = {"tasks": body.final_tasks, "tasks_before": tasks}
            end = {"outcome": None, "because": "", "became": None}
            story.scaling[body.change_id] = at | told | size | end
        return
    known = story.scaling.get(body.change_id)
    if known is None:
        if not within:
            return
        # It was decided before the shift began: only its outcome belongs to it.
        known = story.scaling.setdefault(
            body.change_id, at | {"action": "", "explanation": "", "tasks": None}
        )
    known["outcome"] = "verified" if isinstance(body, ScalingVerified) else "reverted"
    known["because"], known["became"] = body.explanation, at["text"]


def _sync(story: Story, at: Row, body: SyncCommitted | SyncFailed, *, within: bool) -> None:
    if isinstance(body, SyncCommitted):
        story.failed, story.quarantine = None, None
        if body.versions == story.versions:
            story.waits_ms = None
    elif body.change_id is None:
        story.failed = at | _some(body, "name", "cause", "failures")
    if within:
        story.syncs["committed" if isinstance(body, SyncCommitted) else "failed"] += 1


def to_plain(story: Story) -> Row:
    """What is told of a job, as JSON."""
    row: Row = {
        "job": story.job,
        "stands": FINE,
        "open": sorted(
            story.open.values(), key=lambda one: (SEVERITIES.index(one["severity"]), one["at_ms"])
        ),
        "quarantine": story.quarantine,
        "failed": story.failed,
        "waits_ms": story.waits_ms,
        "scaling": list(story.scaling.values()),
        "config": story.config,
        "rejected": story.rejected,
        "cleared": story.cleared,
        "released": story.released,
        "syncs": dict(sorted(story.syncs.items())),
    }
    return row | {"stands": stand_of(row)}


def stand_of(row: Mapping[str, Any]) -> str:
    """Whether somebody has to do something, might look, or all is well."""
    worst = {one["severity"] for one in row["open"]}
    if row["quarantine"] or worst & {"critical", "warning"}:
        return NEEDS
    reverted = any(one["outcome"] == "reverted" for one in row["scaling"])
    waits = row["waits_ms"] is not None
    return LOOK if worst or row["failed"] or waits or reverted or row["rejected"] else FINE


def worst_first(row: Mapping[str, Any]) -> tuple[int, int, int, str]:
    """The order of jobs: how they are left, the gravest alert, how much happened."""
    grave = min((SEVERITIES.index(one["severity"]) for one in row["open"]), default=9)
    much = sum(len(row[name]) for name in ("open", "scaling", "config", "rejected", "cleared"))
    return STANDS.index(row["stands"]), grave, -much, row["job"]
