"""From a verdict to what is said: a change within its limits, or why there is none. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from components.auto_scaler.core.assigning import shared
from components.auto_scaler.core.closing import threads
from components.auto_scaler.core.evaluation import EvaluatedJob, unlimited
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.core.verdict import ScalingVerdict
from components.auto_scaler.core.words import decided, declined
from events.generated.records import Body, Constraint, ScalingDecided
from projections.scaling.actions import (
    ALERT,
    MEMORY_DOWN,
    MOVE,
    REBALANCE,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.facts import (
    ASSIGNMENT,
    TASKS,
    Facts,
    change_to,
    differing,
    without,
)
from projections.scaling.row import ScalingRow

HOUR_MS = 3_600_000
BUDGET = 12
"""Changes of one job in an hour: each is a restart of some ten seconds, and a policy that wants
more of them is wrong about the job or about itself."""
BUDGET_LATE = 16
"""The same for a job that breaks its promise: it is not left there for want of a few restarts."""
TURNS = 5
"""Jobs take turns in being made smaller: each waits for its own, so many intervals at most, and a
fifth of a tier at most restarts at once for the sake of cost. Who needs more never waits, and no
policy that remembers each look: what it says of one moment, it takes as done from then on."""
AGAIN = 10
"""Intervals after which a size that is only shown is shown again, if it has changed."""


def act(row: ScalingRow, looked: EvaluatedJob, facts: Facts, now_ms: int) -> Iterator[Body]:
    """What comes of a look: one record at most, none where nothing has changed."""
    verdict = looked.verdict
    if verdict.size is not None and _floored(verdict.size, facts) != facts.size:
        yield from _resize(row, looked, facts, now_ms)
    elif verdict.action == REBALANCE:
        yield from _rebalance(row, looked, facts, now_ms)
    elif verdict.action == MOVE:
        yield from _tell(
            row, verdict, facts, now_ms, reason="by-hand", explanation=moved(row, verdict)
        )
    elif verdict.action == ALERT:
        yield from _tell(row, verdict, facts, now_ms, reason=verdict.diagnosis or "alert")
    else:
        grant = granted(row, looked, facts, verdict.size or facts.size, now_ms)
        reason = "at-limit" if grant else verdict.diagnosis or verdict.symptom or "well"
        yield from _tell(row, verdict, facts, now_ms, reason=reason, constraints=grant)


def moved(row: ScalingRow, verdict: ScalingVerdict) -> str:
    """What a person has to do about a task whose machine is slow: no record moves a single task."""
    heard = row.learnt.rounds.heard.get(verdict.task or 0)
    container = heard.container if heard is not None and heard.container else "CONTAINER"
    name = f"{row.name}/{verdict.task}"
    return (
        f"{name} on {container} is slower than the other tasks; `turbine drain container"
        f" {container} --reason straggler` moves it"
    )


def _tell(
    row: ScalingRow,
    verdict: ScalingVerdict,
    facts: Facts,
    now_ms: int,
    *,
    reason: str,
    explanation: str = "",
    constraints: tuple[Constraint, ...] = (),
    until_ms: int | None = None,
) -> Iterator[Body]:
    """Once: what was told last is not told again, whatever its numbers are by now."""
    told = row.told
    if (told.action, told.reason, told.diagnosis) == (verdict.action, reason, verdict.diagnosis):
        return
    yield declined(
        row,
        verdict,
        facts,
        now_ms,
        reason=reason,
        explanation=explanation,
        constraints=constraints,
        until_ms=until_ms,
    )


# --- another size


def _floored(size: JobSize, facts: Facts) -> JobSize:
    return size._replace(memory_mb=max(size.memory_mb, facts.memory_least))


def _resize(row: ScalingRow, looked: EvaluatedJob, facts: Facts, now_ms: int) -> Iterator[Body]:
    verdict, have = looked.verdict, facts.size
    assert verdict.size is not None, "who asks for a size has one"
    wanted = _floored(verdict.size, facts)
    size = without(wanted, have, row.config.oncall)
    oncall = _by_oncall(wanted, size)
    if size == have or _worse(verdict, wanted, size, have):
        keys = _keys(wanted, size)
        said = f"people have set {keys}, which they have to clear first: {verdict.explanation}"
        yield from _tell(
            row, verdict, facts, now_ms, reason="oncall", explanation=said, constraints=oncall
        )
        return
    if facts.mode == "act":
        stop = _waits(row, verdict, facts, now_ms)
        if stop is not None:
            reason, said, until_ms = stop
            limit = _changed(reason, size, have, said)
            told = (*oncall, limit)
            yield from _tell(
                row,
                verdict,
                facts,
                now_ms,
                reason=reason,
                explanation=said,
                constraints=told,
                until_ms=until_ms,
            )
            return
    elif _shown(row, verdict, size.tasks, facts, now_ms):
        return
    grant = granted(row, looked, facts, size, now_ms)
    constraints = (*verdict.constraints, *oncall, *grant)
    # An assignment that was made for another number of tasks is of no use any more.
    stale = ASSIGNMENT in row.config.scaler and size.tasks != have.tasks
    clear = (ASSIGNMENT,) if stale else ()
    asked = (change_to(size, have), clear)
    yield decided(row, looked, facts, asked, now_ms, tasks=size.tasks, constraints=constraints)


def _by_oncall(wanted: JobSize, size: JobSize) -> tuple[Constraint, ...]:
    if wanted == size:
        return ()
    return (_changed("oncall", wanted, size, f"people have set {_keys(wanted, size)}"),)


def _keys(wanted: JobSize, size: JobSize) -> str:
    """What differs, as a config names it."""
    return ", ".join(sorted(differing(wanted, size)))


_OTHER = ("threads of each task", "cores of each task", "MiB of each task")


def _changed(name: str, before: JobSize, after: JobSize, note: str) -> Constraint:
    """By the number of tasks; where it leaves that alone, by the first number that it changes."""
    if before.tasks == after.tasks:
        for unit, was, now in zip(_OTHER, before[1:], after[1:], strict=True):
            if was != now:
                return Constraint(name, float(was), float(now), f"{note} ({unit})")
    return Constraint(name, float(before.tasks), float(after.tasks), note)


def _worse(verdict: ScalingVerdict, wanted: JobSize, size: JobSize, have: JobSize) -> bool:
    """A part of a change may be the opposite of it: more and smaller tasks, without the more."""
    if size == wanted:
        return False
    least = have if verdict.action == SCALE_UP else wanted
    return threads(size) < min(threads(least), threads(have)) or (
        size.memory_mb < have.memory_mb and verdict.action != SCALE_DOWN
    )


def _waits(
    row: ScalingRow, verdict: ScalingVerdict, facts: Facts, now_ms: int
) -> tuple[str, str, int] | None:
    """Why a change is not made at this moment: code, sentence, and until when."""
    newest = row.learnt.known.seen.newest
    late = newest is not None and newest.lag_s is not None and newest.lag_s > facts.slo_s
    most = BUDGET_LATE if late and verdict.action == SCALE_UP else BUDGET
    spent = [at_ms for at_ms in row.restarts if at_ms > now_ms - HOUR_MS]
    if len(spent) >= most:
        said = f"the job was changed {len(spent)} times within the hour, and {most} are allowed"
        return "budget", said, spent[-most] + HOUR_MS
    if verdict.action in {SCALE_DOWN, MEMORY_DOWN} and facts.policy == Turbine.name:
        turn_ms = turn(row.name, facts.interval_ms, now_ms)
        if turn_ms > now_ms:
            said = "jobs take turns in being made smaller, so that few of them restart at once"
            return "staggered", said, turn_ms
    return None


def turn(name: str, interval_ms: int, now_ms: int) -> int:
    """When the job may be made smaller: now, or the begin of its next turn."""
    own = hashlib.md5(name.encode(), usedforsecurity=False).digest()[0] % TURNS
    at = now_ms // interval_ms
    return now_ms if at % TURNS == own else (at + (own - at) % TURNS) * interval_ms


def _shown(row: ScalingRow, verdict: ScalingVerdict, tasks: int, facts: Facts, now_ms: int) -> bool:
    """Was it shown already, in a mode in which nothing comes of it?"""
    told = row.told
    same = (told.action, told.reason, told.diagnosis) == (
        verdict.action,
        verdict.symptom,
        verdict.diagnosis,
    )
    return same and (told.size == tasks or now_ms - told.at_ms < AGAIN * facts.interval_ms)


def granted(
    row: ScalingRow, looked: EvaluatedJob, facts: Facts, size: JobSize, now_ms: int
) -> tuple[Constraint, ...]:
    """What the tier's want of room has made of the number of tasks."""
    if looked.job.granted is None:
        return ()
    free = unlimited(row, facts, looked.job, now_ms).size
    if free is None or free.tasks <= size.tasks:
        return ()
    note = f"the tier grants {looked.job.granted} tasks: {row.grant.explanation}"
    return (Constraint("grant", float(free.tasks), float(size.tasks), note),)


