"""Where the story is played, how it is told, and what a step waits for and sees."""

from __future__ import annotations

import json
import time  # noqa: TID251 - the demo waits for real processes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from projections.jobs import Job
from turbine.ops.fleet import running
from turbine.read.sources.log import Log
from turbine_client.publish import Accepted, Publisher, Rejected, Verdict
from turbine_client.settings import Settings

WAIT_S = 60.0
"""A worker that was killed is back within ten seconds; a laptop that swaps may need longer."""


class NotAsTold(Exception):
    """A step came otherwise than the story has it; the sentence says what was seen."""


@dataclass(frozen=True, slots=True)
class StoryText:
    """Where the story is told, how its listeners call the command line, and where the pages are."""

    say: Callable[[str], None]
    program: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class StoryStage:
    """Where the story is played."""

    settings: Settings
    log: Log
    ana: Publisher
    ben: Publisher
    number: int  # of the telling: the first has plain names, later ones a number behind them
    words: StoryText

    def name(self, plain: str) -> str:
        """A job's or topic's name in this telling."""
        return numbered(plain, self.number)

    def say(self, text: str) -> None:
        """A line of the story."""
        self.words.say(text)

    def show(self, arguments: str, page: str = "") -> None:
        """The command that shows what was said, and the page."""
        self.words.say(f"    $ {self.words.program} {arguments}")
        if page and self.words.address:
            self.words.say(f"      {self.words.address}/#/{page}")


def numbered(name: str, number: int) -> str:
    """A name in the n-th telling."""
    return name if number == 1 else f"{name}-{number}"


# --- what a step sees


def accepted(verdict: Verdict, what: str) -> Accepted:
    """The verdict, which has to be that the change stands."""
    if not isinstance(verdict, Accepted):
        raise NotAsTold(f"{what}: {verdict.explanation}")
    return verdict


def rejected(verdict: Verdict, reason: str, what: str) -> Rejected:
    """The verdict, which has to be a refusal for that reason."""
    if not isinstance(verdict, Rejected) or verdict.reason != reason:
        raise NotAsTold(f"{what} should be rejected as {reason}, and is {verdict}")
    return verdict


def current(stage: StoryStage, job: str) -> Job:
    """The job as the journal has it."""
    found = stage.log.job(job)
    if found is None:
        raise NotAsTold(f"the journal knows no {job}")
    return found


def tasks(stage: StoryStage, job: str) -> int:
    """How many tasks are expected of it."""
    return int(json.loads(current(stage, job).expected_json)["tasks"])


def pid_of(directory: Path, label: str) -> int:
    """The process id of a member of the fleet."""
    for member in running(directory):
        if member["name"] == label and member["pid"]:
            return member["pid"]
    raise NotAsTold(f"{label} does not run; see {directory / 'logs'}")


def other_pid(directory: Path, label: str, former: int) -> int:
    """The process id of its next life; 0 while there is none."""
    pids = [member["pid"] for member in running(directory) if member["name"] == label]
    return next((pid for pid in pids if pid and pid != former), 0)


def until(look: Callable[[], Any], what: str, wait_s: float = WAIT_S) -> Any:
    """What the look gives as soon as it gives something."""
    limit_s, pause_s = time.monotonic() + wait_s, 0.05
    while time.monotonic() < limit_s:
        found = look()
        if found:
            return found
        time.sleep(pause_s)
        # A look may read a whole partition: who waits for long need not look as often.
        pause_s = min(1.0, 1.2 * pause_s)
    raise NotAsTold(f"{wait_s:g} s passed, and not yet: {what}")
