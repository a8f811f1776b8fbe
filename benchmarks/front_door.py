"""A fresh clone, and in it the README's commands as somebody types them who has set nothing."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.children import ROOT, ChildFailed

PLACE = ("my projects", ".try-it")
"""Where people have their clones: behind a space, a dot and a hyphen."""
KEPT = re.compile(
    r"PATH|HOME|LANG|JAVA_HOME|(PIP|UV|MAVEN|SSL|REQUESTS)_.*|https?_proxy", re.IGNORECASE
)
"""Of the environment: what a machine needs to fetch packages at all, and nothing of ours."""


class Line(NamedTuple):
    """One line that a command has printed, and when."""

    after_s: float
    text: str


class Ran(NamedTuple):
    """How a command went."""

    code: int
    lines: list[Line]

    @property
    def text(self) -> str:
        """All that it printed."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def find(self, part: str) -> Line:
        """The first line that says so."""
        found = next((line for line in self.lines if part in line.text), None)
        if found is None:
            raise ChildFailed(f"nothing like {part!r} was told:\n{self.text}")
        return found


def commands() -> list[str]:
    """Those that the README shows first, as they stand there."""
    section = (ROOT / "README.md").read_text().partition("## Two commands\n")[2]
    block = section.partition("\n\n`make` alone")[0]
    return re.findall(r"^    (make \S+)", block, re.MULTILINE)


def clone_into(directory: Path) -> Path:
    """A clone of what was committed last, under a path with a bit of everything."""
    place = directory.joinpath(*PLACE)
    place.mkdir(parents=True)
    clone = place / "turbine"
    done = subprocess.run(
        ["git", "clone", "--quiet", str(ROOT), str(clone)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ChildFailed(f"no clone: {done.stderr.strip()}")
    return clone


def run(clone: Path, command: str, say: Callable[[str], object] = lambda _: None) -> Ran:
    """Types a command in the clone; each of its lines goes to `say` as it comes."""
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    began_s, lines = time.monotonic(), list[Line]()
    with subprocess.Popen(  # noqa: S602 - as it is typed
        command,
        shell=True,
        cwd=clone,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        assert child.stdout is not None
        for text in child.stdout:
            lines.append(Line(time.monotonic() - began_s, text.rstrip("\n")))
            say(text.rstrip("\n"))
    return Ran(child.returncode, lines)
