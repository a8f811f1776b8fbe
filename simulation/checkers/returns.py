"""What a plan that fails leaves: who ran before it runs after it, and goes on with what it keeps.

So does who is created again after a deletion. Whoever asks for what tasks could not take along is
told so, where the log had shown it by then. Told from the log alone. Where the state itself lies is
the engine's, and tested on Spark.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from events.generated.records import (
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    SyncCommitted,
    SyncPlanned,
    SyncStepStarted,
    TaskStarted,
)
from events.wire.codec import Read
from simulation.checkers.history import History
from simulation.checkers.sync_story import JobStory, Lore, stories

RUNNING = "running"


@dataclass(slots=True)
class Anew:
    """How a job is read anew, as far as the journal has it, and what it ran last."""

    wish: str = ""  # the last one
    reset: str = ""  # the one in effect
    emptied: int = 0  # who ran up to that generation left nothing for whom comes next
    ran: SyncCommitted | None = None  # the last one that told of tasks; a deletion takes none back

    @property
    def wished(self) -> bool:
        """Is it to be read anew, and is not yet?"""
        return self.wish not in ("", self.reset)

    def move(self, body: Body | None) -> None:
        """After a decision that stands."""
        match body:
            case SyncPlanned():
                self.wish = body.reset_json
            case SyncCommitted(state="deleted", reset_json=wish):
                self.wish = wish
            case SyncCommitted(state=state, reset_json=wish):
                if state == RUNNING:
                    self.ran = body
                elif wish not in ("", self.reset):
                    self.emptied = body.generation
                self.wish = self.reset = wish
            case JobDeleted():
                self.wish = ""


def check_returns(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    lore = Lore(history)
    jobs: dict[str, JobStory] = {}
    anew: dict[str, Anew] = defaultdict(Anew)
    for read, job in stories(history):
        key, body = read.record.key, read.record.body
        jobs[key] = job
        if body is not None:
            for said in _goes_on(job, read, body, anew[key], lore):
                yield f"{key}: {read.record.kind} at {read.offset} {said}"
            for said in _verdict(job, read, body, anew[key], lore):
                yield f"{key}: {read.record.kind} at {read.offset} {said}"
        anew[key].move(body)
    for key, job in sorted(jobs.items()):
        for said in _left(key, job, lore):
            yield f"{key}: {said}, and the history ends"


def _left(key: str, job: JobStory, lore: Lore) -> Iterator[str]:
    """Whatever failed last, or whoever left the job alone: its tasks run, and all of them."""
    running = job.running
    if job.plan is not None or running is None or running.state != RUNNING:
        return
    if not job.failed or not job.alive:
        return
    if job.listed is None or job.listed.tasks != running.tasks:
        tasks = job.listed.tasks if job.listed is not None else 0
        yield f"{tasks} tasks are listed, and {running.tasks} ran before the plan that failed"
        return
    words = lore.all_words(key)
    broken = set(words.broken(job.listed.generation))  # for good, and not for want of a list
    lost = list(words.not_running(running.tasks, job.listed.generation))
    if not broken.issuperset(lost):
        yield f"tasks {lost} ran before the plan that failed, and do not run"


def _goes_on(job: JobStory, read: Read, body: Body, anew: Anew, lore: Lore) -> Iterator[str]:
    """What tasks keep is another program's neither in a plan's steps nor in what is copied."""
    ran, plan = anew.ran, job.plan
    if isinstance(body, SyncStepStarted) and plan is not None:
        after, wish = plan.body.expected_json, plan.body.reset_json
    elif isinstance(body, SyncCommitted) and body.kind == "simple":
        after, wish = body.running_json, body.reset_json
    else:
        return
    gone = after == "{}"
    if gone or ran is None or wish not in ("", anew.reset):
        return
    if _program(after) != _program(ran.running_json) and _keeps(lore, read, anew):
        yield f"brings it to {_program(after)}, and its tasks keep what another program has made"


def _verdict(job: JobStory, read: Read, body: Body, anew: Anew, lore: Lore) -> Iterator[str]:
    """Another program is refused to who asks for it, and to no one else; whoever finds it there
    already is not to blame."""
    ran = anew.ran
    if isinstance(body, JobConfigRejected) and body.reason == "state-stays":
        if ran is None or anew.wished:
            yield "keeps a job to what it does not run"
        elif not _keeps(lore, read, anew):
            yield "keeps a job to its program, and its tasks keep nothing"
        return
    if not isinstance(body, JobConfigChanged) or ran is None or anew.wished:
        return
    runs = _program(ran.running_json)
    asked, before = _program(body.expected_json), _program(job.expected_json)
    if asked not in (runs, before) and _keeps(lore, read, anew):
        yield f"accepts {asked}, and its tasks keep what {runs} has made"


def _keeps(lore: Lore, read: Read, anew: Anew) -> bool:
    """Had its author read that tasks of what ran last keep state?"""
    generation = max(anew.ran.generation if anew.ran is not None else 0, anew.emptied + 1)
    said = [one for one in lore.words(read).said if isinstance(one, TaskStarted)]
    newest = max((one.generation.specs for one in said if one.keeps_state is not None), default=0)
    return newest >= generation and any(
        one.keeps_state for one in said if one.generation.specs == newest
    )


def _program(config_json: str) -> Any:
    config = json.loads(config_json)
    return config.get("operator"), config.get("checkpoint")
