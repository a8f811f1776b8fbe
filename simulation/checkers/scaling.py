"""How jobs are sized: the rails of scaling (I10, I23), told from the log alone.

One change of a job at a time, with one outcome; no key that people have set; none smaller while
some tasks are not heard; and no more restarts in an hour than there may be.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from events.generated.records import (
    JobConfigChanged,
    JobDeleted,
    OverrideExpired,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    TaskLoadReported,
)
from events.wire.codec import Read
from simulation.checkers.history import History

LOADS = "loads.v1/0"
HOUR_MS = 3_600_000
RESTARTS_MOST = 17
"""Of one job in an hour, what is taken back included."""
OLD_MS = 180_000
"""Of a task's last word, beyond which nobody knows how it is."""


@dataclass(slots=True)
class _ScaledJob:
    """What stands at a point of the journal."""

    oncall: Mapping[str, Any] = field(default_factory=dict)
    open: str = ""  # the change whose outcome is waited for
    back: int | None = None  # the version with which one that takes another back is over
    restarts: list[int] = field(default_factory=list)


def check_scaling(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    jobs: dict[str, _ScaledJob] = defaultdict(_ScaledJob)
    for read in history.standing:
        for said in _look(jobs[read.record.key], read, history):
            yield f"{read.record.key}: {read.record.kind} at {read.offset} {said}"


def _look(job: _ScaledJob, read: Read, history: History) -> Iterator[str]:
    match read.record.body:
        case JobConfigChanged(layer="oncall") as body:
            job.oncall = json.loads(body.layer_json)
        case OverrideExpired(layer="oncall") as body:
            job.oncall = json.loads(body.layer_json or "{}")
        case JobDeleted():
            job.oncall, job.open, job.back = {}, "", None
        case JobConfigChanged(layer="scaler", change_id=job.open) as body if job.back == 0:
            job.back = body.version
        case SyncCommitted(versions=versions) if job.back and versions.scaler >= job.back:
            job.open, job.back = "", None  # nothing is expected of it
        case ScalingDecided(policy=policy) as body if policy:
            yield from _decided(job, read, body, history)
        case ScalingReverted() as body:
            yield from _ends(job, body.change_id)
            if body.revert_change_id is not None:
                yield from _begins(job, read, body.revert_change_id)
                job.back = 0
        case ScalingVerified() as body:
            yield from _ends(job, body.change_id)
        case ScalingDeclined(policy=policy, change_id=str() as name) if policy:
            yield from _ends(job, name)
        case _:
            return


def _decided(job: _ScaledJob, read: Read, body: ScalingDecided, history: History) -> Iterator[str]:
    if not (body.symptom and body.diagnosis and body.explanation):
        yield "does not say why"
    if body.mode != "act":
        return
    yield from _begins(job, read, body.change_id)
    yield from (f"sets {path}, which people have set" for path in _both(body, job.oncall))
    if body.action == "scale-down" and body.symptom != "tier-short":
        yield from _unheard(read, history)


def _begins(job: _ScaledJob, read: Read, name: str) -> Iterator[str]:
    if job.open:
        yield f"begins {name} while {job.open} is open"
    job.open, job.back = name, None
    now_ms = read.record.tick_ms
    job.restarts = [at_ms for at_ms in job.restarts if at_ms > now_ms - HOUR_MS] + [now_ms]
    if len(job.restarts) > RESTARTS_MOST:
        yield f"is restart {len(job.restarts)} within an hour"


def _ends(job: _ScaledJob, name: str) -> Iterator[str]:
    if name != job.open:
        yield f"ends {name}, and {job.open or 'nothing'} is open"
    job.open, job.back = "", None


def _both(body: ScalingDecided, oncall: Mapping[str, Any]) -> Iterator[str]:
    """Paths that the change names and people have set."""
    named = [*_leaves(json.loads(body.set_json)), *body.clear]
    theirs = list(_leaves(oncall))
    for path in named:
        if any(_within(path, other) or _within(other, path) for other in theirs):
            yield path


def _leaves(plain: Any, path: str = "") -> Iterator[str]:
    """What is named; a map without a key names nothing, and hides nothing."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from _leaves(value, f"{path}.{key}" if path else key)
    elif path:
        yield path


def _within(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}.")


def _unheard(read: Read, history: History) -> Iterator[str]:
    """Every task of the newest shape has spoken within minutes of what the decision knew."""
    end = read.record.evidence.get(LOADS, 0)
    known = [one for one in history.log[LOADS] if one.offset < end and _of(one, read.record.key)]
    newest: dict[int, int] = {}
    specs = tasks = 0
    for one in known:
        body = one.record.body
        assert isinstance(body, TaskLoadReported)
        if body.generation.specs > specs:
            specs, tasks = body.generation.specs, body.tasks
            newest.clear()
        if body.generation.specs == specs:
            newest[body.task] = one.at_ms
    fresh = sum(at_ms >= read.record.tick_ms - OLD_MS for at_ms in newest.values())
    if fresh < tasks or not tasks:
        yield f"makes it smaller, and {fresh} of {tasks} tasks were heard lately"


def _of(read: Read, key: str) -> bool:
    body = read.record.body
    return read.record.key == key and isinstance(body, TaskLoadReported) and body.tasks > 0
