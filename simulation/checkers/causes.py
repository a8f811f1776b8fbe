"""What each standing decision and effect says that it follows from, told from the log alone.

It names a record that was there before it, of a kind that it can follow from; and where it has to
follow from something, it names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from events.generated.records import AlertRaised, ScalingDecided, ScalingDeclined
from events.wire.codec import Read
from simulation.checkers.history import History, Spot

CONFIGS = {"JobConfigChanged", "OverrideExpired", "JobDeleted", "JobReleased"}
REQUESTS = {"PauseRequested", "ResumeRequested", "ReleaseRequested", "OffsetResetRequested"}
STEPS = {"SyncPlanned", "SyncStepStarted", "SyncStepDone"}
SIZES = {"ScalingDecided", "ScalingReverted"}
PLANS = {"PlacementPlanned"}

KINDS: Mapping[str, set[str]] = {
    "JobConfigChanged": {"ConfigChangeProposed"},
    "JobConfigRejected": {"ConfigChangeProposed", "JobDeleteRequested"},
    "JobDeleted": {"JobDeleteRequested"},
    "OverrideExpired": {"JobConfigChanged"},
    "SyncPlanned": CONFIGS | REQUESTS | {"SyncFailed"},
    "SyncStepStarted": {"SyncPlanned", "SyncStepDone"},
    "SyncStepDone": {"SyncStepStarted"},
    "SyncCommitted": CONFIGS | REQUESTS | STEPS,
    "SyncFailed": REQUESTS | STEPS,
    "JobQuarantined": {"SyncFailed"},
    "JobReleased": CONFIGS | REQUESTS,
    "TaskSpecsPublished": {"SyncStepStarted", "SyncCommitted", "SyncFailed"},
    "ScalingVerified": SIZES,
    "ScalingReverted": SIZES,
    "ConfigChangeProposed": SIZES,
    "ShardDropRequested": PLANS,
    "ShardForceKilled": {"ShardDropRequested"},
    "ContainerFailedOver": {"ContainerFailOverRequested"},
    "AlertCleared": {"AlertRaised"},
}
"""Which kinds each may follow from; those that are not here are told below."""
ALERTS: Mapping[str, set[str]] = {
    "job-quarantined": {"JobQuarantined"},
    "tasks-failing": {"TaskFailed"},
    "no-task-specs": KINDS["TaskSpecsPublished"],
    "shards-unplaced": PLANS,
    "mass-failure": PLANS,
}


def check_causes(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    known: dict[str, list[tuple[Spot, str]]] = {}
    reads = [read for place in history.log.values() for read in place]
    for read in reads:
        spot = (read.place, read.offset)
        known.setdefault(read.record.id, []).append((spot, read.record.kind))
    standing = {(read.place, read.offset) for read in history.standing}
    for read in reads:
        # What is void may follow from what was lost together with its head.
        void = bool(read.record.parent) and (read.place, read.offset) not in standing
        wanted = _wanted(read)
        if wanted is not None and not void:
            sentence = _wrong(read, wanted, known)
            if sentence:
                yield f"{read.record.kind} at {read.place}:{read.offset} {sentence}"


def _wrong(read: Read, wanted: set[str], known: Mapping[str, list[tuple[Spot, str]]]) -> str:
    cause = read.record.cause
    if not cause:
        return f"names nothing that it follows from; expected one of {sorted(wanted)}"
    found = known.get(cause, ())
    if not found:
        return f"follows from {cause}, which is not in the log"
    if not any(kind in wanted for _, kind in found):
        return f"follows from a {found[0][1]}; expected one of {sorted(wanted)}"
    if all(at == read.place and offset >= read.offset for (at, offset), _ in found):
        return f"follows from {cause}, which came after it"
    return ""


def _wanted(read: Read) -> set[str] | None:
    """None: it follows from no single record, or is not the control plane's."""
    record = read.record
    if not record.logic:
        return None
    match record.body:
        case AlertRaised(alert=alert):
            return ALERTS.get(alert)
        case ScalingDeclined(change_id=str()):
            return SIZES
        case ScalingDecided(symptom="tier-short"):
            return {"CapacityGranted", "PreemptionRequested"}
        case _:
            return KINDS.get(record.kind)
