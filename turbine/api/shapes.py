"""The form of the answers about jobs, decisions and alerts: the document /openapi.json is of these.

Named as the command line's `-o json` names them. What is unknown is null, never 0.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from turbine.headline import STATES
from turbine.read.answers.journal import DecisionLine
from turbine.read.answers.scaling import Sizing

Json = dict[str, Any]
TASK_STATES = f"By state: {', '.join(STATES)}."


class Shape(BaseModel):
    """Part of an answer. A newer build may say more than is told here; a test sees that this one
    does not."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Alert(Shape):
    """Something that needs a person."""

    alert: str = Field(description="Which kind, such as job-quarantined.")
    subject: str = Field(description="The job or tier that it is about.")
    severity: str
    cause: str
    runbook: str = Field(description="The page that says what to do.")
    since_ms: int
    cleared_ms: int | None = Field(description="When it was over; null while it stands.")
    explanation: str = Field(description="Why it is over.")
    id: str = Field(description="Of the decision that raised it.")
    position: str
    source: str = Field(description="The component that raised it.")


class Share(Shape):
    """A number of tasks, and of how many."""

    count: int
    percent: float = Field(description="Of the tasks that are wanted; 0 where none is.")


class Totals(Shape):
    """The three numbers of a fleet, and what they are counted of."""

    jobs: int = Field(description="Jobs that are not deleted.")
    tasks_wanted: int = Field(description="By config, of jobs that are not paused.")
    tasks_running: int
    tasks_not_running: Share
    tasks_lagging: Share = Field(description="Behind by more than their job's slo.lag_seconds.")
    tasks_unhealthy: Share = Field(
        description="Failed, started again and again, or of a quarantined job and not running."
    )
    tasks_unknown: int = Field(description="Without a report of late: nobody knows their lag.")
    jobs_by_state: dict[str, int]
    tasks_by_state: dict[str, int] = Field(description=f"{TASK_STATES} Unwanted ones, too.")


class Override(Shape):
    """A value that does not come from the base."""

    path: str
    layer: str
    expires_ms: int | None = Field(description="When the layer says something else there.")


class Gravest(Shape):
    """The alert to look at first."""

    alert: str
    severity: str
    cause: str


class JobLine(Shape):
    """A job in a list."""

    job: str
    state: str = Field(
        description="running, paused or deleted; or what is in the way of it: lagging, starting,"
        " syncing, behind, failing, quarantined."
    )
    tasks: int = Field(description="By config; none of a job that is paused.")
    running: int
    not_running: int
    lagging: int
    unhealthy: int
    tasks_by_state: dict[str, int] = Field(description=f"{TASK_STATES} Unwanted ones, too.")
    lag_seconds: float | None
    lag_records: int | None
    rate_in: float | None = Field(description="Records a second.")
    policy: str
    mode: str
    tier: str
    priority: int
    overrides: list[Override]
    alerts: int
    gravest: Gravest | None = Field(description="Of the alerts that are open about it.")
    updated_ms: int | None = Field(description="When it was decided about last.")


class Offender(JobLine):
    """A job that needs to be looked at, and why."""

    why: str


class TierLine(Shape):
    """A tier in the fleet's summary."""

    tier: str
    state: str | None
    containers: dict[str, int] = Field(description="By state.")
    shards: dict[str, int] = Field(description="By stage.")
    resources: Json
    jobs: int | None
    jobs_waiting: int | None
    preempted: list[str]


class FleetAnswer(Shape):
    """The whole fleet at a glance."""

    at_ms: int
    now_ms: int = Field(description="The log's own time: its greatest tick.")
    totals: Totals
    offenders: list[Offender]
    alerts: list[Alert]
    tiers: list[TierLine]
    dead_letters: int


class JobsAnswer(Shape):
    """A page of jobs."""

    items: list[JobLine]
    next: str | None = Field(description="The cursor of the next page; null on the last one.")
    total: int


