"""`make demo` comes as told, twice, and `make demo-stop` leaves no process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.kafka.kept import kept_status
from tests.integration.processes import processes_in
from turbine.fleet import lives

pytestmark = [pytest.mark.broker, pytest.mark.slow]

EXPIRY_S = "4"
STEPS = [
    "All are accepted: {clicks}, ",
    "Rejected, at the path tasks: tasks: expected at most limits.tasks, which is 32, found 99.",
    "the other is stale: expected version 1 of the base layer, but it is 2, set by",
    "Accepted: oncall stands above base",
    "in the middle of them kill -9 of job-service-",
    "which decides about ",
    " had no verdict yet, and 30 came after it. Each of the 60 has exactly",
    "OverrideExpired at outcomes.v1/",
    "no change for the old one fits the new.",
    "decisions come out the same, byte by byte; none differs.",
    "All came as told, and all of it still runs.",
]


def demo(directory: Path, *arguments: str) -> str:
    """What a person reads; a failed test unless it ends with 0."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURBINE_")}
    done = subprocess.run(
        [sys.executable, "-m", "turbine.demo", *arguments],
        cwd=directory,
        env=clean | {"TURBINE_DIRECTORY": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_the_story_is_told_twice_and_ends(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    try:
        first = demo(tmp_path, "start", "--expiry", EXPIRY_S)
        assert lives(place)
        again = demo(tmp_path, "start", "--expiry", EXPIRY_S)
    finally:
        ended = demo(tmp_path, "stop")
    for told, clicks in ((first, "clicks"), (again, "clicks-2")):
        at = 0
        for step in STEPS:
            at = told.find(step.format(clicks=clicks), at)
            assert at >= 0, f"not told, or not in its place: {step}\n{told}"
    assert first.startswith("A broker, a clock, a publisher and two job services start")
    assert again.startswith("The demo runs already: its story is told again, with new jobs.")
    assert re.findall(r"^    \$ \S+ --bootstrap 127\.0\.0\.1:\d+ audit$", first, re.MULTILINE)
    assert ended == "The demo has ended.\n"
    assert not lives(place)
    assert kept_status(place / "broker").pid is None
    assert processes_in(tmp_path) == []
    assert demo(tmp_path, "stop") == "No demo runs.\n"
