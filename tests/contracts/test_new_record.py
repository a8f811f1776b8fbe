"""A record is added as CONTRIBUTING says: four files by hand, and the rest by `make records`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text().partition("### a record\n")[2].partition("\n### ")[0]
BY_HAND_MOST = 4
ROOMS = (
    *("client", "components", "events", "projections", "tasks", "turbine"),
    *("docs/contract", "tests"),
)
"""All that the commands read or write, and the tests that hold a record."""
LEFT_OUT = shutil.ignore_patterns("dashboard", "node_modules", "*.pyc.*")
"""Bytecode comes along, so that the copy need not be compiled again."""

NAME = "JobNoted"
SCHEMA = {
    "type": "record",
    "name": NAME,
    "namespace": "turbine.journal.v1",
    "doc": "Somebody noted something about a job.",
    "fields": [
        {"name": "job", "type": "string", "doc": "Id of the job."},
        {"name": "note", "type": "string", "doc": "What was noted, in one sentence."},
    ],
}
NEW = f"events/schemas/journal/{NAME}.avsc"
SAID = "'noted' + why(body.note)"
EDITS = {
    "events/topics.py": {'        "SyncStepStarted",\n': f'        "{NAME}",\n'},
    "events/sentences/jobs.py": {
        "    JobDeleted,\n": f"    {NAME},\n",
        "    AlertCleared | AlertRaised |": f" {NAME} |",
        "    match body:\n": f"        case {NAME}():\n            return {SAID}\n",
    },
    "components/runtime/core/following.py": {
        '"CapacityReported": "a tier was measured",\n': f'        "{NAME}": "a person did",\n',
    },
}
"""What is written behind which lines, by file."""
WRITTEN = {
    "ARCHITECTURE.md",
    "docs/contract/asyncapi.yaml",
    "events/generated/records.py",
    "events/schemas/lock.json",
    "tests/golden/sentences.txt",
}
"""What `make records` changes, beside the record's two new files of the golden corpus."""

USED = f"""
import sys
from pathlib import Path
from components.runtime.kafka.intake import Message
from events.generated.records import {NAME}
from events.topics import BY_SHORT, JOURNAL
from events.wire.codec import Record, encode, headers_of
from turbine.cli import main
from turbine.read.records import to_export
from turbine.read.sources.log_lines import FileHead, LogFileWriter
from turbine_client.identity import ROOT, decision_id

body = {NAME}("clicks", "it is slow")
value = encode(body)
id = decision_id(ROOT, "clicks", "{NAME}", value)
record = Record("clicks", id, "{NAME}", value, body, ROOT, {{}}, 1_000, "noted/1", "noted")
message = Message(JOURNAL, 0, 0, 1_000, b"clicks", value, list(headers_of(record, JOURNAL)))
with LogFileWriter(Path("log.jsonl")) as lines:
    lines.put(FileHead(dict.fromkeys(BY_SHORT, 1), {{}}, {{message.place: 1}}).to_plain())
    lines.record(message, to_export(message, 1))
    lines.end()
sys.argv = ["turbine", "--log", "log.jsonl", "log", "tail"]
sys.exit(main())
"""
"""A program that says the record, reads it back and prints it."""


TESTS = (
    "tests/contracts/test_records_table.py",
    "tests/contracts/test_schemas.py",
    "tests/golden",
    "tests/laws/test_sentences.py",
    "tests/unit/runtime/test_following.py",
)
HOLDS = "no_kind_is_left_out or row_in_the_table or page_has_the_table or the_corpus_holds"
"""The tests of all records at once; the others of these files have the record's name in theirs."""


def copy_to(folder: Path) -> None:
    """A copy of what the commands read and write."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, ignore=LEFT_OUT)
    for name in ("ARCHITECTURE.md", "Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)


def edit(folder: Path) -> None:
    """Writes by hand what CONTRIBUTING says."""
    (folder / NEW).write_text(json.dumps(SCHEMA, indent=2) + "\n")
    for name, behind in EDITS.items():
        text = (folder / name).read_text()
        for line, new in behind.items():
            assert text.count(line) >= 1, f"{name} has no line {line!r} any more: name another"
            text = text.replace(line, line + new, 1)
        (folder / name).write_text(text)


def files(folder: Path) -> dict[str, bytes]:
    """All files but bytecode, with what they hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    """The files that are new, or hold something else."""
    return {name for name, content in after.items() if before.get(name) != content}


def python(folder: Path, *words: str) -> str:
    """What a Python prints that finds the copy's rooms and no others."""
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'client'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def commands() -> list[list[str]]:
    """What `make records` runs, without the name of the interpreter."""
    recipe = (ROOT / "Makefile").read_text().partition("\nrecords:")[2].partition("\n\n")[0]
    return [shlex.split(line)[1:] for line in recipe.splitlines()[1:]]


def named() -> list[str]:
    """A pattern of each file that CONTRIBUTING has a step for."""
    steps = GUIDE.split("\n1. ")[1].partition("\n\n")[0]
    places = re.findall(r"`((?:events|components)/[^`]+)`", steps)
    return [re.sub(r"<\w+>", "*", one) + ("*" if one.endswith("/") else "") for one in places]


def test_four_files_by_hand_and_one_command_add_a_record(tmp_path: Path) -> None:
    copy_to(tmp_path)
    before = files(tmp_path)
    edit(tmp_path)
    edited = files(tmp_path)
    by_hand = changed(before, edited)
    assert len(by_hand) == len(named()) <= BY_HAND_MOST
    for pattern in named():
        assert any(Path(one).match(pattern) for one in by_hand), pattern

    for words in commands():
        python(tmp_path, *words)
    written = changed(edited, files(tmp_path))
    assert {name for name in written if NAME not in name} == WRITTEN
    assert len(written - WRITTEN) == 2
    assert not written & by_hand
    told = python(tmp_path, "-c", USED)
    assert "clicks" in told
    assert "noted: it is slow" in told
    wanted = f"({NAME} or {HOLDS}) and not any_record"
    python(tmp_path, "-m", "pytest", "-q", "-k", wanted, *TESTS)
