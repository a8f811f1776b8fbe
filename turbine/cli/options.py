"""What many commands take: the settings, the form of the output, a moment, a job's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Context, Option

from turbine.failures import Code, Failed
from turbine_client.errors import BadRequest

if TYPE_CHECKING:
    from components.runtime.process.local import Flags
    from turbine.read.sources.log_file import LogFile
    from turbine.read.state.framed import FramedLog
    from turbine_client.settings import Settings

PATIENCE_S = (0.1, 600.0)


def patience(text: str | float) -> float:
    """Seconds of a span such as 30s; a plain number is of seconds."""
    from turbine.read.moments import BadMoment, parse_span

    least_s, most_s = PATIENCE_S
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parse_span(str(text)) / 1000
        except BadMoment as bad:
            raise typer.BadParameter(str(bad)) from None
    if not least_s <= seconds <= most_s:
        raise typer.BadParameter(f"{text} is not from {least_s:g}s to {most_s:g}s")
    return seconds


Form = Literal["table", "wide", "json", "jsonl", "yaml", "name"]

Listed = Annotated[
    Form, Option("-o", "--output", help="Form of the output; name is one name a line.")
]
Shown = Annotated[
    Literal["table", "json", "yaml"], Option("-o", "--output", help="Form of the output.")
]
Streamed = Annotated[
    Literal["table", "wide", "jsonl"],
    Option("-o", "--output", help="Form of the output; jsonl is one JSON object a line."),
]
At = Annotated[
    str | None,
    Option(
        "--at",
        metavar="TIME|POSITION",
        help="As it was then: an RFC 3339 time, a span such as '10m ago', or a position vector.",
    ),
]
Author = Annotated[
    str | None, Option("--author", help="Who asks; by default the user of this machine.")
]
Reason = Annotated[str, Option("--reason", help="Why; an oncall change needs one.")]
Expected = Annotated[
    int | None,
    Option("--expected-version", min=0, metavar="N", help="Only if this is the layer's version."),
]
Expires = Annotated[
    str | None,
    Option("--expires", metavar="SPAN", help="Taken back after it, such as 2h (oncall)."),
]
Wait = Annotated[
    float,
    Option(
        "--timeout", metavar="SPAN", parser=patience, help="Patience for the verdict, such as 30s."
    ),
]
DryRun = Annotated[bool, Option("--dry-run", help="Only say what would be said; nothing is sent.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask.")]
Name = Annotated[str, Argument(metavar="NAME")]
Names = Annotated[list[str] | None, Argument(metavar="NAME")]
JobName = Annotated[str, Argument(metavar="JOB")]
JobNames = Annotated[list[str] | None, Argument(metavar="JOB")]
LayerName = Literal["base", "provisioner", "scaler", "oncall"]
Layer = Annotated[LayerName, Option("--layer", help="Whose wish it is; the higher layer wins.")]

Tier = Annotated[str, Option("--tier", metavar="NAME", help="Whose containers and shards.")]


class NotElsewhere(Exception):
    """The command asks for more than the log: it has to be run where it was typed."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The global options as they were chosen."""

    bootstrap: str | None = None
    config: Path | None = None
    fleet: Path | None = None
    log: LogFile | None = None
    held: FramedLog | None = None  # where an API answers in a command's stead: what its views hold

    def flags(self) -> Flags:
        """For the programs that a command starts."""
        from components.runtime.process.local import Flags

        return Flags(self.bootstrap, self.config, self.fleet)

    def settings(self) -> Settings:
        """The settings in force; BadSettings names the one that cannot be used."""
        from turbine_client.settings import load_settings

        if self.held is not None:
            raise NotElsewhere
        return load_settings(
            {"bootstrap": self.bootstrap, "directory": self.fleet}, path=self.config
        )

    @property
    def prefix(self) -> str:
        """What names of the installation's topics begin with."""
        return self.settings().prefix if self.held is None else self.held.prefix

    def connected(self) -> Settings:
        """The same, where something listens at the bootstrap."""
        from turbine_client.clients import knock

        settings = self.log.settings if self.log is not None else self.settings()
        _check_fleet(settings)
        silent = knock(settings)
        if silent:
            raise Failed(
                Code.FAILED,
                f"no broker answers at {settings.bootstrap} ({silent}); start one with"
                " `turbine broker start`, or set TURBINE_BOOTSTRAP",
            )
        return settings


def _check_fleet(settings: Settings) -> None:
    """Who names a fleet that is not there does not mean the one that has the usual port."""
    named, there = "directory" in settings.origins, "bootstrap" in settings.origins
    if named and not there and not settings.directory.is_dir():
        raise Failed(
            Code.NOT_FOUND,
            f"there is no fleet in {settings.directory}, which is no directory; correct"
            f" {_said(settings.origins['directory'])}, or start one with `turbine up`",
        )


def _said(origin: str) -> str:
    return "--fleet" if origin == "flag" else origin


def choose(given: Chosen, log: Path | None) -> Chosen:
    """What a line says ahead of its command. In a file, "now" is its end."""
    from turbine.read.moments import set_now

    if log is None:
        set_now(None)
        return given
    from turbine.read.sources.log_file import LogFile

    found = LogFile(log)
    set_now(found.now_ms)
    return replace(given, log=found)


def chosen(context: Context) -> Chosen:
    """The global options of this run."""
    assert isinstance(context.obj, Chosen)
    return context.obj


def open_log(context: Context) -> FramedLog:
    """The log that the settings name, or the file."""
    from turbine.read.state.framed import FramedLog

    found = chosen(context)
    if found.held is not None:
        return found.held
    return FramedLog(found.connected() if found.log is None else None, source=found.log)


def check_job(name: str) -> str:
    """The name, if a job may have it."""
    from events.job_config.strict_json import shorten
    from turbine_client.identity import is_job_id

    if not is_job_id(name):
        raise BadRequest(
            f"{shorten(name)} is no job's name; use up to 128 of a-z, 0-9, '.', '_', '-',"
            " beginning and ending with a letter or digit"
        )
    return name


def check_jobs(*names: str | None) -> None:
    """Refuses what no job can be called; None names no job."""
    for name in names:
        if name is not None:
            check_job(name)


def check_change_id(context: Context, change_id: str) -> str:
    """The id of a change, where its beginning says which; refuses what cannot be one."""
    from events.job_config.strict_json import shorten
    from turbine_client.identity import valid_until_ms

    if valid_until_ms(change_id):
        return change_id
    from turbine.read.answers.ids import full_id, may_begin

    found = full_id(open_log(context), change_id) if may_begin(change_id) else change_id
    if not valid_until_ms(found):
        raise BadRequest(
            f"--change-id {shorten(change_id)} is no change's id, which is the instant until which"
            " it is valid, a dot and a token; take it from the command that sent the change"
        )
    return found


def check_meant(question: str, yes: bool) -> None:
    """Asks a person at a terminal whether it is meant; anybody else has to have said so."""
    import sys

    if yes:
        return
    if not sys.stdin.isatty():
        raise BadRequest(f"this would {question}; add --yes if that is meant")
    if not typer.confirm(f"{question[0].upper()}{question[1:]}?", err=True):
        raise Failed(Code.FAILED, "nothing was done, as you did not say yes")


def author_or_user(author: str | None) -> str:
    """The author that was named, or else the user of this machine."""
    import getpass

    if author is not None:
        return author
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise BadRequest(
            "this machine has no name for its user; say who asks with --author"
        ) from None
