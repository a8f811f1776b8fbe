"""What happened in a span of the log, as a digest tells it: each event in one sentence. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from events.generated.records import AlertCleared, AlertRaised, Body
from events.sentences import sentence
from events.wire.codec import Read
from turbine.read.differences import Difference
from turbine.read.plain import made, means

E = TypeVar("E", bound="DigestEvent")

PATHS_KEPT = 5
"""Of one change: a config that is new differs in all of its paths."""


@dataclass(frozen=True, slots=True)
class DigestEvent:
    """Something that happened, in one sentence."""

    at_ms: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class OpenAlert(DigestEvent):
    """An alert that is open, since it was raised first."""

    alert: str
    severity: str
    cause: str
    runbook: str


@dataclass(frozen=True, slots=True)
class EndedAlert(DigestEvent):
    """An alert that was cleared in the span."""

    alert: str
    explanation: str
    raised_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TierEvent(DigestEvent):
    """Something that was decided about a tier, or asked of a container."""

    kind: str


@dataclass(frozen=True, slots=True)
class ConfigStep(DigestEvent):
    """A change of what is expected of a job."""

    what: Annotated[str, means("created, changed, expired or deleted.")]
    layer: str | None
    version: int | None
    author: str
    reason: str
    expires_ms: int | None
    differences: Annotated[tuple[Difference, ...], means(f"The first {PATHS_KEPT}.")]
    more: Annotated[int, means("Paths that differ beside these.")]


@dataclass(frozen=True, slots=True)
class RefusedStep(DigestEvent):
    """A change that was refused."""

    ingress: str
    reason: str
    author: str
    path: str
    explanation: str


@dataclass(frozen=True, slots=True)
class ScalingStep(DigestEvent):
    """An action of the auto scaler, and what came of it."""

    policy: str = ""
    mode: str = ""
    action: Annotated[str, means("Empty where it was decided before the span.")] = ""
    diagnosis: str = ""
    explanation: str = ""
    tasks: int | None = None
    tasks_before: int | None = None
    outcome: Annotated[str | None, means("verified or reverted.")] = None
    because: str = ""
    became: Annotated[str | None, means("The outcome in one sentence.")] = None


@dataclass(frozen=True, slots=True)
class FailedStep(DigestEvent):
    """A plan that came to nothing."""

    name: str
    cause: str
    failures: int
    explanation: str


@dataclass(frozen=True, slots=True)
class QuarantineStep(DigestEvent):
    """The quarantine that a job is in."""

    cause: str
    explanation: str


@dataclass(frozen=True, slots=True)
class ReleasedStep(DigestEvent):
    """The end of a quarantine."""

    author: str
    reason: str
    explanation: str


def event(form: type[E], read: Read, body: Body, **more: object) -> E:
    """A record as an event, with those of the record's fields that the event has."""
    return made(form, body, at_ms=read.at_ms, id=read.record.id, text=sentence(body), **more)


def alert(
    open_: dict[str, OpenAlert],
    cleared: list[EndedAlert],
    read: Read,
    body: AlertRaised | AlertCleared,
    *,
    within: bool,
) -> None:
    """Keeps what is open, and what was cleared within the span."""
    if isinstance(body, AlertRaised):
        raised, before = event(OpenAlert, read, body), open_.get(body.alert)
        # One that is raised again, with another cause, is open since it was raised first.
        open_[body.alert] = raised if before is None else replace(raised, at_ms=before.at_ms)
        return
    ended = open_.pop(body.alert, None)
    if within:
        since_ms = None if ended is None else ended.at_ms
        cleared.append(event(EndedAlert, read, body, raised_ms=since_ms))
