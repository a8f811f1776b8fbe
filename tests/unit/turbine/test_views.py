"""What is shown: settings and schemas without a broker, tables, forms."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from events.wire.lock import read_lock
from tests.unit.turbine.lines import run
from turbine.cli import logs, terminal
from turbine.cli.output import (
    GAP,
    MORE,
    Column,
    cell_text,
    facts,
    fitted,
    show_rows,
    table_text,
)
from turbine.failures import Code

ROWS = [{"name": "a", "n": 1, "x": None}, {"name": "bb\x1b[31m", "n": 22, "x": {"k": "[bold]v"}}]
COLUMNS = [
    Column("NAME", lambda row: row["name"]),
    Column("N", lambda row: row["n"]),
    Column("X", lambda row: row["x"], wide=True),
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_table_is_aligned_and_takes_nothing_for_markup_or_control() -> None:
    assert table_text(ROWS, COLUMNS) == (
        'NAME      N    X\na         1    -\nbb�[31m   22   {"k": "[bold]v"}'
    )


def test_a_table_of_a_pipe_is_never_cut_or_folded() -> None:
    long = "x" * 5000
    assert long in table_text([{"name": long, "n": 1, "x": 1}], COLUMNS)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("name", "a\nbb\x1b[31m\n"),
        ("table", "NAME      N\na         1\nbb�[31m   22\n"),
        ("jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
    ],
)
def test_forms(form: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(ROWS, form, COLUMNS)
    assert capsys.readouterr().out == text


def test_json_and_yaml_hold_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(ROWS, "json", COLUMNS)
    assert json.loads(capsys.readouterr().out) == ROWS
    show_rows(ROWS, "yaml", COLUMNS)
    assert yaml.safe_load(capsys.readouterr().out) == ROWS


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), ("", "-"), (True, "yes"), (False, "no"), (0, "0"), ([1], "[1]"), ("a\nb", "a�b")],
)
def test_a_cell(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_facts() -> None:
    assert facts([("a", 1), ("long", None)]) == "a      1\nlong   -"
    assert facts([]) == ""


def test_settings_with_their_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("turbine.toml").write_text(
        'partitions = 4\n[kafka]\n"client.id" = "me"\n"sasl.password" = "hidden"\n'
        '"credentials.of" = "hidden too"\n'
    )
    monkeypatch.setenv("TURBINE_DIRECTORY", "/elsewhere")
    shown = run("config", "view", "--show-origin", "-o", "json", "--bootstrap", "b:1")
    assert json.loads(shown.out) == [
        {"setting": "bootstrap", "value": "b:1", "origin": "flag"},
        {"setting": "prefix", "value": "turbine", "origin": "default"},
        {"setting": "partitions", "value": 4, "origin": "turbine.toml"},
        {"setting": "replication", "value": 1, "origin": "default"},
        {"setting": "directory", "value": "/elsewhere", "origin": "TURBINE_DIRECTORY"},
        {"setting": "api", "value": "", "origin": "default"},
        {"setting": "api_token", "value": "", "origin": "default"},
        {"setting": "kafka.client.id", "value": "me", "origin": "turbine.toml"},
        {"setting": "kafka.credentials.of", "value": "(not shown)", "origin": "turbine.toml"},
        {"setting": "kafka.sasl.password", "value": "(not shown)", "origin": "turbine.toml"},
    ]
    for form in ("table", "json", "yaml"):
        assert "hidden" not in run("config", "view", "-o", form).out


@pytest.mark.parametrize(
    "key",
    ["sasl.password", "ssl.key.password", "ssl.key.pem", "sasl.oauthbearer.client.secret",
     "ssl.keystore.password", "sasl.jaas.config"],
)  # fmt: skip
def test_a_secret_is_not_shown(key: str) -> None:
    Path("turbine.toml").write_text(f'[kafka]\n"{key}" = "hidden"\n')
    assert "hidden" not in run("config", "view").out


def test_the_version() -> None:
    shown = run("version")
    assert (shown.code, shown.out[:8], shown.err) == (Code.OK, "turbine ", "")


def test_schemas_are_listed_and_shown() -> None:
    listed = json.loads(run("schema", "list", "-o", "json").out)
    assert [row["id"] for row in listed] == [one.id for one in read_lock()]
    by_name = json.loads(run("schema", "show", "JobDeleted").out)
    number = next(row["id"] for row in listed if row["name"] == "JobDeleted")
    assert json.loads(run("schema", "show", str(number)).out) == by_name
    assert by_name["name"] == "JobDeleted"
    assert run("schema", "list", "-o", "name").out.split() == [row["name"] for row in listed]


def test_the_lock_file_holds_every_schema() -> None:
    checked = run("schema", "check")
    assert (checked.code, checked.err) == (Code.OK, "")


def test_a_schema_that_the_lock_file_lacks_is_told() -> None:
    versions = read_lock()
    lacking = logs.missing_versions(versions[1:])
    assert [one.name for one in lacking] == [versions[0].name]
    assert logs.missing_versions(versions) == []


def on_a_terminal(**environment: str) -> bytes:
    """What a terminal gets to see of a table."""
    shown, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "turbine", "config", "view"],
        stdin=terminal,
        stdout=terminal,
        env={**os.environ, "TERM": "xterm", "TURBINE_DIRECTORY": "/short", **environment},
    ):
        os.close(terminal)
        parts = []
        try:
            while part := os.read(shown, 4096):
                parts.append(part)
        except OSError:  # how a terminal says that nobody writes any more
            os.close(shown)
    return b"".join(parts)


def test_a_head_stands_out_on_a_terminal_unless_it_is_told_not_to() -> None:
    assert b"\x1b[1mSETTING" in on_a_terminal()
    plain = on_a_terminal(NO_COLOR="1")
    assert b"SETTING" in plain
    assert b"\x1b" not in plain


class Terminal(io.StringIO):
    """A person who types what the test says."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "deleted"), [("y\n", True), ("n\n", False)])
