"""Fills `${name}` in the arguments of a task: names and values, no shell, no expressions. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from events.job_config.strict_json import shorten

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "job": "the id of the job",
        "task": "the index of the task in its job, from 0",
        "tasks": "how many tasks the job has",
        "generation": "the generation of the specs",
        "package.name": "the name of the package",
        "package.version": "the version of the package",
        "checkpoint": "the directory of this task's checkpoint",
        "tier": "the tier that runs the job",
        "threads": "threads that the task may use",
        "cpu_cores": "cores that the task may use, such as 0.25",
        "memory_mb": "memory that the task may use, in MiB",
        "version.base": "accepted changes of the base layer",
        "version.provisioner": "accepted changes of the provisioner layer",
        "version.scaler": "accepted changes of the scaler layer",
        "version.oncall": "accepted changes of the oncall layer",
        "input.N.topic": "the topic of input N of the config, from 0",
    }
)
"""What may stand in `${…}`, for people; `N` is a number."""

ARGUMENT_CHARS = 4_096
"""As many as an argument may have in the config: names must not get around that bound."""
_LISTED = 20
"""Names that a sentence lists: all that are not inputs, and a few of those."""

# A name with its braces, or the beginning of one, or two dollars. A brace or a dollar within the
# braces ends the name, so that nothing can be nested.
_MARK = re.compile(r"\$(?:\$|\{(?:([^${}]*)\})?)")


@dataclass(frozen=True, slots=True)
class Unfit:
    """The first argument that cannot be filled in: what stands in its `${…}`, and what could."""

    argument: int
    name: str
    known: tuple[str, ...]
    explanation: str

    def __str__(self) -> str:
        return f"arguments.{self.argument}: {self.explanation}"


def substitute(arguments: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...] | Unfit:
    """The argument list, one for each argument, whatever stands in the values.

    `${name}` is replaced by the value, once: what a value holds is not looked at again. `$$` is one
    dollar, so `$${name}` is the text `${name}` itself. A dollar before anything else stays, since
    arguments hold `^a+$` and `$.path` far more often than names. Defaults, nested names and other
    expressions of a shell are refused rather than passed on as text that nobody meant.
    """
    argv: list[str] = []
    for at, argument in enumerate(arguments):
        if "$" in argument or len(argument) > ARGUMENT_CHARS:
            filled = _fill(at, argument, known)
            if isinstance(filled, Unfit):
                return filled
            argv.append(filled)
        else:  # most of them, of each task of each list
            argv.append(argument)
    return tuple(argv)


def _fill(at: int, argument: str, known: Mapping[str, str]) -> str | Unfit:
    pieces: list[str] = []
    end = 0
    for mark in _MARK.finditer(argument):
        pieces.append(argument[end : mark.start()])
        end = mark.end()
        if mark[0] == "$$":
            pieces.append("$")
            continue
        name = mark[1]
        value = None if name is None else known.get(name)
        if value is None:
            return _refuse(at, name, argument[mark.start() + 2 :], known)
        pieces.append(value)
    pieces.append(argument[end:])
    # Counted before they are joined: a long value that is named a hundred times is never built.
    length = sum(map(len, pieces))
    if length > ARGUMENT_CHARS:
        said = f"has {length} characters once it is filled in, and may have {ARGUMENT_CHARS}"
        return Unfit(at, "", tuple(known), f"{said}; shorten it or make it two")
    return "".join(pieces)


def _refuse(at: int, name: str | None, rest: str, known: Mapping[str, str]) -> Unfit:
    names = tuple(known)
    if name is None:
        said = f"${{ must be followed by a name and }}, found {shorten(rest, 24)}"
        return Unfit(at, rest, names, f"{said}; write $${{ for the characters themselves")
    close = get_close_matches(name[:64], names, 1)
    perhaps = f", perhaps ${{{close[0]}}}" if close else ""
    listed = ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")
    said = f"{shorten(f'${{{name}}}')} is not known{perhaps}; known are {listed}"
    return Unfit(at, name, names, f"{said}; write $${{ for the characters themselves")
