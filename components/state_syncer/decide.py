"""Brings running configs to expected ones, atomically, one plan a job at a time (Turbine III-B)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from components.runtime.core.component import Component
from components.state_syncer.core.failing_tasks import steady_ms, tell
from components.state_syncer.core.plan import plan_for
from components.state_syncer.core.unheard import moves_on, passed_over, quiet_ms
from components.state_syncer.core.words import (
    alerting,
    cleared,
    commit,
    failed,
    quarantined,
    refused,
    vector,
)
from events.generated.records import (
    Body,
    JobReleased,
    OffsetResetRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncPlanned,
    SyncStep,
    SyncStepDone,
    SyncStepStarted,
)
from events.job_config.reset import BadGoal, Reset, goal_of, stranger
from events.job_config.strict_json import canonical_json
from events.topics import JOURNAL, OPERATOR, TASKS
from projections.ingress import CROWDED, NO_ROOM, Ask, in_turn
from projections.kept_state import STATE_STAYS, StatefulJob, Stay, stays_behind
from projections.syncs import (
    DELETED,
    FOLDED_KINDS,
    PAUSED,
    RUNNING,
    START,
    STOP,
    FailureStreak,
    Sync,
    SyncPlan,
    apply,
    dump,
    fold,
    load,
)
from projections.waits import missing, tasks_of
from turbine_client.identity import valid_until_ms

CHECK = "check"
"""What is told to have failed where state stays; no plan has a step of that name."""
QUARANTINED_AT = 3
"""Failures of one signature in a row; a fourth try would most likely end like the others."""
DEADLINES_MS = {STOP: 180_000, START: 300_000}
"""A container that is lost is failed over after a minute, and its tasks end with it; a start waits
for packages and for its first batch."""
TEXT_CHARS = 4_096
NAMED = 10
"""Tasks that a sentence names; more of them are counted."""


@dataclass(frozen=True, slots=True)
class SyncRules:
    """What a logic of the past judged otherwise."""

    no_room: str = NO_ROOM
    unheard: bool = True
    first: bool = False  # what had been said to run was taken to run
    stays: Callable[[StatefulJob, str], Stay | None] = stays_behind


NEWEST = SyncRules()


def decide(row: Sync, now_ms: int, rules: SyncRules = NEWEST) -> Iterator[Body]:
    """All that is to be said of the job now; each word is looked at as if it stood already."""
    for turn in _TURNS:
        for body in turn(row, now_ms, rules):
            yield body
            row = apply(row, body)


def wake_ms(row: Sync, now_ms: int) -> int | None:
    """The deadline of the step, or the instant of the next try."""
    due = []
    if row.plan is not None and row.plan.deadline_ms is not None:
        due.append(row.plan.deadline_ms + 1)
    quiet_at_ms = quiet_ms(row, now_ms)
    if quiet_at_ms is not None:
        due.append(quiet_at_ms)
    if row.trouble is not None and row.quarantine is None:
        due.append(row.trouble.retry_ms)
    if row.failing and row.plan is None:
        due.append(steady_ms(row))
    return min((at_ms for at_ms in due if at_ms > now_ms), default=None)


# --- what operators ask for


def _requests(row: Sync, now_ms: int, rules: SyncRules) -> Iterator[Body]:
    for ask, crowded in in_turn(row.ingress):
        refusal = ("overloaded", CROWDED) if crowded else _precheck(row, ask, now_ms, rules)
        for body in _answer(row, ask, now_ms, rules, refusal):
            yield body
            row = apply(row, body)


def _answer(
    row: Sync, ask: Ask, now_ms: int, rules: SyncRules, refusal: tuple[str, str] | None
) -> Iterator[Body]:
    if refusal is not None:
        yield refused(row, ask, *refusal)
    elif isinstance(ask.body, ReleaseRequested):
        yield JobReleased(
            job=row.name,
            explanation="an operator wants it to be tried again",
            change_id=ask.id,
            author=ask.body.author[:TEXT_CHARS],
            reason=ask.body.reason[:TEXT_CHARS],
        )
    elif row.plan is None or row.plan.step != START:  # a start is brought to its end first
        if row.plan is not None:
            yield failed(row, row.plan, "overtaken", "an operator wants something else", now_ms)
        yield from _towards(_wished(row._replace(plan=None), ask, now_ms), now_ms, rules, ask.id)


def _wished(row: Sync, ask: Ask, now_ms: int) -> Sync:
    """The job as the operator wants it."""
    if isinstance(ask.body, OffsetResetRequested):
        return row._replace(reset=Reset(ask.id, ask.body.to, now_ms).text())
    return row._replace(held=not isinstance(ask.body, ResumeRequested))


def _precheck(row: Sync, ask: Ask, now_ms: int, rules: SyncRules) -> tuple[str, str] | None:
    if ask.passed or valid_until_ms(ask.id) < now_ms:
        return "too-late", "its validity passed before it could be decided; ask again"
    if ask.body is None:
        return "overloaded", rules.no_room
    if isinstance(ask.body, ReleaseRequested):  # of a deletion that failed, too
        if row.quarantine is None:
            said = f"{row.name} is not quarantined, so there is nothing to do"
            return "not-quarantined", said
        return None
    if not row.alive:
        return "no-such-job", f"there is no job {row.name}; a base change creates it"
    match ask.body:
        case OffsetResetRequested(to=to):
            return _unfit(row, to)
        case ResumeRequested() if not row.held:
            return "not-paused", f"no operator has paused {row.name}, so there is nothing to do"
        case _:
            return None


def _unfit(row: Sync, to: str) -> tuple[str, str] | None:
    """What a reset says that cannot be done, as far as the log tells; the rest tasks find out."""
    try:
        goal = goal_of(to)
    except BadGoal as bad:
        return "bad-goal", str(bad)
    inputs = json.loads(row.expected_json).get("inputs", ())
    said = stranger(goal, ((one["topic"], one.get("partitions")) for one in inputs))
    return ("no-such-input", said) if said else None


# --- turns


def _release(row: Sync, *_: object) -> Iterator[Body]:
    """A quarantine holds for one config; another one deserves a try."""
    if row.quarantine is not None and row.quarantine.versions != row.versions:
        said = "a newer config was accepted"
        yield JobReleased(job=row.name, explanation=said, versions=row.versions)


def _quarantine(row: Sync, *_: object) -> Iterator[Body]:
    """Level-triggered, as all is: who died after the third failure still owes the quarantine."""
    trouble = row.trouble
    if row.plan is not None or row.quarantine is not None or trouble is None:
        return
    if trouble.failures >= QUARANTINED_AT and trouble.versions == row.versions:
        yield quarantined(row, trouble)


def _alert(row: Sync, *_: object) -> Iterator[Body]:
    if row.quarantine is not None and not row.alerted:
        yield alerting(row, row.quarantine)
    elif row.quarantine is None and row.alerted:
        yield cleared(row, "the job was released")


def _overtake(row: Sync, now_ms: int, rules: SyncRules) -> Iterator[Body]:
    """A plan whose tasks have not been told to start gives way to a newer config; one that has
    come that far is brought to its end, so that the job is never left between two shapes. Unless
    nobody has heard of a task, and the newer one is for another place: perhaps there was none."""
    plan = row.plan
    if plan is None or plan.versions == row.versions:
        return
    said = "a newer config was accepted before the tasks were told to start"
    if plan.step == START:
        if not rules.unheard or not moves_on(row, plan):
            return
        said = "a newer config names another tier or other regions, and no task was heard of yet"
    yield failed(row, plan, "overtaken", said, now_ms)


def _step(row: Sync, now_ms: int, rules: SyncRules) -> Iterator[Body]:
    """One step after the other, as far as the reports in the log go."""
    while (plan := row.plan) is not None:
        if plan.done:
            body = _first(row, plan, now_ms, rules) if plan.at < 0 else _next(row, plan, now_ms)
        elif (never := _over(row, plan, now_ms, rules)) is not None:
            body = SyncStepDone(row.name, plan.id, plan.at, plan.step, outcome_json=never)
        else:
            yield from _give_up(row, plan, now_ms)
            return
        yield body
        row = apply(row, body)


def _over(row: Sync, plan: SyncPlan, now_ms: int, rules: SyncRules) -> str | None:
    """What came of the step if it is over; None while tasks are waited for."""
    waits = {at for at, _ in missing(row, plan)}
    if not waits:
        return "{}"
    never = passed_over(row, plan, now_ms) if rules.unheard else frozenset()
    return canonical_json({"unheard": len(waits)}) if waits <= never else None


def _begin(row: Sync, now_ms: int, rules: SyncRules) -> Iterator[Body]:
    if row.plan is None and row.quarantine is None:
        yield from _towards(row, now_ms, rules)


def _streak(row: Sync, signature: str) -> FailureStreak | None:
    """The failures in a row of plans of this signature."""
    return row.trouble if row.trouble and row.trouble.signature == signature else None


def _towards(
    row: Sync, now_ms: int, rules: SyncRules, change_id: str | None = None
) -> Iterator[Body]:
    """The plan that leads to what is wanted; without steps it is in effect at once."""
    way, running = plan_for(row, first=rules.first), row.running
    if way is None:
        if change_id is not None and running is not None:
            was = running.tasks, running.config_json, running.state
            yield commit(row, *was, change_id, first=rules.first)
        return
    if not way.steps and not (way.state != DELETED and rules.stays(row.kept, row.expected_json)):
        running_json = "{}" if way.state == DELETED else row.expected_json
        yield commit(row, way.tasks, running_json, way.state, change_id, first=rules.first)
        return
    streak = _streak(row, signature := way.signature(row))
    if streak is not None and now_ms < streak.retry_ms and change_id is None:
        return
    planned = SyncPlanned(
        job=row.name,
        plan_id=f"{vector(row.versions)}#{row.generation + 2}",
        signature=signature,
        kind="complex",
        intent=way.intent,
        to_versions=row.versions,
        # The one between is for the empty list that stops the tasks of the last one.
        generation=row.generation + 2,
        steps=tuple(SyncStep(name) for name in way.steps),
        expected_json=row.expected_json,
        from_versions=running.versions if running is not None else None,
        differences=way.differences,
        attempt=1 if streak is None else streak.failures + 1,
        change_id=change_id,
        held=row.held,
        reset_json=row.reset,
    )
    yield planned
    row = apply(row, planned)
    assert row.plan is not None
    yield _first(row, row.plan, now_ms, rules)


# --- steps


def _first(row: Sync, plan: SyncPlan, now_ms: int, rules: SyncRules) -> Body:
    """Nothing is begun that would leave behind what the job keeps. Looked at again by who finds the
    plan without its next word."""
    found = rules.stays(row.kept, plan.config_json) if plan.intent != "delete" else None
    if found is None:
        return _next(row, plan, now_ms)
    remedy = (
        f"; or have all inputs read anew (`turbine reset job {row.name} --to earliest --reason R`),"
        " and the job begins so without its state"
    )
    said = (found.sentence + remedy)[:TEXT_CHARS]
    return replace(failed(row, plan, STATE_STAYS, said, now_ms), name=CHECK)


def _next(row: Sync, plan: SyncPlan, now_ms: int) -> Body:
    at = plan.at + 1
    if at == len(plan.steps):
        state = _end_of(plan)
        return SyncCommitted(
            job=row.name,
            plan_id=plan.id,
            kind="complex",
            versions=plan.versions,
            generation=plan.generation,
            running_json=plan.config_json,
            state=state,
            tasks=0 if state == DELETED else tasks_of(plan.config_json),
            change_id=plan.change_id,
            held=row.held,
            reset_json=row.reset,
        )
    name = plan.steps[at]
    return SyncStepStarted(
        job=row.name,
        plan_id=plan.id,
        step=at,
        name=name,
        generation=plan.generation - (name != START),
        deadline_ms=now_ms + DEADLINES_MS[name],
        detail_json="{}",
    )


def _end_of(plan: SyncPlan) -> str:
    if plan.intent == "delete":
        return DELETED
    return RUNNING if START in plan.steps else PAUSED


def _give_up(row: Sync, plan: SyncPlan, now_ms: int) -> Iterator[Body]:
    """The step failed, if its time is over or a task will not be tried again."""
    lost = None
    if plan.step == START:
        lost = next(
            (
                (at, report)
                for at, report in sorted(row.tasks.items())
                if report.specs == plan.generation and report.final
            ),
            None,
        )
    if lost is not None:
        at, report = lost
        cause, said = "task-failed", f"task {at} failed for good: {report.explanation}"
    elif plan.deadline_ms is not None and now_ms > plan.deadline_ms:
        waits = [f"{at} ({why})" for at, why in missing(row, plan)]
        more = f" and {len(waits) - NAMED} more" if len(waits) > NAMED else ""
        cause = "step-timeout"
        said = f"{plan.step} took too long: tasks {', '.join(waits[:NAMED])}{more}"
    else:
        return
    yield failed(row, plan, cause, said[:TEXT_CHARS], now_ms)


_TURNS: tuple[Callable[[Sync, int, SyncRules], Iterator[Body]], ...] = (
    *(_release, _overtake, _step, _quarantine, _alert),
    *(_requests, _alert, _begin),
    *(_quarantine, _alert),  # of what was refused as it began
    lambda row, now_ms, _: tell(row, now_ms),
)

component: Component[Sync] = Component(
    name="state-syncer",
    logic="state-syncer/2",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TASKS, OPERATOR}),
    folds=FOLDED_KINDS,
    says=frozenset(
        {
            "SyncPlanned",
            "SyncStepStarted",
            "SyncStepDone",
            "SyncCommitted",
            "SyncFailed",
            "JobQuarantined",
            "JobReleased",
            "AlertRaised",
            "AlertCleared",
        }
    ),
    fold=fold,
    decide=decide,
    effects=lambda _: (),
    wake_ms=wake_ms,
    dump=dump,
    load=load,
)
