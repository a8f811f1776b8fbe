"""What became of a request, in the words of who asked: accepted, rejected, or unknown."""

from __future__ import annotations

from dataclasses import dataclass

from events.records import (
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobReleased,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)
from turbine.subscribe import Outcome

VERDICTS = frozenset(
    one.__name__
    for one in (
        JobConfigChanged,
        JobConfigRejected,
        JobDeleted,
        JobReleased,
        SyncCommitted,
        SyncFailed,
        SyncPlanned,
    )
)
"""Kinds that answer a request where they name one; the state syncer says most without any."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The change stands. `position` is where that was read: on the outcomes or in the journal."""

    change_id: str
    job: str
    layer: str  # "" where no layer changed: an operator asked for something else
    version: int
    decision_id: str
    position: str
    effect: str = ""
    """Of what the state syncer carries out: "planned", or what is in effect already: "running",
    "paused", "deleted" or "released"."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The change does not stand, and why."""

    change_id: str
    job: str
    reason: str
    explanation: str
    path: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """No verdict was seen in time. The change may yet stand: ask again with `Publisher.ask`."""

    change_id: str
    job: str
    explanation: str


Verdict = Accepted | Rejected | Unknown


def verdict_of(outcome: Outcome) -> Verdict:
    """What an outcome that answers a request says to who asked."""
    verdict = heard_in(outcome)
    assert verdict is not None, f"{outcome.kind} is no verdict"
    return verdict


def heard_in(outcome: Outcome) -> Verdict | None:
    """What an outcome says to who asked; None where it answers no request."""
    if not outcome.change_id:
        return None
    match outcome.body:
        case JobConfigChanged() as body:
            return _accepted(outcome, body.layer, body.version)
        case JobDeleted() as body:
            return _accepted(outcome, "base", body.versions.base)
        case SyncPlanned():
            return _accepted(outcome, effect="planned")
        case SyncCommitted() as body:
            return _accepted(outcome, effect=body.state)
        case JobReleased():
            return _accepted(outcome, effect="released")
        case JobConfigRejected() as body:
            return Rejected(
                body.change_id, body.job, body.reason, body.explanation, body.path, body.version
            )
        case SyncFailed() as body:
            return Rejected(
                outcome.change_id,
                body.job,
                body.cause,
                body.explanation,
                version=body.versions.base,
            )
        case _:
            return None


def _accepted(outcome: Outcome, layer: str = "", version: int = 0, *, effect: str = "") -> Accepted:
    position = f"{outcome.place}:{outcome.offset}"
    return Accepted(outcome.change_id, outcome.job, layer, version, outcome.id, position, effect)
