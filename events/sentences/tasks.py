"""What tasks, loads and clocks report, in one sentence each. Pure."""

from __future__ import annotations

from typing import assert_never

from events.generated.records import (
    CapacityGranted,
    ClockTicked,
    PreemptionRequested,
    TaskFailed,
    TaskLoadReported,
    TaskStarted,
    TaskStateExported,
    TaskStopped,
    WorkloadProfiled,
)
from events.sentences.words import amounts, brief, counted, figure, instant, joined, span, why

Said = (
    CapacityGranted
    | ClockTicked
    | PreemptionRequested
    | TaskFailed
    | TaskLoadReported
    | TaskStarted
    | TaskStateExported
    | TaskStopped
    | WorkloadProfiled
)


def said(body: Said) -> str:
    """What was seen, or what the tier allows."""
    match body:
        case TaskStarted():
            again = f", attempt {body.attempt}" if body.attempt > 1 else ""
            return f"task {body.task} has started on {brief(body.container)}{again}"
        case TaskStopped():
            return f"task {body.task} has stopped on {brief(body.container)}{why(body.cause)}"
        case TaskFailed():
            return _failed(body)
        case TaskStateExported():
            rows = sum(one.rows for one in body.parts)
            return f"task {body.task} has handed over {counted(rows, 'row')} of state"
        case TaskLoadReported():
            return _loaded(body)
        case WorkloadProfiled():
            slots = counted(len(body.slots), "slot")
            return f"its days from {instant(body.from_ms)} to {instant(body.to_ms)}, in {slots}"
        case CapacityGranted():
            return f"is granted {_room(body)}{why(body.explanation)}"
        case PreemptionRequested():
            most = "" if body.tasks_max is None else f", {counted(body.tasks_max, 'task')} at most"
            return f"is to {brief(body.action) or 'give way'}{most}{why(body.explanation)}"
        case ClockTicked():
            return f"tick {body.number:,}"
        case _:
            assert_never(body)


def _failed(body: TaskFailed) -> str:
    kind = f", {brief(body.error_class, 40)}" if body.error_class else ""
    again = "no more" if body.pause_ms is None else f"again in {span(body.pause_ms)}"
    return (
        f"task {body.task} has failed on {brief(body.container, 40)} ({brief(body.cause, 40)}"
        f"{kind}), started {again}{why(body.explanation)}"
    )


def _loaded(body: TaskLoadReported) -> str:
    parts = [f"task {body.task} reads {figure(body.records_in_per_s)} records/s"]
    if body.lag_records is not None:
        parts.append(f"{figure(body.lag_records)} behind")
    if body.lag_ms is not None:
        parts.append(f"{span(body.lag_ms)} late")
    if body.oom:
        parts.append("out of memory")
    return ", ".join(parts)


def _room(body: CapacityGranted) -> str:
    most = "" if body.tasks_max is None else f"{counted(body.tasks_max, 'task')} at most"
    room = amounts((one.resource, one.amount) for one in body.resources)
    until = "" if body.until_ms is None else f"until {instant(body.until_ms)}"
    return joined([*filter(None, (most, room, until))]) or "what it asks for"
