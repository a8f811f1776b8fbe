"""What the auto scaler says, in one sentence each, with the size before and after. Pure.

A size is tasks x threads of each. What a change brought is told as it is: half of what was expected
or less is little, although the policy may keep it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, assert_never

from events.generated.records import (
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
)
from events.job_config.strict_json import Json
from events.sentences.words import brief, counted, figure, joined, plain_of, settings, why

Said = ScalingDecided | ScalingDeclined | ScalingReverted | ScalingVerified

LITTLE = 50
"""Per cent of the gain that was expected: with less, whoever expected it was wrong."""
STAY = "stay"
_GAIN = re.compile(r": that is (?P<share>-?\d+) % of the gain, and \d+ % are enough")
"""In the words of the policy `turbine`; a test asks it for them."""


class StatedSize(NamedTuple):
    """Of a job; None where nothing tells."""

    tasks: int | None
    threads: int | None
    cpu_cores: float | None
    memory_mb: float | None


def said(body: Said) -> str:
    """What was decided, or came of it, and why."""
    head, because = outline(body), body.explanation
    match body:
        case ScalingDecided():
            return f"{head}, as {because}" if because else head
        case ScalingVerified():
            share = gain(body)
            return head + why(because if share is None else _GAIN.sub("", because))
        case ScalingDeclined() | ScalingReverted():
            return head + why(because)
        case _:
            assert_never(body)


def outline(body: Said) -> str:
    """The same without the why, for where there is little room."""
    match body:
        case ScalingDecided():
            mode = "" if body.mode == "act" else f" (mode {brief(body.mode, 40)})"
            return f"{_decided(body)}{mode}"
        case ScalingDeclined():
            reason = brief(body.reason, 40)
            if body.change_id:
                return f"gave up its change, {reason}"
            left = body.action in ("", STAY)
            return f"left as it is, {reason}" if left else f"no {brief(body.action, 40)}, {reason}"
        case ScalingVerified():
            share = gain(body)
            if share is None:
                return "kept"
            if share < LITTLE:
                return f"kept, but it brought only {share} % of the gain that was expected"
            return f"kept, with {share} % of the gain that was expected"
        case ScalingReverted():
            return "taken back" if body.revert_change_id else "did not help, and is left as it is"
        case _:
            assert_never(body)


def gain(body: ScalingVerified) -> int | None:
    """Per cent of what was expected; None where it is all of it, or nobody says."""
    found = _GAIN.search(body.explanation)
    return None if found is None else int(found["share"])


# --- sizes


def _decided(body: ScalingDecided) -> str:
    before = _size(plain_of(body.evidence_json).get("size"))
    told = plain_of(body.set_json)
    after = _after(before, told, body)
    changes = [*_shape(before, after), *_each(before, after)]
    if changes:
        return f"resized: {', '.join(changes)}"
    if told or body.clear:
        clears = f"clears {joined([brief(one, 40) for one in body.clear])}" if body.clear else ""
        sets = f"sets {settings(told)}" if told else ""
        return f"{brief(body.action, 40) or 'decided'}: {joined([*filter(None, (sets, clears))])}"
    return f"{brief(body.action, 40) or 'decided'}, {counted(body.final_tasks, 'task')}"


def _size(plain: Json) -> StatedSize:
    found = plain if isinstance(plain, dict) else {}
    tasks, threads = (_number(found.get(name)) for name in ("tasks", "threads"))
    cores, memory = (_number(found.get(name)) for name in ("cpu_cores", "memory_mb"))
    return StatedSize(_whole(tasks), _whole(threads), cores, memory)


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _after(before: StatedSize, told: Mapping[str, Json], body: ScalingDecided) -> StatedSize:
    resources = told.get("resources")
    each = resources if isinstance(resources, dict) else {}
    threads = _whole(_number(told.get("threads_per_task")))
    cores, memory = _number(each.get("cpu_cores")), _number(each.get("memory_mb"))
    return StatedSize(
        body.final_tasks,
        before.threads if threads is None else threads,
        before.cpu_cores if cores is None else cores,
        before.memory_mb if memory is None else memory,
    )


def _shape(before: StatedSize, after: StatedSize) -> list[str]:
    """Tasks and their threads: `2x1 -> 1x5 threads`, or `4 -> 8 tasks` where threads stay one."""
    if before[:2] == after[:2]:
        return []
    if before.tasks is None:
        of = "" if after.threads is None else f" of {counted(after.threads, 'thread')}"
        return [f"to {counted(after.tasks or 0, 'task')}{of}"]
    if before.threads == after.threads and after.threads in (None, 1):
        return [f"{figure(before.tasks)} -> {counted(after.tasks or 0, 'task')}"]
    return [f"{_times(before)} -> {_times(after)} threads"]


def _times(size: StatedSize) -> str:
    return f"{size.tasks}x{'?' if size.threads is None else size.threads}"


def _each(before: StatedSize, after: StatedSize) -> list[str]:
    """What each task has, where that changes."""
    found = []
    for was, now, what in (
        (before.memory_mb, after.memory_mb, "MiB a task"),
        (before.cpu_cores, after.cpu_cores, "cores a task"),
    ):
        if now is not None and was != now:
            found.append(f"{'' if was is None else f'{figure(was)} -> '}{figure(now)} {what}")
    return found
