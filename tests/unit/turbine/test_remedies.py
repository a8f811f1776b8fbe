"""What a sentence of the code tells to type is whole: all that the command asks for is there."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.unit.turbine.test_runbooks import ROOT, wrong
from turbine.cli.commands import app
from turbine.cli.table import ENTRIES, spelled

ROOMS = (
    "client",
    "components",
    "events",
    "infra",
    "projections",
    "spark_streaming",
    "tasks",
    "turbine",
)
EVERYWHERE = {"--help", "--watch", "--from-log", "--verbose"}
DECIDED = {("turbine placement apply X", "components/shard_manager/core/failover.py")}
"""It lacks `--reason R`. It is the text of a decision, which is made again byte by byte, so that
another text is another logic; it is for the next one."""


def sentences(tree: ast.AST) -> Iterator[str]:
    """Texts, without what is told to those who read the code; `X` for what is filled in."""
    nodes = list(ast.walk(tree))
    parts = {id(part) for one in nodes if isinstance(one, ast.JoinedStr) for part in one.values}
    told = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
    for one in nodes:
        if id(one) in parts | told:
            continue
        if isinstance(one, ast.JoinedStr):
            yield "".join(str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "X"
                          for part in one.values)  # fmt: skip
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def lines(text: str) -> list[str]:
    """What it tells to type: more than the name of a command, or one that needs no more."""
    found = re.findall(r"`(turbine [a-z][^`]*)`", text)
    found = [re.sub(r" \[[^\]]*\]|(?<=[a-z])X", "", one) for one in found]  # what may stand there
    return [one for one in found if one.removeprefix("turbine ") not in ENTRIES]


def lacking(line: str) -> str:
    """What the command of a line asks for and does not get; "" where it has all."""
    words = [word for word in shlex.split(line)[1:] if word not in EVERYWHERE]
    whole = words != shlex.split(line)[1:]  # asked for its help, a command asks for nothing
    if why := wrong(shlex.join(["turbine", *words])):
        return why
    command: Any = typer.main.get_command(app)
    group = ENTRIES.get(words[0])
    words = words if group is None else [words[0], *spelled(group, words[1:])]
    while words and hasattr(command, "commands") and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    asked = [one for one in command.params if one.required and one.opts[0].startswith("-")]
    given = {word.partition("=")[0] for word in words}
    lacks = [one.opts[0] for one in asked if not given & set(one.opts)]
    return f"it lacks {lacks[0]}" if lacks and not whole else ""


FOUND = {
    (line, str(path.relative_to(ROOT)))
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    for text in sentences(ast.parse(path.read_text()))
    for line in lines(text)
}


def test_what_is_told_to_be_typed_is_whole() -> None:
    assert len(FOUND) > 40
    wanting = {(line, path) for line, path in FOUND if lacking(line)}
    assert wanting == DECIDED


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("turbine delete X", "it lacks --reason"),
        ("turbine delete X --reason R", ""),
        ("turbine tier create --help", ""),
        ("turbine get jobs --watch", ""),
        ("turbine gets jobs", "there is no gets"),
    ],
)
def test_what_a_line_lacks_is_found(line: str, why: str) -> None:
    assert lacking(line) == why


def test_names_of_commands_are_no_lines(tmp_path: Path) -> None:
    assert lines("`turbine apply` fills it in, `turbine apply -f FILE [--wait]` too") == [
        "turbine apply -f FILE"
    ]
    path = tmp_path / "one.py"
    path.write_text('"""`turbine a b`"""\nsaid = f"use `turbine delete {job}`"\n')
    assert [lines(one) for one in sentences(ast.parse(path.read_text()))] == [["turbine delete X"]]
