"""Decides with how much each job runs, and says why (Turbine V). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.auto_scaler.core.acting import act, turn
from components.auto_scaler.core.closing import close, due_ms, overtaken
from components.auto_scaler.core.doubt import doubt
from components.auto_scaler.core.evaluation import OLD, EvaluatedJob, job_of, looked
from components.auto_scaler.core.verdict import ScalingVerdict
from components.auto_scaler.core.words import (
    ALERT_OF,
    cleared,
    decided,
    declined,
    given_up,
    raised,
)
from components.runtime.core.component import Component, Effect
from events.generated.records import Body, ConfigChangeProposed, ScalingDecided
from events.topics import GRANTS, JOURNAL, LOADS, PROFILES
from projections.scaling.actions import (
    ALERT,
    MOVE,
    REBALANCE,
    SCALE_DOWN,
)
from projections.scaling.apply import apply
from projections.scaling.facts import PAUSED as PAUSE
from projections.scaling.facts import TASKS, Facts, change_to
from projections.scaling.fold import ASKS, fold
from projections.scaling.row import ADVICE, RUNNING, LastAnnouncement, ScalingRow
from projections.scaling.row_json import dump, load

STOP, RESUME = "stop", "resume"
SHORT = "tier-short"
AUTHOR = "auto-scaler"
UNSURE = frozenset({"blind", "metrics-missing", "settling", "held"})
"""Reasons with which nobody can say that what was told before is over."""
PASSING = frozenset({"budget", "staggered", "oncall"})
"""Reasons for which input is not shared anew that need no person, or have one already."""


def decide(row: ScalingRow, now_ms: int) -> Iterator[Body]:
    """All that is to be said of the job now; each word is looked at as if it stood already."""
    for said in (close, _make_way, _obey, _look, _alert):
        for body in said(row, now_ms):
            yield body
            row = apply(row, body, now_ms)


def effects(row: ScalingRow) -> Iterator[Effect]:
    """Proposals that standing decisions owe."""
    for owed in row.owed:
        body = ConfigChangeProposed(
            change_id=owed.id,
            job=row.name,
            expected_version=owed.expected_version,
            set_json=owed.set_json,
            clear=owed.clear,
            author=AUTHOR,
            reason=owed.reason,
        )
        yield Effect(ASKS, owed.id, body)


def wake_ms(row: ScalingRow, now_ms: int) -> int | None:
    """When something is due although nothing arrives."""
    facts, newest = row.config.facts, row.learnt.known.seen.newest
    if facts is None:
        return None
    due = [row.retry_ms, row.grant.until_ms, due_ms(row)]
    if newest is not None:
        due.append(newest.at_ms + OLD * facts.interval_ms + 1)
    if row.told.reason == "staggered":
        due.append(turn(row.name, facts.interval_ms, now_ms))
    return min((at_ms for at_ms in due if at_ms is not None and at_ms > now_ms), default=None)


# --- what the capacity manager asks for


def _make_way(row: ScalingRow, now_ms: int) -> Iterator[Body]:
    """A change that was accepted is waited for no more when something has to be obeyed."""
    facts, change = row.config.facts, row.change
    if facts is None or change is None or change.version is None:
        return
    asked = _demand(row, facts, now_ms)
    if asked is not None and _key(asked[1]) not in row.config.oncall:
        said = f"its outcome is not waited for: {asked[0].explanation}"
        yield given_up(row, change, "overtaken", said)


def _obey(row: ScalingRow, now_ms: int) -> Iterator[Body]:
    """A job that has to stop stops, and comes back when it may; who set the size does not matter,
    but for people."""
    facts = row.config.facts
    if facts is None or row.change is not None or row.owed or now_ms < row.retry_ms:
        return
    asked = _demand(row, facts, now_ms)
    if asked is None:
        return
    found, made = asked
    if _key(made) in row.config.oncall:
        if (row.told.action, row.told.reason) != (found.action, "oncall"):
            said = f"people have set {_key(made)}: it is theirs until they clear it"
            yield declined(row, found, facts, now_ms, reason="oncall", explanation=said)
        return
    tasks = int(str(made.get(TASKS, facts.size.tasks)))
    looked_at = EvaluatedJob(found, job_of(row, facts, now_ms))
    clear = () if made else (PAUSE,)
    # What has to be obeyed is carried out in every mode of the policy, which has no part in it.
    acting = facts._replace(mode="act")
    yield decided(row, looked_at, acting, (made, clear), now_ms, tasks=tasks)


def _key(made: dict[str, Any]) -> str:
    return TASKS if TASKS in made else PAUSE


def _demand(
    row: ScalingRow, facts: Facts, now_ms: int
) -> tuple[ScalingVerdict, dict[str, Any]] | None:
    """What is asked for and is not so yet, with what has to be set for it."""
    grant, holds = row.grant, row.grant.holds(now_ms)
    paused_by_us = PAUSE in row.config.scaler
    if grant.stop and holds and not paused_by_us and not facts.paused:
        said = f"its tier has no room: {grant.explanation}"
        return ScalingVerdict(STOP, SHORT, "preempted", said, facts.size.tasks), {PAUSE: True}
    if paused_by_us and not (grant.stop and holds):
        said = f"its tier has room: {grant.explanation}"
        return ScalingVerdict(RESUME, SHORT, "restored", said, facts.size.tasks), {}
    most = max(1, grant.tasks_max or 1)
    if grant.shrink and holds and grant.tasks_max is not None and facts.size.tasks > most:
        said = f"its tier has no room for more: {grant.explanation}"
        made = change_to(facts.size._replace(tasks=most), facts.size)
        return ScalingVerdict(SCALE_DOWN, SHORT, "preempted", said, facts.size.tasks), made
    return None


# --- what the policy wants


def _judged(row: ScalingRow) -> bool:
    """Does the job run as it is to, so that its minutes say something about its size?"""
    facts, running = row.config.facts, row.running
    if facts is None or facts.mode == "off" or facts.paused or running.state != RUNNING:
        return False
    if running.plan or running.quarantined or running.versions != row.config.versions:
        return False
    # One of ours that is on its way is waited for; once it is in effect, what is seen is of it.
    waits = row.change is not None and row.change.effect_ms is None
    return row.learnt.known.seen.newest is not None and not waits


def _looks(row: ScalingRow, facts: Facts, now_ms: int) -> bool:
    """Does the policy look now? What a job has to give up and people keep for it is not made more
    of."""
    if not _judged(row) or row.owed or now_ms < row.retry_ms:
        return False
    return _demand(row, facts, now_ms) is None


def _look(row: ScalingRow, now_ms: int) -> Iterator[Body]:
    """What the policy finds. Another size that is needed before the last one had its time ends it,
    if the next change can be made at once; else the outcome of the last one is told first."""
    facts = row.config.facts
    if facts is None or not _looks(row, facts, now_ms):
        return
    found = looked(row, facts, now_ms)
    if row.change is not None and _changes(found.verdict, facts):
        follows = facts.mode == "act" and any(
            isinstance(body, ScalingDecided) for body in act(row, found, facts, now_ms)
        )
        if not follows:
            return
        end = overtaken(row, found.verdict, facts)
        yield end
        row = apply(row, end, now_ms)
        found = looked(row, facts, now_ms)  # it remembers no open change any more
    yield from act(row, found, facts, now_ms)


def _changes(verdict: ScalingVerdict, facts: Facts) -> bool:
    return verdict.action == REBALANCE or verdict.size not in {None, facts.size}


# --- who has to know


def _alert(row: ScalingRow, _: int) -> Iterator[Body]:
    """Alerts of what a person has to mend, by what was told last; one is over when another look has
    found something else."""
    facts, told = row.config.facts, row.told
    halted = row.running.state not in {"", RUNNING}
    if facts is None or facts.mode == "off" or facts.paused or halted:
        for name in sorted(row.alerts):
            yield cleared(row, name, "the scaler does not look at the job any more")
        return
    if told.reason in UNSURE:
        return
    wanted = _alert_of(told, facts)
    if wanted and wanted not in row.alerts:
        details = {"action": told.action, "reason": told.reason, "diagnosis": told.diagnosis}
        yield raised(row, wanted, f"{row.name}: {told.said}", details)
    for name in sorted(row.alerts - {wanted}):
        yield cleared(row, name, f"the last look found something else: {told.said}")


def _alert_of(told: LastAnnouncement, facts: Facts) -> str:
    """Its name; "" for none."""
    if told.size:  # it is mended by a change, or one is advised
        return ADVICE if facts.mode == "advise" and told.reason != SHORT else ""
    blocked = told.action in {MOVE, ALERT} or (
        told.action == REBALANCE and told.reason not in PASSING
    )
    return ALERT_OF.get(told.diagnosis, "") if blocked else ""


SAYS = frozenset(
    {
        "ScalingDecided",
        "ScalingDeclined",
        "ScalingVerified",
        "ScalingReverted",
        "AlertRaised",
        "AlertCleared",
    }
)
component: Component[ScalingRow] = Component(
    name="auto-scaler",
    logic="auto-scaler/2",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, LOADS, ASKS, GRANTS, PROFILES}),
    folds=SAYS
    | frozenset(
        {
            "TaskLoadReported",
            "ConfigChangeProposed",
            "CapacityGranted",
            "PreemptionRequested",
            "WorkloadProfiled",
            "JobConfigChanged",
            "JobConfigRejected",
            "OverrideExpired",
            "JobDeleted",
            "SyncPlanned",
            "SyncCommitted",
            "SyncFailed",
            "JobQuarantined",
            "JobReleased",
        }
    ),
    says=SAYS,
    fold=fold,
    decide=decide,
    effects=effects,
    wake_ms=wake_ms,
    dump=dump,
    load=load,
    doubt=doubt,
)