# --- another sharing of its input


def _rebalance(row: ScalingRow, looked: EvaluatedJob, facts: Facts, now_ms: int) -> Iterator[Body]:
    verdict = looked.verdict
    if ASSIGNMENT in row.config.oncall or TASKS in row.config.oncall:
        said = "people have set tasks or assignment: it is theirs until they clear it"
        yield from _tell(row, verdict, facts, now_ms, reason="oncall", explanation=said)
        return
    found = shared(row.learnt.rounds, facts)
    if not found.assignment:
        yield from _tell(
            row, verdict, facts, now_ms, reason=found.reason, explanation=found.explanation
        )
        return
    if facts.mode == "act":
        stop = _waits(row, verdict, facts, now_ms)
        if stop is not None:
            reason, said, until_ms = stop
            yield from _tell(
                row, verdict, facts, now_ms, reason=reason, explanation=said, until_ms=until_ms
            )
            return
    elif _shown(row, verdict, facts.size.tasks, facts, now_ms):
        return
    made: dict[str, Any] = {ASSIGNMENT: [list(places) for places in found.assignment]}
    body: ScalingDecided = decided(row, looked, facts, (made, ()), now_ms, tasks=facts.size.tasks)
    said = (
        f"{body.explanation}; the busiest task gets {found.after:.0f} records/s then,"
        f" and {found.before:.0f} now"
    )
    yield replace(body, explanation=said)
