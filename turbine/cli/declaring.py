"""The options of a command by the last part of its docstring, a line for each.

`--topic T: Created where it is missing.` is about the parameter `topic`: `T` is what the help calls
its value, and what follows is the help. Its type says the rest, with bounds as `Option` has them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from typer import Option

Command = TypeVar("Command", bound=Callable[..., int])

_LINE = re.compile(r"((?:-\w, )?--([a-z-]+))(?: (\S[^:]*))?: ")


def options(text: str) -> Callable[[Command], Command]:
    """The same lines ahead of a command that has too many of them for its docstring."""

    def told(command: Command) -> Command:
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{inspect.cleandoc(text)}"
        return command

    return told


@cache
def declared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command as Typer takes it: each option beside its type, and the help without them."""
    text, _, last = (inspect.getdoc(command) or "").rpartition("\n\n")
    if not _LINE.match(last):
        return command
    hints: Any = get_type_hints(command, include_extras=True)
    for line in re.sub(r"\n +", " ", last).splitlines():
        told = _LINE.match(line)
        assert told is not None, f"{line!r} names no option of {command.__name__}"
        name = told[2].replace("-", "_")
        name = name if name in hints else f"{name}_"
        kind, option = hints[name], Option()
        if get_origin(kind) is Annotated:
            kind, option = get_args(kind)[0], copy(get_args(kind)[1])
        option.param_decls = tuple(told[1].split(", "))
        option.metavar, option.help = told[3], line[told.end() :]
        hints[name] = Annotated[kind, option]
    command.__annotations__, command.__doc__ = hints, text
    return command
