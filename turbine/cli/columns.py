"""Columns of lists, named in a line, and how the numbers in them are shown to people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from turbine.cli.output import Column, cell_text, table_text
from turbine.read.moments import show_time

Cell = Callable[[Any], object]

INSTANT_MS = 10**12
"""Of 2001: what is less is no instant of any log, but a length of time."""
CELL_CHARS = 100
"""Of a list in the evidence: all of it stands in the JSON."""


def columns(titles: str, cells: Mapping[str, Cell] | None = None) -> list[Column]:
    """The columns of these titles, a comma between two; `cells` tells what has no field of a row.

    A title names the row's field, `TITLE=field` another one, also within one: `plan.step`. A
    `?` behind either allows that it lacks, `:time` and the like say how it is shown, and a `*`
    ahead has it shown on demand only.
    """
    return [_column(one.strip(), cells or {}) for one in titles.split(",")]


def listed(rows: Iterable[Any], titles: str, cells: Mapping[str, Cell] | None = None) -> str:
    """The rows as a table of these columns."""
    return table_text(rows, columns(titles, cells))


def part(rows: Sequence[Any], titles: str, cells: Mapping[str, Cell] | None = None) -> list[str]:
    """The same as a part of a description, which has none where there are no rows."""
    return [listed(rows, titles, cells)] if rows else []


def _column(text: str, cells: Mapping[str, Cell]) -> Column:
    head, _, form = text.lstrip("*").partition(":")
    title, _, name = head.partition("=")
    name = name or title.lower().replace(" ", "_")
    title = title.rstrip("?")
    cell = cells[title] if title in cells else _cell(name, FORMS[form])
    return Column(title, cell, wide=text.startswith("*"))


def _cell(name: str, shown: Cell) -> Cell:
    path, lacks = name.rstrip("?").split("."), name.endswith("?")

    def cell(row: Any) -> object:
        for field in path:
            if isinstance(row, Mapping):
                row = row.get(field) if lacks else row[field]
            else:
                row = getattr(row, field)
        return shown(row)

    return cell


def beside(title: str, sides: Mapping[str, Mapping[str, Any]], shown: Cell) -> str:
    """A line for each name of these sides, with what each has of it beside each other."""

    def of(side: Mapping[str, Any]) -> Cell:
        return lambda name: shown(side.get(name))

    names = dict.fromkeys(name for side in sides.values() for name in side)
    heads = [Column(title, str), *(Column(head, of(side)) for head, side in sides.items())]
    return table_text(names, heads)


def first(rows: Sequence[Any], most: int, titles: str, cells: Mapping[str, Cell]) -> str:
    """The first rows as a table, and how many more there are."""
    hidden = len(rows) - most
    more = f"\nand {hidden} more; -o json has all" if hidden > 0 else ""
    return listed(rows[:most], titles, cells) + more


def number(value: object) -> object:
    """A number for people, for whom hundredths are enough."""
    return f"{round(value, 2):,.15g}" if isinstance(value, float) else value


def short(value: object, most: int = CELL_CHARS) -> object:
    """A value of evidence for people: numbers short, unknown a dash, lists cut."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    if value is None or isinstance(value, bool | int | str):
        return value
    return cut(cell_text(value), most)


def known(name: str, value: object, most: int = CELL_CHARS) -> object:
    """The same, where its name may say that it is an instant."""
    instant = isinstance(value, int) and name.endswith("_ms") and value >= INSTANT_MS
    return show_time(value) if instant and isinstance(value, int) else short(value, most)


def cut(text: str, most: int) -> str:
    """The text, or as much of it as there is room for."""
    return text if len(text) <= most else text[: most - 1] + "…"


def figure(value: float | None) -> str | None:
    """Four digits that count; larger numbers whole."""
    if value is None:
        return None
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def percent(share: float | None) -> str:
    """A share as people write it, in percent."""
    return "" if share is None else f"{share * 100:.0f} %"


def amount(resource: str, value: float | None) -> str:
    """An amount of a resource for people."""
    if value is None:
        return ""
    if resource == "cpu_cores":
        return f"{value:.2f} cores"
    size, units = value, ["B", "kB", "MB", "GB", "TB"]
    while float(f"{size:.3g}") >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    per = "/s" if resource.endswith("_per_s") else ""
    return f"{size:.3g} {units[0]}{per}"


def rate(per_s: float | None) -> str:
    """Records a second; nothing where nobody knows."""
    return "" if per_s is None else f"{per_s:,.1f}/s"


def span(span_ms: int | None, least_ms: int = 0) -> str:
    """How long, for people; nothing below the least."""
    if span_ms is None or span_ms < least_ms:
        return ""
    seconds = span_ms / 1000
    if seconds < 1:
        return f"{span_ms} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def versions_text(versions: Mapping[str, int] | None) -> str:
    """The version of each layer, the lowest layer first."""
    return "" if versions is None else "/".join(map(str, versions.values()))


def running_of(line: Any) -> str:
    """How many tasks of a job run, of those that should."""
    return f"{line.running}/{line.tasks}"


FORMS: dict[str, Cell] = {
    "": lambda value: value,
    "some": lambda value: value or "",
    "count": len,
    "figure": figure,
    "list": lambda values: ",".join(values) or "all",
    "bytes": lambda value: amount("bytes", value),
    "names": ", ".join,
    "percent": percent,
    "rate": rate,
    "short": short,
    "span": span,
    "time": show_time,
    "versions": versions_text,
}
"""How a field's value is shown: as it is, or as what it tells of."""
