"""The records of the log, made of events/schemas by `python -m events.wire.generate`.

Those that a client knows are the client's own. Change a schema and generate again; an edit here is
lost, and a test compares.
"""
# ruff: noqa - generated
# fmt: off

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from turbine_client.records import (
    AlertCleared as AlertCleared,
    AlertRaised as AlertRaised,
    Alternative as Alternative,
    Body as Body,
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
    _finite as _finite,
    _finite_or_none as _finite_or_none,
    from_plain as from_plain,
    to_plain as to_plain,
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
class ResourceAmount:
    """An amount of one resource."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ResourceAmount"
    resource: str
    amount: float

    def to_plain(self) -> dict[str, Any]:
        return {
            "resource": self.resource,
            "amount": _finite(self.amount),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["resource"],
            _finite(plain["amount"]),
        )


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """Capacity and use of one resource in a tier."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ResourceUse"
    resource: str
    capacity: float
    used: float
    lent: float = 0.0
    reserved: float = 0.0
    borrowed: float = 0.0
    lacking: float = 0.0

    def to_plain(self) -> dict[str, Any]:
        return {
            "resource": self.resource,
            "capacity": _finite(self.capacity),
            "used": _finite(self.used),
            "lent": _finite(self.lent),
            "reserved": _finite(self.reserved),
            "borrowed": _finite(self.borrowed),
            "lacking": _finite(self.lacking),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["resource"],
            _finite(plain["capacity"]),
            _finite(plain["used"]),
            _finite(plain["lent"]),
            _finite(plain["reserved"]),
            _finite(plain["borrowed"]),
            _finite(plain["lacking"]),
        )


@dataclass(frozen=True, slots=True)
class JobLimit:
    """How many tasks a job may have."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.JobLimit"
    job: str
    tasks: int
    tasks_max: int | None = None
    tasks_wanted: int | None = None
    priority: int = 0
    resources: tuple[ResourceAmount, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "tasks": self.tasks,
            "tasks_max": self.tasks_max,
            "tasks_wanted": self.tasks_wanted,
            "priority": self.priority,
            "resources": [one.to_plain() for one in self.resources],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["tasks"],
            plain["tasks_max"],
            plain["tasks_wanted"],
            plain["priority"],
            tuple([ResourceAmount.from_plain(one) for one in plain["resources"]]),
        )


@dataclass(frozen=True, slots=True)
class Position:
    """A place of the log and an offset in it."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Position"
    place: str
    offset: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "offset": self.offset,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["place"],
            plain["offset"],
        )


@dataclass(frozen=True, slots=True)
class ShardLoad:
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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "tasks": self.tasks,
            "cpu_cores": _finite_or_none(self.cpu_cores),
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "network_bytes_per_s": _finite_or_none(self.network_bytes_per_s),
            "job": self.job,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["tasks"],
            _finite_or_none(plain["cpu_cores"]),
            plain["memory_bytes"],
            plain["disk_bytes"],
            _finite_or_none(plain["network_bytes_per_s"]),
            plain["job"],
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """The pair that fences effects: one that is lower in either number is an older one's."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Generation"
    specs: int
    shard: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "specs": self.specs,
            "shard": self.shard,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["specs"],
            plain["shard"],
        )


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """Lag of one input partition; what is unknown is null."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.PartitionLag"
    topic: str
    partition: int
    lag_records: int | None = None
    lag_bytes: int | None = None
    lag_ms: int | None = None
    records_in_per_s: float | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "partition": self.partition,
            "lag_records": self.lag_records,
            "lag_bytes": self.lag_bytes,
            "lag_ms": self.lag_ms,
            "records_in_per_s": _finite_or_none(self.records_in_per_s),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["topic"],
            plain["partition"],
            plain["lag_records"],
            plain["lag_bytes"],
            plain["lag_ms"],
            _finite_or_none(plain["records_in_per_s"]),
        )


@dataclass(frozen=True, slots=True)
class InputPartitions:
    """The partitions of one input topic that a task reads."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.InputPartitions"
    topic: str
    partitions: tuple[int, ...]

    def to_plain(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "partitions": list(self.partitions),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["topic"],
            tuple(plain["partitions"]),
        )


@dataclass(frozen=True, slots=True)
class StateSource:
    """State of an earlier generation that a task takes over."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.StateSource"
    task: int
    generation: Generation
    path: str
    partition: int = -1

    def to_plain(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "generation": self.generation.to_plain(),
            "path": self.path,
            "partition": self.partition,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["path"],
            plain["partition"],
        )


