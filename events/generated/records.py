"""The records of the log, made of events/schemas by `python -m events.wire.generate`.

Those that a client knows are the client's own. Change a schema and generate again; an edit here is
lost, and a test compares.
"""
# ruff: noqa - generated
# fmt: off

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from turbine_client.bodies import (
    Body as Body,
    Structure as Structure,
    from_plain as from_plain,
    to_plain as to_plain,
)
from turbine_client.records import (
    AlertCleared as AlertCleared,
    AlertRaised as AlertRaised,
    Alternative as Alternative,
    ConfigChangeProposed as ConfigChangeProposed,
    ConfigDifference as ConfigDifference,
    Constraint as Constraint,
    JobConfigChanged as JobConfigChanged,
    JobConfigRejected as JobConfigRejected,
    JobDeleteRequested as JobDeleteRequested,
    JobDeleted as JobDeleted,
    JobQuarantined as JobQuarantined,
    JobReleased as JobReleased,
    Layer as Layer,
    LayerVersions as LayerVersions,
    OffsetResetRequested as OffsetResetRequested,
    OverrideEnd as OverrideEnd,
    OverrideExpired as OverrideExpired,
    PauseRequested as PauseRequested,
    ReleaseRequested as ReleaseRequested,
    ResumeRequested as ResumeRequested,
    ScalingDecided as ScalingDecided,
    ScalingDeclined as ScalingDeclined,
    ScalingReverted as ScalingReverted,
    ScalingVerified as ScalingVerified,
    Severity as Severity,
    SyncCommitted as SyncCommitted,
    SyncFailed as SyncFailed,
    SyncKind as SyncKind,
    SyncPlanned as SyncPlanned,
    SyncStep as SyncStep,
    TierDefined as TierDefined,
)


# What a container does at the moment.
ContainerState = Literal[
    "unknown",
    "serving",
    "frozen",
    "draining",
    "stopping",
]


@dataclass(frozen=True, slots=True)
class ResourceAmount(Structure):
    """An amount of one resource."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ResourceAmount"
    resource: str
    amount: float


@dataclass(frozen=True, slots=True)
class ResourceUse(Structure):
    """Capacity and use of one resource in a tier."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ResourceUse"
    resource: str
    capacity: float
    used: float
    lent: float = 0.0
    reserved: float = 0.0
    borrowed: float = 0.0
    lacking: float = 0.0


@dataclass(frozen=True, slots=True)
class JobLimit(Structure):
    """How many tasks a job may have."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.JobLimit"
    job: str
    tasks: int
    tasks_max: int | None = None
    tasks_wanted: int | None = None
    priority: int = 0
    resources: tuple[ResourceAmount, ...] = ()


@dataclass(frozen=True, slots=True)
class Position(Structure):
    """A place of the log and an offset in it."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Position"
    place: str
    offset: int


@dataclass(frozen=True, slots=True)
class ShardLoad(Structure):
    """What one shard used in a window; what is unknown is null."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ShardLoad"
    tier: str
    shard: int
    generation: int
    tasks: int
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    network_bytes_per_s: float | None = None
    job: str = ""


@dataclass(frozen=True, slots=True)
class Generation(Structure):
    """The pair that fences effects: one that is lower in either number is an older one's."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Generation"
    specs: int
    shard: int


@dataclass(frozen=True, slots=True)
class PartitionLag(Structure):
    """Lag of one input partition; what is unknown is null."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.PartitionLag"
    topic: str
    partition: int
    lag_records: int | None = None
    lag_bytes: int | None = None
    lag_ms: int | None = None
    records_in_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class InputPartitions(Structure):
    """The partitions of one input topic that a task reads."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.InputPartitions"
    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StateSource(Structure):
    """State of an earlier generation that a task takes over."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.StateSource"
    task: int
    generation: Generation
    path: str
    partition: int = -1


@dataclass(frozen=True, slots=True)
class TaskSpec(Structure):
    """What one task of a job needs in order to run."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.TaskSpec"
    task: int
    argv: tuple[str, ...]
    inputs: tuple[InputPartitions, ...]
    checkpoint: str
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    threads: int = 1
    take_over: tuple[StateSource, ...] = ()


