"""Runs a command line in this process, and says how it ended. Every failure is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from difflib import get_close_matches

import typer
from typer import Context

from turbine.cli.commands import app
from turbine.cli.options import Chosen
from turbine.cli.output import tell
from turbine.cli.words import FLAGS, LOCAL, VALUED, WATCH
from turbine.extras import lacking
from turbine.failures import Code, Failed, code_of
from turbine.installed import add_policies
from turbine.read.moments import shown_in
from turbine_client.errors import BadRequest, TurbineError
from turbine_client.settings import BadSettings


def run(line: Sequence[str], *, local: bool = False) -> int:
    """The exit code; what is no failure that is known is a bug, and is raised. `local`: times are
    told in this machine's zone."""
    for unusable in add_policies():
        tell(f"turbine: {unusable}")
    try:
        with shown_in(None) if local else nullcontext():
            return invoke(line)
    except (typer.Abort, KeyboardInterrupt):
        return Code.INTERRUPTED
    except Exception as error:
        failure = lacking(error) or error
        if not isinstance(failure, TurbineError):
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
    except BadSettings:
        raise  # of this process, not of the line: another process may answer it
    except (BadRequest, Failed) as failure:
        return _failed(failure)


def _meant(option: str, context: Context | None) -> str:
    """The option that somebody may have meant, those of every line with them: a parser of one
    command knows its own alone."""
    own = [] if context is None else [one for found in context.command.params for one in found.opts]
    path = "" if context is None else context.command_path
    every = [*VALUED, *FLAGS, LOCAL, *([WATCH] if path.startswith("turbine get ") else [])]
    names = [one for one in (*own, *every) if one.startswith("--")]
    found = get_close_matches(option, names, 1)
    return f". Did you mean {found[0]}?" if found else ""


def _failed(failure: TurbineError) -> int:
    tell(f"turbine: {failure}")
    return code_of(failure)


def _wrong_usage(wrong: typer.TyperException) -> int:
    context = getattr(wrong, "ctx", None)
    command = context.command_path if context is not None else "turbine"
    if (option := getattr(wrong, "option_name", "")) and hasattr(wrong, "possibilities"):
        wrong.possibilities = None  # of this command alone
        wrong.message += _meant(option, context)
    sentence = wrong.format_message().rstrip(".").replace("Value error, ", "")
    tell(f"turbine: {sentence}; see `{command} --help`")
    return Code.USAGE
