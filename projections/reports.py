"""What the tasks of a job say of themselves: of each task the newest word, folded as a fact. Pure.

A newer generation erases what an older one said, repetition changes nothing, and the order in which
words are read does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

from immutables import Map

from events.generated.records import TaskFailed, TaskStarted, TaskStopped
from events.job_config.config import TASKS_MAX


class Report(NamedTuple):
    """The newest word about one task. The greatest one counts, whichever is read first."""

    specs: int
    shard: int
    stopped: bool  # final under this pair of generations
    attempt: int
    failed: bool
    final: bool  # failed, and will not be started again
    pressing: bool  # failed in a way that does not pass by itself, or again and again
    cause: str
    explanation: str
    minus_at_ms: int  # when it was said; of the same words the first is the greatest

    @property
    def at_ms(self) -> int:
        """The instant at which the report was said."""
        return -self.minus_at_ms

    @property
    def over(self) -> bool:
        """Whether the task stands still for good: one that was dropped has another owner, which
        may start it any moment."""
        return self.stopped and self.cause != "dropped"


GONE = frozenset({"input-gone", "output-gone"})
"""Causes that are told at once, though the task is tried again: nothing but a person ends them."""
LONG_PAUSE_MS = 30_000
"""Before the next try: by then a task has failed six times in a row."""


def report_of(body: TaskStarted | TaskStopped | TaskFailed, at_ms: int) -> Report:
    """What counts of the record."""
    return Report(
        specs=body.generation.specs,
        shard=body.generation.shard,
        stopped=isinstance(body, TaskStopped),
        attempt=0 if isinstance(body, TaskStopped) else body.attempt,
        failed=isinstance(body, TaskFailed),
        final=isinstance(body, TaskFailed) and body.pause_ms is None,
        pressing=isinstance(body, TaskFailed) and _presses(body),
        cause="" if isinstance(body, TaskStarted) else body.cause,
        explanation=body.explanation if isinstance(body, TaskFailed) else "",
        minus_at_ms=-at_ms,
    )


def _presses(body: TaskFailed) -> bool:
    return body.pause_ms is None or body.pause_ms >= LONG_PAUSE_MS or body.cause in GONE


def newest(known: Map[int, Report], task: int, word: Report, floor: int) -> Map[int, Report]:
    """The greatest word about each task, unless it is of a generation below the floor.

    No task of ours has an index of so many or more: a report that names one is not about ours.
    """
    if word.specs < floor or not 0 <= task < TASKS_MAX:
        return known
    before = known.get(task)
    return known if before is not None and before >= word else known.set(task, word)


def from_floor(known: Map[int, Report], floor: int) -> Map[int, Report]:
    """What is not older than the floor."""
    kept = known.mutate()
    for task, word in known.items():
        if word.specs < floor:
            del kept[task]
    return kept.finish()
