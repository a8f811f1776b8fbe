"""What each decision and effect follows from: the one table, and the rule that reads it. Pure.

`ce_causationid` names it. A verdict follows from the request that it answers. Anything else
follows from a decision about the same key that stands: of the kinds that the table names, the
newest. Each key keeps the ids of those (`marks`), so whoever restarts finds the same. There lie the
trace contexts of operators' requests too, until their verdicts stand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from components.runtime.core.component import Component
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobConfigChanged,
    OverrideExpired,
    PlacementPlanned,
    ScalingDecided,
    ScalingReverted,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
    SyncCommitted,
    SyncFailed,
)
from events.topics import OPERATOR
from events.wire.codec import REQUESTS, Read, Record

ANSWERS = frozenset(
    {
        "JobConfigChanged",
        "JobConfigRejected",
        "JobDeleted",
        "JobReleased",
        "PlacementRejected",
        "SyncCommitted",
        "SyncFailed",
        "SyncPlanned",
    }
)
"""Kinds whose `change_id` is the request that they answer, where they name one."""

_WANTED = ("JobConfigChanged", "OverrideExpired", "JobDeleted", "JobReleased")
_SIZED = ("ScalingDecided", "ScalingReverted")
_LOOKED = (*_SIZED, "ScalingDecided shown", "ScalingDeclined")
_GRANT = "a grant"
_HELD = "PlacementPlanned held"

FOLLOWS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SyncPlanned": (*_WANTED, "SyncFailed"),
        "SyncStepStarted": ("SyncPlanned", "SyncStepDone"),
        "SyncStepDone": ("SyncStepStarted",),
        "SyncCommitted": ("SyncPlanned", "SyncStepDone"),
        "SyncFailed": ("SyncPlanned", "SyncStepStarted"),
        "JobQuarantined": ("SyncFailed",),
        "JobReleased": _WANTED[:3],
        "TaskSpecsPublished": ("SyncStepStarted", "SyncCommitted", "SyncFailed"),
        "ScalingVerified": _SIZED,
        "ScalingReverted": _SIZED,
        "ConfigChangeProposed": _SIZED,
        "ShardDropRequested": ("PlacementPlanned",),
        "CapacityShared": ("CapacityReported",),
        "CapacityLent": ("CapacityReported",),
        "CapacityBorrowed": ("CapacityReported",),
        "JobsPreempted": ("CapacityReported",),
        "JobsRestored": ("CapacityReported",),
    }
)
"""Kinds of which all follow from the newest of these; `_sources` has those that depend on more."""

ALERTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "job-quarantined": ("JobQuarantined",),
        "tasks-failing": ("TaskFailed",),
        "no-task-specs": FOLLOWS["TaskSpecsPublished"],
        "shards-unplaced": ("PlacementPlanned", _HELD),
        "mass-failure": (_HELD,),
        "tier-short": ("CapacityReported", "JobsPreempted"),
        **dict.fromkeys(
            (
                "straggler",
                "hot-partition",
                "stuck-partition",
                "dependency-slow",
                "out-of-memory",
                "scaling-advised",
            ),
            _LOOKED,
        ),
    }
)

ROOTS: Mapping[str, str] = MappingProxyType(
    {
        "CapacityReported": "a tier was measured",
        "ContainerFailOverRequested": "a container was silent, or did not do what it was asked",
        "PlacementPlanned": "shards, loads or containers changed; one that was asked for names who",
        "ScalingDecided": "a job was measured; one that a tier calls for names its grant",
        "ScalingDeclined": "a job was measured; one that ends a change names what had decided it",
        "TierDefined": "a person made the tier",
    }
)
"""Kinds that follow from measurements, which are no single record, and why: evidence names them."""

_GRANTS = frozenset({"CapacityGranted", "PreemptionRequested"})
_BESIDE = frozenset({_GRANT, "TaskFailed"})
_FACTS = _GRANTS | {"TaskFailed"}
_PLAIN = frozenset(one for names in (*FOLLOWS.values(), *ALERTS.values()) for one in names)
MARKED = _PLAIN | _FACTS | {"AlertRaised", "ShardDropRequested", "ShardAddRequested"}
"""Kinds that something follows from, or that end what is kept of one."""
NUMBERED_MOST = 512
"""Marks of one key with a number in their names: overrides that expire, shards that are moved."""
_TRACE = " trace"
TRACES_MOST = 64
"""Of one key: as many of its requests wait at once, and the oldest goes first."""


def note(marks: dict[str, str], component: Component[Any], read: Read) -> None:
    """What was read stands: a decision of the key's own chain, or a fact or a request in its own
    partition. What is read beside the chain, and what a tier reads of others, comes in an order
    that readers need not share."""
    record, key_of = read.record, component.key_of
    home = record.key if key_of is None else key_of(read) or ""
    if record.kind in REQUESTS:
        # A tier is asked by its name, and its rows are <tier>/<which>.
        about = record.key in (home, home.partition("/")[0])
        own = about and read.topic == OPERATOR and record.kind in component.folds
    elif record.parent:
        own = home == record.key and read.topic == component.output
    else:
        own = key_of is None and record.kind in _FACTS
    if own:
        mark(marks, record)


def mark(marks: dict[str, str], record: Record) -> None:
    """What follows from the record finds its id, as the newest of its name."""
    body = record.body
    if record.kind in REQUESTS:
        _remember(marks, record)
        return
    if record.kind != "SyncPlanned":  # what becomes of the plan is a verdict too
        marks.pop(record.cause + _TRACE, None)
    for name in _names(record.kind, body):
        marks.pop(name, None)
        marks[name] = record.id
        if name[-1].isdigit():
            _bound(marks)
    if isinstance(body, ShardAddRequested):
        marks.pop(f"ShardDropRequested {body.shard}", None)
    elif isinstance(body, OverrideExpired):
        for change_id in (body.change_id, *body.other_ids):
            marks.pop(_temporary(change_id, body.expires_ms), None)


def _remember(marks: dict[str, str], asked: Record) -> None:
    """Of an id that is asked twice the first one counts, as the request itself does."""
    marks.setdefault(asked.id + _TRACE, asked.trace)
    traces = [name for name in marks if name.endswith(_TRACE)]
    for name in traces[:-TRACES_MOST]:
        del marks[name]


def trace_of(body: Body, cause: str, marks: Mapping[str, str]) -> str:
    """The trace context of the request that it answers: in what it says, or as it was asked."""
    said: str | None = getattr(body, "traceparent", None)
    return said or marks.get(cause + _TRACE, "")


def _temporary(change_id: str | None, at_ms: int) -> str:
    """The name of a change until an instant; a logic of the past said of none which one ended."""
    return f"JobConfigChanged {change_id} until {at_ms}"


def _bound(marks: dict[str, str]) -> None:
    numbered = [name for name in marks if name[-1].isdigit()]
    for name in numbered[: max(0, len(numbered) - NUMBERED_MOST)]:
        del marks[name]


def _names(kind: str, body: Body | None) -> tuple[str, ...]:
    match body:
        case AlertRaised(alert=alert):
            return (f"AlertRaised {alert}",)
        case JobConfigChanged(expires_ms=int() as at_ms):
            return kind, _temporary(body.change_id, at_ms)
        case PlacementPlanned(held=True):
            return (_HELD,)
        case ScalingDecided() if body.mode != "act":
            return ("ScalingDecided shown",)
        case ScalingReverted(revert_change_id=None):
            return ()
        case ShardDropRequested(shard=shard):
            return (f"ShardDropRequested {shard}",)
        case SyncFailed(failures=0):
            return ()  # it was overtaken, or refuses a request: nothing is tried again for it
        case _:
            return (_GRANT,) if kind in _GRANTS else (kind,) if kind in _PLAIN | _FACTS else ()


def dumped(marks: Mapping[str, str]) -> list[tuple[str, str]]:
    """As it is kept. Facts stand first, then what was asked: between topics there is no order that
    readers share."""
    facts = sorted(one for one in marks.items() if one[0] in _BESIDE)
    traces = [one for one in marks.items() if one[0].endswith(_TRACE)]
    apart = {name for name, _ in (*facts, *traces)}
    return facts + traces + [one for one in marks.items() if one[0] not in apart]


def cause_of(body: Body, marks: dict[str, str]) -> str:
    """The id of what the body follows from; "" where it follows from no single record."""
    if (asked := request_of(body)) is not None:
        return asked
    wanted = _sources(body, marks)
    return next((marks[name] for name in reversed(marks) if name in wanted), "")


def request_of(body: Body) -> str | None:
    """The request that it answers, if it answers one."""
    asked: str | None = None
    if type(body).__name__ in ANSWERS:
        asked = getattr(body, "change_id", None)
    if isinstance(body, PlacementPlanned) and body.trigger == "operator":
        asked = json.loads(body.measures_json).get("change_id")
    return asked


def _sources(body: Body, marks: Mapping[str, str]) -> tuple[str, ...]:
    match body:
        case AlertRaised(alert=alert):
            return ALERTS.get(alert, ())
        case AlertCleared(alert=alert):
            return (f"AlertRaised {alert}",)
        case OverrideExpired():
            return (_temporary(body.change_id, body.expires_ms),)
        case PlacementPlanned() if body.part > 1:
            return ("PlacementPlanned",)
        case ScalingDecided(symptom="tier-short"):
            return (_GRANT,)
        case ShardAddRequested(shard=shard):
            moved = f"ShardDropRequested {shard}"
            planned = ("PlacementPlanned",) if body.plan_id else ()
            return (moved,) if moved in marks else planned
        case ShardForceKilled(shard=shard):
            return (f"ShardDropRequested {shard}",)
        case SyncCommitted(kind="simple"):
            return _WANTED
        case _ if type(body).__name__ == "ScalingDeclined":
            return _SIZED if getattr(body, "change_id", None) else ()
        case _:
            return FOLLOWS.get(type(body).__name__, ())
