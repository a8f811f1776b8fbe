"""What may be left out or stand anywhere in a line: `delete NAME` is `delete job NAME`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from typer.core import TyperGroup

HELP = ("--help",)


def named(usual: str, *, options: bool = True) -> type[TyperGroup]:
    """A group in which a name that is no command of it is of the usual one.

    `options`: whether the usual command's may come first; else they are the group's own.
    """

    class ByName(TyperGroup):
        """Takes a name alone."""

        usual_command = usual

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Puts the usual command ahead where none is named."""
            first = args[0] if args else ""
            alone = bool(first) and first not in self.commands and first not in HELP
            if alone and (options or not first.startswith("-")) and not self._is_typo(args):
                args = [usual, *args]
            return super().parse_args(ctx, args)

        def _is_typo(self, args: list[str]) -> bool:
            """Two words, of which the first is nearly a command, and no name of anything."""
            words = args[1:2]
            near = get_close_matches(args[0], list(self.commands), 1)
            return bool(near) and bool(words) and not words[0].startswith("-")

    return ByName
