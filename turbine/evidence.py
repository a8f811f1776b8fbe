"""What a decision rests on, as a tree: each leaf a record of the log, with its position. Pure.

Of a word of the auto scaler it goes from the number that was decided back over each constraint to
the raw one, the measured values, and the load reports that made up the minutes they are of. Of
other decisions it is what their component had read since it spoke last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.runtime.component import Component
from events.codec import Read
from events.records import (
    Body,
    CapacityGranted,
    JobConfigChanged,
    PreemptionRequested,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    TaskLoadReported,
    WorkloadProfiled,
)
from turbine.hearing import Heard, Hears, Minutes
from turbine.log import Standing
from turbine.logics import NEWEST
from turbine.scaled import Word, body_of, parsed, tale_of

Row = dict[str, Any]
BY_NAME: Mapping[str, Component[Any]] = {one.name: one for one in NEWEST}

MINUTES = 10
"""That are told one by one, the newest first; those before are told as a stretch."""
INPUTS = 60
"""Records of an input that are told one by one."""
MEASURED = ("arrived", "rate", "lag", "lag_s", "busy", "busy_most", "memory_mb", "down_s", "heard")
SOURCES = (
    (JobConfigChanged, "config"),
    (SyncCommitted, "running"),
    (CapacityGranted, "grant"),
    (PreemptionRequested, "grant"),
    (WorkloadProfiled, "usual days"),
)


@dataclass(frozen=True, slots=True)
class Node:
    """One step from a decision towards what it rests on."""

    name: str
    value: Any = None
    positions: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()

    def to_plain(self) -> Row:
        """As JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "positions": list(self.positions),
            "nodes": [one.to_plain() for one in self.nodes],
        }


def tree_of(
    log: Hears, decisions: Sequence[Standing], decision: Standing, request: Read | None
) -> Node:
    """All that a decision rests on."""
    record, body = decision.read.record, body_of(decision)
    nodes = list(_asked(request))
    if isinstance(body, Word):
        nodes += _of_word(log, decisions, decision, body)
    else:
        nodes += _read_since(log, decisions, decision, request)
    nodes += _previous(decisions, decision)
    return Node(record.kind, None, (_position(decision.read),), tuple(nodes))


def _position(read: Read) -> str:
    return f"{read.place}:{read.offset}"


def _asked(request: Read | None) -> Iterator[Node]:
    if request is not None:
        yield Node("request", request.record.kind, (_position(request),))


def _previous(decisions: Sequence[Standing], decision: Standing) -> Iterator[Node]:
    """The one that it follows, whoever said it."""
    parent = decision.read.record.parent
    for one in decisions:
        if one.stands and one.read.record.id == parent:
            yield Node("previous decision", one.read.record.kind, (_position(one.read),))


# --- the auto scaler's


def _of_word(
    log: Hears, decisions: Sequence[Standing], decision: Standing, body: Word
) -> Iterator[Node]:
    heard = _heard(log, decision)
    if isinstance(body, ScalingDecided | ScalingDeclined):
        yield _number(body, heard)
        for other in getattr(body, "alternatives", ()):
            yield Node(f"not taken: {other.action}", other.reason)
    else:
        yield Node("measured", parsed(body.measures_json), (), heard)
    if isinstance(body, ScalingDecided):
        expected = {"records_per_s": body.expected_records_per_s, "by_ms": body.verify_ms}
        yield Node("expected", expected)
    tale = tale_of(decisions, decision)
    if tale["decided"] is not None and isinstance(body, ScalingVerified | ScalingReverted):
        first = tale["decided"]
        yield Node("of", first["body"]["explanation"], (first["position"],))
    for one in tale["became"]:
        yield Node(f"then: {one['kind']}", one["text"], (one["position"],))


def _number(body: ScalingDecided | ScalingDeclined, heard: tuple[Node, ...]) -> Node:
    """From the number that stands at the end back to what it was made of."""
    evidence = parsed(body.evidence_json)
    groups = [Node(f"measured: {name}", value) for name, value in evidence.items()]
    if isinstance(body, ScalingDecided):
        node = Node("raw number", {"tasks": body.raw_tasks}, (), (*groups, *heard))
        name, value = "decided", {"tasks": body.final_tasks, "set": parsed(body.set_json)}
    else:
        node = Node("cause", body.diagnosis or body.symptom or "none", (), (*groups, *heard))
        name, value = "decided", {"reason": body.reason}
    for one in body.constraints:
        told = {"before": one.before, "after": one.after, "note": one.note}
        node = Node(f"constraint: {one.name}", told, (), (node,))
    return Node(name, value | {"because": body.explanation}, (), (node,))


