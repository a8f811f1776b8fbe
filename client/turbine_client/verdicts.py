"""What became of a request, in the words of who asked: accepted, rejected, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turbine_client.bodies import Body
from turbine_client.heard import Heard
from turbine_client.records import (
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobReleased,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One decision that stands, as the world gets to see it."""

    kind: str
    job: str
    id: str
    change_id: str
    body: Body
    place: str
    offset: int
    at_ms: int

    @classmethod
    def of(cls, heard: Heard) -> Outcome:
        """What a record says, as the world gets to see it; its body has to be there."""
        assert heard.body is not None
        return cls(
            kind=heard.kind,
            job=heard.key,
            id=heard.id,
            change_id=heard.change_id,
            body=heard.body,
            place=heard.place,
            offset=heard.offset,
            at_ms=heard.at_ms,
        )

    def to_plain(self) -> dict[str, Any]:
        """As JSON: the envelope, and the record's fields under `body`."""
        return {
            "kind": self.kind,
            "job": self.job,
            "id": self.id,
            "change_id": self.change_id,
            "at_ms": self.at_ms,
            "position": f"{self.place}:{self.offset}",
            "body": self.body.to_plain(),
        }


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