class LayerEnd(Shape):
    """An instant at which temporary changes end, and what that changes in their layer."""

    expires_ms: int
    change_id: str = Field(description="Of the change that ends, the newest of several.")
    author: str
    other_ids: list[str] = Field(description="Of older changes that end with it.")
    differences: list[Json]


class Layer(Shape):
    """What one authority wants of a job, and who said so last."""

    version: int
    author: str
    reason: str
    change_id: str
    expires_ms: int | None = Field(description="When the first of its temporary changes ends.")
    ends: list[LayerEnd]
    config: Json


class JobAnswer(Shape):
    """One job in full, as `turbine describe job -o json` shows it."""

    job: str
    alive: bool
    versions: dict[str, int]
    expected: Json
    origins: dict[str, str]
    layers: dict[str, Layer]
    sync: Json = Field(description="Its way from expected to running; empty where nobody told.")
    scaling: Sizing
    decisions: list[DecisionLine]
    line: JobLine
    open_alerts: list[Alert]


class PartitionLine(Shape):
    """One input partition of a task, as it was reported."""

    topic: str
    partition: int
    lag_records: int | None
    lag_bytes: int | None
    lag_ms: int | None
    records_in_per_s: float | None


class TaskLine(Shape):
    """One task: how it stands, and what it reported last."""

    job: str
    task: int
    name: str
    state: str = Field(description=f"One of {', '.join(STATES)}.")
    container: str | None
    generation: int | None
    shard_generation: int | None
    attempt: int | None
    since_ms: int | None
    cause: str
    explanation: str
    reported_ms: int | None
    records_in_per_s: float | None
    records_out_per_s: float | None
    bytes_in_per_s: float | None
    bytes_out_per_s: float | None
    lag_records: int | None
    lag_bytes: int | None
    lag_seconds: float | None
    cpu_cores: float | None
    memory_bytes: int | None
    state_bytes: int | None
    busy_share: float | None
    partitions: list[PartitionLine]


class FailureLine(Shape):
    """How a task failed."""

    kind: str
    job: str
    task: int
    name: str
    at_ms: int
    container: str
    generation: int
    shard_generation: int
    attempt: int
    cause: str
    error_class: str
    explanation: str
    traceback: str = Field(description="Its last lines, 4 kB at most; empty where there is none.")
    retry_ms: int | None = Field(description="When it is started again; null: it is not.")


class TaskAnswer(TaskLine):
    """One task, and how it failed last."""

    last_failure: FailureLine | None


class LogLine(Shape):
    """One line of what a task printed."""

    at_ms: int
    run: str = Field(description="Of its container's life: one start of the task.")
    stream: str = Field(description="engine, output, stdout, stderr or log.")
    text: str


class TaskLogAnswer(Shape):
    """What a task printed last."""

    job: str
    task: int
    name: str
    container: str
    host: str | None
    read_ms: int
    cut: bool = Field(description="There were more lines than an answer holds.")
    lines: list[LogLine]


class TasksAnswer(Shape):
    """The tasks of a job."""

    job: str
    items: list[TaskLine]
    next: str | None
    total: int


class SeriesAnswer(Shape):
    """How a job did over time; null where nothing was reported."""

    job: str
    t_ms: list[int] = Field(description="Where each bucket begins.")
    end_ms: int = Field(description="Where the last of them ends.")
    rate_in: list[float | None]
    rate_out: list[float | None]
    lag_seconds: list[float | None]
    lag_records: list[float | None]
    tasks: list[float | None] = Field(description="That had reported as the bucket began.")
    cores: list[float | None]


class DecisionsAnswer(Shape):
    """A page of decisions, the newest first."""

    items: list[DecisionLine]
    next: str | None


class MarkersAnswer(Shape):
    """What was decided when, for a bar of time."""

    t_ms: list[int]
    config: list[int]
    sync: list[int]
    scaling: list[int]
    placement: list[int]
    alert: list[int]


class AlertsAnswer(Shape):
    """Alerts that stand, and the last that were cleared."""

    open: list[Alert]
    cleared: list[Alert]
