"""The records that a client speaks or hears, generated from events/schemas.

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


RECORDS: dict[str, type[Body]] = {
    "AlertCleared": AlertCleared,
    "AlertRaised": AlertRaised,
    "ConfigChangeProposed": ConfigChangeProposed,
    "JobConfigChanged": JobConfigChanged,
    "JobConfigRejected": JobConfigRejected,
    "JobDeleteRequested": JobDeleteRequested,
    "JobDeleted": JobDeleted,
    "JobQuarantined": JobQuarantined,
    "JobReleased": JobReleased,
    "OffsetResetRequested": OffsetResetRequested,
    "OverrideExpired": OverrideExpired,
    "PauseRequested": PauseRequested,
    "ReleaseRequested": ReleaseRequested,
    "ResumeRequested": ResumeRequested,
    "ScalingDecided": ScalingDecided,
    "ScalingDeclined": ScalingDeclined,
    "ScalingReverted": ScalingReverted,
    "ScalingVerified": ScalingVerified,
    "SyncCommitted": SyncCommitted,
    "SyncFailed": SyncFailed,
    "SyncPlanned": SyncPlanned,
    "TierDefined": TierDefined,
}
