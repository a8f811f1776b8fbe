"""An evaluation of a job by its policy, rebuilt from the log: what a verdict was made on. Pure.

A decision names all that it rests on. The component's own fold makes the row of it again, and the
job's policy can be asked once more: the same, or with something changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from components.auto_scaler.core.acting import act
from components.auto_scaler.core.evaluation import EvaluatedJob, looked, outcome
from components.auto_scaler.core.verdict import ScalingVerdict
from components.auto_scaler.decide import decide
from events.generated.records import Body, ScalingDecided, ScalingDeclined
from events.wire.codec import encode
from projections.scaling.actions import REVERT
from projections.scaling.apply import apply
from projections.scaling.facts import Facts
from projections.scaling.row import ScalingRow
from turbine.read.answers.journal import body_of
from turbine.read.answers.load_minutes import Hears, row_at
from turbine.read.answers.scaling import ACTIONS
from turbine.read.sources.log import Standing


class Evaluation(NamedTuple):
    """What the policy was given."""

    row: ScalingRow
    facts: Facts
    now_ms: int


class Rebuilt(NamedTuple):
    """An evaluation, and the word that came of it."""

    word: Standing
    evaluation: Evaluation
    verdict: ScalingVerdict
    same: bool  # the component says the same word again


def is_verdict(body: Body | None) -> bool:
    """Is it what a policy came to? Orders of the capacity manager, and proposals that are given up,
    are none."""
    match body:
        case ScalingDecided():
            return body.action in ACTIONS and body.symptom != "tier-short"
        case ScalingDeclined():
            return body.change_id is None and body.symptom != "tier-short"
        case _:
            return False


def last_verdict(words: Sequence[Standing]) -> Standing | None:
    """The newest word that a policy came to."""
    return next((one for one in reversed(words) if is_verdict(body_of(one))), None)


def rebuild(log: Hears, word: Standing) -> Rebuilt | None:
    """The evaluation behind a word; None where this build makes nothing of the job's config."""
    record = word.read.record
    row = row_at(log, record.key, record.evidence)
    if row is None:
        return None
    row, same = _before(row, word, record.tick_ms)
    if row.config.facts is None:
        return None
    given = Evaluation(row, row.config.facts, record.tick_ms)
    return Rebuilt(word, given, verdict_of(given), same)


def _before(row: ScalingRow, word: Standing, now_ms: int) -> tuple[ScalingRow, bool]:
    """With what was said in one breath before it."""
    wanted = word.read.record.value
    so_far = row
    for body in decide(row, now_ms):
        if encode(body) == wanted:
            return so_far, True
        so_far = apply(so_far, body, now_ms)
    return row, False


def verdict_of(given: Evaluation) -> ScalingVerdict:
    """The verdict of the job's policy."""
    return looked(given.row, given.facts, given.now_ms).verdict


def comes_to(given: Evaluation, action: str) -> bool:
    """Is that action the verdict?"""
    if action == REVERT:
        closed = outcome(given.row, given.facts, given.now_ms)
        return closed is not None and closed.action == REVERT
    verdict = verdict_of(given)
    return verdict.action == action and (verdict.size is None or verdict.size != given.facts.size)


def hindered(given: Evaluation, action: str) -> str:
    """What would still stand between that verdict and a change; "" for nothing."""
    if action == REVERT:
        return ""
    if given.facts.mode != "act":
        return f"mode {given.facts.mode} changes nothing"
    found: EvaluatedJob = looked(given.row, given.facts, given.now_ms)
    for body in act(given.row, found, given.facts, given.now_ms):
        if isinstance(body, ScalingDeclined) and body.action == action:
            return "" if action in {"alert", "move"} else f"{body.reason}: {body.explanation}"
    return ""
