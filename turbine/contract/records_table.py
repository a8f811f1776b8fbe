"""The table of ARCHITECTURE.md: each record, its writers and the rows that it moves. Pure.

`python -m turbine.contract.records_table` writes it into the page from the table of topics and from
what each component says and folds. A test holds the page against it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from components.auditor.decide import component as auditor
from components.runtime.core.component import Component
from components.runtime.core.standing import standing
from components.task_manager.core.chains import KINDS as CONTAINER_KINDS
from events.topics import CONTAINERS, JOURNAL, TIERS, TOPICS, Topic
from projections import hold, lists
from turbine.read.logics import NEWEST

PAGE = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
BEGIN = "<!-- Written by `python -m turbine.contract.records_table`. -->\n"
END = "<!-- Here the written table ends. -->\n"
HEAD = "| topic | record | written by | moves the row of |\n| --- | --- | --- | --- |\n"
OPERATORS = {"TierDefined": "operators"}
"""Decisions that a person makes (`turbine tier create`), so that no component says them."""


class Folder(NamedTuple):
    """One reader that keeps a row, with the topics it reads, the kinds that move the row, and the
    modules of its folds."""

    name: str
    topics: frozenset[str]
    kinds: frozenset[str]
    modules: tuple[str, ...]


class RecordUse(NamedTuple):
    """Who writes some records, and whose rows they move."""

    writers: tuple[str, ...]
    folders: tuple[str, ...]


def named(component: Component[Any]) -> str:
    """The component's name as the pages spell it."""
    return component.name.replace("-", " ")


def folder_of(component: Component[Any]) -> Folder:
    """The component as a reader."""
    fold = component.fold.func if isinstance(component.fold, partial) else component.fold
    return Folder(named(component), component.inputs, component.folds, (fold.__module__,))


DECIDERS = (*NEWEST, auditor)
FOLDERS = (
    *(folder_of(one) for one in (*DECIDERS, standing)),
    Folder(
        "task manager",
        frozenset({CONTAINERS, JOURNAL, TIERS}),
        CONTAINER_KINDS,
        (hold.__name__, lists.__name__),
    ),
)


def writers_of(topic: Topic, kind: str) -> tuple[str, ...]:
    """The writers of a record: the components that decide it, or those that the topic names."""
    deciders = tuple(
        named(one) for one in DECIDERS if one.output == topic.short and kind in one.says
    )
    if deciders or kind in OPERATORS:
        return deciders or (OPERATORS[kind],)
    names, _, _ = topic.written_by.partition(": ")
    parts = [part.partition(" (") for part in names.split("; ")]
    special = [name for name, _, kinds in parts if kinds == f"{kind} only)"]
    return tuple(special or [name for name, _, kinds in parts if not kinds])


def line_of(topic: Topic, kind: str) -> RecordUse:
    """The writers and the readers of one record on one topic."""
    folders = (one.name for one in FOLDERS if topic.short in one.topics and kind in one.kinds)
    return RecordUse(writers_of(topic, kind), tuple(folders))


def table(topics: Iterable[Topic] = TOPICS) -> str:
    """The whole table; records and topics that differ in nothing but their name share a line."""
    grouped: dict[tuple[tuple[str, ...], RecordUse], list[str]] = {}
    for topic in topics:
        kinds: dict[RecordUse, list[str]] = {}
        for kind in topic.records:
            kinds.setdefault(line_of(topic, kind), []).append(kind)
        for line, names in kinds.items():
            grouped.setdefault((tuple(names), line), []).append(topic.short)
    return HEAD + "".join(
        f"| {_code(shorts)} | {_code(names)} |"
        f" {', '.join(line.writers)} | {', '.join(line.folders) or '(none)'} |\n"
        for (names, line), shorts in grouped.items()
    )


def homes() -> str:
    """The sentence that says in which module each row is folded."""
    parts = (f"{folder.name} {_code(_path(name) for name in folder.modules)}" for folder in FOLDERS)
    return f"\nWhere each row is folded: {'; '.join(parts)}.\n"


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page_with(page: str) -> str:
    """The page with the table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"ARCHITECTURE.md has no {BEGIN.strip()} and {END.strip()}"
    return f"{before}{BEGIN}{table()}{homes()}{END}{after}"


def main() -> int:
    """0 when the table is written into the page."""
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
