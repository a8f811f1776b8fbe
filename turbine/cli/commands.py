"""The commands of the table as Typer's, each loaded when it is asked for; and the help above them.

Imports no more than Typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Context, Option
from typer.core import TyperCommand, TyperGroup

from turbine.cli.declaring import declared
from turbine.cli.options import Chosen, choose
from turbine.cli.table import ENTRIES, CommandEntry, below, is_group, spelled
from turbine.failures import MEANINGS

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:<4} {meaning}" for code, meaning in MEANINGS.items()
)


class Commands(Mapping[str, Any]):
    """The commands below a group, each made when somebody asks for it."""

    def __init__(self, group: str) -> None:
        self._entries = below(group)
        self._made: dict[str, object] = {}

    def __getitem__(self, word: str) -> Any:
        if word not in self._made:
            self._made[word] = made(self._entries[word])
        return self._made[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Group(TyperGroup):
    """A group of the table, which lists its commands without loading them."""

    def __init__(self, *, name: str | None = None, **attrs: Any) -> None:
        super().__init__(name=name, **attrs)
        self.commands: Any = Commands(name or "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """With the usual command where none is named."""
        return super().parse_args(ctx, spelled(ENTRIES[self.name], args) if self.name else args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """As the table tells of them."""
        heads = {
            word: TyperCommand(word, help=one.about, hidden=one.hidden)
            for word, one in below(self.name or "").items()
        }
        TyperGroup(commands=dict(heads)).format_commands(ctx, formatter)


def made(entry: CommandEntry) -> Any:
    """The command, with its module; of a group, with that of what it does by itself."""
    run = _loaded(entry.where) if entry.where else None
    word = entry.name.rpartition(" ")[2]
    if not is_group(entry.name):
        one = _typer(add_completion=False)
        assert run is not None, f"{entry.name} does nothing"
        one.command(word, hidden=entry.hidden)(run)
        return typer.main.get_command(one)
    more = {} if run else {"help": entry.about}
    group = _typer(name=entry.name, cls=Group, add_completion=False, **more)
    group.callback(invoke_without_command=run is not None)(run or _nothing)
    return typer.main.get_command(group)


def _typer(**more: Any) -> typer.Typer:
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **more)


def _loaded(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    return declared(getattr(import_module(f"turbine.cli.{module}"), name))


def _nothing() -> None:
    """A group that does nothing by itself."""


app = _typer(cls=Group, help="Run, change and understand a fleet of streaming jobs.")


@app.callback(epilog=EPILOG)
def globals_(
    context: Context,
    *,
    bootstrap: Annotated[
        str | None,
        Option("--bootstrap", metavar="HOST:PORT", help="The broker; or TURBINE_BOOTSTRAP."),
    ] = None,
    config: Annotated[
        Path | None,
        Option("--config", metavar="FILE", help="The settings, by default turbine.toml."),
    ] = None,
    fleet_directory: Annotated[
        Path | None,
        Option("--fleet", metavar="DIRECTORY", help="Of a local fleet; .turbine by default."),
    ] = None,
    log_file: Annotated[
        Path | None,
        Option("--log", metavar="FILE", help="Read this export instead of a broker's log."),
    ] = None,
    from_log: Annotated[
        bool, Option("--from-log", help="Read the log, also where an API could answer.")
    ] = False,
    verbose: Annotated[
        bool, Option("--verbose", help="Say why no API answered a line that reads.")
    ] = False,
) -> None:
    """Run, change and understand a fleet of streaming jobs.

    These options may stand anywhere on the line.
    """
    del from_log, verbose  # heeded before a line comes here, by what asks an API
    if context.obj is None:
        context.obj = choose(Chosen(bootstrap, config, fleet_directory), log_file)
