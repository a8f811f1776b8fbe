"""What changed in a span of the log, job by job, for who takes over a shift. Pure.

A job is told of once, with all that happened to it: who wanted what, what the scaler did and
whether it helped, which alerts are open. What needs somebody comes first. What a record says is its
one sentence, as everywhere.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated

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
from events.topics import TIERS
from events.wire.codec import Read
from turbine.read.answers.alert_kinds import SEVERITIES
from turbine.read.answers.digest_events import (
    PATHS_KEPT,
    ConfigStep,
    EndedAlert,
    FailedStep,
    OpenAlert,
    QuarantineStep,
    RefusedStep,
    ReleasedStep,
    ScalingStep,
    alert,
    event,
)
from turbine.read.answers.digest_tiers import KINDS as TIER_KINDS
from turbine.read.answers.digest_tiers import TierDigest, turns, wishes
from turbine.read.answers.fleet import Totals, totals
from turbine.read.answers.journal import body_of
from turbine.read.answers.lines import JobLine
from turbine.read.differences import differences
from turbine.read.plain import made, means
from turbine.read.sources.log import Log, Standing
from turbine.read.state.running import condition
from turbine.read.state.view import View

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
NEEDS, LOOK, FINE = "needs you", "look", "fine"
STANDS = (NEEDS, LOOK, FINE)
"""How a job is left at the end of the span: the worst first."""


UNSETTLED = frozenset({"behind", "syncing", "failing", "quarantined"})
"""Conditions of a job to which something is open although nothing happens to it."""


@dataclass(frozen=True, slots=True)
class JobDigest:
    """What happened to a job."""

    job: str
    stands: Annotated[str, means(f"At the end of the span: {', '.join(STANDS)}.")]
    open: Annotated[tuple[OpenAlert, ...], means("The gravest first.")]
    quarantine: QuarantineStep | None
    failed: Annotated[FailedStep | None, means("The last plan, where it came to nothing.")]
    waits_ms: Annotated[int | None, means("Since when at least what is expected is not in effect.")]
    scaling: tuple[ScalingStep, ...]
    config: tuple[ConfigStep, ...]
    rejected: tuple[RefusedStep, ...]
    cleared: tuple[EndedAlert, ...]
    released: tuple[ReleasedStep, ...]
    syncs: Annotated[dict[str, int], means("Plans: committed and failed.")]


@dataclass(frozen=True, slots=True)
class Digest:
    """What changed in a span of time, the worst first."""

    since_ms: int
    until_ms: int
    whole: Annotated[bool, means("False where so much happened that only the last is told.")]
    jobs: tuple[JobDigest, ...]
    quiet: Annotated[int, means("Jobs to which nothing happened.")]
    tiers: tuple[TierDigest, ...]
    totals: Annotated[Totals, means("At the end of the span.")]


@dataclass(slots=True)
class Story:
    """All that is told of one job, while it is read."""

    job: str
    touched: bool = False  # something about it lies within the span
    expected: dict[str, object] = field(default_factory=dict)
    open: dict[str, OpenAlert] = field(default_factory=dict)  # by name
    cleared: list[EndedAlert] = field(default_factory=list)
    config: list[ConfigStep] = field(default_factory=list)
    rejected: list[RefusedStep] = field(default_factory=list)
    scaling: dict[str, ScalingStep] = field(default_factory=dict)  # by change
    syncs: Counter[str] = field(default_factory=Counter)
    failed: FailedStep | None = None  # the last plan, unless a later one came into effect
    quarantine: QuarantineStep | None = None
    released: list[ReleasedStep] = field(default_factory=list)
    versions: LayerVersions | None = None  # of what is expected
    waits_ms: int | None = None  # since when that is not in effect

    def changed(self) -> bool:
        """Did anything happen, or is anything still open?"""
        return any(
            (self.open, self.cleared, self.config, self.rejected, self.scaling, self.syncs)
        ) or bool(self.quarantine or self.released or self.waits_ms is not None)


def digest(
    view: View,
    lines: Iterable[JobLine],
    decisions: Iterable[Standing],
    tiers: Iterable[TierDigest],
    since_ms: int,
    *,
    whole: bool = True,
) -> Digest:
    """The digest of the span that ends where the view does: of the jobs of these lines, by what
    stands in the journal about them."""
    known = list(lines)
    names = {line.job for line in known}
    jobs = told(
        [one for one in decisions if one.read.record.key in names],
        since_ms,
        view.last_ms,
        unsettled_in(view),
        open_in(view),
    )
    alive = {name for name in names if view.jobs[name].job.alive}
    quiet = len(alive.difference(job.job for job in jobs))
    return Digest(since_ms, view.last_ms, whole, tuple(jobs), quiet, tuple(tiers), totals(known))


def look(
    log: Log, view: View, lines: Iterable[JobLine], since_ms: int, job: str | None = None
) -> Digest:
    """The answer from all of the log; of one job without what happened to tiers."""
    end, tiers = view.at, list[TierDigest]()
    if job is None and TIERS in log.counts:
        chain = log.of_tiers(TIER_KINDS, end=end)
        tiers = turns(chain, wishes(log, since_ms, end), since_ms, view.last_ms)
    decisions = log.decisions(job=job, end=end, kinds=KINDS)
    known = [line for line in lines if job in (None, line.job)]
    return digest(view, known, decisions, tiers, since_ms)


def unsettled_in(view: View) -> set[str]:
    """The jobs whose config is not in effect."""
    return {
        name
        for name, seen in view.jobs.items()
        if seen.existed and seen.sync is not None and condition(seen.sync) in UNSETTLED
    }


def open_in(view: View) -> set[str]:
    """The jobs that are told of although nothing happened to them in the span."""
    return unsettled_in(view).union(alert.subject for alert in view.alerts.values())


def told(
    decisions: Iterable[Standing],
    since_ms: int,
    until_ms: int,
    unsettled: Collection[str],
    open_: Collection[str],
) -> list[JobDigest]:
    """Each job to which something happened, or about which something is open, the worst first."""
    stories: dict[str, Story] = {}
    for one in decisions:
        body = body_of(one)
        if not one.stands or body is None or one.read.at_ms > until_ms:
            continue
        job = one.read.record.key
        story = stories.setdefault(job, Story(job))
        within = one.read.at_ms >= since_ms
        story.touched |= within
        tell(story, one.read, body, within=within)
    for story in stories.values():
        # Who was deleted before it ever ran waits for nothing.
        story.waits_ms = story.waits_ms if story.job in unsettled else None
    found = (
        job_digest(story)
        for story in stories.values()
        if story.changed() and (story.touched or story.job in open_)
    )
    return sorted(found, key=worst_first)


def tell(story: Story, read: Read, body: Body, *, within: bool) -> None:
    """Adds a decision; of what was before the span only what it left behind is kept."""
    match body:
        case AlertRaised() | AlertCleared():
            alert(story.open, story.cleared, read, body, within=within)
        case JobConfigChanged() | OverrideExpired() | JobDeleted():
            _config(story, read, body, within=within)
        case JobConfigRejected() if within:
            story.rejected.append(event(RefusedStep, read, body))
        case ScalingDecided() | ScalingVerified() | ScalingReverted():
            _scaling(story, read, body, within=within)
        case SyncCommitted() | SyncFailed():
            _sync(story, read, body, within=within)
        case JobQuarantined():
            story.quarantine = event(QuarantineStep, read, body)
        case JobReleased():
            story.quarantine = None
            if within:
                story.released.append(event(ReleasedStep, read, body))
        case _:
            return


def _config(
    story: Story, read: Read, body: JobConfigChanged | OverrideExpired | JobDeleted, *, within: bool
) -> None:
    expected = {} if isinstance(body, JobDeleted) else json.loads(body.expected_json)
    found = differences(story.expected, expected)
    existed, story.expected = bool(story.expected), expected
    story.versions = body.versions
    story.waits_ms = read.at_ms if story.waits_ms is None else story.waits_ms
    if not within:
        return
    match body:
        case JobDeleted():
            what, author, reason = "deleted", body.author, body.reason
        case OverrideExpired():
            what, author, reason = "expired", "", "its time was over"
        case _:
            what, author, reason = "changed" if existed else "created", body.author, body.reason
    step = ConfigStep(
        at_ms=read.at_ms,
        id=read.record.id,
        text=sentence(body),
        what=what,
        layer=getattr(body, "layer", None),
        version=getattr(body, "version", None),
        author=author,
        reason=reason,
        expires_ms=body.expires_ms if isinstance(body, JobConfigChanged) else None,
        differences=tuple(found[:PATHS_KEPT]),
        more=max(0, len(found) - PATHS_KEPT),
    )
    story.config.append(step)


def _scaling(
    story: Story,
    read: Read,
    body: ScalingDecided | ScalingVerified | ScalingReverted,
    *,
    within: bool,
) -> None:
    text = sentence(body)
    step = ScalingStep(read.at_ms, read.record.id, text)
    if isinstance(body, ScalingDecided):
        if within:
            before = story.expected.get("tasks", 1) if story.expected else None
            story.scaling[body.change_id] = replace(
                step,
                policy=body.policy,
                mode=body.mode,
                action=body.action,
                diagnosis=body.diagnosis,
                explanation=body.explanation,
                tasks=body.final_tasks,
                tasks_before=before if isinstance(before, int) else None,
            )
        return
    # Of one that was decided before the shift began only its outcome belongs to it.
    known = story.scaling.get(body.change_id, step if within else None)
    if known is not None:
        outcome = "verified" if isinstance(body, ScalingVerified) else "reverted"
        story.scaling[body.change_id] = replace(
            known, outcome=outcome, because=body.explanation, became=text
        )


def _sync(story: Story, read: Read, body: SyncCommitted | SyncFailed, *, within: bool) -> None:
    if isinstance(body, SyncCommitted):
        story.failed, story.quarantine = None, None
        if body.versions == story.versions:
            story.waits_ms = None
    elif body.change_id is None:
        story.failed = event(FailedStep, read, body)
    if within:
        story.syncs["committed" if isinstance(body, SyncCommitted) else "failed"] += 1


def job_digest(story: Story) -> JobDigest:
    """What is told of a job."""
    found = sorted(
        story.open.values(), key=lambda alert: (SEVERITIES.index(alert.severity), alert.at_ms)
    )
    return made(
        JobDigest,
        story,
        stands=stand_of(story),
        open=tuple(found),
        scaling=tuple(story.scaling.values()),
        config=tuple(story.config),
        rejected=tuple(story.rejected),
        cleared=tuple(story.cleared),
        released=tuple(story.released),
        syncs=dict(sorted(story.syncs.items())),
    )


def stand_of(story: Story) -> str:
    """Whether somebody has to do something, might look, or all is well."""
    worst = {alert.severity for alert in story.open.values()}
    if story.quarantine or worst & {"critical", "warning"}:
        return NEEDS
    reverted = any(step.outcome == "reverted" for step in story.scaling.values())
    waits = story.waits_ms is not None
    return LOOK if worst or story.failed or waits or reverted or story.rejected else FINE


def worst_first(row: JobDigest) -> tuple[int, int, int, str]:
    """The order of jobs: how they are left, the gravest alert, how much happened."""
    grave = min((SEVERITIES.index(each.severity) for each in row.open), default=9)
    much = sum(map(len, (row.open, row.scaling, row.config, row.rejected, row.cleared)))
    return STANDS.index(row.stands), grave, -much, row.job
