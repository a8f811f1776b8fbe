"""What stands behind a decision or a request: what was asked, said and changed, on what, and what
came of it.

`decision` takes an id and reads the rest from the log, each place of it once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from components.runtime.kafka.intake import DeadLetter, take_in
from events.generated.records import PlacementRejected
from events.sentences import sentence
from events.topics import CHANGES, JOURNAL, TIERS
from events.wire.codec import SKIPPED, Read
from projections.jobs import INGRESS_TOPICS, Job, apply
from turbine.read.answers.evidence import Node, tree_of
from turbine.read.answers.ids import full_id
from turbine.read.answers.journal import (
    Answer,
    DecisionHead,
    Json,
    body_of,
    head_of,
    position_of,
    request_of,
    subject_of,
)
from turbine.read.answers.outcomes import outcome_of
from turbine.read.answers.scaling import Consequence, ScalingReport, Word, consequences, report_of
from turbine.read.differences import Difference, differences
from turbine.read.once import ReadOnceLog
from turbine.read.plain import made
from turbine.read.sources.log import Log, Standing
from turbine_client.crowding import UNCOUNTED, crowded_out
from turbine_client.identity import VALID_MS, valid_until_ms
from turbine_client.verdicts import VERDICTS, heard_in

_ANSWERS = frozenset({"PlacementPlanned", "PlacementRejected"})
"""Decisions about tiers that answer a request: they name it in their bodies."""


@dataclass(frozen=True, slots=True)
class RequestLine(Answer):
    """What somebody asked for, and when."""

    change_id: str
    kind: str
    """The name of the record, such as ConfigChangeProposed."""
    job: str
    """The job, the tier or the container that it is about."""
    position: str
    """Place and offset in the log."""
    at_ms: int
    """When the broker appended it."""
    valid_until_ms: int
    """A verdict comes by then, or never."""
    author: str
    reason: str
    summary: str
    """What it asks for, in one sentence."""
    body: Json


@dataclass(frozen=True, slots=True)
class DecisionDetail(DecisionHead):
    """A decision, what it answers, what it changed and what came of it."""

    job: str
    """The job that it is about; empty where it is about a tier."""
    tier: str | None
    """The tier that it is about; null where it is about a job."""
    stands: bool
    """False of one that is void."""
    instead: str | None
    """Of a void one: the decision that stands on the same parent."""
    parent: str
    """The decision before it about the same; `root` of the first."""
    evidence: dict[str, int]
    """How far its author had read each place."""
    tick_ms: int
    """The log's time at which it was decided."""
    source: str
    """The component that decided it."""
    logic: str
    """The version of what decided it."""
    verdict: str | None
    """accepted or rejected, where it answers a request."""
    request: RequestLine | None
    """The request that it answers or makes."""
    before: Json | None
    """The expected config of the job that it was decided on; null of a tier's."""
    after: Json | None
    """The expected config with it; as before where it is void or changes nothing."""
    differences: tuple[Difference, ...]
    """What it changed in the expected config, by path."""
    became: tuple[Consequence, ...]
    """What came of it: the verdict on its change, how the tasks followed, and what was measured."""
    scaling: ScalingReport | None
    """What a word of the auto scaler is about; null of all others."""


@dataclass(frozen=True, slots=True)
class Explanation(DecisionDetail):
    """All that stands behind one decision."""

    tree: Node
    """What it rests on, down to single records."""


@dataclass(frozen=True, slots=True)
class OpenRequest(Answer):
    """A request that no decision answers."""

    request: RequestLine
    void: str | None
    """Why no verdict will come; null where one may."""


def decision(
    log: Log,
    name: str,
    *,
    end: Mapping[str, int] | None = None,
    known: tuple[str, str] | None = None,
) -> Explanation | OpenRequest | None:
    """What stands behind the id of a decision or of a request, or behind the beginning of one; None
    where the log has neither before `end`. Who has an index knows the topic and the key of it."""
    once = ReadOnceLog(log, end)
    if known is not None:
        once.narrow(known[1])
    topic, key = known or _found(once, name) or ("", "")
    if key:
        chain = once.decisions(job=key) if topic == JOURNAL else once.chain_of(key)
        chosen = pick(chain, name)
        return None if chosen is None else _explained(once, chain, chosen)
    request = find_request(once, name, None)
    if request is not None:
        void = uncounted(once, name, request.record.key)
        return OpenRequest(_request(request), void or None)
    whole = name if _is_whole(name) else full_id(log, name)
    return None if whole == name else decision(log, whole, end=end)


def _is_whole(name: str) -> bool:
    """Is it all of a decision's id, so that no other one begins so?"""
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _found(once: ReadOnceLog, name: str) -> tuple[str, str] | None:
    """The topic and the key of the decision of that id, or of one that answers that request."""
    for topic, kinds in ((JOURNAL, frozenset[str]()), (TIERS, _ANSWERS)):
        for at in once.places([topic] if topic in once.counts else []):
            for message in once.whole(at):
                read = take_in(message, once.counts[JOURNAL], kinds)
                if not isinstance(read, DeadLetter) and name in _names(read):
                    once.narrow(read.record.key)
                    return topic, read.record.key
            once.forget(at)  # one partition of the journal is held at a time
    return None


def _names(read: Read) -> tuple[str, ...]:
    return read.record.id, read.record.cause, request_of(read.record.body)