@dataclass(frozen=True, slots=True)
class TaskSpec:
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

    def to_plain(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "argv": list(self.argv),
            "inputs": [one.to_plain() for one in self.inputs],
            "checkpoint": self.checkpoint,
            "cpu_cores": _finite_or_none(self.cpu_cores),
            "memory_bytes": self.memory_bytes,
            "threads": self.threads,
            "take_over": [one.to_plain() for one in self.take_over],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["task"],
            tuple(plain["argv"]),
            tuple([InputPartitions.from_plain(one) for one in plain["inputs"]]),
            plain["checkpoint"],
            _finite_or_none(plain["cpu_cores"]),
            plain["memory_bytes"],
            plain["threads"],
            tuple([StateSource.from_plain(one) for one in plain["take_over"]]),
        )


@dataclass(frozen=True, slots=True)
class InputOffset:
    """How far one input partition has been read."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.InputOffset"
    topic: str
    partition: int
    offset: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["topic"],
            plain["partition"],
            plain["offset"],
        )


@dataclass(frozen=True, slots=True)
class StatePart:
    """One exported piece of a task's state."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.StatePart"
    partition: int
    path: str
    rows: int
    state_bytes: int
    sha256: str

    def to_plain(self) -> dict[str, Any]:
        return {
            "partition": self.partition,
            "path": self.path,
            "rows": self.rows,
            "state_bytes": self.state_bytes,
            "sha256": self.sha256,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["partition"],
            plain["path"],
            plain["rows"],
            plain["state_bytes"],
            plain["sha256"],
        )


@dataclass(frozen=True, slots=True)
class ProfileSlot:
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

    def to_plain(self) -> dict[str, Any]:
        return {
            "slot": self.slot,
            "days": self.days,
            "records_in_per_s_mean": _finite(self.records_in_per_s_mean),
            "records_in_per_s_peak": _finite(self.records_in_per_s_peak),
            "bytes_in_per_s_mean": _finite(self.bytes_in_per_s_mean),
            "bytes_in_per_s_peak": _finite(self.bytes_in_per_s_peak),
            "cpu_cores_peak": _finite_or_none(self.cpu_cores_peak),
            "memory_bytes_peak": self.memory_bytes_peak,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["slot"],
            plain["days"],
            _finite(plain["records_in_per_s_mean"]),
            _finite(plain["records_in_per_s_peak"]),
            _finite(plain["bytes_in_per_s_mean"]),
            _finite(plain["bytes_in_per_s_peak"]),
            _finite_or_none(plain["cpu_cores_peak"]),
            plain["memory_bytes_peak"],
        )


@dataclass(frozen=True, slots=True)
class CapacityBorrowed(Body):
    """A tier took containers from another one, or gave them back."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityBorrowed"
    tier: str
    loan_id: str
    lender: str
    containers: tuple[str, ...]
    explanation: str

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "loan_id": self.loan_id,
            "lender": self.lender,
            "containers": list(self.containers),
            "explanation": self.explanation,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["loan_id"],
            plain["lender"],
            tuple(plain["containers"]),
            plain["explanation"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "grant_id": self.grant_id,
            "tier": self.tier,
            "resources": [one.to_plain() for one in self.resources],
            "explanation": self.explanation,
            "tasks_max": self.tasks_max,
            "priority": self.priority,
            "until_ms": self.until_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["grant_id"],
            plain["tier"],
            tuple([ResourceAmount.from_plain(one) for one in plain["resources"]]),
            plain["explanation"],
            plain["tasks_max"],
            plain["priority"],
            plain["until_ms"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "loan_id": self.loan_id,
            "borrower": self.borrower,
            "containers": list(self.containers),
            "explanation": self.explanation,
            "until_ms": self.until_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["loan_id"],
            plain["borrower"],
            tuple(plain["containers"]),
            plain["explanation"],
            plain["until_ms"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "containers": self.containers,
            "resources": [one.to_plain() for one in self.resources],
            "jobs_waiting": self.jobs_waiting,
            "state": self.state,
            "jobs": self.jobs,
            "jobs_preempted": self.jobs_preempted,
            "containers_measured": self.containers_measured,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["containers"],
            tuple([ResourceUse.from_plain(one) for one in plain["resources"]]),
            plain["jobs_waiting"],
            plain["state"],
            plain["jobs"],
            plain["jobs_preempted"],
            plain["containers_measured"],
        )


@dataclass(frozen=True, slots=True)
class CapacityShared(Body):
    """How much some jobs of a tier may use from now on; each of them owes the job a grant."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.CapacityShared"
    tier: str
    limits: tuple[JobLimit, ...]
    explanation: str
    more: bool = False

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "limits": [one.to_plain() for one in self.limits],
            "explanation": self.explanation,
            "more": self.more,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            tuple([JobLimit.from_plain(one) for one in plain["limits"]]),
            plain["explanation"],
            plain["more"],
        )


