"""`subscribe outcomes` and `subscribe alerts`: what was decided, and where to go on."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from turbine.cli.logs import show
from turbine.cli.options import Streamed, check_jobs, chosen, open_log
from turbine.cli.output import tell
from turbine.failures import Code, Failed, named
from turbine.read.answers.outcomes import with_summary
from turbine.read.moments import Moment, now_ms, parse_moment
from turbine.read.state.instants import position_at
from turbine_client.bookmark import Bookmark
from turbine_client.errors import BadRequest
from turbine_client.positions import format_vector
from turbine_client.subscribe import WORDS, Outcome, Subscriber, check_kinds

OPTIONS = """
--job NAME: Of this job only.
--kind KIND: Repeatable; by default all, as ce_type says.
--from WHERE: latest, earliest, a time, or a position vector.
--resume FILE: Keep the position there; where it is there, go on.
--count: End after so many of them.
--exec COMMAND: Run for each of them, with its JSON on its input."""


def _following(topic: str, about: str) -> Callable[..., int]:
    """The command that follows what is said on the topic."""

    def command(
        context: Context,
        *,
        job: str | None = None,
        kind: list[str] | None = None,
        from_: str = "latest",
        resume: Path | None = None,
        count: Annotated[int | None, Option(min=1)] = None,
        exec_: str | None = None,
        output: Streamed = "table",
    ) -> int:
        wish = _Wish(topic, job, kind, from_, resume)
        return _follow(context, wish, count, exec_, output)

    command.__doc__ = f"{about}\n{OPTIONS}"
    return command


outcomes = _following(
    "outcomes",
    "Follow what is decided about jobs.\n\nEach outcome once, and in each job's order; with"
    " --resume at least once, each with its id.",
)
alerts = _following(
    "alerts",
    "Follow what needs a person, and what does not any more.\n\nEach alert once, and in each"
    " subject's order; with --resume at least once, each with its id.",
)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be followed, and from where."""

    topic: str
    job: str | None
    kinds: list[str] | None
    start: str
    resume: Path | None


@dataclass(slots=True)
class _Progress:
    """Up to where all was dealt with."""

    bookmark: Bookmark | None
    done: dict[str, int]
    kept: dict[str, int] = field(default_factory=dict)

    def keep(self) -> None:
        """Writes it down, where there is a file for it and it has changed."""
        if self.bookmark is not None and self.kept != self.done:
            with named("--resume"):
                self.bookmark.keep(self.done)
            self.kept = dict(self.done)

    def tell(self) -> None:
        """Says how to go on from here."""
        if self.bookmark is None:
            tell(f"go on with --from {format_vector(self.done)}")
        else:
            tell(f"go on with --resume {self.bookmark.path}")


def _follow(
    context: Context, wish: _Wish, count: int | None, execute: str | None, output: str
) -> int:
    check_jobs(wish.job)
    command = None if execute is None else _command(execute)
    subscriber, progress = _begin(context, wish)
    try:
        progress.keep()  # a file that cannot be written is told before anything is done
        _deal(subscriber, progress, count, command, output)
    except KeyboardInterrupt:
        progress.tell()
        raise
    finally:
        subscriber.close()
    return Code.OK


def _begin(context: Context, wish: _Wish) -> tuple[Subscriber, _Progress]:
    topic = WORDS[wish.topic]
    with named("--kind"):
        kinds = check_kinds(topic, wish.kinds) if wish.kinds else None
    bookmark = None if wish.resume is None else Bookmark(wish.resume)
    with named("--resume"):
        kept = None if bookmark is None else bookmark.read()
    moment = _moment(wish.start) if kept is None else kept
    what = "--from" if kept is None else f"--resume {wish.resume}"
    settings = chosen(context).connected()
    start = _start(context, moment, topic, what)
    subscriber = Subscriber(settings, topic=topic, start=start, kinds=kinds, job=wish.job)
    return subscriber, _Progress(bookmark, dict(subscriber.positions), kept or {})


def _deal(
    subscriber: Subscriber,
    progress: _Progress,
    left: int | None,
    command: list[str] | None,
    output: str,
) -> None:
    """Deals with what comes, and keeps the position after each command or each batch."""
    while left is None or left > 0:
        batch = subscriber.poll(0.5)
        for outcome in batch[:left]:
            if command is None:
                show(with_summary(outcome), output)
            else:
                _run(command, outcome, progress)
            progress.done[outcome.place] = outcome.offset + 1
            if command is not None:
                progress.keep()
        if left is None or len(batch) <= left:
            progress.done = dict(subscriber.positions)  # also behind what was not asked for
        left = None if left is None else left - len(batch[:left])
        progress.keep()


def _moment(text: str) -> Moment | str:
    return text if text in ("latest", "earliest") else parse_moment(text, now_ms(), "--from")


def _start(context: Context, moment: Moment | str, topic: str, what: str) -> Moment | str:
    """A position is compared with the log; a time is for the subscriber to find."""
    if not isinstance(moment, dict):
        return moment
    strange = next((place for place in sorted(moment) if place.partition("/")[0] != topic), None)
    if strange is not None and what != "--from":
        raise BadRequest(f"{what}: the file is about {strange} and not about {topic}; name another")
    return position_at(open_log(context), moment, [topic], what)


def _command(text: str) -> list[str]:
    """A command line as arguments. There is no shell: what an outcome says is never a command."""
    try:
        command = shlex.split(text)
    except ValueError as bad:
        raise BadRequest(f"--exec: {bad} in {text!r}; close it") from None
    if not command or shutil.which(command[0]) is None:
        raise BadRequest(
            f"--exec: there is no program {' '.join(command[:1])}; name one that is on the PATH,"
            " or its path"
        )
    return command


def _run(command: list[str], outcome: Outcome, progress: _Progress) -> None:
    line = json.dumps(with_summary(outcome), ensure_ascii=False) + "\n"
    ended = subprocess.run(command, input=line.encode(), check=False)  # noqa: S603 - the user's own command, and no shell
    if ended.returncode != 0:
        progress.tell()
        raise Failed(
            Code.FAILED,
            f"{command[0]} ended with {ended.returncode} for {outcome.kind} {outcome.id} at"
            f" {outcome.place}:{outcome.offset}; it comes again when you go on from before it",
        )