@dataclass(frozen=True, slots=True)
class InputOffset(Structure):
    """How far one input partition has been read."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.InputOffset"
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class StatePart(Structure):
    """One exported piece of a task's state."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.StatePart"
    partition: int
    path: str
    rows: int
    state_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ProfileSlot(Structure):
    """Load of one slot of the day, over all profiled days."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ProfileSlot"
    slot: int
    days: int
    records_in_per_s_mean: float
    records_in_per_s_peak: float
    bytes_in_per_s_mean: float
    bytes_in_per_s_peak: float
    cpu_cores_peak: float | None = None
    memory_bytes_peak: int | None = None


@dataclass(frozen=True, slots=True)
class CapacityBorrowed(Body):
    """A tier took containers from another one, or gave them back."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityBorrowed"
    tier: str
    loan_id: str
    lender: str
    containers: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class CapacityGranted(Body):
    """How much a job may use."""

    SCHEMA: ClassVar[str] = "turbine.grants.v1.CapacityGranted"
    job: str
    grant_id: str
    tier: str
    resources: tuple[ResourceAmount, ...]
    explanation: str
    tasks_max: int | None = None
    priority: int = 0
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CapacityLent(Body):
    """A tier lends containers to another one."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityLent"
    tier: str
    loan_id: str
    borrower: str
    containers: tuple[str, ...]
    explanation: str
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CapacityReported(Body):
    """What a tier holds and uses."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityReported"
    tier: str
    containers: int
    resources: tuple[ResourceUse, ...]
    jobs_waiting: int = 0
    state: str = "unknown"
    jobs: int = 0
    jobs_preempted: int = 0
    containers_measured: int = 0


@dataclass(frozen=True, slots=True)
class CapacityShared(Body):
    """How much some jobs of a tier may use from now on; each of them owes the job a grant."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityShared"
    tier: str
    limits: tuple[JobLimit, ...]
    explanation: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class ClockTicked(Body):
    """The log's clock moved; its time is the broker's append time of this record."""

    SCHEMA: ClassVar[str] = "turbine.clock.v1.ClockTicked"
    number: int


@dataclass(frozen=True, slots=True)
class ContainerFailOverRequested(Body):
    """A container was silent for too long, and its shards are to be given away."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.ContainerFailOverRequested"
    tier: str
    container: str
    epoch: int
    silence_ms: int
    explanation: str
    last_heartbeat_place: str = ""
    last_heartbeat_offset: int | None = None


@dataclass(frozen=True, slots=True)
class ContainerFailedOver(Body):
    """A container's epoch is over, unless another heartbeat of it lies between the one named here
    and this record."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ContainerFailedOver"
    container: str
    epoch: int
    decision_id: str
    explanation: str
    last_heartbeat_place: str = ""
    last_heartbeat_offset: int | None = None


@dataclass(frozen=True, slots=True)
class ContainerHeartbeat(Body):
    """A container lives; its lease counts from the instant of sending."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ContainerHeartbeat"
    container: str
    epoch: int
    number: int
    sent_ms: int
    state: ContainerState
    shards: int
    shards_digest: str
    tasks: int = 0
    read_to: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class ContainerReassigned(Body):
    """A container belongs to another tier from now on; it begins another life there once it holds
    nothing."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ContainerReassigned"
    container: str
    tier: str
    number: int
    decision_id: str
    explanation: str


@dataclass(frozen=True, slots=True)
class ContainerStarted(Body):
    """A container process began a life."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ContainerStarted"
    container: str
    epoch: int
    tier: str
    region: str
    capacity: tuple[ResourceAmount, ...]
    host: str = ""
    build: str = ""
    labels_json: str = "{}"
    logs_url: str = ""
    logs_key: str = ""


@dataclass(frozen=True, slots=True)
class DrainRequested(Body):
    """An operator wants a container to give all its shards away and to get no new ones."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.DrainRequested"
    change_id: str
    container: str
    author: str
    reason: str = ""
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class JobsPreempted(Body):
    """Jobs of low priority are to stop, because a tier has not enough for the others."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.JobsPreempted"
    tier: str
    jobs: tuple[str, ...]
    priority_below: int
    explanation: str
    freed: tuple[ResourceAmount, ...] = ()


@dataclass(frozen=True, slots=True)
class JobsRestored(Body):
    """Jobs that were stopped for others may run again, because there is enough for them."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.JobsRestored"
    tier: str
    limits: tuple[JobLimit, ...]
    explanation: str
    taken: tuple[ResourceAmount, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementApplyRequested(Body):
    """An operator confirms a placement plan that was shown or held back."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.PlacementApplyRequested"
    change_id: str
    tier: str
    plan_id: str
    author: str
    reason: str = ""
    traceparent: str | None = None
    moves_json: str = "{}"


