"""Plays a scenario: a text of commands with what they said, recorded, and compared.

    needs: fleet                    it talks to a broker and components; without it, to nobody
    # A line of explanation.
    @ job.yaml                      a file, with what follows indented by four spaces in it
        job: clicks
    $ turbine get jobs nope         a command
    ! turbine: there is no job      what it said on standard error
    [3]                             its exit code, if that is not 0

Ids, times, places' offsets and the broker's address are written as marks. The same id has the same
mark throughout, and a command may name a mark: `$ turbine why <change-1>`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.unit.turbine.lines import Ended

COMMAND = "$ turbine "
FILE = "@ "
NEEDS_FLEET = "needs: fleet"

# In this order: a change's id holds an instant, and a position may follow a time.
_IDS = re.compile(
    r"(?P<change>\b1[0-9]{12}\.[0-9a-f]{32}\b)"
    r"|(?P<decision>\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b)"
)
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"), "<time>"),
    (re.compile(r"(_ms\"?: )1[0-9]{12}\b"), r"\1<ms>"),
    (re.compile(r"\b([a-z-]+(?:\.[a-z-]+)*\.v1/)[0-9]+(\"?): ?[0-9]+"), r"\1<p>\2:<n>"),
    (re.compile(r"127\.0\.0\.1:[0-9]+"), "<broker>"),
    (re.compile(r"(\bends at )[0-9]+"), r"\1<n>"),
    (re.compile(r"(?<=\S) {2,}"), "  "),  # columns are as wide as what stood in them
)


@dataclass(slots=True)
class Marks:
    """Which id has which mark."""

    names: dict[str, str] = field(default_factory=dict)
    here: str = "<here>"  # where the commands are typed

    def hide(self, text: str) -> str:
        """The text with marks."""
        text = _IDS.sub(self._mark, text.replace(self.here, "<here>"))
        for pattern, mark in _MARKS:
            text = pattern.sub(mark, text)
        return text

    def show(self, text: str) -> str:
        """The text with the ids that its marks stand for."""
        for found, mark in self.names.items():
            text = text.replace(mark, found)
        return text

    def _mark(self, found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        count = sum(mark.startswith(f"<{kind}-") for mark in self.names.values())
        return self.names.setdefault(found[0], f"<{kind}-{count + 1}>")


def play(script: str, directory: Path, run: Callable[[list[str]], Ended]) -> str:
    """The script with what its commands say now."""
    marks, lines = Marks(here=str(directory.resolve())), list[str]()
    for line, content in _steps(script):
        lines.append(line)
        if line.startswith(FILE):
            (directory / line.removeprefix(FILE)).write_text("\n".join(content) + "\n")
            lines += [f"    {one}".rstrip() for one in content]
        elif line.startswith(COMMAND):
            ended = run(shlex.split(marks.show(line.removeprefix(COMMAND))))
            lines += [marks.hide(one).rstrip() for one in ended.out.splitlines()]
            lines += [f"! {marks.hide(one)}".rstrip() for one in ended.err.splitlines()]
            lines += [f"[{int(ended.code)}]"] if ended.code else []
    return "\n".join(lines) + "\n"


def _steps(script: str) -> Iterator[tuple[str, list[str]]]:
    """What is the author's, without what was recorded; a file with its content."""
    lines = script.splitlines()
    for at, line in enumerate(lines):
        if line.startswith(FILE):
            content = []
            for one in lines[at + 1 :]:
                if one and not one.startswith("    "):
                    break
                content.append(one[4:])
            while content and not content[-1]:
                content.pop()
            yield line, content
        elif line.startswith((COMMAND, "#", "needs:")):
            yield line, []
        elif not line and at + 1 < len(lines) and lines[at + 1].startswith(("#", FILE, COMMAND)):
            yield line, []  # a paragraph of the author's
