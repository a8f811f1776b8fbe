"""What has happened in the log so far, as counts that only rise: a fold for counters. Pure.

A counter of the log is the same for whoever reads it, and a restart begins where the log begins: it
does not lose what was counted, unlike a counter of a process.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from events.generated.records import (
    RECORDS,
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobQuarantined,
    LayerVersions,
    OverrideExpired,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    ShardAddRequested,
    ShardDropRequested,
    SyncCommitted,
)
from events.topics import JOURNAL, TIERS
from events.wire.codec import SKIPPED, Read
from projections.scaling.actions import (
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
)
from turbine.read.state.move_reasons import reason_of

OTHER = "other"
"""The label of what this build has no name for: values of labels are bounded."""
DIRECTIONS = {
    SCALE_UP: "up",
    MEMORY_UP: "up",
    SCALE_DOWN: "down",
    MEMORY_DOWN: "down",
    REVERT: "down",
    REBALANCE: "sideways",
    MOVE: "sideways",
}
RESULTS = ("decided", "advised", "rejected", "verified", "reverted")
COMPONENTS = (
    "job-service",
    "state-syncer",
    "task-service",
    "auto-scaler",
    "shard-manager",
    "capacity-manager",
    "operator",
)
DECISIONS = (JOURNAL, TIERS)
_COUNTED = ("events", "decisions", "actions", "declined", "moves")
STANDS, VOID, READ = "stands", "void", "read"
BOUNDS_S = (5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""Of the time from a scaling decision to its effect: seconds for a copied field, minutes for tasks
that are stopped and started, and an hour for what hardly ever comes."""
REASONS_MOST = 40
"""Reasons for which the scaler changes nothing: a word of a policy, so bounded here."""


class Drift(NamedTuple):
    """A job that does not run as is expected of it."""

    since_ms: int
    versions: LayerVersions  # that are expected


class PendingScaling(NamedTuple):
    """A job's last scaling decision, until its outcome is known."""

    change_id: str
    direction: str
    decided_ms: int
    version: int | None = None  # of the scaler's layer, once it was accepted
    over: bool = False  # it is in effect: only its outcome is awaited


@dataclass(slots=True)
class Tally:
    """Give it every record once, in the order of its place, with whether it stands."""

    events: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    decisions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    declined: Counter[str] = field(default_factory=Counter)
    moves: Counter[str] = field(default_factory=Counter)
    effects: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    effects_ms: int = 0
    drifting: dict[str, Drift] = field(default_factory=dict)  # by job, while it does
    pending: dict[str, PendingScaling] = field(default_factory=dict)  # by job

    def take(self, read: Read, stands: bool) -> None:
        """Counts one record by what it is."""
        record, decision = read.record, read.topic in DECISIONS
        kind = record.kind if record.kind in RECORDS else OTHER
        result = READ if not decision else STANDS if stands else VOID
        self.events[read.topic, kind, result] += 1
        if decision:
            who = record.source if record.source in COMPONENTS else OTHER
            self.decisions[who, kind, result] += 1
        body = record.body
        if decision and stands and body is not None and body is not SKIPPED:
            self._stand(record.key, read.at_ms, body)

    def _stand(self, key: str, at_ms: int, body: Body) -> None:
        match body:
            case JobConfigChanged() | OverrideExpired() | JobDeleted():
                since_ms = self.drifting[key].since_ms if key in self.drifting else at_ms
                self.drifting[key] = Drift(since_ms, body.versions)
                self._accepted(key, body)
            case SyncCommitted():
                if key in self.drifting and self.drifting[key].versions == body.versions:
                    del self.drifting[key]
                self._in_effect(key, at_ms, body.versions.scaler)
            case JobQuarantined():
                self.drifting.pop(key, None)  # nobody works on it, as its own alert says
            case JobConfigRejected():
                self._rejected(key, body.change_id)
            case ScalingDecided() | ScalingVerified() | ScalingReverted() | ScalingDeclined():
                self._scaled(key, at_ms, body)
            case ShardDropRequested() | ShardAddRequested():
                if reason := reason_of(body):
                    self.moves[reason] += 1
            case _:
                return

    # --- scaling

    def _scaled(
        self,
        job: str,
        at_ms: int,
        body: ScalingDecided | ScalingVerified | ScalingReverted | ScalingDeclined,
    ) -> None:
        if isinstance(body, ScalingDeclined):
            known = body.reason in self.declined or len(self.declined) < REASONS_MOST
            self.declined[body.reason if known else OTHER] += 1
        elif isinstance(body, ScalingDecided):
            direction = DIRECTIONS.get(body.action, OTHER)
            acts = body.mode == "act"
            self.actions[direction, "decided" if acts else "advised"] += 1
            if acts:
                self.pending[job] = PendingScaling(body.change_id, direction, at_ms)
        else:
            pending = self.pending.get(job)
            direction = OTHER
            if pending is not None and pending.change_id == body.change_id:
                direction = pending.direction
                del self.pending[job]
            result = "verified" if isinstance(body, ScalingVerified) else "reverted"
            self.actions[direction, result] += 1

    def _accepted(self, job: str, body: Body) -> None:
        pending = self.pending.get(job)
        if pending is None or not isinstance(body, JobConfigChanged):
            return
        if body.change_id == pending.change_id:
            self.pending[job] = pending._replace(version=body.version)

    def _rejected(self, job: str, change_id: str) -> None:
        pending = self.pending.get(job)
        if pending is not None and pending.change_id == change_id:
            self.actions[pending.direction, "rejected"] += 1
            del self.pending[job]

    def _in_effect(self, job: str, at_ms: int, version: int) -> None:
        pending = self.pending.get(job)
        if pending is None or pending.over or pending.version is None or version < pending.version:
            return
        took_ms = max(0, at_ms - pending.decided_ms)
        self.effects[bisect_left(BOUNDS_S, took_ms / 1000)] += 1
        self.effects_ms += took_ms
        self.pending[job] = pending._replace(over=True)

    # --- keeping

    def kept(self) -> tuple[Any, ...]:
        """All of it in plain values; `of` is its inverse."""
        return (
            *(dict(getattr(self, name)) for name in _COUNTED),
            list(self.effects),
            self.effects_ms,
            {job: tuple(one) for job, one in self.drifting.items()},
            {job: tuple(one) for job, one in self.pending.items()},
        )

    @classmethod
    def of(cls, kept: tuple[Any, ...]) -> Tally:
        """A tally of what `kept` had given."""
        counted, (effects, effects_ms, drifting, pending) = kept[:5], kept[5:]
        events, decisions, actions, declined, moves = (Counter(one) for one in counted)
        return cls(
            events,
            decisions,
            actions,
            declined,
            moves,
            list(effects),
            effects_ms,
            {job: Drift(*one) for job, one in drifting.items()},
            {job: PendingScaling(*one) for job, one in pending.items()},
        )

    def copy(self) -> Tally:
        """A copy of it as it stands."""
        return Tally.of(self.kept())
