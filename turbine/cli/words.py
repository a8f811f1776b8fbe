"""Words of a command line, and where its global options stand. Pure.

Imports nothing: every line waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence

VALUED = ("--bootstrap", "--config", "--fleet", "--log")
FLAGS = ("--from-log", "--verbose")
LOCAL, WATCH = "--local", "--watch"


def taken(arguments: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """The line without `--local` and `--watch`, which may stand anywhere in it, and which of them
    stood there."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    rest = [one for one in arguments[:end] if one not in (LOCAL, WATCH)]
    return [*rest, *arguments[end:]], frozenset({LOCAL, WATCH}.intersection(arguments[:end]))


def hoist(arguments: Sequence[str]) -> list[str]:
    """Global options may stand anywhere; the parser wants them before the command."""
    ahead: list[str] = []
    rest: list[str] = []
    given = iter(arguments)
    for one in given:
        if one == "--":
            rest += [one, *given]
        elif one in VALUED:
            ahead += [one, *([value] if (value := next(given, None)) is not None else [])]
        elif one in FLAGS or one.startswith(tuple(f"{name}=" for name in VALUED)):
            ahead.append(one)
        else:
            rest.append(one)
    return ahead + rest


def globals_in(line: Sequence[str]) -> int:
    """How many words of a line that was hoisted are global options."""
    count = 0
    while count < len(line):
        if line[count] in VALUED:
            count += 2
        elif line[count] in FLAGS or line[count].startswith(tuple(f"{one}=" for one in VALUED)):
            count += 1
        else:
            break
    return min(count, len(line))


def asked_at(arguments: Sequence[str]) -> list[str]:
    """`turbine at WHEN get jobs` is `turbine get jobs --at WHEN`."""
    words = list(arguments)
    first = globals_in(words)
    if words[first : first + 1] != ["at"] or len(words) < first + 3:
        return words
    when, rest = words[first + 1], words[first + 2 :]
    if when.startswith("-"):
        return words
    cut = rest.index("--") if "--" in rest else len(rest)
    return [*words[:first], *rest[:cut], "--at", when, *rest[cut:]]