@dataclass(frozen=True, slots=True)
class PlacementPlanned(Body):
    """A placement was worked out; its moves follow one by one."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.PlacementPlanned"
    tier: str
    plan_id: str
    trigger: str
    moves: int
    shards: int
    containers: int
    unplaced: int
    digest: str
    explanation: str
    held: bool = False
    measures_json: str = "{}"
    moves_json: str = "{}"
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class PlacementRejected(Body):
    """A plan that an operator asked for is not carried out."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.PlacementRejected"
    tier: str
    change_id: str
    plan_id: str
    reason: str
    explanation: str


@dataclass(frozen=True, slots=True)
class PreemptionRequested(Body):
    """A job is to give up capacity; the scaler turns this into a change of its own layer."""

    SCHEMA: ClassVar[str] = "turbine.grants.v1.PreemptionRequested"
    job: str
    request_id: str
    tier: str
    action: str
    explanation: str
    tasks_max: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ShardAddRequested(Body):
    """A container is to run a shard, at a generation that fences the one before."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.ShardAddRequested"
    tier: str
    shard: int
    generation: int
    container: str
    epoch: int
    plan_id: str
    reason: str
    deadline_ms: int | None = None
    from_container: str = ""


@dataclass(frozen=True, slots=True)
class ShardAdded(Body):
    """A container runs a shard."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ShardAdded"
    container: str
    epoch: int
    tier: str
    shard: int
    generation: int
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class ShardDropRequested(Body):
    """A container is to stop a shard."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.ShardDropRequested"
    tier: str
    shard: int
    generation: int
    container: str
    epoch: int
    plan_id: str
    reason: str
    deadline_ms: int | None = None
    to_container: str = ""


@dataclass(frozen=True, slots=True)
class ShardDropped(Body):
    """A container has stopped all tasks of a shard."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ShardDropped"
    container: str
    epoch: int
    tier: str
    shard: int
    generation: int
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class ShardForceKilled(Body):
    """A drop took too long: the container has to kill the tasks of the shard, which is given away
    once it says so or cannot serve any more."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.ShardForceKilled"
    tier: str
    shard: int
    generation: int
    container: str
    epoch: int
    explanation: str


@dataclass(frozen=True, slots=True)
class ShardLoadsReported(Body):
    """What each shard of a container used in a window; in parts when large."""

    SCHEMA: ClassVar[str] = "turbine.containers.v1.ShardLoadsReported"
    container: str
    epoch: int
    number: int
    window_ms: int
    loads: tuple[ShardLoad, ...]
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class SyncStepDone(Body):
    """A step of a plan is finished, as the reports in the log show."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncStepDone"
    job: str
    plan_id: str
    step: int
    name: str
    outcome_json: str = "{}"


@dataclass(frozen=True, slots=True)
class SyncStepStarted(Body):
    """A step of a plan may be carried out from now on."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncStepStarted"
    job: str
    plan_id: str
    step: int
    name: str
    generation: int
    deadline_ms: int | None = None
    detail_json: str = "{}"


@dataclass(frozen=True, slots=True)
class TaskFailed(Body):
    """A task ended by an error."""

    SCHEMA: ClassVar[str] = "turbine.tasks.v1.TaskFailed"
    job: str
    task: int
    generation: Generation
    container: str
    epoch: int
    cause: str
    explanation: str
    attempt: int = 1
    error_class: str = ""
    pause_ms: int | None = None
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class TaskLoadReported(Body):
    """What one task did in a window; what is unknown is null, never 0."""

    SCHEMA: ClassVar[str] = "turbine.loads.v1.TaskLoadReported"
    job: str
    task: int
    generation: Generation
    epoch: int
    count: int
    window_ms: int
    records_in_per_s: float
    bytes_in_per_s: float
    records_out_per_s: float
    bytes_out_per_s: float
    lag_records: int | None = None
    lag_bytes: int | None = None
    lag_ms: int | None = None
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    oom: bool = False
    container: str = ""
    busy_share: float | None = None
    checkpoint_age_ms: int | None = None
    partitions: tuple[PartitionLag, ...] = ()
    tasks: int = 0
    threads: int = 0


@dataclass(frozen=True, slots=True)
class TaskSpecsPublished(Body):
    """What all tasks of a job need in order to run, at one generation; it stands with its last
    part."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.TaskSpecsPublished"
    job: str
    plan_id: str
    generation: int
    part: int
    parts: int
    tasks: int
    versions: LayerVersions
    tier: str
    operator: str
    guarantee: str
    specs: tuple[TaskSpec, ...]
    regions: tuple[str, ...] = ()
    priority: int = 0
    package: str = ""
    package_version: str = ""
    config_json: str = "{}"


