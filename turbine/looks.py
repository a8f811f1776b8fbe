"""The look at a job that a verdict of the auto scaler was made on, rebuilt from the log. Pure.

A decision names all that it rests on. The component's own fold makes the row of it again, and the
job's policy can be asked once more: the same, or with something changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from components.auto_scaler.acting import act
from components.auto_scaler.apply import apply
from components.auto_scaler.decide import decide
from components.auto_scaler.facts import Facts
from components.auto_scaler.looking import Looked, looked, outcome
from components.auto_scaler.row import Scale
from components.auto_scaler.verdict import REVERT, Verdict
from events.codec import encode
from events.records import Body, ScalingDecided, ScalingDeclined
from turbine.hearing import Hears, row_at
from turbine.log import Standing
from turbine.scaled import ACTIONS, body_of


class Look(NamedTuple):
    """What the policy saw."""

    row: Scale
    facts: Facts
    now_ms: int


class Rebuilt(NamedTuple):
    """A look, and the word that came of it."""

    word: Standing
    look: Look
    verdict: Verdict
    same: bool  # the component says the same word again


def is_verdict(body: Body | None) -> bool:
    """Is it what came of a policy's look? Orders of the capacity manager, and proposals that are
    given up, are none."""
    match body:
        case ScalingDecided():
            return body.action in ACTIONS and body.symptom != "tier-short"
        case ScalingDeclined():
            return body.change_id is None and body.symptom != "tier-short"
        case _:
            return False


def last_verdict(words: Sequence[Standing]) -> Standing | None:
    """The newest word that came of a policy's look."""
    return next((one for one in reversed(words) if is_verdict(body_of(one))), None)


def rebuild(log: Hears, word: Standing) -> Rebuilt | None:
    """The look that a word was made on; None where this build makes nothing of the job's config."""
    record = word.read.record
    row = row_at(log, record.key, record.evidence)
    if row is None:
        return None
    row, same = _before(row, word, record.tick_ms)
    if row.config.facts is None:
        return None
    look = Look(row, row.config.facts, record.tick_ms)
    return Rebuilt(word, look, asked(look), same)


def _before(row: Scale, word: Standing, now_ms: int) -> tuple[Scale, bool]:
    """With what was said in one breath before it."""
    wanted = word.read.record.value
    so_far = row
    for body in decide(row, now_ms):
        if encode(body) == wanted:
            return so_far, True
        so_far = apply(so_far, body, now_ms)
    return row, False


def asked(look: Look) -> Verdict:
    """What the job's policy says of it."""
    return looked(look.row, look.facts, look.now_ms).verdict


def comes_to(look: Look, action: str) -> bool:
    """Is that the verdict?"""
    if action == REVERT:
        closed = outcome(look.row, look.facts, look.now_ms)
        return closed is not None and closed.action == REVERT
    verdict = asked(look)
    return verdict.action == action and (verdict.size is None or verdict.size != look.facts.size)


def hindered(look: Look, action: str) -> str:
    """What would still stand between that verdict and a change; "" for nothing."""
    if action == REVERT:
        return ""
    if look.facts.mode != "act":
        return f"mode {look.facts.mode} changes nothing"
    found: Looked = looked(look.row, look.facts, look.now_ms)
    for body in act(look.row, found, look.facts, look.now_ms):
        if isinstance(body, ScalingDeclined) and body.action == action:
            return "" if action in {"alert", "move"} else f"{body.reason}: {body.explanation}"
    return ""
