"""Puts rows on standard output: as a table for people, or as JSON, JSON lines, YAML, names.

What a row holds in JSON is named as in the records. Rich is loaded for tables only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, cast

from events.job_config.strict_json import printable
from turbine.cli.terminal import terminal
from turbine.failures import Code

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console


TABLE_WIDTH = 10_000
"""Of a pipe: nothing is cut or folded that a program may want to read."""
GAP = 3
"""Between columns."""
LEAST = 20
"""No column is cut to less while it is shown: a state is whole, and so are most names."""
HEAD = 5
"""Of a column's title, what is always shown."""
MORE = "…"
"""The head of what a terminal has no room for."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; a `wide` one is shown on demand only."""

    title: str
    cell: Callable[[Any], object]
    wide: bool = False


def write(text: str) -> None:
    """A line, or several, of data."""
    out = terminal().out
    out.write(text + "\n")
    out.flush()


def tell(text: str) -> None:
    """A line for people, beside the data."""
    here = terminal()
    here.out.flush()
    here.err.write(text + "\n")
    here.err.flush()


def show_rows(
    rows: Iterable[Any], form: str, columns: Sequence[Column], *, name: str = "name", none: str = ""
) -> Code:
    """Rows in the form that was asked for; `name` is the field that the form "name" prints, and
    `none` is what people are told where there are no rows."""
    match form:
        case "json" | "yaml":
            show_value(list(rows), form)
        case "jsonl":
            for row in rows:
                write(to_line(_document(row)))
        case "name":
            for row in rows:
                write(str(_document(row)[name]))
        case _ if none and not (rows := list(rows)):
            tell(none)
        case _:
            write(table_text(rows, [one for one in columns if form == "wide" or not one.wide]))
    return Code.OK


def show_value(value: object, form: str) -> Code:
    """One value, or several, as JSON or YAML."""
    found = _document(value)
    if form == "yaml":
        import yaml

        write(yaml.safe_dump(found, sort_keys=False, allow_unicode=True).rstrip("\n"))
    else:
        write(json.dumps(found, indent=2, ensure_ascii=False))
    return Code.OK


def show(value: object, form: str, text: Callable[[], str]) -> Code:
    """One value in the form that was asked for; `text` tells it to people."""
    if form != "table":
        return show_value(value, form)
    write(text())
    return Code.OK


def _document(value: Any) -> Any:
    """What of it is an answer as JSON has it, what is JSON already as it is."""
    if isinstance(value, list | tuple):
        return [_document(one) for one in value]
    if hasattr(value, "to_plain"):
        return value.to_plain()
    if not is_dataclass(value):
        return value
    from turbine.read.plain import plain

    return plain(value)


def to_line(value: object) -> str:
    """A value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def table_text(rows: Iterable[Any], columns: Sequence[Column]) -> str:
    """Aligned columns with a head. Cells are anybody's text: no markup, no control characters."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    tty, console = terminal().tty, console_here()
    head = "" if console.no_color else "bold"
    body = [[cell_text(column.cell(row)) for column in columns] for row in rows]
    titles = [column.title for column in columns]
    needed = [max(map(cell_len, texts)) for texts in zip(titles, *body, strict=True)]
    widths = fitted(needed, console.width)
    if len(widths) < len(titles):  # a head is cut before a column goes
        heads = [title[:HEAD] for title in titles]
        bare = [max(map(cell_len, texts)) for texts in zip(heads, *body, strict=True)]
        widths = fitted(bare, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style=head)
    for title, width in zip(titles, widths, strict=False):
        table.add_column(title, no_wrap=True, width=width)
    if len(widths) < len(titles):
        table.add_column(MORE, no_wrap=True)
    for texts in body:
        table.add_row(*map(Text, texts[: len(widths)]))
    with console.capture() as capture:
        console.print(table)
    lines = capture.get().splitlines()
    return "\n".join(lines if tty else [line.rstrip() for line in lines])


def fitted(needed: Sequence[int], room: int) -> list[int]:
    """The widths of the columns that a terminal has room for. The widest are cut first, down to
    what is still read; then the last ones go, as names and states come first in every list."""
    most = max(needed, default=0)
    while most > LEAST and _taken(needed, most) > room:
        most -= 1
    count = len(needed)
    if _taken(needed, most) > room:
        room -= GAP + len(MORE)
        while count > 1 and _taken(needed[:count], most) > room:
            count -= 1
    if count == 1:
        most = max(1, min(most, room))
    return [min(one, most) for one in needed[:count]]


def _taken(needed: Sequence[int], most: int) -> int:
    return sum(min(one, most) for one in needed) + GAP * (len(needed) - 1)


def console_here() -> Console:
    """Rich's, for where this command line writes: as wide as that is, a pipe without an end."""
    from rich.console import Console

    here = terminal()
    return Console(
        file=cast("TextIO", here.out),
        width=here.columns if here.tty else TABLE_WIDTH,
        highlight=False,
        _environ=here.environment,
    )


def cell_text(value: object) -> str:
    """A value in one line."""
    match value:
        case None | "":
            return "-"
        case str():
            return printable(value)
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case _:
            return printable(to_line(value))


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Names and values under each other, for one thing."""
    given = [(name, cell_text(value)) for name, value in pairs]
    width = max((len(name) for name, _ in given), default=0)
    return "\n".join(f"{name:<{width}}   {value}" for name, value in given)


def some(name: str, value: object) -> list[tuple[str, object]]:
    """A fact that is told only where there is one."""
    return [(name, value)] if value else []


def indented(text: str, by: str = "  ") -> str:
    """Every line further to the right."""
    return "\n".join(by + line for line in text.splitlines())
