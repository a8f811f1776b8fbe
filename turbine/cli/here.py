"""Runs a command line in this process, and says how it ended. Every failure is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import typer

from turbine.cli.commands import app
from turbine.cli.failures import Code, Failed, known_failure
from turbine.cli.moments import shown_in
from turbine.cli.options import Chosen
from turbine.cli.output import tell


def run(line: Sequence[str], *, local: bool = False) -> int:
    """The exit code; what is no failure that is known is a bug, and is raised. `local`: times are
    told in this machine's zone."""
    try:
        with shown_in(None) if local else nullcontext():
            return invoke(line)
    except (typer.Abort, KeyboardInterrupt):
        return Code.INTERRUPTED
    except Exception as error:
        failure = known_failure(error)
        if failure is None:
            raise  # a bug of ours: its traceback is what we need to see
        return _failed(failure)


def invoke(line: Sequence[str], chosen: Chosen | None = None) -> int:
    """The same, where other failures than the command's own are for the caller; `chosen` stands in
    for the options ahead of the command."""
    try:
        # Not `app()`, which would put a hook of its own under every exception of the process.
        command = typer.main.get_command(app)
        code = command(list(line), prog_name="turbine", standalone_mode=False, obj=chosen)
        return int(code or Code.OK)
    except typer.TyperException as wrong:
        return _wrong_usage(wrong)
    except Failed as failure:
        return _failed(failure)


def _failed(failure: Failed) -> int:
    tell(f"turbine: {failure}")
    return failure.code


def _wrong_usage(wrong: typer.TyperException) -> int:
    context = getattr(wrong, "ctx", None)
    command = context.command_path if context is not None else "turbine"
    sentence = wrong.format_message().rstrip(".").replace("Value error, ", "")
    tell(f"turbine: {sentence}; see `{command} --help`")
    return Code.USAGE
