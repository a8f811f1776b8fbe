"""How long a person waits for the command line: for its help, and for the jobs of a running fleet.

Each is the median of whole processes, from their start to their end, one after the other.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.children import ChildFailed, environment
from benchmarks.figures import share

RUNS = 20
PATIENCE_S = 120.0


def program() -> list[str]:
    """The command line of the environment that measures."""
    script = Path(sys.executable).with_name("turbine")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "turbine"]


def answers(fleet: Path, asked: Sequence[str] | None = None, runs: int = RUNS) -> dict[str, float]:
    """All three, of the fleet that lives in that directory; `asked` is another's command line."""
    return {
        "get_jobs_ms_api": get_jobs_ms_api(fleet, asked, runs),
        "get_jobs_ms_log": get_jobs_ms_log(fleet, asked, runs),
        "help_ms": help_ms(asked, runs),
    }


def get_jobs_ms_api(fleet: Path, asked: Sequence[str] | None = None, runs: int = RUNS) -> float:
    """`get jobs` as its running API answers it; ChildFailed where it was not the API."""
    return _median_ms(
        [*(asked or program()), "--fleet", str(fleet), "--verbose", "get", "jobs"], runs
    )


def get_jobs_ms_log(fleet: Path, asked: Sequence[str] | None = None, runs: int = RUNS) -> float:
    """The same, folded from the log."""
    return _median_ms(
        [*(asked or program()), "--fleet", str(fleet), "--from-log", "get", "jobs"], runs
    )


def help_ms(asked: Sequence[str] | None = None, runs: int = RUNS) -> float:
    """The help above all commands."""
    return _median_ms([*(asked or program()), "--help"], runs)


def _median_ms(command: Sequence[str], runs: int) -> float:
    """The first one is not counted: it brings the code into the machine's memory."""
    _run_ms(command)
    return share([_run_ms(command) for _ in range(runs)], 0.5)


def _run_ms(command: Sequence[str]) -> float:
    # The command line's own rooms, which may be those of another clone.
    env = {name: value for name, value in environment({}).items() if name != "PYTHONPATH"}
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=env,
        timeout=PATIENCE_S,
        check=False,
    )
    took_ms = (time.perf_counter() - begun) * 1000
    said = done.stderr.decode(errors="replace").strip()
    # `there are no jobs` is an answer, too; what begins so is a failure, or why no API answered.
    if done.returncode or said.startswith("turbine:"):
        raise ChildFailed(f"`{' '.join(command)}` ended with {done.returncode}: {said}")
    return took_ms
