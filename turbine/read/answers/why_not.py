"""Why the auto scaler did not do something, and the least with which it would have. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from events.generated.records import ScalingDecided, ScalingDeclined
from projections.jobs import Job
from projections.scaling.actions import STAY
from turbine.read.answers.counterfactuals import Counterfactual, counterfactuals
from turbine.read.answers.evaluation import comes_to, hindered, last_verdict, rebuild
from turbine.read.answers.journal import Answer, body_of, position_of
from turbine.read.answers.load_minutes import Hears
from turbine.read.answers.policy_inputs import inputs_of
from turbine.read.answers.scaling import SHOWN, Consequence, Sizing, scaling_of, words_of
from turbine.read.sources.log import Standing


@dataclass(frozen=True, slots=True)
class Objection(Consequence):
    """A word of the auto scaler that stood against an action, or was it."""

    taken: bool
    """True where it decided that action."""
    until_ms: int | None
    """How long it holds the action back; null where it does not say."""


@dataclass(frozen=True, slots=True)
class AskedAgain(Answer):
    """The last verdict of the policy, asked once more. Unknown is null where it is not rebuilt."""

    word: str
    """The id of the record that it came to."""
    kind: str
    position: str
    """Place and offset in the log."""
    at_ms: int
    rebuilt: bool
    """False where the log does not tell any more what it was made on."""
    same: bool | None = None
    """Does this build come to the same record?"""
    policy: str | None = None
    verdict: str | None = None
    """The action that the policy comes to."""
    explanation: str | None = None
    already: bool | None = None
    """Is that the action that was asked for?"""
    hindered: str | None = None
    """What stood between that verdict and a change; empty for nothing."""
    tried: int | None = None
    """How many inputs and settings were tried, one by one."""
    counterfactuals: tuple[Counterfactual, ...] | None = None
    """The single changes that would have been enough, the nearest first."""


@dataclass(frozen=True, slots=True)
class WhyNot(Sizing):
    """What stood against an action about a job."""

    job: str
    alive: bool
    """False of a job that is deleted."""
    action: str
    reasons: tuple[Objection, ...]
    """The words that name the action or decide another one, the newest first."""
    asked: AskedAgain | None
    """The last verdict asked again; null where there is none, or nobody wants to know."""


def why_not(
    log: Hears, job: Job, decisions: Sequence[Standing], action: str, *, again: bool = True
) -> WhyNot:
    """What stood against the action, of a job and the decisions about it; and with what it would
    have been taken."""
    words = words_of(decisions)
    sizing = scaling_of(job, words)
    return WhyNot(
        policy=sizing.policy,
        mode=sizing.mode,
        settings=sizing.settings,
        layer=sizing.layer,
        last=sizing.last,
        job=job.name,
        alive=job.alive,
        action=action,
        reasons=tuple(_objections(words, action))[:SHOWN],
        asked=_asked_again(log, words, action) if again else None,
    )


def _objections(words: Sequence[Standing], action: str) -> Iterator[Objection]:
    """Each word that names the action or decides another, the newest first."""
    for one in reversed(words):
        match body_of(one):
            case ScalingDecided() as body if body.action == action:
                told = f"it was decided: {body.explanation}" if body.explanation else "decided"
                yield _objection(one, told, taken=True)
            case ScalingDecided() as body:
                reasons = [other.reason for other in body.alternatives if other.action == action]
                told = f"{body.action} was decided instead"
                told += f", as {reasons[0]}" if reasons else f": {body.explanation}"
                yield _objection(one, told)
            case ScalingDeclined() as body:
                told = f"{body.reason}: {body.explanation}"
                if body.action not in ("", STAY, action):
                    told = f"{body.action} was looked at, and not taken, {told}"
                yield _objection(one, told, until_ms=body.until_ms)
            case _:
                continue


def _objection(
    one: Standing, text: str, *, taken: bool = False, until_ms: int | None = None
) -> Objection:
    read, record = one.read, one.read.record
    position = position_of(read)
    return Objection(read.at_ms, record.kind, record.id, position, text, taken, until_ms)


def _asked_again(log: Hears, words: Sequence[Standing], action: str) -> AskedAgain | None:
    """The last verdict asked again; None where there is none."""
    word = last_verdict(words)
    if word is None:
        return None
    read, record = word.read, word.read.record
    found = rebuild(log, word)
    if found is None:
        return AskedAgain(record.id, record.kind, position_of(read), read.at_ms, rebuilt=False)
    given = found.evaluation
    already = comes_to(given, action)
    return AskedAgain(
        word=record.id,
        kind=record.kind,
        position=position_of(read),
        at_ms=read.at_ms,
        rebuilt=True,
        same=found.same,
        policy=given.facts.policy,
        verdict=found.verdict.action,
        explanation=found.verdict.explanation,
        already=already,
        hindered=hindered(given, action) if already else "",
        tried=sum(1 for _ in inputs_of(given)),
        counterfactuals=() if already else tuple(counterfactuals(given, action)),
    )
