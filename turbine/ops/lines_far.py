"""What tasks printed in containers of other machines: asks their doors, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from events.generated.records import ContainerStarted
from events.topics import CONTAINERS
from projections.fleet import TierFleet
from tasks.task_log import PrintedLine
from turbine.ops.lines_asked import TailQuery, TailUnanswered, ask
from turbine.ops.task_lines import AttributedLine
from turbine.read.answers.tiers import since_of
from turbine.read.sources.log import Log

NEAR_MS = 60_000
"""A container's start is looked for so far from the instant that its life has by the ticks."""
TAIL_AGAIN = 200
"""Of a task that is followed: as many as one prints between two looks."""


def started_of(log: Log, fleet: TierFleet, container: str) -> ContainerStarted | None:
    """What its newest life said of itself; None: it did not, or that is no longer in the log."""
    life, kinds = fleet.lives.get(container), frozenset({"ContainerStarted"})
    since_ms = None if life is None else since_of(fleet, life)
    spans = [] if since_ms is None else [(since_ms - NEAR_MS, since_ms + NEAR_MS)]
    # By the ticks that is nearly its instant, unless the clock stood still; then all is read.
    for reads in (log.spoken(spans, kinds), log.read([CONTAINERS], kinds=kinds, key=container)):
        bodies = [one.record.body for one in reads if one.record.key == container]
        found = [one for one in bodies if isinstance(one, ContainerStarted)]
        if found:
            return max(reversed(found), key=lambda one: one.epoch)
    return None


class Far:
    """The lines of a job's tasks, each of one container; each call gives those that are new."""

    def __init__(self, job: str, tasks: Mapping[int, ContainerStarted]) -> None:
        self._job = job
        self._tasks = {task: one for task, one in tasks.items() if one.logs_url}
        self._last: dict[int, list[PrintedLine]] = {}
        self.silent: dict[str, str] = {}  # containers that do not answer, and why
        self.answered: set[int] = set()  # tasks of which a container has told
        self.heard: set[int] = set()  # of these, who has said anything

    def read(self, last: int = TAIL_AGAIN) -> list[AttributedLine]:
        """What is new, by instant. Who does not answer once is not asked again in this call."""
        self.silent.clear()
        found = [
            AttributedLine(line, started.container, self._job, task)
            for task, started in sorted(self._tasks.items())
            if last and started.container not in self.silent
            for line in self._new(task, started, last)
        ]
        return sorted(found, key=lambda said: said.line.at_ms)

    def _new(self, task: int, started: ContainerStarted, last: int) -> Iterator[PrintedLine]:
        try:
            lines = ask(None, started.container, started, TailQuery(self._job, task, last)).lines
        except TailUnanswered as sentence:
            self.silent[started.container] = str(sentence)
            return
        self.answered.add(task)
        known = self._last.get(task, [])
        since_ms = known[-1].at_ms if known else -1
        seen = Counter(line for line in known if line.at_ms == since_ms)
        for line in lines:
            if seen[line]:  # several lines have one instant
                seen[line] -= 1
            elif line.at_ms >= since_ms:
                yield line
        if lines:
            self._last[task] = list(lines)
            self.heard.add(task)
