"""Fetches the modules of a program in Go, once, and compiles it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from infra.waiting import within
from tests.foreign.turns import alone

PROJECT = Path(__file__).parents[2] / "examples" / "publish" / "go"
FETCH_S = within(120)
COMPILE_S = within(300)


def fetch(project: Path = PROJECT) -> str:
    """Fetches the modules where they are not there; why that cannot be, "" where they are."""
    go = shutil.which("go")
    if go is None:
        return "there is no Go on this machine; install it to run this test"
    with alone(project / "publish.go"):  # Go locks go.mod and go.sum itself
        command = [go, "list", "-deps", "-mod=readonly", "."]
        try:
            done = subprocess.run(
                command, cwd=project, capture_output=True, text=True, timeout=FETCH_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"Go did not fetch the modules within {FETCH_S} s; is its proxy in reach?"
        if done.returncode:
            said = " ".join(done.stderr.split())[:200]
            return f"Go cannot fetch the modules ({said}); is its proxy in reach?"
        # All packages are compiled once a machine, which takes half a minute.
        subprocess.run([go, "vet", "."], cwd=project, timeout=COMPILE_S, check=True)
        return ""
