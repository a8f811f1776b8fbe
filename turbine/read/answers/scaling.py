"""What the auto scaler said of a job: each word with its evidence, and what became of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from events.generated.records import (
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
from events.job_config.config import Invalid, validate_config
from events.job_config.policies.chosen import Policy
from events.job_config.strict_json import write_path
from events.sentences import sentence
from events.sentences.words import count_text
from events.topics import LAYERS
from projections.jobs import SCALER, Job
from projections.scaling.actions import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
)
from turbine.read.answers.journal import (
    Answer,
    DecisionHead,
    Json,
    body_of,
    head_of,
    parsed,
    position_of,
)
from turbine.read.sources.log import Standing

Word = ScalingDecided | ScalingDeclined | ScalingVerified | ScalingReverted

WORDS = (ScalingDecided, ScalingDeclined, ScalingVerified, ScalingReverted)
KINDS = frozenset(one.__name__ for one in WORDS)
ACTIONS = (SCALE_UP, SCALE_DOWN, MEMORY_UP, MEMORY_DOWN, REBALANCE, MOVE, ALERT, REVERT)
SHOWN = 10
"""Of the last words about a job, and of what stood against an action."""


# --- the words


def words_of(decisions: Iterable[Standing]) -> list[Standing]:
    """The scaler's own, of those that stand, oldest first."""
    return [one for one in decisions if one.stands and isinstance(body_of(one), Word)]


def flat(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Its values by dotted paths; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, (*keys, key))
    elif keys:
        yield write_path(keys), value


# --- what became of a decision


@dataclass(frozen=True, slots=True)
class Consequence(Answer):
    """A decision that came of another one."""

    at_ms: int
    """When the broker appended it."""
    kind: str
    """The name of the record."""
    id: str
    position: str
    """Place and offset in the log."""
    text: str
    """What it says about the first one, in one sentence."""


@dataclass(frozen=True, slots=True)
class ScalingReport(Answer):
    """What a word of the auto scaler rests on."""

    evidence: Json
    """What was measured, of a decision and of what was declined."""
    measures: Json
    """What was seen before and after the change, of a word that closes it."""
    decided: DecisionHead | None
    """The decision that its change goes back to; null where it is that decision, or has none."""


def report_of(decisions: Sequence[Standing], word: Word) -> ScalingReport:
    """What a word of the scaler was about."""
    held = word.evidence_json if isinstance(word, ScalingDecided | ScalingDeclined) else None
    told = word.measures_json if isinstance(word, ScalingVerified | ScalingReverted) else None
    first = None if isinstance(word, ScalingDecided) else _begun(decisions, word)
    return ScalingReport(
        evidence={} if held is None else parsed(held),
        measures={} if told is None else parsed(told),
        decided=None if first is None else head_of(first),
    )


def consequences(decisions: Sequence[Standing], decision: Standing) -> tuple[Consequence, ...]:
    """What became of a decision: of the scaler's its verdict, syncs and outcome, and those of the
    change that takes it back; of a change of a layer the syncs up to the one that commits it."""
    if not decision.stands:
        return ()
    body = body_of(decision)
    if isinstance(body, Word):
        first = _begun(decisions, body)
        return () if first is None else tuple(_of_scaling(decisions, first))
    if isinstance(body, JobConfigChanged):
        return tuple(_of_version(_after(decisions, decision), body.layer, body.version))
    return ()


def _begun(decisions: Sequence[Standing], word: Word) -> Standing | None:
    """The decision that its change goes back to; None where it is about no change."""
    for one in decisions:
        body = body_of(one)
        if one.stands and isinstance(body, ScalingDecided) and body.change_id == word.change_id:
            return one
    return None


def _after(decisions: Sequence[Standing], decision: Standing) -> Iterator[Standing]:
    """The later ones of a chain: all of it lies in one place."""
    return (one for one in decisions if one.read.offset > decision.read.offset)


def _of_scaling(decisions: Sequence[Standing], first: Standing) -> Iterator[Consequence]:
    begun = body_of(first)
    assert isinstance(begun, ScalingDecided)
    names, waited = {begun.change_id}, 0
    for one in _after(decisions, first):
        body = body_of(one)
        if not one.stands or body is None:
            continue
        if isinstance(body, Word) and body.change_id in names:
            yield _consequence(one, sentence(body))
            if isinstance(body, ScalingReverted) and body.revert_change_id:
                names.add(body.revert_change_id)
        elif one.read.record.cause in names and isinstance(body, JobConfigChanged):
            waited = body.version
            yield _consequence(one, f"accepted: {sentence(body)}")
        elif one.read.record.cause in names and isinstance(body, JobConfigRejected):
            yield _consequence(one, sentence(body))
        elif waited and _about(body, LAYERS[SCALER], waited):
            yield _consequence(one, sentence(body))
            waited = 0 if isinstance(body, SyncCommitted) else waited


def _of_version(after: Iterable[Standing], layer: str, version: int) -> Iterator[Consequence]:
    for one in after:
        body = body_of(one)
        if one.stands and body is not None and _about(body, layer, version):
            yield _consequence(one, sentence(body))
            if isinstance(body, SyncCommitted):
                return


def _about(body: Body, layer: str, version: int) -> bool:
    """Does the state syncer say how it is with that version of the layer?"""
    if not isinstance(body, SyncCommitted | SyncFailed | JobQuarantined):
        return False
    known: int = getattr(body.versions, layer)
    return known >= version


def _consequence(one: Standing, text: str) -> Consequence:
    record = one.read.record
    return Consequence(one.read.at_ms, record.kind, record.id, position_of(one.read), text)


# --- a job


@dataclass(frozen=True, slots=True)
class Sizing(Answer):
    """Who decides about a job's size, and what comes of it."""

    policy: str
    """The policy in force."""
    mode: str
    """off, observe, advise or act."""
    settings: Json
    """The policy's settings, as the config names them."""
    layer: Json
    """The scaler's layer of the config."""
    last: DecisionHead | None
    """The auto scaler's last word that stands."""


def scaling_of(job: Job, decisions: Iterable[Standing]) -> Sizing:
    """Who decides about a job's size, what comes of it, and the last word."""
    words = words_of(decisions)
    return Sizing(
        **policy_of(json.loads(job.expected_json)),
        layer=json.loads(job.layers[SCALER].config_json),
        last=head_of(words[-1]) if words else None,
    )


class PolicyInForce(TypedDict):
    """The policy of a config, as it is in force."""

    policy: str
    mode: str
    settings: Json


def policy_of(expected: Mapping[str, Any]) -> PolicyInForce:
    """The policy that a config names and its mode, as they are in force."""
    usual, said = Policy(), expected.get("policy")
    given = said if isinstance(said, dict) else {}
    return {
        "policy": given.get("name", usual.name),
        "mode": given.get("mode", usual.mode),
        "settings": given.get("settings", {}),
    }


def size_of(expected: Json) -> str:
    """`4 tasks of 2 threads, 0.5 cores and 512 MiB`, as it is in force."""
    config = validate_config(expected, stood=True)
    if isinstance(config, Invalid):  # of a job that is gone, or of another build
        return count_text(expected.get("tasks", 1), "task")
    cores, memory_mb = config.resources.cpu_cores, config.resources.memory_mb
    threads = count_text(config.threads_per_task, "thread")
    unit = "core" if cores == 1 else "cores"
    return f"{count_text(config.tasks, 'task')} of {threads}, {cores:g} {unit} and {memory_mb} MiB"
