"""Which tasks of a job may still run, and which of them a plan waits for. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from projections.syncs import RUNNING, START, STOP, Sync, SyncPlan


def standing(row: Sync) -> Iterator[int]:
    """Tasks that may still run, as far as is known: of the last list that had any, and of lists
    before it that had more."""
    tasks, generation = (row.live.tasks, row.live.generation) if row.live is not None else (0, 0)
    for at in range(tasks):
        report = row.tasks.get(at)
        if report is None or report.specs < generation or not report.over:
            yield at
    for at, report in sorted(row.tasks.items()):
        if at >= tasks and not report.over and not report.final:
            yield at


def settled(row: Sync) -> bool:
    """Is what tasks are told what was committed? Not after a plan that came to nothing: those who
    were told to stop or to start are to be waited for before anything is said of them."""
    running, live, listed = row.running, row.live, row.listed
    if running is None or running.state != RUNNING:
        told = running.said if running is not None else 0
        return live is None or live.generation <= told
    if listed is None or not listed.tasks or listed.generation != running.generation:
        return False
    return running.said == running.generation or all(
        _runs(row, at, running.generation) for at in range(running.tasks)
    )


def _runs(row: Sync, at: int, generation: int) -> bool:
    report = row.tasks.get(at)
    return not (report is None or report.specs != generation or report.stopped or report.failed)


def never_begun(row: Sync) -> Iterator[int]:
    """Those of them that nobody has begun, as far as anybody has told: of a list that was emptied
    before it was ever in effect. All that ran before it had stopped when it was told; a list that
    only tells to run again is told whoever may still run."""
    live, listed, running = row.live, row.listed, row.running
    if live is None or listed is None or listed.tasks:
        return
    if running is not None and running.state == RUNNING and running.generation == live.generation:
        return
    for at in standing(row):
        report = row.tasks.get(at)
        if report is None or report.specs < live.generation:
            yield at


def missing(row: Sync, plan: SyncPlan) -> Iterator[tuple[int, str]]:
    """Tasks whose reports the step in progress waits for, with what is known of each."""
    if plan.done:
        return
    if plan.step == STOP:
        for at in standing(row):
            yield at, "not stopped"
    elif plan.step == START:
        for at in range(tasks_of(plan.config_json)):
            report = row.tasks.get(at)
            if report is None or report.specs != plan.generation or report.stopped:
                yield at, "not started"
            elif report.failed:
                yield at, report.cause


def tasks_of(config_json: str) -> int:
    """How many tasks a config asks for."""
    return int(json.loads(config_json).get("tasks", 1))