def pick(chain: Sequence[Standing], name: str) -> Standing | None:
    """The decision of that id, or the one that answers that request: the standing one if any. None
    where the log lacks what it was made of: nobody can say yet whether it stands."""
    named = [one for one in chain if one.read.record.id == name]
    answering = [one for one in chain if name in _names(one.read)]
    # A duplicate has the id of what it repeats, and is void.
    found = named + answering
    return next((one for one in found if one.stands), found[0] if found else None)


def find_request(log: Log, change_id: str, key: str | None) -> Read | None:
    """The first copy of a request, wherever it was handed in."""
    if not change_id:
        return None
    topics = [topic for topic in INGRESS_TOPICS if topic in log.counts]
    for read in log.read(topics, key=key):
        if read.record.id == change_id and read.record.body not in (None, SKIPPED):
            return read
    return None


def _explained(once: ReadOnceLog, chain: Sequence[Standing], decided: Standing) -> Explanation:
    request = _asked(once, decided)
    detail = _detail(chain, decided, request)
    first = None if detail.scaling is None else detail.scaling.decided
    tree = tree_of(once, chain, decided, request, decided=first, became=detail.became)
    return made(Explanation, detail, tree=tree)


def detail_of(log: Log, chain: Sequence[Standing], decided: Standing) -> DecisionDetail:
    """The same but for what it rests on: of a decision whose chain was read already."""
    return _detail(chain, decided, _asked(log, decided))


def _asked(log: Log, decided: Standing) -> Read | None:
    """The request that a decision answers or makes."""
    record = decided.read.record
    if decided.read.topic == JOURNAL:
        return find_request(log, record.change_id, record.key)
    return find_request(log, request_of(record.body), record.key.partition("/")[0])


def _detail(chain: Sequence[Standing], decided: Standing, request: Read | None) -> DecisionDetail:
    read, record = decided.read, decided.read.record
    before, after = _expected(chain, decided) if read.topic == JOURNAL else (None, None)
    job, tier = subject_of(decided)
    return made(
        DecisionDetail,
        head_of(decided),
        job=job,
        tier=tier,
        stands=decided.stands,
        instead=None if decided.stands else _instead(chain, decided),
        parent=record.parent,
        evidence=dict(sorted(record.evidence.items())),
        tick_ms=record.tick_ms,
        source=record.source,
        logic=record.logic,
        verdict=_verdict(decided),
        request=None if request is None else _request(request),
        before=before,
        after=after,
        differences=tuple(differences(before or {}, after or {})),
        became=consequences(chain, decided),
        scaling=report_of(chain, record.body) if isinstance(record.body, Word) else None,
    )


def _request(read: Read) -> RequestLine:
    record = read.record
    assert record.body is not None
    body = record.body.to_plain()
    return RequestLine(
        change_id=record.id,
        kind=record.kind,
        job=record.key,
        position=position_of(read),
        at_ms=read.at_ms,
        valid_until_ms=valid_until_ms(record.id),
        author=body.get("author", ""),
        reason=body.get("reason", ""),
        summary=sentence(record.body),
        body=body,
    )


def _verdict(decided: Standing) -> str | None:
    body = body_of(decided)
    if not decided.stands or body is None:
        return None
    if request_of(body):  # of those about tiers
        return "rejected" if isinstance(body, PlacementRejected) else "accepted"
    heard = heard_in(outcome_of(decided.read))
    return None if heard is None else type(heard).__name__.lower()


def _before(chain: Sequence[Standing], decided: Standing) -> Iterator[Standing]:
    for one in chain:
        known = one.stands and one.read.record.body not in (None, SKIPPED)
        if known and one.read.offset < decided.read.offset:
            yield one


def _instead(chain: Sequence[Standing], decided: Standing) -> str | None:
    """The decision that stands on its parent."""
    parent = decided.read.record.parent
    known = (one.read.record for one in _before(chain, decided))
    return next((one.id for one in known if one.parent == parent), None)


def _expected(chain: Sequence[Standing], decided: Standing) -> tuple[Json, Json]:
    """The job's expected config by the fold of what stood before it, and with it."""
    job = Job(decided.read.record.key)
    for one in _before(chain, decided):
        job = _applied(job, one)
    before: Json = json.loads(job.expected_json)
    if not decided.stands:
        return before, before
    return before, json.loads(_applied(job, decided).expected_json)


def _applied(job: Job, one: Standing) -> Job:
    body = one.read.record.body
    return job if body is None else apply(job, body)


def uncounted(log: Log, change_id: str, job: str) -> str:
    """Why a change that came in time has no verdict and will have none; "" where that is not so."""
    topics = [topic for topic in CHANGES.values() if topic in log.counts]
    # Whatever was valid when it came had come by then.
    start = log.at(max(0, valid_until_ms(change_id) - 2 * VALID_MS), topics)
    came: dict[str, list[tuple[str, int]]] = {}
    for read in log.read(topics, start=start, key=job):
        if read.record.body not in (None, SKIPPED):
            came.setdefault(read.topic, []).append((read.record.id, read.at_ms))
    outcomes = [crowded_out(requests, change_id) for requests in came.values()]
    return UNCOUNTED if True in outcomes and False not in outcomes else ""


def verdict_on(log: Log, job: str | None, change_id: str) -> Standing | None:
    """The standing decision that answers a request, if there is one that can be read here.

    In older logs a decision that owes the change to the job service names it too.
    """
    for one in log.decisions(job=job):
        record = one.read.record
        answers = record.kind in VERDICTS and record.body is not None
        if one.stands and record.cause == change_id and answers:
            return one
    return None
