"""The records of the log, generated from events/schemas by `python -m events.generate`.

Change a schema and generate again; an edit here is lost, and a test compares.
"""
# ruff: noqa - generated
# fmt: off

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Literal, Self, TypeVar


class Body:
    """What a record says: the value of a message, without the headers around it."""

    __slots__ = ()
    SCHEMA: ClassVar[str] = ""

    def to_plain(self) -> dict[str, Any]:
        """The fields as Avro and JSON hold them."""
        raise NotImplementedError(type(self).__name__)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The record of fields as Avro and JSON hold them; each of them has to be there."""
        raise NotImplementedError(cls.__name__)


B = TypeVar("B", bound=Body)


def to_plain(record: Body) -> dict[str, Any]:
    """The fields of a record as Avro and JSON hold them."""
    return record.to_plain()


def from_plain(cls: type[B], plain: Mapping[str, Any]) -> B:
    """The record of that type with these fields; each of them has to be there."""
    return cls.from_plain(plain)


def _finite(number: float) -> float:
    # NaN is not equal to itself: one of them in a row, and no two readers would agree any more.
    if isfinite(number):
        return number
    raise ValueError(f"{number} is not a finite number")


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None else _finite(number)


# What a container does at the moment.
ContainerState = Literal[
    "unknown",
    "serving",
    "frozen",
    "draining",
    "stopping",
]


# One of the four layers of a job's config, lowest first.
Layer = Literal[
    "unknown",
    "base",
    "provisioner",
    "scaler",
    "oncall",
]


# How soon somebody should look at an alert.
Severity = Literal[
    "unknown",
    "info",
    "warning",
    "critical",
]


# Whether a plan only copies fields or has to stop tasks first.
SyncKind = Literal[
    "unknown",
    "simple",
    "complex",
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
class LayerVersions:
    """How many changes each layer of one job has accepted."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.LayerVersions"
    base: int
    provisioner: int
    scaler: int
    oncall: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "base": self.base,
            "provisioner": self.provisioner,
            "scaler": self.scaler,
            "oncall": self.oncall,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["base"],
            plain["provisioner"],
            plain["scaler"],
            plain["oncall"],
        )


