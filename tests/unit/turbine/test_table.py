"""The table of commands says of each what its function says, and a line loads its own alone."""

from __future__ import annotations

import subprocess
import sys

from turbine.cli.commands import Group, made
from turbine.cli.table import TABLE, below, is_group


def test_a_command_says_of_itself_what_the_table_says() -> None:
    found = {one.name: made(one) for one in TABLE}
    told = {name: command.get_short_help_str(1000) for name, command in found.items()}
    assert told == {one.name: one.about for one in TABLE}
    groups = {name for name, command in found.items() if isinstance(command, Group)}
    assert groups == {one.name for one in TABLE if is_group(one.name)}


def test_each_command_is_named_once_and_its_group_is_there() -> None:
    names = [one.name for one in TABLE]
    assert len(names) == len(set(names))
    assert {one.rpartition(" ")[0] for one in names} - {""} <= set(names)


def test_below_a_group_is_what_has_one_word_more() -> None:
    assert set(below("topics")) == {"plan", "apply", "create"}
    assert {"get", "apply"} <= set(below(""))
    assert "jobs" not in below("")
    assert below("apply") == {}


def modules_of(*arguments: str) -> set[str]:
    """What has been loaded when a command has ended, in a process of its own."""
    program = (
        "import sys; from turbine.cli import main; main(sys.argv[1:]);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


COMMANDS = {f"turbine.cli.{one.where.partition(':')[0]}" for one in TABLE if one.where}


def test_the_help_loads_no_command() -> None:
    loaded = modules_of("--help")
    assert "turbine.cli.table" in loaded, "the modules are not found"
    assert loaded & COMMANDS == set()
    assert modules_of("get", "--help") & COMMANDS == set()


def test_a_line_loads_its_own_command() -> None:
    loaded = modules_of("get", "jobs", "--help")
    assert loaded & COMMANDS == {"turbine.cli.jobs"}


WITHOUT_EXTRAS = """
import sys
from turbine.cli.commands import made
from turbine.cli.table import TABLE
from turbine.extras import EXTRAS

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {module for extra in EXTRAS.values() for module in extra}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Lacking())
print(sum(made(one) is not None for one in TABLE))
"""


def test_the_help_of_a_command_needs_no_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (f"{len(TABLE)}\n", "")
