"""One job on its way from expected to running, told by hand from the journal and its tasks' words.

A second fold, written apart from the one that the components share: it keeps what the rules of
`syncs` ask about, and nothing is ever dropped from it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobConfigChanged,
    JobDeleted,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    OverrideExpired,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
    TaskFailed,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from events.wire.codec import Read
from simulation.checkers.history import History

ALERT = "job-quarantined"
TRIES = 3


_Life = TaskStarted | TaskStopped | TaskFailed


def _place(config_json: str) -> tuple[str, list[str]]:
    config = json.loads(config_json)
    return config.get("tier", "default"), config.get("allowed_regions", [])


def _for_good(word: _Life) -> bool:
    return isinstance(word, TaskFailed) and word.pause_ms is None


class Lore:
    """What lies beside the journal: words of tasks and requests of operators, key by key."""

    def __init__(self, history: History) -> None:
        partition = history.journal.partition("/")[2]
        self._facts, self._doors = f"tasks.v1/{partition}", f"operator.v1/{partition}"
        self._words: dict[str, list[Read]] = defaultdict(list)
        self._asked: dict[tuple[str, str], Read] = {}
        for read in history.log.get(self._facts, ()):
            if not history.impossible(read):
                self._words[read.record.key].append(read)
        for read in history.log.get(self._doors, ()):
            if not history.impossible(read):
                self._asked.setdefault((read.record.key, read.record.id), read)

    def words(self, decision: Read) -> TaskStory:
        """What the author of the decision had read of the job's tasks."""
        end = decision.record.evidence.get(self._facts, 0)
        said = self._words.get(decision.record.key, ())
        return TaskStory(
            [read.record.body for read in said if read.offset < end and read.record.body]
        )

    def all_words(self, key: str) -> TaskStory:
        """What the job's tasks have said to the end."""
        return TaskStory(
            [read.record.body for read in self._words.get(key, ()) if read.record.body]
        )

    def asked(self, decision: Read, change_id: str) -> Body | None:
        """The request, if the author of the decision had read it."""
        read = self._asked.get((decision.record.key, change_id))
        if read is None or read.offset >= decision.record.evidence.get(self._doors, 0):
            return None
        return read.record.body


@dataclass(frozen=True, slots=True)
class TaskStory:
    """What the tasks of one job have said, in the log's order."""

    said: Sequence[Body]

    def never_stopped(self, listed: TaskSpecsPublished) -> Iterator[int]:
        """Tasks of the list of which no stop was heard since."""
        stopped = {
            one.task
            for one in self.said
            if isinstance(one, TaskStopped) and one.generation.specs >= listed.generation
        }
        yield from (task for task in range(listed.tasks) if task not in stopped)

    def unheard(self, listed: TaskSpecsPublished) -> Iterator[int]:
        """Tasks of the list that nobody has spoken of, and that had stopped before it."""
        for task in range(listed.tasks):
            last = self._last(task)
            spoken = any(one.generation.specs >= listed.generation for one in last)
            if not spoken and (not last or any(isinstance(one, TaskStopped) for one in last)):
                yield task

    def not_stopped(self, listed: TaskSpecsPublished) -> Iterator[int]:
        """Tasks of the list that were not stopped, or that began anew elsewhere after that; and
        tasks of an older list with more of them that still run."""
        for task in range(listed.tasks):
            last = self._last(task)
            if not any(isinstance(one, TaskStopped) for one in last) or any(
                one.generation.specs < listed.generation for one in last
            ):
                yield task
        for task in sorted({one.task for one in self.said if isinstance(one, _Life)}):
            last = self._last(task)
            ended = (isinstance(one, TaskStopped) or _for_good(one) for one in last)
            if task >= listed.tasks and not any(ended):
                yield task

    def broken(self, generation: int) -> Iterator[int]:
        """Tasks that have failed for good at that generation."""
        for one in self.said:
            if isinstance(one, TaskFailed) and _for_good(one):
                yield from [one.task] if one.generation.specs == generation else ()

    def never_started(self, tasks: int, generation: int) -> Iterator[int]:
        """Tasks of which nobody has said that they run at that generation, whatever came since."""
        started = {
            one.task
            for one in self.said
            if isinstance(one, TaskStarted) and one.generation.specs == generation
        }
        yield from (task for task in range(tasks) if task not in started)

    def not_running(self, tasks: int, generation: int) -> Iterator[int]:
        """Tasks that do not run at that generation: not started yet, or ended since."""
        for task in range(tasks):
            last = self._last(task)
            starts = [one.attempt for one in last if isinstance(one, TaskStarted)]
            fails = [one.attempt for one in last if isinstance(one, TaskFailed)]
            stopped = any(isinstance(one, TaskStopped) for one in last)
            other = any(one.generation.specs != generation for one in last)
            if other or stopped or max(starts, default=0) <= max(fails, default=0):
                yield task

    def _last(self, task: int) -> list[_Life]:
        """All that was said of a task under the greatest pair of generations of all."""
        mine = [one for one in self.said if isinstance(one, _Life) and one.task == task]
        top = max(((one.generation.specs, one.generation.shard) for one in mine), default=(0, 0))
        return [one for one in mine if (one.generation.specs, one.generation.shard) == top]


