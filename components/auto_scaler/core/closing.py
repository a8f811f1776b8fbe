"""How a change of ours ends: given up, verified, or taken back. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from components.auto_scaler.core.evaluation import blind, outcome
from components.auto_scaler.core.verdict import ScalingVerdict
from components.auto_scaler.core.words import given_up, named, reverted, verified
from events.generated.records import Body
from events.job_config.strict_json import canonical_json
from projections.scaling.actions import (
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.facts import Facts, change_to, keys_of
from projections.scaling.row import OpenProposal, ScalingRow

SEEN = 3
"""Intervals in effect before a change is judged, however late it came into effect."""


def close(row: ScalingRow, now_ms: int) -> Iterator[Body]:
    """What became of the change that is open, as far as that is known."""
    change, facts = row.change, row.config.facts
    if change is None:
        return
    if change.lapsed:
        said = "the proposal came too late to count: the log was slower than its validity"
        yield given_up(row, change, "too-late", said)
    elif change.refused:
        yield given_up(row, change, "rejected", f"the job service rejected it: {change.refused}")
    elif change.overridden:
        said = "somebody else has changed what it had set: there is nothing to hold it against"
        yield given_up(row, change, "overridden", said)
    elif change.effect_ms is None or facts is None:
        return
    elif change.verify_ms is None:
        yield verified(row, change, "it is in effect, and nothing else was expected of it")
    elif facts.mode == "off":
        said = "the policy was switched off before its outcome was known"
        yield given_up(row, change, "switched-off", said)
    elif now_ms >= (due_ms(row) or 0):
        yield from _judged(row, change, facts, now_ms)


def due_ms(row: ScalingRow) -> int | None:
    """When the open change can be held against what was expected of it; None where none is."""
    change, facts = row.change, row.config.facts
    if change is None or facts is None or change.verify_ms is None or change.effect_ms is None:
        return None
    return max(change.verify_ms, change.effect_ms + SEEN * facts.interval_ms)


def _judged(row: ScalingRow, change: OpenProposal, facts: Facts, now_ms: int) -> Iterator[Body]:
    verdict = outcome(row, facts, now_ms)
    if verdict is not None and verdict.action == REVERT:
        yield _taken_back(row, change, verdict, now_ms)
    elif verdict is not None:
        yield verified(row, change, verdict.explanation)
    elif row.done.open is None and not blind(row, facts, now_ms):
        yield _by_lag(row, change, facts, now_ms)


def _by_lag(row: ScalingRow, change: OpenProposal, facts: Facts, now_ms: int) -> Body:
    """What was not to bring more is right if the job keeps its promise with it."""
    newest = row.learnt.known.seen.newest
    late_s = None if newest is None else newest.lag_s
    if late_s is None or late_s <= facts.slo_s or change.action != SCALE_DOWN:
        known = "unknown" if late_s is None else f"{late_s:.0f} s"
        said = f"it is in effect; the lag is {known}, and {facts.slo_s:.0f} s are allowed"
        return verified(row, change, said)
    said = f"the job lags {late_s:.0f} s with it, and {facts.slo_s:.0f} s are allowed"
    return _taken_back(row, change, ScalingVerdict(REVERT, "lag", change.diagnosis, said), now_ms)


def _taken_back(
    row: ScalingRow, change: OpenProposal, verdict: ScalingVerdict, now_ms: int
) -> Body:
    """The proposal of the size before, unless people have their say in it by now."""
    have = row.size or change.wanted
    back = canonical_json(change_to(change.before, have))
    mine = keys_of(back)
    if not mine or mine & row.config.oncall:
        said = f"{verdict.explanation}; people have set its size by now, so nothing is proposed"
        return reverted(row, change, said, None, verdict.until_ms)
    name = named(row, back, (), now_ms)
    return reverted(row, change, verdict.explanation, name, verdict.until_ms)


# --- the next change comes before the outcome of the last


def overtaken(row: ScalingRow, verdict: ScalingVerdict, facts: Facts) -> Body:
    """The end of a change that had not its time, as another one follows it at once."""
    change = row.change
    assert change is not None, "nothing else is overtaken"
    size = verdict.size or facts.size
    was = threads(change.wanted) - threads(change.before)
    if was * (threads(size) - threads(facts.size)) < 0:
        less = {SCALE_UP: "more", SCALE_DOWN: "less"}.get(verdict.action, "another size")
        said = f"{less} is needed before its time is over: {verdict.explanation}"
        return reverted(row, change, said, None)
    said = f"it is in effect, and another change follows it: {verdict.explanation}"
    return verified(row, change, said)


def threads(size: JobSize) -> int:
    """The number of threads of all tasks."""
    return size.tasks * size.threads
