"""Who gave each field of a job its value, in which layer and why: read off its decisions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from events.generated.records import JobConfigChanged, JobDeleted, OverrideExpired
from events.job_config.merge import origins
from events.job_config.strict_json import split_path, write_path
from events.topics import LAYERS
from events.wire.codec import SKIPPED
from projections.jobs import Job, apply
from turbine.read.differences import differences
from turbine.read.plain import means
from turbine.read.sources.log import Standing


@dataclass(frozen=True, slots=True)
class Hand:
    """One decision, as the one that gave a field its value or took it away."""

    what: Annotated[str, means("set, expired, deleted or moved.")]
    decision: Annotated[str, means("Its id.")]
    at_ms: int
    layer: str | None = None
    version: int | None = None
    author: str = ""
    reason: str = ""

    def __str__(self) -> str:
        layer = "" if self.layer is None else f"{self.layer} {self.version} "
        word = "" if self.what == "set" else f"{self.what} "
        author = f"by {self.author}" if self.author else ""
        reason = f": {self.reason}" if self.reason else ""
        return (layer + word + author).strip() + reason


@dataclass(slots=True)
class Hands:
    """The newest hand of each field: of what is expected, and of each layer for itself."""

    job: Job
    expected: dict[str, Hand] = field(default_factory=dict)
    layers: dict[tuple[str, str], Hand] = field(default_factory=dict)

    def of_expected(self, path: str) -> Hand | None:
        """Who last made what is expected there another value, or took it away."""
        return _nearest(self.expected, path)

    def of_layers(self, path: str, layers: Iterable[str] = LAYERS) -> Hand | None:
        """Who set what the highest of these layers that names it says there."""
        wanted = list(layers)
        configs = [
            json.loads(layer.config_json)
            for name, layer in zip(LAYERS, self.job.layers, strict=True)
            if name in wanted
        ]
        at = origins(configs).get(path)
        if at is None:
            return None
        own = {known: hand for (layer, known), hand in self.layers.items() if layer == wanted[at]}
        return _nearest(own, path)

    def hider(self, path: str, low: int, high: int) -> Hand | None:
        """Who hid with a null what lies below: the highest of these layers that says so."""
        for name in reversed(LAYERS[low:high]):
            own = {known: hand for (layer, known), hand in self.layers.items() if layer == name}
            found = _nearest(own, path)
            if found is not None:
                return found
        return None


def hands_of(job: str, decisions: Iterable[Standing]) -> Hands:
    """Of all these decisions about the job, in their order."""
    found = Hands(Job(job))
    for one in decisions:
        record = one.read.record
        if not one.stands or record.body in (None, SKIPPED):
            continue
        hand = _hand(one)
        if hand is None or record.body is None:
            continue
        was, found.job = found.job, apply(found.job, record.body)
        for other in differences(
            json.loads(was.expected_json), json.loads(found.job.expected_json)
        ):
            found.expected[other.path] = hand
        for name, old, new in zip(LAYERS, was.layers, found.job.layers, strict=True):
            if old.config_json != new.config_json:
                for other in differences(json.loads(old.config_json), json.loads(new.config_json)):
                    found.layers[name, other.path] = hand
    return found


def _hand(one: Standing) -> Hand | None:
    record, at_ms = one.read.record, one.read.at_ms
    match record.body:
        case JobConfigChanged() as body:
            return Hand("set", record.id, at_ms, body.layer, body.version, body.author, body.reason)
        case OverrideExpired() as body:
            return Hand("expired", record.id, at_ms, body.layer, body.version)
        case JobDeleted() as body:
            return Hand("deleted", record.id, at_ms, author=body.author, reason=body.reason)
        case _:
            return None


def _nearest(hands: Mapping[str, Hand], path: str) -> Hand | None:
    """Of the field, else of what it lies in: an object may have been set or taken away whole."""
    keys = split_path(path)
    for length in range(len(keys), 0, -1):
        found = hands.get(write_path(keys[:length]))
        if found is not None:
            return found
    return None
