"""What a decision rests on, as a tree: each leaf a record of the log, with its position. Pure.

Of a word of the auto scaler it goes from the number that was decided back over each constraint to
the raw one, the measured values, and the load reports that made up the minutes they are of. Of
other decisions it is what their component had read since it spoke last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from components.runtime.core.component import Component
from events.generated.records import (
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
from events.topics import JOURNAL
from events.wire.codec import Read
from turbine.read.answers.journal import (
    Answer,
    DecisionHead,
    Json,
    body_of,
    parsed,
    position_of,
)
from turbine.read.answers.load_minutes import Hears, LoadMinute, Minutes
from turbine.read.answers.scaling import Consequence, Word
from turbine.read.logics import NEWEST
from turbine.read.sources.log import Standing

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
class Node(Answer):
    """One step from a decision towards what it rests on."""

    name: str
    """What it is: request, constraint, measured, minute, read, previous decision, and others."""
    value: JsonValue = None
    """What it said; null where its position is all that is told."""
    positions: tuple[str, ...] = ()
    """The records that it is made of, each by its place and offset."""
    nodes: tuple[Node, ...] = ()
    """What it rests on itself."""


def tree_of(
    log: Hears,
    decisions: Sequence[Standing],
    decision: Standing,
    request: Read | None,
    *,
    decided: DecisionHead | None = None,
    became: Sequence[Consequence] = (),
) -> Node:
    """All that a decision rests on. `decisions` are those of its chain; `decided` is the one that
    a word which closes a change goes back to, and `became` is what came of it."""
    record, body = decision.read.record, body_of(decision)
    component = BY_NAME.get(record.source)
    nodes = list(_asked(request))
    if isinstance(body, Word):
        nodes += _of_word(log, decision, body)
        if decided is not None and isinstance(body, ScalingVerified | ScalingReverted):
            because = None if decided.body is None else decided.body["explanation"]
            nodes.append(Node("of", because, (decided.position,)))
        nodes += [Node(f"then: {one.kind}", one.text, (one.position,)) for one in became]
    elif component is None or component.key_of is not None or decision.read.topic != JOURNAL:
        nodes += _stretches(decisions, decision)
    else:
        nodes += _read_since(log, component, decisions, decision, request)
    nodes += _previous(decisions, decision)
    return Node(record.kind, None, (position_of(decision.read),), tuple(nodes))


def _asked(request: Read | None) -> Iterator[Node]:
    if request is not None:
        yield Node("request", request.record.kind, (position_of(request),))


def _previous(decisions: Sequence[Standing], decision: Standing) -> Iterator[Node]:
    """The one that it follows, whoever said it."""
    parent = decision.read.record.parent
    for one in decisions:
        if one.stands and one.read.record.id == parent:
            yield Node("previous decision", one.read.record.kind, (position_of(one.read),))


# --- the auto scaler's


def _of_word(log: Hears, decision: Standing, body: Word) -> Iterator[Node]:
    heard = _heard(log, decision)
    if isinstance(body, ScalingDecided | ScalingDeclined):
        yield _number(body, heard)
        for other in getattr(body, "alternatives", ()):
            yield Node(f"not taken: {other.action}", other.reason)
    else:
        yield Node("measured", parsed(body.measures_json), (), heard)
    if isinstance(body, ScalingDecided):
        expected: JsonValue = {
            "records_per_s": body.expected_records_per_s,
            "by_ms": body.verify_ms,
        }
        yield Node("expected", expected)


def _number(body: ScalingDecided | ScalingDeclined, heard: tuple[Node, ...]) -> Node:
    """From the number that stands at the end back to what it was made of."""
    evidence = parsed(body.evidence_json)
    groups = [Node(f"measured: {name}", value) for name, value in evidence.items()]
    if isinstance(body, ScalingDecided):
        node = Node("raw number", {"tasks": body.raw_tasks}, (), (*groups, *heard))
        value: Json = {"tasks": body.final_tasks, "set": parsed(body.set_json)}
    else:
        node = Node("cause", body.diagnosis or body.symptom or "none", (), (*groups, *heard))
        value = {"reason": body.reason}
    for one in body.constraints:
        told: Json = {"before": one.before, "after": one.after, "note": one.note}
        node = Node(f"constraint: {one.name}", told, (), (node,))
    return Node("decided", value | {"because": body.explanation}, (), (node,))


def _heard(log: Hears, decision: Standing) -> tuple[Node, ...]:
    """The minutes that were looked at, each with its reports, and what else the row was made of."""
    component = BY_NAME["auto-scaler"]
    told, minutes, last = Minutes(), list[LoadMinute](), dict[str, Read]()

    def observe(read: Read, stands: bool) -> None:
        body = read.record.body
        if not stands or body is None:
            return
        if isinstance(body, TaskLoadReported):
            minutes.extend(told.take(read, body))
        for kind, name in SOURCES:
            if isinstance(body, kind):
                layer = f" of {body.layer}" if isinstance(body, JobConfigChanged) else ""
                last[name + layer] = read

    log.heard(component, decision.read.record.key, observe, end=decision.read.record.evidence)
    nodes = [_minute(one) for one in reversed(minutes[-MINUTES:])]
    if len(minutes) > MINUTES:
        nodes.append(_stretch(minutes[:-MINUTES]))
    for name, read in last.items():
        nodes.append(Node(name, _short(read.record.body), (position_of(read),)))
    return tuple(nodes)


def _minute(one: LoadMinute) -> Node:
    plain = one.minute._asdict()
    value = {name: plain[name] for name in MEASURED if plain[name] is not None}
    value = {"at_ms": one.minute.at_ms, "tasks": one.minute.tasks, **value}
    ones = tuple(
        Node(f"task {report.task}", None, (f"{report.place}:{report.offset}",))
        for report in one.reports
    )
    return Node("minute", value, (), ones)


def _stretch(minutes: Sequence[LoadMinute]) -> Node:
    """Minutes of which the policy remembers what they add up to."""
    first, last = minutes[0], minutes[-1]
    ends = [one.reports[at] for one, at in ((first, 0), (last, -1)) if one.reports]
    value: JsonValue = {
        "minutes": len(minutes),
        "from_ms": first.minute.at_ms,
        "to_ms": last.minute.at_ms,
    }
    return Node("minutes before", value, tuple(f"{one.place}:{one.offset}" for one in ends))


def _short(body: Body | None) -> JsonValue:
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
    log: Hears,
    component: Component[Any],
    decisions: Sequence[Standing],
    decision: Standing,
    request: Read | None,
) -> Iterator[Node]:
    """What its author had read since it last spoke about the job."""
    record, since = decision.read.record, _evidence_before(decisions, decision)
    asked = None if request is None else position_of(request)
    reads = list[Read]()

    def observe(read: Read, stands: bool) -> None:
        own = read.record.source == record.source
        new = read.offset >= since.get(read.place, 0)
        folded = stands and new and not own and read.record.kind in component.folds
        if folded and position_of(read) != asked:
            reads.append(read)

    log.heard(component, record.key, observe, end=record.evidence)
    for one in reads[-INPUTS:]:
        yield Node("read", one.record.kind, (position_of(one),))
    if len(reads) > INPUTS:
        yield Node("read before", {"records": len(reads) - INPUTS}, (position_of(reads[0]),))


def _stretches(decisions: Sequence[Standing], decision: Standing) -> Iterator[Node]:
    """Of a decision whose author reads what all containers of a tier say, or is none of this
    build's: the stretches of the log that it had read since it spoke last."""
    since = _evidence_before(decisions, decision)
    for place, end in sorted(decision.read.record.evidence.items()):
        first = since.get(place, 0)
        if end > first:
            ends = (f"{place}:{first}", f"{place}:{end - 1}")
            yield Node("read", {"offsets": end - first}, ends)


def _evidence_before(decisions: Sequence[Standing], decision: Standing) -> Mapping[str, int]:
    """The evidence of its author's last words about the key that were not said in the same
    breath."""
    record = decision.read.record
    found: Mapping[str, int] = {}
    for one in decisions:
        if one.read.offset >= decision.read.offset:
            break
        other = one.read.record
        if one.stands and other.source == record.source and other.evidence != record.evidence:
            found = other.evidence
    return found
