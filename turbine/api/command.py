"""`/command`: a line of the command line that reads, run here on what the views hold already.

For the command line of the same build alone: what it prints is what the command would print there,
since it is the same function that prints it. None that writes, follows, starts a program or opens a
file is run: the table of commands names those that only read the log.
"""

from __future__ import annotations

import contextvars
import threading
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turbine.api.desk import AtDesk, Desk
from turbine.api.problems import RequestRefused, invalid
from turbine.cli.here import invoke
from turbine.cli.options import Chosen, NotElsewhere
from turbine.cli.stamp import stamp
from turbine.cli.table import reading
from turbine.cli.terminal import Terminal, writing_to
from turbine.read.moments import set_now
from turbine.read.sources.source import NoInstallation

RUNNING_MAX = 4
"""At once: each may fold a part of the log, and pages are to be answered meanwhile."""
SAID_MAX = 16 * 1024 * 1024
"""Characters; who wants more reads the log."""
ASKED_MAX = 40_000

router = APIRouter(include_in_schema=False)

OURS = stamp()
"""As it was when this process began: the files may change while it runs."""
_running = threading.BoundedSemaphore(RUNNING_MAX)


class CommandRequest(BaseModel):
    """A line, and all of where it was typed that what it prints depends on."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    words: list[str] = Field(min_length=1, max_length=1000)
    bootstrap: str = Field(max_length=4000)
    prefix: str = Field(max_length=4000)
    stamp: str = Field(max_length=100)
    now_ms: int = Field(ge=0, lt=2**53)
    tty: bool
    columns: int = Field(ge=1, le=100_000)
    environment: dict[str, str] = Field(max_length=20)


@dataclass(slots=True)
class CommandOutput:
    """What a command writes on both streams, in its order."""

    parts: list[tuple[str, str]] = field(default_factory=list)
    length: int = 0


@dataclass(frozen=True, slots=True)
class CommandStream:
    """One of them, which says of itself what the asker's is."""

    said: CommandOutput
    name: str
    tty: bool

    def write(self, text: str, /) -> int:
        """Keeps it; a refusal where it becomes too much."""
        self.said.length += len(text)
        if self.said.length > SAID_MAX:
            raise RequestRefused(413, "too-long", f"the answer has more than {SAID_MAX} characters")
        self.said.parts.append((self.name, text))
        return len(text)

    def flush(self) -> None:
        """It is taken as it comes."""

    def isatty(self) -> bool:
        """Whether the asker's is a terminal."""
        return self.tty


@router.get("/command")
def command(desk: AtDesk, asked: Annotated[str, Query(max_length=ASKED_MAX)]) -> Any:
    """The exit code, and what was said."""
    given = _given(asked)
    _check(desk, given)
    if not _running.acquire(blocking=False):
        raise RequestRefused(503, "busy", f"{RUNNING_MAX} lines are being answered already")
    try:
        said = CommandOutput()
        # In a context of its own: nothing of a line is left to the next one of this thread.
        code = contextvars.copy_context().run(_run, desk, given, said)
    finally:
        _running.release()
    return {"code": code, "said": said.parts}


def _given(asked: str) -> CommandRequest:
    try:
        return CommandRequest.model_validate_json(asked)
    except ValidationError:
        raise invalid("this is for the command line of the same build", "query.asked") from None


def _check(desk: Desk, given: CommandRequest) -> None:
    """Refuses what this API cannot answer as it would be answered there."""
    if reading(given.words) is None:
        raise RequestRefused(
            403, "no-reading", "this is no line that only reads the log", "query.asked"
        )
    if given.stamp != OURS:
        raise RequestRefused(
            409, "another-build", "it runs another build; start it again", "query.asked"
        )
    try:
        settings = desk.log.settings
        own, prefix = settings.bootstrap, settings.prefix
    except NoInstallation:
        own, prefix = desk.log.source.name, given.prefix
    if given.bootstrap not in ("", own) or given.prefix not in ("", prefix):
        there = f"{own} with the prefix {prefix}" if given.prefix != prefix else own
        meant = ", ".join(filter(None, (given.bootstrap, given.prefix)))
        sentence = f"it reads the log at {there}, and {meant} is meant"
        raise RequestRefused(409, "another-log", sentence, "query.asked")


def _run(desk: Desk, given: CommandRequest, said: CommandOutput) -> int:
    here = Terminal(
        CommandStream(said, "out", given.tty),
        CommandStream(said, "err", given.tty),
        given.tty,
        given.columns,
        given.environment,
    )
    set_now(given.now_ms)
    with writing_to(here):
        try:
            return invoke(given.words, Chosen(held=desk.freshness.log_now()))
        except NotElsewhere:
            raise RequestRefused(
                403, "no-reading", "the command asks for more than the log"
            ) from None