def _heard(log: Hears, decision: Standing) -> tuple[Node, ...]:
    """The minutes that were looked at, each with its reports, and what else the row was made of."""
    component = BY_NAME["auto-scaler"]
    told, minutes, last = Minutes(), list[Heard](), dict[str, Read]()

    def heed(read: Read, stands: bool) -> None:
        body = read.record.body
        if not stands or body is None:
            return
        if isinstance(body, TaskLoadReported):
            minutes.extend(told.take(read, body))
        for kind, name in SOURCES:
            if isinstance(body, kind):
                layer = f" of {body.layer}" if isinstance(body, JobConfigChanged) else ""
                last[name + layer] = read

    log.heard(component, decision.read.record.key, heed, end=decision.read.record.evidence)
    nodes = [_minute(one) for one in reversed(minutes[-MINUTES:])]
    if len(minutes) > MINUTES:
        nodes.append(_stretch(minutes[:-MINUTES]))
    for name, read in last.items():
        nodes.append(Node(name, _short(read.record.body), (_position(read),)))
    return tuple(nodes)


def _minute(one: Heard) -> Node:
    plain = one.minute._asdict()
    value = {name: plain[name] for name in MEASURED if plain[name] is not None}
    value = {"at_ms": one.minute.at_ms, "tasks": one.minute.tasks, **value}
    ones = tuple(
        Node(f"task {report.task}", None, (f"{report.place}:{report.offset}",))
        for report in one.reports
    )
    return Node("minute", value, (), ones)


def _stretch(minutes: Sequence[Heard]) -> Node:
    """Minutes of which the policy remembers what they add up to."""
    first, last = minutes[0], minutes[-1]
    ends = [one.reports[at] for one, at in ((first, 0), (last, -1)) if one.reports]
    value = {
        "minutes": len(minutes),
        "from_ms": first.minute.at_ms,
        "to_ms": last.minute.at_ms,
    }
    return Node("minutes before", value, tuple(f"{one.place}:{one.offset}" for one in ends))


def _short(body: Body | None) -> Any:
    match body:
        case JobConfigChanged():
            return {"version": body.version, "author": body.author}
        case SyncCommitted():
            return {"state": body.state, "tasks": body.tasks, "generation": body.generation}
        case CapacityGranted() | PreemptionRequested():
            return {"tasks_max": body.tasks_max, "because": body.explanation}
        case WorkloadProfiled():
            return {"from_ms": body.from_ms, "to_ms": body.to_ms, "slots": len(body.slots)}
        case _:
            return None


# --- other components'


def _read_since(
    log: Hears, decisions: Sequence[Standing], decision: Standing, request: Read | None
) -> Iterator[Node]:
    """What its author had read since it last spoke about the job."""
    record = decision.read.record
    component = BY_NAME.get(record.source)
    if component is None or component.key_of is not None:
        return
    since = _evidence_before(decisions, decision)
    reads = list[Read]()

    def heed(read: Read, stands: bool) -> None:
        own = read.record.source == record.source
        new = read.offset >= since.get(read.place, 0)
        if stands and new and not own and read.record.kind in component.folds:
            reads.append(read)

    log.heard(component, record.key, heed, end=record.evidence)
    asked = None if request is None else _position(request)
    told = [one for one in reads if _position(one) != asked]
    for one in told[-INPUTS:]:
        yield Node("read", one.record.kind, (_position(one),))
    if len(told) > INPUTS:
        yield Node("read before", {"records": len(told) - INPUTS}, (_position(told[0]),))


def tree_of_tier(chain: Sequence[Standing], decision: Standing) -> Node:
    """Of a decision about a tier, whose author reads all that its containers say: the stretches of
    the log that it had read since it spoke last."""
    record = decision.read.record
    since = _evidence_before(chain, decision)
    spans = [
        (place, since.get(place, 0), end)
        for place, end in sorted(record.evidence.items())
        if end > since.get(place, 0)
    ]
    reads = [
        Node("read", {"offsets": end - first}, (f"{place}:{first}", f"{place}:{end - 1}"))
        for place, first, end in spans
    ]
    nodes = (*reads, *_previous(chain, decision))
    return Node(record.kind, None, (_position(decision.read),), nodes)


def _evidence_before(decisions: Sequence[Standing], decision: Standing) -> Mapping[str, int]:
    """Of its author's last words about the job that were not said in the same breath."""
    record = decision.read.record
    found: Mapping[str, int] = {}
    for one in decisions:
        if one.read.offset >= decision.read.offset:
            break
        other = one.read.record
        if one.stands and other.source == record.source and other.evidence != record.evidence:
            found = other.evidence
    return found


# --- told


def lines_of(node: Node) -> Iterator[tuple[str, Node]]:
    """Each with the branches that lead to it, the root first."""
    yield "", node
    yield from _below(node, "")


def _below(node: Node, before: str) -> Iterator[tuple[str, Node]]:
    for at, one in enumerate(node.nodes):
        last = at == len(node.nodes) - 1
        yield f"{before}{'└─ ' if last else '├─ '}", one
        yield from _below(one, before + ("   " if last else "│  "))
