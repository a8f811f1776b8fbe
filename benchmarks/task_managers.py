"""Task managers that do nothing but say so: they start and stop tasks as the standing lists tell.

Argument: bootstrap address. As a program of its own it follows the journal until it is ended, and
reports each task at once. No task runs: what is measured is the way there and back.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

from benchmarks.writer import Writer
from components.runtime.core.step import Stepper
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_of
from components.runtime.kafka.intake import DeadLetter, take_in
from components.runtime.process.garbage import collect_seldom
from components.state_syncer.decide import component as state_syncer
from events.generated.records import (
    Body,
    Generation,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from events.topics import BY_SHORT, JOURNAL, TASKS, partition_of, place
from events.wire.codec import Read, Record, encode, headers_of
from turbine_client.reading import Follower, ends_now
from turbine_client.settings import Settings

SHARD, POLL_MOST = 1, 2_000
journal_view = replace(state_syncer, inputs=frozenset({JOURNAL}), folds=frozenset())


class TaskManager:
    """All tasks of all jobs; which list each job runs."""

    def __init__(self) -> None:
        self.running: dict[str, tuple[int, int]] = {}  # job to generation and tasks
        self.words: list[Body] = []

    def observe(self, read: Read, stands: bool) -> None:
        """Told of each decision in order."""
        body = read.record.body
        if not stands:
            return
        if isinstance(body, TaskSpecsPublished) and body.part == body.parts:
            self.words += self._follow(body)

    def _follow(self, listed: TaskSpecsPublished) -> Iterator[Body]:
        job, now = listed.job, (listed.generation, listed.tasks)
        before = self.running.pop(job, None)
        if before is not None and before[0] != listed.generation:
            both = Generation(before[0], SHARD)
            for task in range(before[1]):
                yield TaskStopped(job, task, both, "c1", 1, "plan")
            before = None
        if listed.tasks:
            self.running[job] = now
            if before is None:
                both = Generation(listed.generation, SHARD)
                for task in range(listed.tasks):
                    yield TaskStarted(job, task, both, "c1", 1, versions=listed.versions)


def follow(settings: Settings, stop: list[bool]) -> None:
    """Until it is told to stop."""
    count = partitions_of(settings)[JOURNAL]
    places = [place(JOURNAL, p) for p in range(count)]
    managers, append_times = TaskManager(), AppendTimes(settings)
    folds = frozenset({"TaskSpecsPublished"})
    owners = [
        Stepper(journal_view, [at], append_times.possible, observer=managers.observe)
        for at in places
    ]
    # From the beginning: whoever comes late has the full lists from the topic alone.
    follower = Follower(settings, dict.fromkeys(ends_now(settings, places), 0))
    writer = Writer(settings)
    while not stop:
        for message in follower.poll(0.1, POLL_MOST):
            owners[message.partition].now_ms = message.at_ms
            found = take_in(message, count, folds)
            if not isinstance(found, DeadLetter):
                owners[message.partition].read(found)
        for owner in owners:
            owner.settle()
        _say(writer, managers.words, count)
    follower.close()
    append_times.close()


def _say(writer: Writer, words: list[Body], partitions: int) -> None:
    for partition, record in _records(words, partitions):
        writer.write(
            BY_SHORT[TASKS].name,
            partition,
            record.key,
            record.value,
            headers=headers_of(record, TASKS),
        )
    if words:
        writer.settle()
        words.clear()


def _records(words: Iterable[Body], partitions: int) -> Iterator[tuple[int, Record]]:
    for body in words:
        job = getattr(body, "job")  # noqa: B009 - all of them have one, and their class does not
        yield (
            partition_of(job, partitions),
            Record(job, "", type(body).__name__, encode(body), body, source="task-managers"),
        )


def main(bootstrap: str) -> None:
    stop: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    collect_seldom()
    follow(Settings(bootstrap=bootstrap), stop)


if __name__ == "__main__":
    main(sys.argv[1])
