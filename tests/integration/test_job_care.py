"""What a person on call does, on a real log where no state syncer runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Fleet
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine_client.publish import Publisher

pytestmark = pytest.mark.broker

CONFIG = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
}


def test_a_job_is_scaled_rolled_back_and_waited_for(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", fleet.bootstrap)

    def command(*arguments: str) -> Ended:
        ended = run(*arguments)
        assert ended.code == Code.OK, ended
        return ended

    with Publisher(fleet.settings, author="ana") as ana:
        ana.change("oncall", CONFIG | {"tasks": 2}, create=True)
        ana.change("oncall", {"tasks": 3, "priority": 7})
    scaled = command("scale", "oncall", "--tasks", "5", "--for", "2h", "--reason", "backlog")
    assert scaled.out.startswith("oncall: accepted as version 1 of oncall")
    rolled = command("rollback", "job", "oncall", "--to", "1")
    assert rolled.out.startswith("oncall: accepted as version 3 of base")
    described = json.loads(command("describe", "job", "oncall", "-o", "json").out)
    assert described["layers"]["base"]["config"] == CONFIG | {"tasks": 2}
    assert described["expected"]["tasks"] == 5
    assert described["sync"]["condition"] == "behind"
    [row] = json.loads(command("get", "syncs", "--job", "oncall", "-o", "json").out)
    assert (row["in_effect"], row["running_versions"]) == ("none", None)
    before = run("get", "syncs", "--job", "oncall", "--at", "journal.v1/0:0")
    assert before.code == Code.NOT_FOUND
    different = run("diff", "job", "oncall", "--running", "--exit-code")
    assert (different.code, "+ tasks: 5" in different.out) == (Code.FINDINGS, True)
    rolled_back = command("diff", "job", "oncall", "--from", "base:2", "--to", "base:3")
    assert rolled_back.out.strip()
    waited = run("wait", "job", "oncall", "--for=running", "--timeout", "10ms")
    assert waited.code == Code.TIMEOUT
    assert "is the state syncer running?" in waited.sentence
