"""Runs our scripts for Node, with the packages that package-lock.json pins, fetched once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from infra.waiting import within
from tests.foreign.turns import alone

HERE = Path(__file__).parent
LOCK = HERE / "package-lock.json"
FETCH_S = within(90)
RUN_S = within(300)
"""Of a log of a hundred thousand records, beside other load."""


def fetch(folder: Path = HERE) -> str:
    """Fetches the packages where they are not there; why that cannot be, "" where they are."""
    lock = folder / "package-lock.json"
    with alone(lock):
        return _fetched(folder, lock)


def _fetched(folder: Path, lock: Path) -> str:
    ready = folder / "node_modules" / ".ready"
    if ready.exists() and ready.stat().st_mtime >= lock.stat().st_mtime:
        return ""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "there is no Node with npm on this machine; install it to run this test"
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"npm did not fetch the packages within {FETCH_S} s; is its registry in reach?"
    if done.returncode:
        said = " ".join(done.stderr.split())[:200]
        return f"npm cannot fetch the packages ({said}); is its registry in reach?"
    ready.touch()
    return ""


def run_script(name: str, given: str) -> str:
    """What one of our scripts prints of what it is given; skips where there is no Node."""
    return _run(HERE / name, (), given)


def run_program(source: Path, *arguments: str, given: str = "") -> str:
    """What a program of elsewhere prints, with our packages beside it; skips as well."""
    packages = source.parent / "node_modules"
    if not packages.exists():
        packages.symlink_to(HERE / "node_modules")
    return _run(source, arguments, given)


def _run(source: Path, arguments: tuple[str, ...], given: str) -> str:
    missing = fetch()
    if missing:
        pytest.skip(missing)
    command = ["node", source, *arguments]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=RUN_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
