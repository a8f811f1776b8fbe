"""From nothing to a fleet that runs, as a newcomer has it: clone, first task, story, first answers.

The machine's caches of packages and jars are used as they are: what a first download takes is the
network's. Everything else is typed in a fresh clone, with no variable set.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.answers import RUNS, answers
from benchmarks.children import ChildFailed
from benchmarks.figures import Result, say, share
from benchmarks.front_door import Ran, clone_into, run
from events.topics import TASKS
from turbine.read.sources.log import Log
from turbine_client.settings import load_settings

STARTED = "TaskStarted"
FIRST = "A broker, all components"
"""What the demo says when its environment is there."""


def measure(quick: bool) -> Result:
    """One clone, told to its end; each answer is the median of 20."""
    with TemporaryDirectory(prefix="first-hour-") as directory:
        began_ms = time.time_ns() // 1_000_000
        began_s = time.monotonic()
        clone = clone_into(Path(directory))
        cloned_s = time.monotonic() - began_s
        try:
            told = run(clone, "make demo", say)
            if told.code:
                raise ChildFailed(f"`make demo` ended with {told.code}: {told.lines[-3:]}")
            return _result(clone, told, cloned_s, began_ms, quick=quick)
        finally:
            run(clone, "make demo-stop", say)


def _result(clone: Path, told: Ran, cloned_s: float, began_ms: int, *, quick: bool) -> Result:
    fleet = clone / ".turbine" / "demo"
    runs = RUNS // 10 if quick else RUNS
    setup_s = cloned_s + told.find(FIRST).after_s
    figures = {
        "clone_to_story_s": cloned_s + told.lines[-1].after_s,
        "clone_to_first_task_s": (_first_start_ms(fleet) - began_ms) / 1000,
        "setup_s": setup_s,
        **answers(fleet, [str(clone / ".venv" / "bin" / "turbine")], runs),
    }
    peers = {"python_start_ms": _python_ms(runs)}
    notes = [
        f"setting up the environment is {setup_s:.0f} s of it, packages from the machine's cache",
        "an answer by the API stands beside the same one folded from the log",
    ]
    return Result("first-hour", figures, peers, notes)


def _first_start_ms(fleet: Path) -> int:
    """When the broker took the first word of a task that runs."""
    log = Log(load_settings({"directory": fleet}, environment={}))
    starts = [read.at_ms for read in log.read([TASKS]) if read.record.kind == STARTED]
    if not starts:
        raise ChildFailed(f"no task has started in {fleet}")
    return min(starts)


def _python_ms(runs: int) -> float:
    """What any program in Python takes to start and to end."""
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        took.append((time.perf_counter() - began) * 1000)
    return share(took, 0.5)
