"""What the README shows is what happens: its programs are run as they stand there.

Its commands are typed at the front door, where containers run (test_front_door.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from infra.waiting import within
from tests.integration.processes import ROOT, Fleet, SharedBroker, fleet_at

pytestmark = [pytest.mark.broker, pytest.mark.slow]

README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
WAIT_S = within(120)


@pytest.fixture(scope="module")
def fleet(broker: SharedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_at(broker, tmp_path_factory.mktemp("readme"), "readme") as fleet:
        fleet.start("clock")
        fleet.publisher()
        fleet.worker()
        yield fleet


def environment(fleet: Fleet) -> dict[str, str]:
    return fleet.environment | {"PYTHONUNBUFFERED": "1"}


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
