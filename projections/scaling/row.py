"""What the auto scaler knows of a job. Pure.

Each part is of one topic, or of the journal, whose order all readers share: so the row at a
position vector does not depend on how topics interleave. Minutes are learnt from loads alone, what
was decided from the scaler's own records alone.
"""

from __future__ import annotations

from typing import NamedTuple

from events.generated.records import LayerVersions
from projections.ingress import Ingress
from projections.scaling.actions import JobSize
from projections.scaling.decision_memory import Done
from projections.scaling.facts import Facts
from projections.scaling.model import JobModel
from projections.scaling.ring import Ring
from projections.scaling.rounds import Rounds

NOTHING = LayerVersions(0, 0, 0, 0)
RUNNING, PAUSED = "running", "paused"
STOP, SHRINK = "stop", "shrink"
REVERTED = "reverted"
STRAGGLER_ALERT, HOT_ALERT, STUCK_ALERT = "straggler", "hot-partition", "stuck-partition"
SLOW_ALERT, MEMORY_ALERT, ADVICE = "dependency-slow", "out-of-memory", "scaling-advised"
OWN_ALERTS = frozenset({STRAGGLER_ALERT, HOT_ALERT, STUCK_ALERT, SLOW_ALERT, MEMORY_ALERT, ADVICE})
"""Alerts of the scaler: each has a page among the runbooks."""


class LearntLoads(NamedTuple):
    """The part of the row that comes of `turbine.loads.v1` alone."""

    rounds: Rounds = Rounds()
    known: JobModel = JobModel()
    ring: Ring = b""  # the newest minutes


class Config(NamedTuple):
    """Of the job service's words: what the layers add up to, and who sets what."""

    alive: bool = False
    versions: LayerVersions = NOTHING
    facts: Facts | None = None
    oncall: frozenset[str] = frozenset()  # keys of ours that people have set
    scaler: frozenset[str] = frozenset()  # keys that our layer sets


class SyncedState(NamedTuple):
    """Of the state syncer's words."""

    versions: LayerVersions = NOTHING
    state: str = ""
    plan: str = ""  # that is in progress
    quarantined: bool = False


class Grant(NamedTuple):
    """Of the capacity manager's words: the last one holds."""

    id: str = ""
    tasks_max: int | None = None
    stop: bool = False
    shrink: bool = False
    explanation: str = ""
    until_ms: int | None = None
    priority: int = 0

    def holds(self, now_ms: int) -> bool:
        """Whether there is a grant that is not over yet."""
        return bool(self.id) and (self.until_ms is None or now_ms < self.until_ms)


class Days(NamedTuple):
    """The job's usual days, packed as single precision; newer ones replace it."""

    to_ms: int = 0
    slot_ms: int = 0
    days: int = 0
    mean: bytes = b""
    peak: bytes = b""


class OpenProposal(NamedTuple):
    """A proposal of ours, until its outcome is known."""

    id: str
    set_json: str
    clear: tuple[str, ...]
    expected_version: int
    action: str
    diagnosis: str
    before: JobSize
    wanted: JobSize
    verify_ms: int | None  # when it is held against what was expected
    decided_ms: int
    version: int | None = None  # of our layer, once it was accepted
    effect_ms: int | None = None  # when the syncer told that it is in effect
    lapsed: bool = False  # it came too late to count: nobody will answer
    refused: str = ""  # why it was rejected
    overridden: bool = False  # somebody else changed what it had set


class LastAnnouncement(NamedTuple):
    """What was said last of a look: the same again is not worth a record."""

    action: str = ""
    reason: str = ""
    diagnosis: str = ""
    size: int = 0  # tasks that were asked for; 0 where none were
    at_ms: int = 0
    said: str = ""


class OwedProposal(NamedTuple):
    """A proposal that a standing decision owes, and nobody has read yet."""

    id: str
    expected_version: int
    set_json: str
    clear: tuple[str, ...]
    reason: str


class ScalingRow(NamedTuple):
    """The row of one job, which is never forgotten."""

    name: str
    learnt: LearntLoads = LearntLoads()
    config: Config = Config()
    running: SyncedState = SyncedState()
    grant: Grant = Grant()
    days: Days = Days()
    done: Done = Done()
    change: OpenProposal | None = None
    owed: tuple[OwedProposal, ...] = ()
    told: LastAnnouncement = LastAnnouncement()
    alerts: frozenset[str] = frozenset()  # of ours that are raised
    restarts: tuple[int, ...] = ()  # instants of the last changes
    retry_ms: int = 0  # one proposal of ours is valid at a time
    ingress: Ingress = Ingress()

    @property
    def size(self) -> JobSize | None:
        """That the job is to have, by all layers."""
        return None if self.config.facts is None else self.config.facts.size
