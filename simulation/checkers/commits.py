"""I11: a commit tells what runs: the list that stands, whose tasks have all said that they run.

Or that nothing does: then no task that was told to run since the last commit runs still. Told from
the log alone: the journal in its order, and what the author of each commit had read of the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.generated.records import SyncCommitted
from events.wire.codec import Read
from simulation.checkers.history import History
from simulation.checkers.sync_story import JobStory, Lore, stories
from simulation.checkers.syncs import never_begun

RUNNING = "running"


def check_commits(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    lore = Lore(history)
    for read, job in stories(history):
        body = read.record.body
        if isinstance(body, SyncCommitted):
            look = _runs if body.state == RUNNING else _rests
            for said in look(job, read, body, lore):
                yield f"{read.record.key}: SyncCommitted at {read.offset} {said}"


def _runs(job: JobStory, read: Read, body: SyncCommitted, lore: Lore) -> Iterator[str]:
    listed = job.listed
    if listed is None or not listed.tasks:
        yield f"says that generation {body.generation} runs, and no task is listed"
    elif listed.generation != body.generation:
        yield f"says that generation {body.generation} runs, and {listed.generation} is listed"
    elif silent := list(lore.words(read).never_started(body.tasks, body.generation)):
        yield f"says that generation {body.generation} runs, and tasks {silent} never said so"


def _rests(job: JobStory, read: Read, body: SyncCommitted, lore: Lore) -> Iterator[str]:
    """What an earlier commit has told of is not told again."""
    live = job.live
    if live is None or not (job.anew or job.state == RUNNING):
        return
    words = lore.words(read)
    if tasks := sorted({*words.not_stopped(live)} - never_begun(job, read, words)):
        yield f"says that the job is {body.state}, and tasks {tasks} have not stopped"
