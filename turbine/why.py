"""Why something was decided: a decision with its evidence, the request it answers, what it changed.

`explain` takes the id of a decision or of a request, and reads the rest from the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from events.codec import SKIPPED, Read
from events.identity import valid_until_ms
from events.sentences import sentence
from events.topics import CHANGES, JOURNAL
from projections.jobs import INGRESS_TOPICS, Job, apply
from turbine.log import Log, Standing
from turbine_client.crowding import UNCOUNTED, crowded_out
from turbine_client.identity import VALID_MS
from turbine_client.verdicts import VERDICTS

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """One decision, or a request that none has answered yet."""

    decision: Standing | None
    request: Read | None
    before: Json  # the expected config that it was decided on
    after: Json  # and with it; the same where it is void or changes nothing
    instead: str = ""  # of a void one: the decision that stands on the same parent

    def to_plain(self) -> Json:
        """As JSON, named as the records and their headers are."""
        if self.decision is None:
            return {"request": None if self.request is None else _request(self.request)}
        read, record = self.decision.read, self.decision.read.record
        body = record.body
        return {
            "id": record.id,
            "kind": record.kind,
            "job": record.key,
            "stands": self.decision.stands,
            "instead": self.instead or None,
            "position": f"{read.place}:{read.offset}",
            "at_ms": read.at_ms,
            "parent": record.parent,
            "evidence": dict(sorted(record.evidence.items())),
            "tick_ms": record.tick_ms,
            "source": record.source,
            "logic": record.logic,
            "summary": sentence(body),
            "request": None if self.request is None else _request(self.request),
            "before": self.before,
            "after": self.after,
            "body": None if body is None else body.to_plain(),
        }


def _request(read: Read) -> Json:
    record = read.record
    assert record.body is not None
    body = record.body.to_plain()
    return {
        "change_id": record.id,
        "kind": record.kind,
        "job": record.key,
        "position": f"{read.place}:{read.offset}",
        "at_ms": read.at_ms,
        "valid_until_ms": valid_until_ms(record.id),
        "author": body.get("author", ""),
        "reason": body.get("reason", ""),
        "summary": sentence(record.body),
        "body": body,
    }


def explain(log: Log, name: str) -> Why | None:
    """What stands behind a decision's or a request's id; None where the log has neither."""
    found = next(
        (read for read in _heads(log) if name in (read.record.id, read.record.cause)), None
    )
    if found is None:
        request = find_request(log, name, None)
        return None if request is None else Why(None, request, {}, {})
    job = found.record.key
    decisions = log.decisions(job=job)
    decision = pick(decisions, name)
    if decision is None:
        return None
    request = find_request(log, decision.read.record.change_id, job)
    return explain_decision(decisions, decision, request)


def _heads(log: Log) -> Iterable[Read]:
    # Without bodies: ids and causes are headers, and the whole journal is looked through.
    return log.read([JOURNAL], kinds=frozenset())


def pick(decisions: Sequence[Standing], name: str) -> Standing | None:
    """The decision of that id, or the one that answers that request: the standing one if any. None
    where the log lacks what it was made of: nobody can say yet whether it stands."""
    named = [one for one in decisions if one.read.record.id == name]
    caused = [one for one in decisions if one.read.record.cause == name]
    # A duplicate has the id of what it repeats, and is void.
    found = named + caused
    return next((one for one in found if one.stands), found[0] if found else None)


def find_request(log: Log, change_id: str, job: str | None) -> Read | None:
    """The first copy of a request, wherever it was handed in."""
    if not change_id:
        return None
    topics = [topic for topic in INGRESS_TOPICS if topic in log.counts]
    for read in log.read(topics, key=job):
        if read.record.id == change_id and read.record.body not in (None, SKIPPED):
            return read
    return None


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


def explain_decision(
    decisions: Sequence[Standing], decision: Standing, request: Read | None
) -> Why:
    """The difference that it made, by the fold of what stood before it."""
    record = decision.read.record
    job, instead = Job(record.key), ""
    for one in decisions:
        found = one.read.record
        if one is decision:
            break
        if one.stands and found.body not in (None, SKIPPED):
            if found.parent == record.parent:
                instead = found.id  # its parent has its child already
            job = _applied(job, one)
    before = json.loads(job.expected_json)
    after = json.loads(_applied(job, decision).expected_json) if decision.stands else before
    return Why(decision, request, before, after, instead if not decision.stands else "")


def _applied(job: Job, one: Standing) -> Job:
    body = one.read.record.body
    return job if body is None else apply(job, body)


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
