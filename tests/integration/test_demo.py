"""`make demo` comes as told, with tasks that only count, and `make demo-stop` leaves no process.

Spark has tests of its own: two more of it would keep a small machine busy for minutes.
"""

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

EXPIRY_S = "30"
STEPS = [
    "A broker, all components and two containers whose tasks only count start on this machine.",
    "All are accepted: clicks, visits, orders.",
    "clicks runs: task 0 on container-",
    "A quiet day passes in four minutes: the last one of site.csv, a recording.",
    "Rejected, at the path tasks: tasks: expected at most limits.tasks, which is 32, found 99.",
    "the other is stale: expected version 1 of the base layer, but it is 2, set by",
    "orders has 1 task of 1 thread,",
    "ScalingDecided, for lag, caused by under-capacity:",
    " now. ScalingVerified: ",
    "It cannot read the log, so its tasks stand still before anybody gives them away.",
    "Given up after a minute of silence (here a tenth of it): all run on container-",
    "The supervisor has started it again (process ",
    "Accepted: oncall stands above base",
    "The old tasks have stopped in the log, and 3 new ones run.",
    "in the middle of them kill -9 of worker-",
    "which decides about ",
    " had no verdict yet, and 15 came after it. Each of the 30 has exactly",
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


@pytest.mark.timeout(900)
def test_the_story_is_told_and_ends(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    trace = tmp_path / "site.csv"
    trace.write_text("".join(f"{at},{600 + at % 60}\n" for at in range(2_000)))
    try:
        told = demo(
            tmp_path, "start", "--expiry", EXPIRY_S, "--trace", str(trace), "--engine", "process"
        )
        assert lives(place)
    finally:
        ended = demo(tmp_path, "stop")
    at = 0
    for step in STEPS:
        at = told.find(step, at)
        assert at >= 0, f"not told, or not in its place: {step}\n{told}"
    assert re.findall(r"^    \$ \S+ --bootstrap 127\.0\.0\.1:\d+ audit$", told, re.MULTILINE)
    assert ended == "The demo has ended.\n"
    assert not lives(place)
    assert kept_status(place / "broker").pid is None
    assert processes_in(tmp_path) == []
    assert demo(tmp_path, "stop") == "No demo runs.\n"
