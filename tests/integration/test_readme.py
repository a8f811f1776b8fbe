"""What the README shows is what happens: its programs and commands are run as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.processes import ROOT, Fleet, fleet_on

pytestmark = [pytest.mark.broker, pytest.mark.slow]

README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
[JOB] = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
SHOWN = re.findall(r"^ {4}(turbine .*)$", README, re.MULTILINE)
LINES = [re.split(r"\s+#\s", line)[0].strip() for line in SHOWN]
WAIT_S = 120

RUN = (
    "check",
    "topics create",
    "apply",
    "get lag",
    "why clicks",
    "why-not clicks",
    "scale clicks",
    "diff --from",
    "audit",
    "log export",
    "top",
)
"""Of the commands, those that need no container and no recorded load."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("readme")) as fleet:
        fleet.start("clock")
        fleet.publisher()
        fleet.worker()
        (fleet.directory / "long-words.yaml").write_text(JOB)
        yield fleet


def environment(fleet: Fleet) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURBINE_")}
    return clean | {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "TURBINE_BOOTSTRAP": fleet.settings.bootstrap,
        "TURBINE_PARTITIONS": str(fleet.settings.partitions),
    }


def ended(fleet: Fleet, command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=fleet.directory,
        env=environment(fleet),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


def test_there_is_something_to_run() -> None:
    assert len(PYTHON) == 3
    for one in RUN:
        assert any(line.startswith(f"turbine {one}") for line in LINES), one


def test_programs_publish_and_their_changes_are_accepted(fleet: Fleet) -> None:
    publish, override, _ = PYTHON
    verdicts = override.replace("publisher.change(", "verdict = publisher.change(", 1)
    done = ended(fleet, [sys.executable, "-c", f"{publish}\n{verdicts}\nprint(verdict)"])
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("Accepted("), first
    assert second.startswith("Accepted("), second


def test_a_program_subscribes(fleet: Fleet) -> None:
    [program] = [one for one in PYTHON if "Subscriber(" in one]
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=fleet.directory,
        env=environment(fleet),
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        told = child.stdout.readline()
        child.kill()
    assert re.match(r"\w+ clicks JobConfigChanged\(|JobConfigChanged clicks ", told), told


def test_commands_do_what_is_said(fleet: Fleet) -> None:
    wanted = [line for line in LINES if line.startswith(tuple(f"turbine {one}" for one in RUN))]
    for line in wanted:
        words = shlex.split(line)[1:]
        if words == ["top"]:
            words = ["top", "--once"]  # it is for people, and goes on
        done = ended(fleet, [sys.executable, "-m", "turbine", *words])
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert Path(fleet.directory / "incident.log.gz").exists()
