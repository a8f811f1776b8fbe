"""The reference names every command and every exit code, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from components.task_service.substitution import KNOWN
from turbine.cli.commands import app
from turbine.cli.documents import read_wishes
from turbine.cli.failures import MEANINGS

TEXT = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()


def commands(group: Any, path: str = "turbine") -> Iterator[str]:
    for name, one in sorted(group.commands.items()):
        if hasattr(one, "commands"):
            yield from commands(one, f"{path} {name}")
        elif not one.hidden:
            yield f"{path} {name}"


def named(line: str) -> list[str]:
    """The commands that `turbine broker start|stop` stands for."""
    words = re.match(r"turbine(?: [a-z-]+(?:\|[a-z-]+)*)+", line)
    found = [""]
    for word in words[0].split() if words else ():
        found = [f"{one} {part}".strip() for one in found for part in word.split("|")]
    return found


ALL = list(commands(typer.main.get_command(app)))
NAMED = {one for at in re.finditer("turbine [a-z]", TEXT) for one in named(TEXT[at.start() :])}


@pytest.mark.parametrize("command", ALL)
def test_every_command_is_named(command: str) -> None:
    assert any(one == command or one.startswith(f"{command} ") for one in NAMED)


def test_no_other_command_is_named() -> None:
    assert [one for one in sorted(NAMED) if not one.startswith(tuple(ALL))] == []


def test_every_exit_code_is_named_with_its_meaning() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", TEXT, re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == {
        code.value: meaning for code, meaning in MEANINGS.items()
    }


def test_every_name_of_an_argument_is_described_as_it_is() -> None:
    assert dict(re.findall(r"^\| `\$\{(.+)\}` \| (.+) \|$", TEXT, re.MULTILINE)) == dict(KNOWN)


def test_the_example_can_be_read(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "job.yaml"
    path.write_text(example)
    assert [(one.job, one.whole, one.clear) for one in read_wishes(str(path))] == [
        ("clicks", True, ()),
        ("views", False, ("slo.lag_seconds",)),
    ]
