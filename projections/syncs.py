"""What is known of how a job's running config follows its expected one (Turbine III-B). Pure.

Read from the journal, from what tasks report and from what operators ask for. The state syncer and
the task service hold the same row: what either says, the other reads there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from immutables import Map

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobConfigChanged,
    JobDeleted,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    OffsetResetRequested,
    OverrideExpired,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
    TaskFailed,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from events.wire.codec import Read
from projections import kept_state as keeping
from projections.ingress import Ingress, IngressRoom, admit, answer, dump_ingress, load_ingress
from projections.kept_state import StatefulJob, state_after, wish_of
from projections.reports import Report, from_floor, newest, report_of

NOTHING = LayerVersions(0, 0, 0, 0)
QUARANTINED = "job-quarantined"
"""The alert of a job that is left alone."""
UNLISTED = "no-task-specs"
"""The alert of a job whose tasks cannot be listed."""
FAILING = "tasks-failing"
"""The alert of a job whose tasks fail for good, or again and again."""
RUNNING, PAUSED, DELETED = "running", keeping.PAUSED, keeping.DELETED
STOP, START = "stop", "start"

_REQUESTS = (PauseRequested, ResumeRequested, ReleaseRequested, OffsetResetRequested)
_REPORTS = (TaskStarted, TaskStopped, TaskFailed)

FOLDED_KINDS = frozenset(
    one.__name__
    for one in (
        *_REQUESTS,
        *_REPORTS,
        JobConfigChanged,
        OverrideExpired,
        JobDeleted,
        SyncPlanned,
        SyncStepStarted,
        SyncStepDone,
        SyncCommitted,
        SyncFailed,
        JobQuarantined,
        JobReleased,
        TaskSpecsPublished,
        AlertRaised,
        AlertCleared,
    )
)


class RunningConfig(NamedTuple):
    """What was last brought fully into effect."""

    versions: LayerVersions
    config_json: str
    state: str  # running, paused or deleted
    tasks: int
    plan_id: str
    generation: int  # of the list whose tasks have its shape
    reset: str = ""  # the wish to read anew that was in effect then, as the row has it
    said: int = 0  # the generation that its commit told


class SyncPlan(NamedTuple):
    """A plan that is in progress."""

    id: str
    signature: str
    intent: str
    versions: LayerVersions
    config_json: str
    generation: int
    steps: tuple[str, ...]
    attempt: int
    change_id: str | None
    at: int = -1  # the step that was started last
    done: bool = True  # whether that one is finished
    deadline_ms: int | None = None

    @property
    def step(self) -> str:
        """The name of the step that was started last; "" before the first one."""
        return self.steps[self.at] if 0 <= self.at < len(self.steps) else ""


class FailureStreak(NamedTuple):
    """How often plans of one signature failed in a row."""

    signature: str
    failures: int
    retry_ms: int
    plan_id: str
    versions: LayerVersions
    step: int
    name: str
    cause: str
    explanation: str


class Quarantine(NamedTuple):
    """Why the job is left alone until somebody releases it or its config changes."""

    versions: LayerVersions
    step: str
    cause: str
    explanation: str


class ListedPlan(NamedTuple):
    """A list of task specs that stands as a whole."""

    plan_id: str
    generation: int
    tasks: int
    versions: LayerVersions


class Sync(NamedTuple):
    """One job on its way from expected to running; never forgotten."""

    name: str
    alive: bool = False
    versions: LayerVersions = NOTHING
    expected_json: str = "{}"
    held: bool = False  # an operator wants it to stand still
    reset: str = ""  # from where an operator wants inputs to be read anew, the last one (`Reset`)
    running: RunningConfig | None = None
    plan: SyncPlan | None = None
    trouble: FailureStreak | None = None
    quarantine: Quarantine | None = None
    generation: int = 0  # the greatest that a plan or a list has named
    listed: ListedPlan | None = None  # the last list that stands
    told_ms: int = 0  # when it came to stand, by the journal
    live: ListedPlan | None = None  # the last one that had tasks
    parts: int = 0  # of a list that does not stand yet
    alerted: bool = False  # somebody was told of the quarantine
    unlisted: str = ""  # a plan for which no list could be made; an alert tells why
    failing: bool = False  # somebody was told that tasks fail
    floor: int = 0  # reports of an older generation are of no interest any more
    tasks: Map[int, Report] = Map()
    state: tuple[int, bool] = (0, False)  # a generation, and whether its tasks keep any
    left: tuple[str, str] = ("", "")  # of a job that is gone: what it ran last, and by which wish
    ingress: Ingress = Ingress()

    @property
    def keeps_state(self) -> bool:
        """Do its tasks keep anything from one batch to the next, as far as they have said?"""
        return self.state[1]

    @property
    def kept(self) -> StatefulJob:
        """What of it tells whether state could go along to another config."""
        running, wish = self.running, wish_of(self.reset)
        if running is None or running.state == DELETED:
            return StatefulJob(*self.left, wish, self.state)
        return StatefulJob(running.config_json, wish_of(running.reset), wish, self.state)


def fold(row: Sync | None, read: Read, room: IngressRoom | None = None) -> Sync:
    """The row after the record. Total; what does not concern it changes nothing."""
    record = read.record
    body = record.body
    if row is None:
        row = Sync(record.key)
    if isinstance(body, _REQUESTS):
        size = len(record.value)
        ingress, _ = admit(row.ingress, record.id, body, size, read.at_ms, room=room)
        return row._replace(ingress=ingress)
    if isinstance(body, _REPORTS):
        report = report_of(body, read.at_ms)
        row = row._replace(tasks=newest(row.tasks, body.task, report, row.floor))
        if isinstance(body, TaskStarted) and body.keeps_state is not None:
            return row._replace(state=max(row.state, (body.generation.specs, body.keeps_state)))
        return row
    after = row if body is None else apply(row, body)
    return after if after.listed is row.listed else after._replace(told_ms=read.at_ms)


def apply(row: Sync, body: Body) -> Sync:
    """The row once a decision about it stands; deciders look ahead of their own words with it."""
    match body:
        case JobConfigChanged() | OverrideExpired():
            return row._replace(
                alive=row.alive or getattr(body, "layer", "") == "base",
                versions=body.versions,
                expected_json=body.expected_json,
            )
        case JobDeleted():
            return row._replace(
                alive=False, held=False, reset="", versions=body.versions, expected_json="{}"
            )
        case SyncPlanned():
            return _planned(row, body)
        case SyncStepStarted() | SyncStepDone():
            return _stepped(row, body)
        case SyncCommitted():
            return _committed(row, body)
        case SyncFailed():
            return _failed(row, body)
        case JobQuarantined():
            quarantine = Quarantine(body.versions, body.name, body.cause, body.explanation)
            return row._replace(quarantine=quarantine)
        case JobReleased():
            return _answered(row._replace(quarantine=None, trouble=None), body.change_id)
        case TaskSpecsPublished():
            return _published(row, body)
        case AlertRaised() | AlertCleared():
            return _alerted(row, body)
        case _:
            return row


def _planned(row: Sync, body: SyncPlanned) -> Sync:
    plan = SyncPlan(
        id=body.plan_id,
        signature=body.signature,
        intent=body.intent,
        versions=body.to_versions,
        config_json=body.expected_json,
        generation=body.generation,
        steps=tuple(step.name for step in body.steps),
        attempt=body.attempt,
        change_id=body.change_id,
    )
    row = row._replace(
        plan=plan,
        held=body.held,
        reset=body.reset_json,
        generation=max(row.generation, body.generation),
    )
    return _answered(_above(row, row.live.generation if row.live else 0), body.change_id)


def _stepped(row: Sync, body: SyncStepStarted | SyncStepDone) -> Sync:
    plan = row.plan
    if plan is None or body.plan_id != plan.id:
        return row
    if isinstance(body, SyncStepDone):
        return row._replace(plan=plan._replace(done=True, deadline_ms=None))
    return row._replace(plan=plan._replace(at=body.step, done=False, deadline_ms=body.deadline_ms))


def _committed(row: Sync, body: SyncCommitted) -> Sync:
    # What is only copied reaches the tasks that run already, under their generation.
    kept = row.running if body.kind == "simple" else None
    running = RunningConfig(
        versions=body.versions,
        config_json=body.running_json,
        state=body.state,
        tasks=body.tasks,
        plan_id=body.plan_id,
        generation=body.generation if kept is None else kept.generation,
        reset=body.reset_json,
        said=body.generation,
    )
    was, state = row.kept, state_after(row.state, row.kept.reset, body)
    left = (was.config_json, was.reset) if body.state == DELETED else ("", "")
    row = row._replace(running=running, plan=None, trouble=None, state=state, left=left)
    row = row._replace(held=body.held, reset=body.reset_json)
    if body.state == DELETED:  # all have stopped, and nobody will ask for them any more
        row = _above(row._replace(live=None), row.generation + 1)
    return _answered(row, body.change_id)


def _failed(row: Sync, body: SyncFailed) -> Sync:
    if body.change_id is not None:  # a request was refused
        return _answered(row, body.change_id)
    if row.plan is None or body.plan_id != row.plan.id:
        return row
    trouble = row.trouble
    if body.failures:
        trouble = FailureStreak(
            signature=body.signature,
            failures=body.failures,
            retry_ms=body.retry_ms or 0,
            plan_id=body.plan_id,
            versions=body.versions,
            step=body.step,
            name=body.name,
            cause=body.cause,
            explanation=body.explanation,
        )
    return row._replace(plan=None, trouble=trouble)


def _published(row: Sync, body: TaskSpecsPublished) -> Sync:
    """A list stands with its last part; one that breaks off is begun anew."""
    if body.part != 1 and body.part != row.parts + 1:
        return row._replace(parts=0)
    if body.part < body.parts:
        return row._replace(parts=body.part)
    listed = ListedPlan(body.plan_id, body.generation, body.tasks, body.versions)
    running = row.running
    if row.plan is None and running is not None and running.state == RUNNING and body.tasks:
        running = running._replace(generation=body.generation)
    return row._replace(
        running=running,
        parts=0,
        listed=listed,
        live=listed if listed.tasks else row.live,
        generation=max(row.generation, body.generation),
    )


def _alerted(row: Sync, body: AlertRaised | AlertCleared) -> Sync:
    if body.alert == UNLISTED:
        return row._replace(unlisted=body.details_json if isinstance(body, AlertRaised) else "")
    if body.alert == QUARANTINED:
        return row._replace(alerted=isinstance(body, AlertRaised))
    if body.alert == FAILING:
        return row._replace(failing=isinstance(body, AlertRaised))
    return row


def _answered(row: Sync, change_id: str | None) -> Sync:
    if change_id is None:
        return row
    return row._replace(ingress=answer(row.ingress, change_id))


def _above(row: Sync, floor: int) -> Sync:
    """What is older than the floor is dropped now, as it will be if it comes later."""
    if floor <= row.floor:
        return row
    return row._replace(floor=floor, tasks=from_floor(row.tasks, floor))


# --- keeping


def dump(row: Sync) -> object:
    """Plain JSON of the row, for keeping; `load` is its inverse."""
    plain = {name: _plain(value) for name, value in row._asdict().items()}
    plain["tasks"] = [[at, *report] for at, report in sorted(row.tasks.items())]
    plain["ingress"] = dump_ingress(row.ingress)
    return plain


def load(plain: Any) -> Sync:
    """The row that `dump` made plain."""
    some = dict(plain)
    for name, make in (
        ("running", RunningConfig),
        ("plan", SyncPlan),
        ("trouble", FailureStreak),
        ("quarantine", Quarantine),
        ("listed", ListedPlan),
        ("live", ListedPlan),
    ):
        some[name] = None if some[name] is None else make(*_deep(some[name]))
    some["versions"] = LayerVersions(**some["versions"])
    some["tasks"] = Map({at: Report(*rest) for at, *rest in some["tasks"]})
    for name in some.keys() & {"state", "left"}:
        some[name] = tuple(some[name])
    some["ingress"] = load_ingress(some["ingress"])
    return Sync(**some)


def _plain(value: Any) -> Any:
    if isinstance(value, LayerVersions):
        return value.to_plain()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def _deep(plain: list[Any]) -> Iterator[Any]:
    for one in plain:
        if isinstance(one, dict):
            yield LayerVersions(**one)
        else:
            yield tuple(one) if isinstance(one, list) else one
