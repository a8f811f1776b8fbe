"""Each runbook can be followed at night: its commands are as they are, and it says how it ends."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from turbine.cli.commands import app
from turbine.cli.table import ENTRIES, spelled
from turbine.read.answers.alert_kinds import RAISED, UNREADABLE

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "runbooks").glob("*.md"))
SHARED = ("--bootstrap", "--config")


def commands(text: str) -> list[str]:
    """What the reader is told to type: in code, which may go on in the next line."""
    spans = re.findall(r"`(turbine [a-z][^`]*)`", text)
    lines = re.findall(r"^    (turbine [a-z].*?)(?:\s{2,}#.*|\s+#.*)?$", text, re.MULTILINE)
    return [" ".join(one.split()) for one in spans + lines]


def wrong(line: str) -> str:
    """What is the matter with a command line; "" where it could be typed."""
    words = [word for word in shlex.split(line)[1:] if word not in SHARED]
    command: Any = typer.main.get_command(app)
    group = ENTRIES.get(words[0])
    words = words if group is None else [words[0], *spelled(group, words[1:])]
    while words and hasattr(command, "commands"):
        if words[0].startswith("-") and command.invoke_without_command:
            break
        if words[0] not in command.commands:
            return f"there is no {words[0]}"
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands") and not words:
        return "it names a group of commands"
    options = {name: one for one in command.params for name in one.opts if name.startswith("-")}
    places = [one for one in command.params if not one.opts[0].startswith("-")]
    given = 0
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            given += 1
            continue
        name, _, value = word.partition("=")
        if name not in options:
            return f"it has no {name}"
        if not (options[name].is_flag or value):
            if not words:
                return f"{name} lacks its value"
            words.pop(0)
    most = 99 if any(one.nargs == -1 for one in places) else len(places)
    return "" if given <= most else f"it takes {most} arguments and gets {given}"


def test_its_commands_can_be_typed() -> None:
    lines = [(page.name, line) for page in PAGES for line in commands(page.read_text())]
    assert len(lines) > 50
    assert [(*one, why) for one in lines if (why := wrong(one[1]))] == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("turbine get tiers default", "it takes 0 arguments and gets 1"),
        ("turbine get tasks JOB", ""),
        ("turbine describe JOB", ""),
        ("turbine describe JOB OTHER", "it takes 1 arguments and gets 2"),
        ("turbine get tasks --jobs JOB", "it has no --jobs"),
        ("turbine gets", "there is no gets"),
        ("turbine get", "it names a group of commands"),
        ("turbine why ID --at", "--at lacks its value"),
        ("turbine get lag A B --by=task", ""),
        ("turbine diff --from A", ""),
        ("turbine get --from A", "there is no --from"),
    ],
)
def test_a_command_that_cannot_be_typed_is_found(line: str, why: str) -> None:
    assert wrong(line) == why


def lacks(name: str, text: str) -> list[str]:
    """What a reader would not find in a runbook."""
    found = []
    if len(commands(text)) < 2 and name not in ("no-task-specs", "scaling-advised"):
        found.append(f"{name}: what to look at: name two commands and more")
    if "what to do" not in text.lower():
        found.append(f"{name}: what to do: say it under these words")
    if not re.search(r"alert (is|clears|goes)|by itself|cleared", text):
        found.append(f"{name}: how it ends: say when the alert clears")
    return found


def test_it_says_what_to_look_at_what_to_do_and_how_it_ends() -> None:
    assert [one for page in PAGES for one in lacks(page.stem, page.read_text())] == []
    assert [one.split(":")[1] for one in lacks("empty", "# empty")] == [
        " what to look at",
        " what to do",
        " how it ends",
    ]


def names_in(source: str) -> set[str]:
    """What alerts a module raises: texts and constants that `AlertRaised` gets as its `alert`."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "AlertRaised":
            given = {word.arg: word.value for word in node.keywords}
            assert "alert" in given, "name the alert, so that it can be found"
            found.add(ast.unparse(given["alert"]))
    return found


def test_every_alert_that_code_raises_is_known() -> None:
    raised = {
        name for path in (ROOT / "components").rglob("*.py") for name in names_in(path.read_text())
    }
    # By the names of constants; `alert` are those of the scaler, whose set `RAISED` is made of.
    assert raised == {
        "ALERT", "FAILING", "MASS_FAILURE", "QUARANTINED", "SHORTAGE", "UNLISTED", "UNPLACED",
        "'unreadable-decision'", "alert",
    }  # fmt: skip
    assert {kind.name for kind in (*RAISED, UNREADABLE)} <= {path.stem for path in PAGES}
    assert len(RAISED) == 13