@dataclass(frozen=True, slots=True)
class ClockTicked(Body):
    """The log's clock moved; its time is the broker's append time of this record."""

    SCHEMA: ClassVar[str] = "turbine.clock.v1.ClockTicked"
    number: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "number": self.number,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["number"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "container": self.container,
            "epoch": self.epoch,
            "silence_ms": self.silence_ms,
            "explanation": self.explanation,
            "last_heartbeat_place": self.last_heartbeat_place,
            "last_heartbeat_offset": self.last_heartbeat_offset,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["container"],
            plain["epoch"],
            plain["silence_ms"],
            plain["explanation"],
            plain["last_heartbeat_place"],
            plain["last_heartbeat_offset"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "decision_id": self.decision_id,
            "explanation": self.explanation,
            "last_heartbeat_place": self.last_heartbeat_place,
            "last_heartbeat_offset": self.last_heartbeat_offset,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["decision_id"],
            plain["explanation"],
            plain["last_heartbeat_place"],
            plain["last_heartbeat_offset"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "number": self.number,
            "sent_ms": self.sent_ms,
            "state": self.state,
            "shards": self.shards,
            "shards_digest": self.shards_digest,
            "tasks": self.tasks,
            "read_to": [one.to_plain() for one in self.read_to],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["number"],
            plain["sent_ms"],
            plain["state"],
            plain["shards"],
            plain["shards_digest"],
            plain["tasks"],
            tuple([Position.from_plain(one) for one in plain["read_to"]]),
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "tier": self.tier,
            "number": self.number,
            "decision_id": self.decision_id,
            "explanation": self.explanation,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["tier"],
            plain["number"],
            plain["decision_id"],
            plain["explanation"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "tier": self.tier,
            "region": self.region,
            "capacity": [one.to_plain() for one in self.capacity],
            "host": self.host,
            "build": self.build,
            "labels_json": self.labels_json,
            "logs_url": self.logs_url,
            "logs_key": self.logs_key,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["tier"],
            plain["region"],
            tuple([ResourceAmount.from_plain(one) for one in plain["capacity"]]),
            plain["host"],
            plain["build"],
            plain["labels_json"],
            plain["logs_url"],
            plain["logs_key"],
        )


@dataclass(frozen=True, slots=True)
class DrainRequested(Body):
    """An operator wants a container to give all its shards away and to get no new ones."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.DrainRequested"
    change_id: str
    container: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "container": self.container,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["container"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class JobsPreempted(Body):
    """Jobs of low priority are to stop, because a tier has not enough for the others."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.JobsPreempted"
    tier: str
    jobs: tuple[str, ...]
    priority_below: int
    explanation: str
    freed: tuple[ResourceAmount, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "jobs": list(self.jobs),
            "priority_below": self.priority_below,
            "explanation": self.explanation,
            "freed": [one.to_plain() for one in self.freed],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            tuple(plain["jobs"]),
            plain["priority_below"],
            plain["explanation"],
            tuple([ResourceAmount.from_plain(one) for one in plain["freed"]]),
        )


@dataclass(frozen=True, slots=True)
class JobsRestored(Body):
    """Jobs that were stopped for others may run again, because there is enough for them."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.JobsRestored"
    tier: str
    limits: tuple[JobLimit, ...]
    explanation: str
    taken: tuple[ResourceAmount, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "limits": [one.to_plain() for one in self.limits],
            "explanation": self.explanation,
            "taken": [one.to_plain() for one in self.taken],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            tuple([JobLimit.from_plain(one) for one in plain["limits"]]),
            plain["explanation"],
            tuple([ResourceAmount.from_plain(one) for one in plain["taken"]]),
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "tier": self.tier,
            "plan_id": self.plan_id,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
            "moves_json": self.moves_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["tier"],
            plain["plan_id"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
            plain["moves_json"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "plan_id": self.plan_id,
            "trigger": self.trigger,
            "moves": self.moves,
            "shards": self.shards,
            "containers": self.containers,
            "unplaced": self.unplaced,
            "digest": self.digest,
            "explanation": self.explanation,
            "held": self.held,
            "measures_json": self.measures_json,
            "moves_json": self.moves_json,
            "part": self.part,
            "parts": self.parts,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["plan_id"],
            plain["trigger"],
            plain["moves"],
            plain["shards"],
            plain["containers"],
            plain["unplaced"],
            plain["digest"],
            plain["explanation"],
            plain["held"],
            plain["measures_json"],
            plain["moves_json"],
            plain["part"],
            plain["parts"],
        )


@dataclass(frozen=True, slots=True)
class PlacementRejected(Body):
    """A plan that an operator asked for is not carried out."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.PlacementRejected"
    tier: str
    change_id: str
    plan_id: str
    reason: str
    explanation: str

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "change_id": self.change_id,
            "plan_id": self.plan_id,
            "reason": self.reason,
            "explanation": self.explanation,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["change_id"],
            plain["plan_id"],
            plain["reason"],
            plain["explanation"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "request_id": self.request_id,
            "tier": self.tier,
            "action": self.action,
            "explanation": self.explanation,
            "tasks_max": self.tasks_max,
            "until_ms": self.until_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["request_id"],
            plain["tier"],
            plain["action"],
            plain["explanation"],
            plain["tasks_max"],
            plain["until_ms"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "container": self.container,
            "epoch": self.epoch,
            "plan_id": self.plan_id,
            "reason": self.reason,
            "deadline_ms": self.deadline_ms,
            "from_container": self.from_container,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["container"],
            plain["epoch"],
            plain["plan_id"],
            plain["reason"],
            plain["deadline_ms"],
            plain["from_container"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "tasks": self.tasks,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["tasks"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "container": self.container,
            "epoch": self.epoch,
            "plan_id": self.plan_id,
            "reason": self.reason,
            "deadline_ms": self.deadline_ms,
            "to_container": self.to_container,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["container"],
            plain["epoch"],
            plain["plan_id"],
            plain["reason"],
            plain["deadline_ms"],
            plain["to_container"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "tasks": self.tasks,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["tasks"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "shard": self.shard,
            "generation": self.generation,
            "container": self.container,
            "epoch": self.epoch,
            "explanation": self.explanation,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["shard"],
            plain["generation"],
            plain["container"],
            plain["epoch"],
            plain["explanation"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "epoch": self.epoch,
            "number": self.number,
            "window_ms": self.window_ms,
            "loads": [one.to_plain() for one in self.loads],
            "part": self.part,
            "parts": self.parts,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["container"],
            plain["epoch"],
            plain["number"],
            plain["window_ms"],
            tuple([ShardLoad.from_plain(one) for one in plain["loads"]]),
            plain["part"],
            plain["parts"],
        )


@dataclass(frozen=True, slots=True)
class SyncStepDone(Body):
    """A step of a plan is finished, as the reports in the log show."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncStepDone"
    job: str
    plan_id: str
    step: int
    name: str
    outcome_json: str = "{}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "step": self.step,
            "name": self.name,
            "outcome_json": self.outcome_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["step"],
            plain["name"],
            plain["outcome_json"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "step": self.step,
            "name": self.name,
            "generation": self.generation,
            "deadline_ms": self.deadline_ms,
            "detail_json": self.detail_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["step"],
            plain["name"],
            plain["generation"],
            plain["deadline_ms"],
            plain["detail_json"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "task": self.task,
            "generation": self.generation.to_plain(),
            "container": self.container,
            "epoch": self.epoch,
            "cause": self.cause,
            "explanation": self.explanation,
            "attempt": self.attempt,
            "error_class": self.error_class,
            "pause_ms": self.pause_ms,
            "traceback": self.traceback,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["container"],
            plain["epoch"],
            plain["cause"],
            plain["explanation"],
            plain["attempt"],
            plain["error_class"],
            plain["pause_ms"],
            plain["traceback"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "task": self.task,
            "generation": self.generation.to_plain(),
            "epoch": self.epoch,
            "count": self.count,
            "window_ms": self.window_ms,
            "records_in_per_s": _finite(self.records_in_per_s),
            "bytes_in_per_s": _finite(self.bytes_in_per_s),
            "records_out_per_s": _finite(self.records_out_per_s),
            "bytes_out_per_s": _finite(self.bytes_out_per_s),
            "lag_records": self.lag_records,
            "lag_bytes": self.lag_bytes,
            "lag_ms": self.lag_ms,
            "cpu_cores": _finite_or_none(self.cpu_cores),
            "memory_bytes": self.memory_bytes,
            "state_rows": self.state_rows,
            "state_bytes": self.state_bytes,
            "oom": self.oom,
            "container": self.container,
            "busy_share": _finite_or_none(self.busy_share),
            "checkpoint_age_ms": self.checkpoint_age_ms,
            "partitions": [one.to_plain() for one in self.partitions],
            "tasks": self.tasks,
            "threads": self.threads,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["epoch"],
            plain["count"],
            plain["window_ms"],
            _finite(plain["records_in_per_s"]),
            _finite(plain["bytes_in_per_s"]),
            _finite(plain["records_out_per_s"]),
            _finite(plain["bytes_out_per_s"]),
            plain["lag_records"],
            plain["lag_bytes"],
            plain["lag_ms"],
            _finite_or_none(plain["cpu_cores"]),
            plain["memory_bytes"],
            plain["state_rows"],
            plain["state_bytes"],
            plain["oom"],
            plain["container"],
            _finite_or_none(plain["busy_share"]),
            plain["checkpoint_age_ms"],
            tuple([PartitionLag.from_plain(one) for one in plain["partitions"]]),
            plain["tasks"],
            plain["threads"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "generation": self.generation,
            "part": self.part,
            "parts": self.parts,
            "tasks": self.tasks,
            "versions": self.versions.to_plain(),
            "tier": self.tier,
            "operator": self.operator,
            "guarantee": self.guarantee,
            "specs": [one.to_plain() for one in self.specs],
            "regions": list(self.regions),
            "priority": self.priority,
            "package": self.package,
            "package_version": self.package_version,
            "config_json": self.config_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["generation"],
            plain["part"],
            plain["parts"],
            plain["tasks"],
            LayerVersions.from_plain(plain["versions"]),
            plain["tier"],
            plain["operator"],
            plain["guarantee"],
            tuple([TaskSpec.from_plain(one) for one in plain["specs"]]),
            tuple(plain["regions"]),
            plain["priority"],
            plain["package"],
            plain["package_version"],
            plain["config_json"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "task": self.task,
            "generation": self.generation.to_plain(),
            "container": self.container,
            "epoch": self.epoch,
            "versions": None if self.versions is None else self.versions.to_plain(),
            "attempt": self.attempt,
            "offsets": [one.to_plain() for one in self.offsets],
            "keeps_state": self.keeps_state,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["container"],
            plain["epoch"],
            None if plain["versions"] is None else LayerVersions.from_plain(plain["versions"]),
            plain["attempt"],
            tuple([InputOffset.from_plain(one) for one in plain["offsets"]]),
            plain["keeps_state"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "task": self.task,
            "generation": self.generation.to_plain(),
            "plan_id": self.plan_id,
            "container": self.container,
            "epoch": self.epoch,
            "parts": [one.to_plain() for one in self.parts],
            "layout": self.layout,
            "watermark_ms": self.watermark_ms,
            "offsets": [one.to_plain() for one in self.offsets],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["plan_id"],
            plain["container"],
            plain["epoch"],
            tuple([StatePart.from_plain(one) for one in plain["parts"]]),
            plain["layout"],
            plain["watermark_ms"],
            tuple([InputOffset.from_plain(one) for one in plain["offsets"]]),
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "task": self.task,
            "generation": self.generation.to_plain(),
            "container": self.container,
            "epoch": self.epoch,
            "cause": self.cause,
            "offsets": [one.to_plain() for one in self.offsets],
            "checkpoint": self.checkpoint,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["task"],
            Generation.from_plain(plain["generation"]),
            plain["container"],
            plain["epoch"],
            plain["cause"],
            tuple([InputOffset.from_plain(one) for one in plain["offsets"]]),
            plain["checkpoint"],
        )


@dataclass(frozen=True, slots=True)
class UndrainRequested(Body):
    """An operator wants a drained container to get shards again."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.UndrainRequested"
    change_id: str
    container: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "container": self.container,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["container"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


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

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "from_ms": self.from_ms,
            "to_ms": self.to_ms,
            "slot_ms": self.slot_ms,
            "slots": [one.to_plain() for one in self.slots],
            "source": self.source,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["from_ms"],
            plain["to_ms"],
            plain["slot_ms"],
            tuple([ProfileSlot.from_plain(one) for one in plain["slots"]]),
            plain["source"],
        )


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
