"""What the auto scaler said of a job: each word with its evidence, and what became of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.auto_scaler.verdict import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
    STAY,
)
from events.codec import SKIPPED
from events.config import Invalid, Policy, validate_config
from events.records import (
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobQuarantined,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    SyncFailed,
)
from events.sentences import sentence
from events.strict_json import write_path
from projections.jobs import SCALER, Job
from turbine.log import Standing

Row = dict[str, Any]
Word = ScalingDecided | ScalingDeclined | ScalingVerified | ScalingReverted

WORDS = (ScalingDecided, ScalingDeclined, ScalingVerified, ScalingReverted)
KINDS = frozenset(one.__name__ for one in WORDS)
ACTIONS = (SCALE_UP, SCALE_DOWN, MEMORY_UP, MEMORY_DOWN, REBALANCE, MOVE, ALERT, REVERT)
EVIDENCE_ROWS = 60
"""Shown of one record: more are the business of a program, which reads the JSON."""
SHOWN = 10


# --- the words


def body_of(one: Standing) -> Body | None:
    """What it says, where this build can read it."""
    body = one.read.record.body
    return None if body is SKIPPED else body


def words_of(decisions: Iterable[Standing]) -> list[Standing]:
    """The scaler's own, of those that stand, oldest first."""
    return [one for one in decisions if one.stands and isinstance(body_of(one), Word)]


def parsed(text: str) -> Row:
    """An object that a record holds as text; whatever else it is stands under no name."""
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"": found}


def flat(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Its values by dotted paths; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, (*keys, key))
    elif keys:
        yield write_path(keys), value


# --- what became of one


def tale_of(decisions: Sequence[Standing], decision: Standing) -> Row:
    """What a word of the scaler was about and what came of it, as JSON."""
    body = body_of(decision)
    assert isinstance(body, Word), "who asks looks at the kind first"
    held = body.evidence_json if isinstance(body, ScalingDecided | ScalingDeclined) else None
    told = body.measures_json if isinstance(body, ScalingVerified | ScalingReverted) else None
    first = _begun(decisions, body)
    return {
        "evidence": {} if held is None else parsed(held),
        "measures": {} if told is None else parsed(told),
        "decided": None if first is None or isinstance(body, ScalingDecided) else _plain(first),
        "became": [] if first is None or not decision.stands else list(_became(decisions, first)),
    }


def _begun(decisions: Sequence[Standing], body: Word) -> Standing | None:
    """The decision that its change goes back to; None where it is about no change."""
    for one in decisions:
        found = body_of(one)
        if one.stands and isinstance(found, ScalingDecided) and found.change_id == body.change_id:
            return one
    return None


def _became(decisions: Sequence[Standing], first: Standing) -> Iterator[Row]:
    """Verdict, sync and outcome of a change, and of the one that takes it back."""
    begun = body_of(first)
    assert isinstance(begun, ScalingDecided)
    names, waited = {begun.change_id}, 0
    at = next(number for number, one in enumerate(decisions) if one is first)
    for one in decisions[at + 1 :]:
        body = body_of(one)
        if not one.stands or body is None:
            continue
        if isinstance(body, Word) and body.change_id in names:
            yield _event(one, sentence(body))
            if isinstance(body, ScalingReverted) and body.revert_change_id:
                names.add(body.revert_change_id)
        elif one.read.record.cause in names and isinstance(body, JobConfigChanged):
            waited = body.version
            yield _event(one, f"accepted: {sentence(body)}")
        elif one.read.record.cause in names and isinstance(body, JobConfigRejected):
            yield _event(one, sentence(body))
        elif waited and _about(body, waited):
            yield _event(one, sentence(body))
            waited = 0 if isinstance(body, SyncCommitted) else waited


def _about(body: Body, version: int) -> bool:
    """Does the state syncer say how it is with that version of the scaler's layer?"""
    return (
        isinstance(body, SyncCommitted | SyncFailed | JobQuarantined)
        and body.versions.scaler >= version
    )


def _event(one: Standing, text: str) -> Row:
    record = one.read.record
    return {
        "at_ms": one.read.at_ms,
        "kind": record.kind,
        "id": record.id,
        "position": f"{one.read.place}:{one.read.offset}",
        "text": text,
    }


def _plain(one: Standing) -> Row:
    read, body = one.read, body_of(one)
    assert body is not None
    return {
        "id": read.record.id,
        "kind": read.record.kind,
        "position": f"{read.place}:{read.offset}",
        "at_ms": read.at_ms,
        "summary": sentence(body),
        "body": body.to_plain(),
    }


# --- a job


def scaling_of(job: Job, decisions: Iterable[Standing]) -> Row:
    """Who decides about a job's size, what comes of it, and the last word, as JSON."""
    expected = json.loads(job.expected_json)
    words = words_of(decisions)
    return {
        **policy_of(expected),
        "layer": json.loads(job.layers[SCALER].config_json),
        "last": _plain(words[-1]) if words else None,
    }


def policy_of(expected: Row) -> Row:
    """The policy that a config names and its mode, as they are in force."""
    usual, said = Policy(), expected.get("policy")
    given = said if isinstance(said, dict) else {}
    return {
        "policy": given.get("name", usual.name),
        "mode": given.get("mode", usual.mode),
        "settings": given.get("settings", {}),
    }


def size_of(expected: Row) -> str:
    """`4 tasks of 2 threads, 0.5 cores and 512 MiB`, as it is in force."""
    config = validate_config(expected)
    if isinstance(config, Invalid):  # of a job that is gone, or of another build
        return count_text(expected.get("tasks", 1), "task")
    cores, memory_mb = config.resources.cpu_cores, config.resources.memory_mb
    threads = count_text(config.threads_per_task, "thread")
    unit = "core" if cores == 1 else "cores"
    return f"{count_text(config.tasks, 'task')} of {threads}, {cores:g} {unit} and {memory_mb} MiB"


def count_text(number: object, what: str) -> str:
    """One of something, or several."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# --- why not


def why_not(words: Sequence[Standing], action: str) -> list[Row]:
    """What stood against an action, the newest first: each word that names or decides another."""
    found = []
    for one in reversed(words):
        body = body_of(one)
        match body:
            case ScalingDecided() if body.action == action:
                text = f"it was decided: {body.explanation}" if body.explanation else "decided"
                found.append(_event(one, text) | {"taken": True, "until_ms": None})
            case ScalingDecided():
                reasons = [told.reason for told in body.alternatives if told.action == action]
                text = f"{body.action} was decided instead"
                text += f", as {reasons[0]}" if reasons else f": {body.explanation}"
                found.append(_event(one, text) | {"taken": False, "until_ms": None})
            case ScalingDeclined():
                text = f"{body.reason}: {body.explanation}"
                if body.action not in ("", STAY, action):
                    text = f"{body.action} was looked at, and not taken, {text}"
                found.append(_event(one, text) | {"taken": False, "until_ms": body.until_ms})
            case _:
                continue
    return found
