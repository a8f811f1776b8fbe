"""`turbine`: the commands, and how each of them ends. Loads what a command needs when it runs.

`main` is the entry of the console script and of `python -m turbine`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext

import typer

from turbine.cli.again import LOCAL, WATCH, check_watched, taken, watch
from turbine.cli.commands import app
from turbine.cli.failures import Code, Failed, known_failure
from turbine.cli.moments import shown_in

GLOBAL = ("--bootstrap", "--config", "--fleet", "--log")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code. Every failure is one sentence on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    line, asked = taken(given)
    with shown_in(None) if LOCAL in asked else nullcontext():
        return _watched(line) if WATCH in asked else _run(line)


def _watched(given: Sequence[str]) -> int:
    try:
        words = asked_at(hoist(given))
        check_watched(words[_command_at(words) :])
    except Failed as failure:
        return _told(failure)
    return watch(lambda: _run(given))


def _run(given: Sequence[str]) -> int:
    try:
        # Not `app()`, which would put a hook of its own under every exception of the process.
        command = typer.main.get_command(app)
        code = command(asked_at(hoist(given)), prog_name="turbine", standalone_mode=False)
        return int(code or Code.OK)
    except typer.TyperException as wrong:
        return _wrong_usage(wrong)
    except (typer.Abort, KeyboardInterrupt):
        return Code.INTERRUPTED
    except Exception as error:
        failure = known_failure(error)
        if failure is None:
            raise  # a bug of ours: its traceback is what we need to see
        return _told(failure)


def _told(failure: Failed) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"turbine: {failure}\n")
    return failure.code


def hoist(arguments: Sequence[str]) -> list[str]:
    """Global options may stand anywhere; the parser wants them before the command."""
    ahead: list[str] = []
    rest: list[str] = []
    given = iter(arguments)
    for one in given:
        if one == "--":
            rest += [one, *given]
        elif one in GLOBAL:
            ahead += [one, *([value] if (value := next(given, None)) is not None else [])]
        elif one.startswith(tuple(f"{name}=" for name in GLOBAL)):
            ahead.append(one)
        else:
            rest.append(one)
    return ahead + rest


def asked_at(arguments: Sequence[str]) -> list[str]:
    """`turbine at WHEN get jobs` is `turbine get jobs --at WHEN`."""
    words = list(arguments)
    first = _command_at(words)
    if words[first : first + 1] != ["at"] or len(words) < first + 3:
        return words
    when, rest = words[first + 1], words[first + 2 :]
    if when.startswith("-"):
        return words
    cut = rest.index("--") if "--" in rest else len(rest)
    return [*words[:first], *rest[:cut], "--at", when, *rest[cut:]]


def _command_at(words: Sequence[str]) -> int:
    """Where the command begins, behind the global options that stand ahead."""
    first = 0
    while first < len(words) and words[first].partition("=")[0] in GLOBAL:
        first += 1 if "=" in words[first] else 2
    return first


def _wrong_usage(wrong: typer.TyperException) -> int:
    context = getattr(wrong, "ctx", None)
    command = context.command_path if context is not None else "turbine"
    sentence = wrong.format_message().rstrip(".").replace("Value error, ", "")
    sys.stderr.write(f"turbine: {sentence}; see `{command} --help`\n")
    return Code.USAGE
