"""Where a job's tasks are and what they said of themselves, for a person on call. Pure."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

from events.generated.records import TaskFailed, TaskStarted, TaskStopped
from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.shards import mask_of, shard_of
from projections.syncs import START, Sync
from turbine.read.answers.tasks import states_of
from turbine.read.answers.tiers import shard as shard_of_tier
from turbine.read.plain import plain
from turbine.read.state.headline import lives_of
from turbine.read.state.running import Sightings

Row = dict[str, Any]

WORDS_KEPT = 20
"""Of each task: starts, stops and failures."""


class TaskWords:
    """The last words of each task of one job, and how it failed last. Given to `Log.syncs` as
    `observer`."""

    def __init__(self, task: int | None) -> None:
        self._task = task
        self._kept: dict[int, deque[Row]] = {}
        self._failures: dict[int, Row] = {}

    def __call__(self, read: Read, stands: bool) -> None:
        del stands  # facts have no parent: they are never void
        row = word_of(read, self._task)
        if row is not None:
            self._kept.setdefault(row["task"], deque(maxlen=WORDS_KEPT)).append(row)
            if row["kind"] == "TaskFailed":
                self._failures[row["task"]] = row

    @property
    def tasks(self) -> set[int]:
        """The tasks that ever said a word."""
        return set(self._kept)

    def of(self, task: int) -> list[Row]:
        """What a task said, the newest last."""
        return list(self._kept.get(task, ()))

    def failure(self, task: int) -> Row | None:
        """Its last one, however long ago."""
        return self._failures.get(task)


def word_of(read: Read, task: int | None) -> Row | None:
    """A start, a stop or a failure as JSON; None: it is none of that task's."""
    body = read.record.body
    if not isinstance(body, TaskStarted | TaskStopped | TaskFailed) or task not in (
        None,
        body.task,
    ):
        return None
    row: Row = {
        "kind": read.record.kind,
        "at_ms": read.at_ms,
        "job": read.record.key,
        "task": body.task,
        "name": f"{read.record.key}/{body.task}",
        "container": body.container,
        "generation": body.generation.specs,
        "shard_generation": body.generation.shard,
    }
    if not isinstance(body, TaskStopped):
        row["attempt"] = body.attempt
    if not isinstance(body, TaskStarted):
        row["cause"] = body.cause
    if isinstance(body, TaskFailed):
        row["error_class"] = body.error_class
        row["explanation"] = body.explanation
        row["traceback"] = body.traceback
        row["retry_ms"] = None if body.pause_ms is None else read.at_ms + body.pause_ms
    return row


def tasks_now(
    sync: Sync, sightings: Sightings, fleet: TierFleet | None, words: TaskWords, task: int | None
) -> Iterator[Row]:
    """Where each task is: of all that should run or do, or of the one that is asked for, even if it
    should run no more."""
    lives = lives_of(() if fleet is None else (fleet,))
    known = {one.task: plain(one) for one in states_of(sync, sightings, lives)}
    wanted = {task} if task is not None else set(known)
    for at in sorted(wanted & (set(known) | words.tasks)):
        row = known.get(at) or former(words.of(at)[-1])
        yield {
            "kind": "task",
            **row,
            **_shard(sync, fleet, row["name"]),
            "last_error": words.failure(at),
        }


def former(last: Row) -> Row:
    """A task that the job has no more, by its last word."""
    return {
        "job": last["job"],
        "task": last["task"],
        "name": last["name"],
        "state": "gone",
        "generation": last["generation"],
        "shard_generation": last["shard_generation"],
        "attempt": last.get("attempt"),
        "container": last["container"],
        "since_ms": last["at_ms"],
        "cause": last.get("cause", ""),
        "explanation": last.get("explanation", ""),
    }


def _shard(sync: Sync, fleet: TierFleet | None, name: str) -> Row:
    """The task's shard and who holds it; unknown is None."""
    tier, allowed = tier_of(sync)
    mask = 0 if fleet is None else mask_of(fleet.regions, allowed)
    if fleet is None or not mask or not fleet.each:
        return {"tier": tier, "shard": None, "shard_stage": None, "shard_container": None}
    shard = shard_of_tier(fleet, shard_of(name, mask, fleet.each))
    return {
        "tier": tier,
        "shard": shard.shard,
        "shard_stage": shard.stage,
        "shard_container": shard.container,
    }


def tier_of(sync: Sync) -> tuple[str, tuple[str, ...]]:
    """The tier whose containers are told to run the job, and the regions in which they may."""
    text = sync.expected_json if sync.running is None else sync.running.config_json
    if sync.plan is not None and sync.plan.step == START:
        text = sync.plan.config_json
    return place_of(text)


def place_of(config_json: str) -> tuple[str, tuple[str, ...]]:
    """The tier and the regions that a config names."""
    config = json.loads(config_json or "{}")
    return config.get("tier", "default"), tuple(config.get("allowed_regions", ()))