@dataclass(slots=True)
class PlanStory:
    """A plan in progress, and how far its steps have come."""

    body: SyncPlanned
    alive: bool  # the job, when it was planned
    started: int = 0
    done: int = 0

    @property
    def starts(self) -> bool:
        """Whether its tasks were told to start."""
        return any(step.name == "start" for step in self.body.steps[: self.started])


@dataclass(slots=True)
class JobStory:
    """What stands about one job at a point of the journal."""

    alive: bool = False
    versions: LayerVersions = field(default_factory=lambda: LayerVersions(0, 0, 0, 0))
    expected_json: str = "{}"
    running: SyncCommitted | None = None
    plan: PlanStory | None = None
    signature: str = ""  # of the plan that failed last
    failures: int = 0  # of that signature, in a row
    failed: set[str] = field(default_factory=set)  # plans that came to nothing
    quarantine: JobQuarantined | None = None
    # A third failure that is to be a quarantine, or a quarantine that is to be an alert.
    owed: SyncFailed | JobQuarantined | None = None
    answered: set[str] = field(default_factory=set)
    parts: list[TaskSpecsPublished] = field(default_factory=list)  # one after the other
    listed: TaskSpecsPublished | None = None  # the last part of the last whole list
    live: TaskSpecsPublished | None = None  # of the last one with tasks
    tried: bool = False  # that one is of a plan that was not committed
    told_ms: int = 0  # when the last whole list came to stand
    anew: bool = False  # tasks were told to run since the last commit

    @property
    def state(self) -> str:
        """What the job does: running, paused, deleted, or nothing yet."""
        return self.running.state if self.running is not None else ""

    @property
    def moves(self) -> bool:
        """Is what runs to run in another tier, or in other regions?"""
        if self.plan is None or self.running is None or self.state != "running":
            return False
        there, here = self.plan.body.expected_json, self.running.running_json
        starts = any(step.name == "start" for step in self.plan.body.steps)
        return starts and _place(there) != _place(here)

    def counted(self, failed: SyncFailed) -> int:
        """What the failure's number has to be."""
        if failed.cause == "overtaken" or failed.change_id is not None:
            return 0
        return 1 + (self.failures if failed.signature == self.signature else 0)

    def move(self, body: Body | None, at_ms: int = 0) -> None:  # noqa: C901 - a flat column of kinds
        """The story goes on with a decision that stands."""
        if isinstance(body, TaskSpecsPublished):
            self._list(body, at_ms)
        elif not isinstance(body, AlertRaised | AlertCleared):
            self.parts.clear()
        match body:
            case JobConfigChanged() | OverrideExpired():
                base = isinstance(body, JobConfigChanged) and body.layer == "base"
                self.alive = self.alive or base
                self._accept(body.versions, body.expected_json)
            case JobDeleted():
                self.alive = False
                self._accept(body.versions, "{}")
            case SyncPlanned():
                self.plan = PlanStory(body, self.alive)
                self._answer(body.change_id)
            case SyncStepStarted() if self.plan and self.plan.body.plan_id == body.plan_id:
                self.plan.started = body.step + 1
            case SyncStepDone() if self.plan and self.plan.body.plan_id == body.plan_id:
                self.plan.done = body.step + 1
            case SyncCommitted():
                self._commit(body)
            case SyncFailed():
                self._fail(body)
            case JobQuarantined():
                self.quarantine = self.owed = body
            case JobReleased():
                self.quarantine = None
                self.signature, self.failures = "", 0
                self._answer(body.change_id)
            case AlertRaised(alert="job-quarantined"):
                self.owed = None

    def _accept(self, versions: LayerVersions, expected_json: str) -> None:
        self.versions, self.expected_json = versions, expected_json
        self.owed = None  # a quarantine holds for one config; another one deserves a try

    def _answer(self, change_id: str | None) -> None:
        if change_id is not None:
            self.answered.add(change_id)

    def _commit(self, body: SyncCommitted) -> None:
        self.running, self.plan, self.anew = body, None, False
        self.tried = self.tried and body.state == "paused"  # which brings no list into effect
        self.signature, self.failures = "", 0
        if body.state == "deleted":  # who is created under its name inherits nothing
            self.live = None
        self._answer(body.change_id)

    def _fail(self, body: SyncFailed) -> None:
        count = self.counted(body)
        self._answer(body.change_id)
        if body.change_id is not None:
            return
        self.plan = None
        self.failed.add(body.plan_id)
        if count:
            self.signature, self.failures = body.signature, count
            # Where a newer config was accepted meanwhile, there is nothing to leave alone.
            lasts = count >= TRIES and body.versions == self.versions
            self.owed = body if lasts else None

    def _list(self, body: TaskSpecsPublished, at_ms: int) -> None:
        if body.part == 1:
            self.parts.clear()
        self.parts.append(body)
        if body.part == body.parts:
            self.listed, self.told_ms = body, at_ms
            if body.tasks:
                self.live, self.tried, self.anew = body, self.plan is not None, True


def stories(history: History) -> Iterator[tuple[Read, JobStory]]:
    """Each decision that stands, with what its job was before it."""
    jobs: dict[str, JobStory] = defaultdict(JobStory)
    for read in history.standing:
        job = jobs[read.record.key]
        yield read, job
        job.move(read.record.body, read.at_ms)