@dataclass(frozen=True, slots=True)
class OverrideEnd:
    """An instant at which temporary changes end, and what their layer is from then on."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.OverrideEnd"
    expires_ms: int
    change_id: str
    author: str
    layer_json: str
    other_ids: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "expires_ms": self.expires_ms,
            "change_id": self.change_id,
            "author": self.author,
            "layer_json": self.layer_json,
            "other_ids": list(self.other_ids),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["expires_ms"],
            plain["change_id"],
            plain["author"],
            plain["layer_json"],
            tuple(plain["other_ids"]),
        )


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint that was applied to a number, and what it made of it."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Constraint"
    name: str
    before: float
    after: float
    note: str = ""

    def to_plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "before": _finite(self.before),
            "after": _finite(self.after),
            "note": self.note,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["name"],
            _finite(plain["before"]),
            _finite(plain["after"]),
            plain["note"],
        )


@dataclass(frozen=True, slots=True)
class Alternative:
    """An action that was weighed and not taken."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.Alternative"
    action: str
    reason: str

    def to_plain(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "reason": self.reason,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["action"],
            plain["reason"],
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
class SyncStep:
    """One step of a plan that brings a job to its expected config."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.SyncStep"
    name: str
    tasks: tuple[int, ...] = ()
    detail_json: str = "{}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "tasks": list(self.tasks),
            "detail_json": self.detail_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["name"],
            tuple(plain["tasks"]),
            plain["detail_json"],
        )


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """One path in which the running config differs from the expected one."""

    SCHEMA: ClassVar[str] = "turbine.types.v1.ConfigDifference"
    path: str
    from_json: str | None = None
    to_json: str | None = None
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "from_json": self.from_json,
            "to_json": self.to_json,
            "reason": self.reason,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["path"],
            plain["from_json"],
            plain["to_json"],
            plain["reason"],
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
class AlertCleared(Body):
    """An alert does not hold any more."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.AlertCleared"
    subject: str
    alert: str
    explanation: str

    def to_plain(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "alert": self.alert,
            "explanation": self.explanation,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["subject"],
            plain["alert"],
            plain["explanation"],
        )


@dataclass(frozen=True, slots=True)
class AlertRaised(Body):
    """Something about a subject needs a person."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.AlertRaised"
    subject: str
    alert: str
    severity: Severity
    cause: str
    runbook: str
    details_json: str = "{}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "alert": self.alert,
            "severity": self.severity,
            "cause": self.cause,
            "runbook": self.runbook,
            "details_json": self.details_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["subject"],
            plain["alert"],
            plain["severity"],
            plain["cause"],
            plain["runbook"],
            plain["details_json"],
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
class ConfigChangeProposed(Body):
    """A wish to change one layer of a job's config; the topic it lies on says which layer."""

    SCHEMA: ClassVar[str] = "turbine.changes.v1.ConfigChangeProposed"
    change_id: str
    job: str
    author: str
    expected_version: int | None = None
    set_json: str = "{}"
    clear: tuple[str, ...] = ()
    reason: str = ""
    expires_ms: int | None = None
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "author": self.author,
            "expected_version": self.expected_version,
            "set_json": self.set_json,
            "clear": list(self.clear),
            "reason": self.reason,
            "expires_ms": self.expires_ms,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["author"],
            plain["expected_version"],
            plain["set_json"],
            tuple(plain["clear"]),
            plain["reason"],
            plain["expires_ms"],
            plain["traceparent"],
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
class JobConfigChanged(Body):
    """A change of one layer was accepted, and this is what stands since."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.JobConfigChanged"
    job: str
    layer: Layer
    change_id: str
    version: int
    versions: LayerVersions
    layer_json: str
    expected_json: str
    author: str
    reason: str = ""
    expires_ms: int | None = None
    traceparent: str | None = None
    ends: tuple[OverrideEnd, ...] | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "layer": self.layer,
            "change_id": self.change_id,
            "version": self.version,
            "versions": self.versions.to_plain(),
            "layer_json": self.layer_json,
            "expected_json": self.expected_json,
            "author": self.author,
            "reason": self.reason,
            "expires_ms": self.expires_ms,
            "traceparent": self.traceparent,
            "ends": None if self.ends is None else [one.to_plain() for one in self.ends],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["layer"],
            plain["change_id"],
            plain["version"],
            LayerVersions.from_plain(plain["versions"]),
            plain["layer_json"],
            plain["expected_json"],
            plain["author"],
            plain["reason"],
            plain["expires_ms"],
            plain["traceparent"],
            None if plain["ends"] is None else tuple([OverrideEnd.from_plain(one) for one in plain["ends"]]),
        )


@dataclass(frozen=True, slots=True)
class JobConfigRejected(Body):
    """A proposal or a request about a job was refused, and nothing changed."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.JobConfigRejected"
    job: str
    ingress: str
    change_id: str
    reason: str
    explanation: str
    version: int
    path: str = ""
    author: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "ingress": self.ingress,
            "change_id": self.change_id,
            "reason": self.reason,
            "explanation": self.explanation,
            "version": self.version,
            "path": self.path,
            "author": self.author,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["ingress"],
            plain["change_id"],
            plain["reason"],
            plain["explanation"],
            plain["version"],
            plain["path"],
            plain["author"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class JobDeleteRequested(Body):
    """An operator wants a job to be stopped and its config to be removed."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.JobDeleteRequested"
    change_id: str
    job: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class JobDeleted(Body):
    """A job's layers were removed; its versions are kept, so that a re-creation goes on from
    them."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.JobDeleted"
    job: str
    change_id: str
    versions: LayerVersions
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "change_id": self.change_id,
            "versions": self.versions.to_plain(),
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["change_id"],
            LayerVersions.from_plain(plain["versions"]),
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class JobQuarantined(Body):
    """A job's plan failed too often and is not tried again until somebody releases the job or its
    config changes."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.JobQuarantined"
    job: str
    plan_id: str
    signature: str
    versions: LayerVersions
    step: int
    name: str
    cause: str
    explanation: str
    failures: int

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "signature": self.signature,
            "versions": self.versions.to_plain(),
            "step": self.step,
            "name": self.name,
            "cause": self.cause,
            "explanation": self.explanation,
            "failures": self.failures,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["signature"],
            LayerVersions.from_plain(plain["versions"]),
            plain["step"],
            plain["name"],
            plain["cause"],
            plain["explanation"],
            plain["failures"],
        )


@dataclass(frozen=True, slots=True)
class JobReleased(Body):
    """A job left its quarantine."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.JobReleased"
    job: str
    explanation: str
    change_id: str | None = None
    versions: LayerVersions | None = None
    author: str = ""
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "explanation": self.explanation,
            "change_id": self.change_id,
            "versions": None if self.versions is None else self.versions.to_plain(),
            "author": self.author,
            "reason": self.reason,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["explanation"],
            plain["change_id"],
            None if plain["versions"] is None else LayerVersions.from_plain(plain["versions"]),
            plain["author"],
            plain["reason"],
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
class OffsetResetRequested(Body):
    """An operator wants a job to read its inputs from another place."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.OffsetResetRequested"
    change_id: str
    job: str
    to: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "to": self.to,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["to"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class OverrideExpired(Body):
    """A temporary change was taken back, and its layer might never have had it."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.OverrideExpired"
    job: str
    layer: Layer
    version: int
    versions: LayerVersions
    expected_json: str
    expires_ms: int
    change_id: str | None = None
    layer_json: str | None = None
    other_ids: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "layer": self.layer,
            "version": self.version,
            "versions": self.versions.to_plain(),
            "expected_json": self.expected_json,
            "expires_ms": self.expires_ms,
            "change_id": self.change_id,
            "layer_json": self.layer_json,
            "other_ids": list(self.other_ids),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["layer"],
            plain["version"],
            LayerVersions.from_plain(plain["versions"]),
            plain["expected_json"],
            plain["expires_ms"],
            plain["change_id"],
            plain["layer_json"],
            tuple(plain["other_ids"]),
        )


@dataclass(frozen=True, slots=True)
class PauseRequested(Body):
    """An operator wants all tasks of a job to stop and the job to be kept."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.PauseRequested"
    change_id: str
    job: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
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
class ReleaseRequested(Body):
    """An operator wants a quarantined job to be tried again."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.ReleaseRequested"
    change_id: str
    job: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class ResumeRequested(Body):
    """An operator wants a paused job to run again."""

    SCHEMA: ClassVar[str] = "turbine.operator.v1.ResumeRequested"
    change_id: str
    job: str
    author: str
    reason: str = ""
    traceparent: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "change_id": self.change_id,
            "job": self.job,
            "author": self.author,
            "reason": self.reason,
            "traceparent": self.traceparent,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["change_id"],
            plain["job"],
            plain["author"],
            plain["reason"],
            plain["traceparent"],
        )


