"""The log as a file, replay and differences, on a real log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Fleet
from tests.unit.turbine.lines import NOWHERE, Ended, run
from turbine.failures import Code
from turbine.read.moments import show_time

pytestmark = pytest.mark.broker

JOB = """\
job: {name}
operator: clicks.count:run
inputs: [{{topic: clicks}}]
package: {{name: clicks, version: "1"}}
checkpoint: {{root: /checkpoints}}
"""


@pytest.fixture
def turbine(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command that has to end with 0."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", fleet.bootstrap)

    def command(*arguments: str) -> Ended:
        ended = run(*arguments)
        assert ended.code == Code.OK, ended
        return ended

    return command


def create(turbine: Callable[..., Ended], name: str) -> None:
    Path(f"{name}.yaml").write_text(JOB.format(name=name))
    turbine("apply", "-f", f"{name}.yaml", "--author", "ana")


def _last_id(turbine: Callable[..., Ended], job: str) -> str:
    tail = turbine("log", "tail", "--topic", "journal", "--job", job, "-n", "1", "-o", "jsonl").out
    return str(json.loads(tail)["id"])


def test_a_file_says_what_the_broker_says(turbine: Callable[..., Ended]) -> None:
    """Once it is written, nothing has to run: the file is read as the log was."""
    create(turbine, "in-a-file")
    turbine("publish", "change", "in-a-file", "--set", "tasks=3", "--author", "bo")
    at = json.loads(turbine("why", _last_id(turbine, "in-a-file"), "-o", "json").out)["at_ms"]
    turbine("log", "export", "--out", "all.log.gz")
    turbine("log", "export", "--out", "one.log.gz", "--job", "in-a-file")
    turbine("log", "export", "--out", "late.log.gz", "--from", show_time(at - 1))
    lines = [
        ["get", "jobs", "in-a-file", "-o", "json"],
        ["describe", "job", "in-a-file", "-o", "json"],
        ["why", _last_id(turbine, "in-a-file"), "-o", "json"],
        ["diff", "job", "in-a-file", "--from", "base:1", "-o", "json"],
        ["get", "jobs", "in-a-file", "-o", "json", "--at", show_time(at)],
        ["log", "tail", "--job", "in-a-file", "-o", "jsonl"],
    ]
    for line in lines:
        there = turbine(*line)
        for name in ("all", "one", "late"):
            if name == "late" and line[:2] == ["log", "tail"]:
                continue  # requests of before are there, and what was published of them is not
            found = run("--log", f"{name}.log.gz", *line, "--bootstrap", NOWHERE)
            assert (found.code, found.err, found.out) == (0, "", there.out), (name, line)
    ended = run("--log", "one.log.gz", "audit", "-o", "json", "--bootstrap", NOWHERE)
    assert (ended.code, json.loads(ended.out)["differences"]) == (Code.OK, [])


def test_the_log_is_replayed(turbine: Callable[..., Ended]) -> None:
    create(turbine, "replayed")
    ended = turbine("replay", "--job", "replayed", "-o", "jsonl")
    *rows, last = [json.loads(line) for line in ended.out.splitlines()]
    known = json.loads(turbine("describe", "job", "replayed", "-o", "json").out)["decisions"]
    assert [row["id"] for row in rows] == [one["id"] for one in known]
    assert last["summary"]["standing"] == sum(one["stands"] for one in known)


def test_an_incident_on_a_broker_is_a_test(turbine: Callable[..., Ended]) -> None:
    create(turbine, "incident")
    turbine("log", "export", "--as-test", "test_it.py", "--job", "incident")
    names: dict[str, Any] = {"__file__": str(Path("test_it.py").absolute())}
    exec(Path("test_it.py").read_text(), names)  # noqa: S102 - as pytest would import it
    names["test_job_config_changed_about_incident"]()
    assert names["DECIDED"]["job"] == "incident"


def test_the_fleet_is_compared_with_what_it_was(turbine: Callable[..., Ended]) -> None:
    create(turbine, "compared")
    turbine("publish", "change", "compared", "--set", "tasks=3", "--author", "bo")
    at = json.loads(turbine("why", _last_id(turbine, "compared"), "-o", "json").out)["at_ms"]
    line = ["diff", "--from", show_time(at - 1), "--job", "compared"]
    assert "   (base 2 by bo)\n" in turbine(*line).out
    ended = run(*line, "--exit-code")
    assert ended.code == Code.FINDINGS
