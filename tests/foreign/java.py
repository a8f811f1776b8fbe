"""Fetches the jars of a program in Java, once, by Maven."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from infra.waiting import within
from tests.foreign.turns import alone

PROJECT = Path(__file__).parents[2] / "examples" / "publish" / "java"
FETCH_S = within(120)


def fetch(project: Path = PROJECT) -> str:
    """Fetches the jars where they are not there; why that cannot be, "" where they are."""
    pom = project / "pom.xml"
    with alone(pom):
        return _fetched(project, pom)


def _fetched(project: Path, pom: Path) -> str:
    ready = project / "target" / ".ready"
    if ready.exists() and ready.stat().st_mtime >= pom.stat().st_mtime:
        return ""
    maven = shutil.which("mvn")
    if maven is None or shutil.which("javac") is None:
        return "there is no JDK with Maven on this machine; install both to run this test"
    shutil.rmtree(project / "target", ignore_errors=True)  # jars of another version
    command = [maven, "-q", "-B", "-f", pom, "dependency:copy-dependencies"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        return f"Maven did not fetch the jars within {FETCH_S} s; is its repository in reach?"
    if done.returncode:
        said = " ".join(done.stdout.split())[:200]
        return f"Maven cannot fetch the jars ({said}); is its repository in reach?"
    ready.touch()
    return ""