@dataclass(frozen=True, slots=True)
class ScalingDecided(Body):
    """The auto scaler wants another size, and this is all that it looked at."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.ScalingDecided"
    job: str
    change_id: str
    expected_version: int
    set_json: str
    symptom: str
    diagnosis: str
    raw_tasks: int
    final_tasks: int
    constraints: tuple[Constraint, ...] = ()
    evidence_json: str = "{}"
    clear: tuple[str, ...] = ()
    policy: str = ""
    action: str = ""
    alternatives: tuple[Alternative, ...] = ()
    explanation: str = ""
    mode: str = "act"
    expected_records_per_s: float | None = None
    verify_ms: int | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "change_id": self.change_id,
            "expected_version": self.expected_version,
            "set_json": self.set_json,
            "symptom": self.symptom,
            "diagnosis": self.diagnosis,
            "raw_tasks": self.raw_tasks,
            "final_tasks": self.final_tasks,
            "constraints": [one.to_plain() for one in self.constraints],
            "evidence_json": self.evidence_json,
            "clear": list(self.clear),
            "policy": self.policy,
            "action": self.action,
            "alternatives": [one.to_plain() for one in self.alternatives],
            "explanation": self.explanation,
            "mode": self.mode,
            "expected_records_per_s": _finite_or_none(self.expected_records_per_s),
            "verify_ms": self.verify_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["change_id"],
            plain["expected_version"],
            plain["set_json"],
            plain["symptom"],
            plain["diagnosis"],
            plain["raw_tasks"],
            plain["final_tasks"],
            tuple([Constraint.from_plain(one) for one in plain["constraints"]]),
            plain["evidence_json"],
            tuple(plain["clear"]),
            plain["policy"],
            plain["action"],
            tuple([Alternative.from_plain(one) for one in plain["alternatives"]]),
            plain["explanation"],
            plain["mode"],
            _finite_or_none(plain["expected_records_per_s"]),
            plain["verify_ms"],
        )


@dataclass(frozen=True, slots=True)
class ScalingDeclined(Body):
    """The auto scaler looked at a job and changed nothing, or gave a proposal up."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.ScalingDeclined"
    job: str
    reason: str
    explanation: str
    change_id: str | None = None
    action: str = ""
    until_ms: int | None = None
    evidence_json: str = "{}"
    symptom: str = ""
    diagnosis: str = ""
    policy: str = ""
    mode: str = "act"
    constraints: tuple[Constraint, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "reason": self.reason,
            "explanation": self.explanation,
            "change_id": self.change_id,
            "action": self.action,
            "until_ms": self.until_ms,
            "evidence_json": self.evidence_json,
            "symptom": self.symptom,
            "diagnosis": self.diagnosis,
            "policy": self.policy,
            "mode": self.mode,
            "constraints": [one.to_plain() for one in self.constraints],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["reason"],
            plain["explanation"],
            plain["change_id"],
            plain["action"],
            plain["until_ms"],
            plain["evidence_json"],
            plain["symptom"],
            plain["diagnosis"],
            plain["policy"],
            plain["mode"],
            tuple([Constraint.from_plain(one) for one in plain["constraints"]]),
        )


