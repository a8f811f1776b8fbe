"""Which command of the table a line's words name. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from turbine.cli.table import ENTRIES, TABLE, CommandEntry


def below(group: str) -> dict[str, CommandEntry]:
    """The commands and groups right below a group, by the word that names each there."""
    prefix = f"{group} " if group else ""
    found = ((one.name.removeprefix(prefix), one) for one in TABLE if one.name.startswith(prefix))
    return {word: one for word, one in found if " " not in word}


def is_group(name: str) -> bool:
    """Has it commands below it?"""
    return any(one.name.startswith(f"{name} ") for one in TABLE)


def spelled(group: CommandEntry, words: Sequence[str]) -> list[str]:
    """What stands behind a group's name, with the usual command where none is named: `delete NAME`
    is `delete job NAME`, and `delete` alone lacks a name."""
    first = words[0] if words else ""
    if group.usual and not group.where and not words:
        return [group.usual]
    if not (group.usual and first) or first == "--help" or first in below(group.name):
        return list(words)
    if first.startswith("-") and not group.options:
        return list(words)
    # Two words, of which the first is nearly a command, are no name of anything.
    near = get_close_matches(first, list(below(group.name)), 1)
    if near and len(words) > 1 and not words[1].startswith("-"):
        return list(words)
    return [group.usual, *words]


def reading(words: Sequence[str]) -> CommandEntry | None:
    """The command of a line without its global options, where it does nothing but read the log."""
    group = ENTRIES.get(words[0]) if words else None
    if group is not None:
        words = [words[0], *spelled(group, words[1:])]
    found = ENTRIES.get(" ".join(words[:2])) or ENTRIES.get(" ".join(words[:1]))
    if found is None or not found.reads or "--help" in words:
        return None
    if any(_has(words, one) for one in found.unless):
        return None
    return found if not found.needs or any(_has(words, one) for one in found.needs) else None


def _has(words: Sequence[str], option: str) -> bool:
    """Short ones may stand together, as in `-fn5`."""
    if option.startswith("--"):
        return any(one == option or one.startswith(f"{option}=") for one in words)
    return any(one[:1] == "-" and one[:2] != "--" and option[1] in one for one in words)
