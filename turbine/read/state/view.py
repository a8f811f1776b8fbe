"""What the log says at one position: jobs, tiers, alerts. Pure.

Rows are frozen, and shared between views.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from events.generated.records import (
    CapacityReported,
    ContainerStarted,
    TaskLoadReported,
    TierDefined,
)
from events.wire.codec import Read
from projections.capacity import Capacity
from projections.fleet import TierFleet
from projections.jobs import Job
from projections.syncs import Sync
from turbine.read.state.notes import NOTHING, UNLOADED, Loads, Notes
from turbine.read.state.running import Sightings
from turbine_client.positions import format_vector


@dataclass(frozen=True, slots=True)
class AlertView:
    """One alert, with the decision that raised it."""

    subject: str
    kind: str
    severity: str
    cause: str
    runbook: str
    details_json: str
    since_ms: int
    id: str
    position: str
    source: str
    cleared_ms: int | None = None  # None: it is open
    explanation: str = ""  # why it is over

    @property
    def key(self) -> str:
        """A subject has each alert once."""
        return f"{self.subject}/{self.kind}"


@dataclass(frozen=True, slots=True)
class JobView:
    """One job: what is expected, what runs, what its tasks and its scaler said last."""

    job: Job
    sync: Sync | None = None
    notes: Notes = NOTHING
    reports: Loads = UNLOADED

    @property
    def existed(self) -> bool:
        """Was it ever created? A rejected request leaves a row too."""
        return self.job.versions.base > 0

    @property
    def sightings(self) -> Sightings:
        """Where its tasks were seen last, and what failed, as the command line shows it."""
        return Sightings.of(self.job.name, self.notes.seen, self.notes.failures)

    @property
    def words(self) -> tuple[Read, ...]:
        """The scaler's last standing words, one of each kind, the newest last."""
        words = self.notes.words
        return tuple(
            sorted(words.values(), key=lambda one: (one.record.kind == self.notes.last, one.at_ms))
        )

    @property
    def loads(self) -> Mapping[int, tuple[TaskLoadReported, int]]:
        """The last report and its instant of each task that runs in the newest shape; of one whose
        newer generation has begun, nothing."""
        sync, found = self.sync, dict[int, tuple[TaskLoadReported, int]]()
        if sync is None or sync.listed is None:
            return found
        specs = sync.listed.generation
        for task in range(sync.listed.tasks):
            told, begun = self.reports.get(task), sync.tasks.get(task)
            if told is None or told[1].generation.specs != specs:
                continue
            if begun is None or begun.specs != specs or begun.shard <= told[0][1]:
                found[task] = told[1:]
        return found


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one component said last."""

    at_ms: int
    tick_ms: int
    position: str
    records: int


@dataclass(frozen=True, slots=True)
class View:
    """What the log says at one position."""

    at: Mapping[str, int]  # position vector: next offset of each place
    at_ms: int = 0  # greatest append time read
    now_ms: int = 0  # greatest tick read
    jobs: Mapping[str, JobView] = field(default_factory=dict)
    tiers: Mapping[str, TierFleet] = field(default_factory=dict)
    capacity: Mapping[str, Capacity] = field(default_factory=dict)
    defined: Mapping[str, TierDefined] = field(default_factory=dict)
    reported: Mapping[str, tuple[CapacityReported, int]] = field(default_factory=dict)
    started: Mapping[str, ContainerStarted] = field(default_factory=dict)  # newest life of each
    alerts: Mapping[str, AlertView] = field(default_factory=dict)  # open ones by their key
    cleared: tuple[AlertView, ...] = ()  # the last that are over, newest first
    spoken: Mapping[str, Spoken] = field(default_factory=dict)  # by component
    letters: Mapping[str, int] = field(default_factory=dict)  # dead letters by their reason
    records: int = 0

    @property
    def last_ms(self) -> int:
        """The log's own time then; 1 of a log in which nothing is."""
        return max(self.now_ms, self.at_ms, 1)

    @property
    def dead_letters(self) -> int:
        """The number of messages that could not be read."""
        return sum(self.letters.values())

    @property
    def digest(self) -> str:
        """A short name of the position, the same for all who read that far."""
        return hashlib.sha256(format_vector(self.at).encode()).hexdigest()[:16]