@dataclass(frozen=True, slots=True)
class ScalingReverted(Body):
    """A scaling action did not help and is taken back."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.ScalingReverted"
    job: str
    change_id: str
    explanation: str
    measures_json: str = "{}"
    revert_change_id: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "change_id": self.change_id,
            "explanation": self.explanation,
            "measures_json": self.measures_json,
            "revert_change_id": self.revert_change_id,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["change_id"],
            plain["explanation"],
            plain["measures_json"],
            plain["revert_change_id"],
        )


@dataclass(frozen=True, slots=True)
class ScalingVerified(Body):
    """A scaling action is in effect and helped."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.ScalingVerified"
    job: str
    change_id: str
    explanation: str
    measures_json: str = "{}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "change_id": self.change_id,
            "explanation": self.explanation,
            "measures_json": self.measures_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["change_id"],
            plain["explanation"],
            plain["measures_json"],
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
class SyncCommitted(Body):
    """A plan is in effect, and this is the running config since."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncCommitted"
    job: str
    plan_id: str
    kind: SyncKind
    versions: LayerVersions
    generation: int
    running_json: str
    state: str
    tasks: int
    change_id: str | None = None
    held: bool = False
    reset_json: str = ""

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "kind": self.kind,
            "versions": self.versions.to_plain(),
            "generation": self.generation,
            "running_json": self.running_json,
            "state": self.state,
            "tasks": self.tasks,
            "change_id": self.change_id,
            "held": self.held,
            "reset_json": self.reset_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["kind"],
            LayerVersions.from_plain(plain["versions"]),
            plain["generation"],
            plain["running_json"],
            plain["state"],
            plain["tasks"],
            plain["change_id"],
            plain["held"],
            plain["reset_json"],
        )


@dataclass(frozen=True, slots=True)
class SyncFailed(Body):
    """A plan ended without effect; the old running config stands."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncFailed"
    job: str
    plan_id: str
    signature: str
    versions: LayerVersions
    step: int
    name: str
    cause: str
    explanation: str
    failures: int
    retry_ms: int | None = None
    change_id: str | None = None

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "signature": self.signature,
            "versions": self.versions.to_plain(),
            "step": self.step,
            "name": self.name,
            "cause": self.cause,
            "explanation": self.explanation,
            "failures": self.failures,
            "retry_ms": self.retry_ms,
            "change_id": self.change_id,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["signature"],
            LayerVersions.from_plain(plain["versions"]),
            plain["step"],
            plain["name"],
            plain["cause"],
            plain["explanation"],
            plain["failures"],
            plain["retry_ms"],
            plain["change_id"],
        )


@dataclass(frozen=True, slots=True)
class SyncPlanned(Body):
    """How a job is brought from its running config to its expected one."""

    SCHEMA: ClassVar[str] = "turbine.journal.v1.SyncPlanned"
    job: str
    plan_id: str
    signature: str
    kind: SyncKind
    intent: str
    to_versions: LayerVersions
    generation: int
    steps: tuple[SyncStep, ...]
    expected_json: str
    from_versions: LayerVersions | None = None
    differences: tuple[ConfigDifference, ...] = ()
    attempt: int = 1
    change_id: str | None = None
    held: bool = False
    reset_json: str = ""

    def to_plain(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "plan_id": self.plan_id,
            "signature": self.signature,
            "kind": self.kind,
            "intent": self.intent,
            "to_versions": self.to_versions.to_plain(),
            "generation": self.generation,
            "steps": [one.to_plain() for one in self.steps],
            "expected_json": self.expected_json,
            "from_versions": None if self.from_versions is None else self.from_versions.to_plain(),
            "differences": [one.to_plain() for one in self.differences],
            "attempt": self.attempt,
            "change_id": self.change_id,
            "held": self.held,
            "reset_json": self.reset_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["job"],
            plain["plan_id"],
            plain["signature"],
            plain["kind"],
            plain["intent"],
            LayerVersions.from_plain(plain["to_versions"]),
            plain["generation"],
            tuple([SyncStep.from_plain(one) for one in plain["steps"]]),
            plain["expected_json"],
            None if plain["from_versions"] is None else LayerVersions.from_plain(plain["from_versions"]),
            tuple([ConfigDifference.from_plain(one) for one in plain["differences"]]),
            plain["attempt"],
            plain["change_id"],
            plain["held"],
            plain["reset_json"],
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
class TierDefined(Body):
    """A tier exists; its number of shards never changes."""

    SCHEMA: ClassVar[str] = "turbine.tiers.v1.TierDefined"
    tier: str
    shards: int
    regions: tuple[str, ...] = ()
    settings_json: str = "{}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "shards": self.shards,
            "regions": list(self.regions),
            "settings_json": self.settings_json,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        return cls(
            plain["tier"],
            plain["shards"],
            tuple(plain["regions"]),
            plain["settings_json"],
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