def test_a_person_is_asked_before_a_log_is_deleted(
    typed: str, deleted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    ended, place = run("broker", "wipe"), Path.cwd() / ".turbine" / "broker"
    assert ended.err.startswith(f"Delete the log in {place}? [y/N]:")
    if deleted:
        assert ended.code == Code.OK
        assert ended.out.strip() == f"there was no log in {place}"
    else:
        assert ended.code == Code.FAILED
        assert ended.err.endswith(f"turbine: nothing was deleted in {place}\n")


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (76, [6, 4, 40, 17]),  # all of it fits, with the gaps
        (75, [6, 4, 39, 17]),  # the widest gives first
        (56, [6, 4, 20, 17]),
        (55, [6, 4, 20]),  # the last goes, for a mark that there is more
        (40, [6, 4, 20]),
        (39, [6, 4]),
        (17, [6, 4]),
        (16, [6]),
        (7, [3]),
    ],
)
def test_a_narrow_terminal_shows_the_first_columns(room: int, shown: list[int]) -> None:
    """Whose job it is and how it stands is read there, whatever stands at the right."""
    needed = [6, 4, 40, 17]
    widths = fitted(needed, room)
    assert widths == shown
    marked = 0 if len(widths) == len(needed) else GAP + len(MORE)
    assert sum(widths) + GAP * (len(widths) - 1) + marked <= room


def test_a_narrow_table_keeps_names_and_is_no_wider_than_its_terminal() -> None:
    rows = [{"name": f"job-{at}", "n": at, "x": "y" * 300} for at in range(3)]
    columns = [*COLUMNS, *(Column(f"MORE{at}", lambda row: row["x"]) for at in range(9))]
    out = io.StringIO()
    narrow = terminal.Terminal(out, out, tty=True, columns=80, environment={"NO_COLOR": "1"})
    with terminal.writing_to(narrow):
        head, *lines = table_text(rows, columns).splitlines()
    assert [line.split()[:2] for line in lines] == [[f"job-{at}", str(at)] for at in range(3)]
    assert head.rstrip().endswith(MORE)
    assert max(map(len, [head, *lines])) <= 80