@dataclass(frozen=True, slots=True)
class TaskStarted(Body):
    """A task holds its claim and reads input from now on."""

    SCHEMA: ClassVar[str] = "turbine.tasks.v1.TaskStarted"
    job: str
    task: int
    generation: Generation
    container: str
    epoch: int
    versions: LayerVersions | None = None
    attempt: int = 1
    offsets: tuple[InputOffset, ...] = ()
    keeps_state: bool | None = None


@dataclass(frozen=True, slots=True)
class TaskStateExported(Body):
    """Said no more: state lies by partition, where whoever reads that goes on with it. Once: where
    a stopped task's state lies."""

    SCHEMA: ClassVar[str] = "turbine.tasks.v1.TaskStateExported"
    job: str
    task: int
    generation: Generation
    plan_id: str
    container: str
    epoch: int
    parts: tuple[StatePart, ...]
    layout: str = ""
    watermark_ms: int | None = None
    offsets: tuple[InputOffset, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskStopped(Body):
    """A task has stopped and has no effect any more under this generation."""

    SCHEMA: ClassVar[str] = "turbine.tasks.v1.TaskStopped"
    job: str
    task: int
    generation: Generation
    container: str
    epoch: int
    cause: str
    offsets: tuple[InputOffset, ...] = ()
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class UndrainRequested(Body):
    """An operator wants a drained container to get shards again."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.UndrainRequested"
    change_id: str
    container: str
    author: str
    reason: str = ""
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class WorkloadProfiled(Body):
    """A job's history, folded into slots of a day."""

    SCHEMA: ClassVar[str] = "turbine.profiles.v1.WorkloadProfiled"
    job: str
    from_ms: int
    to_ms: int
    slot_ms: int
    slots: tuple[ProfileSlot, ...]
    source: str = ""


RECORDS: dict[str, type[Body]] = {
    "AlertCleared": AlertCleared,
    "AlertRaised": AlertRaised,
    "CapacityBorrowed": CapacityBorrowed,
    "CapacityGranted": CapacityGranted,
    "CapacityLent": CapacityLent,
    "CapacityReported": CapacityReported,
    "CapacityShared": CapacityShared,
    "ClockTicked": ClockTicked,
    "ConfigChangeProposed": ConfigChangeProposed,
    "ContainerFailOverRequested": ContainerFailOverRequested,
    "ContainerFailedOver": ContainerFailedOver,
    "ContainerHeartbeat": ContainerHeartbeat,
    "ContainerReassigned": ContainerReassigned,
    "ContainerStarted": ContainerStarted,
    "DrainRequested": DrainRequested,
    "JobConfigChanged": JobConfigChanged,
    "JobConfigRejected": JobConfigRejected,
    "JobDeleteRequested": JobDeleteRequested,
    "JobDeleted": JobDeleted,
    "JobQuarantined": JobQuarantined,
    "JobReleased": JobReleased,
    "JobsPreempted": JobsPreempted,
    "JobsRestored": JobsRestored,
    "OffsetResetRequested": OffsetResetRequested,
    "OverrideExpired": OverrideExpired,
    "PauseRequested": PauseRequested,
    "PlacementApplyRequested": PlacementApplyRequested,
    "PlacementPlanned": PlacementPlanned,
    "PlacementRejected": PlacementRejected,
    "PreemptionRequested": PreemptionRequested,
    "ReleaseRequested": ReleaseRequested,
    "ResumeRequested": ResumeRequested,
    "ScalingDecided": ScalingDecided,
    "ScalingDeclined": ScalingDeclined,
    "ScalingReverted": ScalingReverted,
    "ScalingVerified": ScalingVerified,
    "ShardAddRequested": ShardAddRequested,
    "ShardAdded": ShardAdded,
    "ShardDropRequested": ShardDropRequested,
    "ShardDropped": ShardDropped,
    "ShardForceKilled": ShardForceKilled,
    "ShardLoadsReported": ShardLoadsReported,
    "SyncCommitted": SyncCommitted,
    "SyncFailed": SyncFailed,
    "SyncPlanned": SyncPlanned,
    "SyncStepDone": SyncStepDone,
    "SyncStepStarted": SyncStepStarted,
    "TaskFailed": TaskFailed,
    "TaskLoadReported": TaskLoadReported,
    "TaskSpecsPublished": TaskSpecsPublished,
    "TaskStarted": TaskStarted,
    "TaskStateExported": TaskStateExported,
    "TaskStopped": TaskStopped,
    "TierDefined": TierDefined,
    "UndrainRequested": UndrainRequested,
    "WorkloadProfiled": WorkloadProfiled,
}
