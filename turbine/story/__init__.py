"""What the demo tells: each step does something to a live fleet, and sees that it came as told."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from projections.jobs import Job
from turbine.read.sources.log import Log
from turbine.story import changes, tasks
from turbine.story.stage import NotAsTold, StoryStage, StoryText, numbered
from turbine_client.publish import Publisher
from turbine_client.settings import Settings

__all__ = ["NotAsTold", "StoryText", "fresh_number", "tell"]


def tell(
    settings: Settings,
    words: StoryText,
    trace: Path | None = None,
) -> None:
    """Plays all of it; NotAsTold where it came otherwise. The day is the trace's last one."""
    log = Log(settings)
    with Publisher(settings, author="ana") as ana, Publisher(settings, author="ben") as ben:
        stage = StoryStage(settings, log, ana, ben, fresh_number(log.jobs()), words)
        tasks.create(stage)
        with ExitStack() as stack:
            stack.enter_context(tasks.day(stage, trace))
            changes.refuse(stage)
            changes.race(stage)
            expiry = changes.override(stage)  # ends while other things are told
            stack.callback(expiry.close)
            tasks.spike(stage)
            changes.expire(stage, expiry)
            tasks.lose_container(stage)
            changes.kill(stage)
            changes.recreate(stage)
            changes.audit(stage)


def fresh_number(jobs: dict[str, Job]) -> int:
    """Of a telling whose jobs' names no job has had."""
    number = 1
    while any(numbered(name, number) in jobs for name in tasks.NAMES):
        number += 1
    return number
