"""What a run met on its way: a green run that met nothing proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.generated.records import JobConfigChanged, JobConfigRejected, JobDeleted, SyncPlanned
from simulation.bounds import USUAL
from simulation.casts import CASTS
from simulation.checkers.history import History

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

REACHED = (
    *(f"cast: {name}" for name in CASTS),
    "bounds: small",
    "bounds: usual",
    "over the wire",
    "as many as may be said at once",
    "deleted job created anew",
    "entries of a zombie",
    "held back",
    "key frozen",
    "load late",
    "load lost",
    "load said again",
    "planned: restart",
    "read again",
    "rejected: expiry-not-allowed",
    "rejected: invalid",
    "rejected: no-such-job",
    "rejected: overloaded",
    "rejected: reason-required",
    "rejected: state-stays",
    "rejected: stale",
    "rejected: too-late",
    "request sent again",
    "said again",
    "container died: crash",
    "container died: its life is over",
    "engine slow",
    "task crashed",
    "task does not heed",
    "stands: AlertRaised",
    "stands: ContainerFailOverRequested",
    "stands: JobConfigChanged",
    "stands: JobDeleted",
    "stands: OverrideExpired",
    "stands: JobQuarantined",
    "stands: JobReleased",
    "stands: ScalingDecided",
    "stands: ScalingDeclined",
    "stands: ScalingVerified",
    "stands: ShardAddRequested",
    "stands: ShardDropRequested",
    "stands: ShardForceKilled",
    "stands: SyncCommitted",
    "stands: SyncFailed",
    "stands: TaskSpecsPublished",
    "start: effects owed",
    "start: from kept rows",
    "start: from nothing, a key was frozen",
    "start: from nothing, rows were lost",
    "start: nothing was kept",
    "start: records held back",
    "task failed",
    "task manager late",
    "task manager never answers",
    "task of an older generation speaks",
    "void: by its parent",
    "void: impossible",
    "write late",
    "write lost",
)
"""What seeds together have to meet."""


def note_reached(world: SimulatedWorld, history: History) -> None:
    """Adds to the world's counts what its history shows."""
    counts = world.counts
    [cast] = (name for name, cast in CASTS.items() if cast is world.cast)
    counts[f"cast: {cast}"] = 1
    counts["bounds: usual" if world.swarm.bounds is USUAL else "bounds: small"] = 1
    counts["over the wire"] = int(world.swarm.over_the_wire)
    counts["records"] = world.log.appended
    counts["decisions"] = len(history.log[history.journal])
    impossible = sum(history.impossible(read) for read in history.log[history.journal])
    counts["void: impossible"] = impossible
    counts["void: by its parent"] = counts["decisions"] - len(history.standing) - impossible
    counts["entries of a zombie"] = sum(keep.zombies for keep in world.keeps.values())
    counts["read again"] = sum(process.owner.counts.repeated for process in world.everyone)
    counts["stands: AlertRaised"] = len(history.log["alerts.v1/0"])
    counts["said again"] = len(world.sent) - len(history.sent)
    deleted: set[str] = set()
    for read in history.standing:
        counts[f"stands: {read.record.kind}"] += 1
        match read.record.body:
            case JobConfigRejected(reason=reason):
                counts[f"rejected: {reason}"] += 1
            case SyncPlanned(intent=intent):
                counts[f"planned: {intent}"] += 1
            case JobDeleted():
                deleted.add(read.record.key)
            case JobConfigChanged(layer="base") if read.record.key in deleted:
                deleted.remove(read.record.key)
                counts["deleted job created anew"] += 1
