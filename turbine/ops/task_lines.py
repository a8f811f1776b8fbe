"""What the tasks of a fleet on this machine have printed: finds their files and follows them.

A task that moved has files in the places of several containers: what it said is merged by instant.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from components.task_manager.place import LIFE
from tasks.task_log import (
    OUTPUT,
    STAMP_BYTES,
    PrintedLine,
    file_of,
    line_of,
    older,
    tasks_in,
)
from turbine.read.plain import JsonObject

CONTAINERS = "containers"
"""Where a fleet's containers have their places, in its directory."""
TAIL_BYTES_MOST = 600_000
"""Of a task's files, to tell its last lines."""


class AttributedLine(NamedTuple):
    """A line, and who said it where."""

    line: PrintedLine
    container: str
    job: str
    task: int

    def to_plain(self) -> JsonObject:
        """The line as a JSON object."""
        return {
            "kind": "line",
            "at_ms": self.line.at_ms,
            "job": self.job,
            "task": self.task,
            "name": f"{self.job}/{self.task}",
            "container": self.container,
            "run": self.line.run,
            "stream": self.line.stream,
            "text": self.line.text,
        }


def places_in(directory: Path) -> dict[str, Path]:
    """The places of containers by their names: in a fleet's directory, or that of one container."""
    found = {}
    for place in (directory, *sorted((directory / CONTAINERS).glob("*"))):
        name = _holder(place)
        if name is not None:
            found[name] = place
    return found


def _holder(place: Path) -> str | None:
    """Whose place it is; None: it is no container's."""
    try:
        plain = json.loads((place / LIFE).read_text())
    except (OSError, ValueError):
        return None
    name = plain.get("container") if isinstance(plain, dict) else None
    return name if isinstance(name, str) else None


class FileSpot(NamedTuple):
    """How far a file was read, and which one it was: its name goes to the next one when it is
    full, and so does, often, the number of the one that is deleted then."""

    file: tuple[int, bytes]  # its number, and the instant at which it begins
    offset: int


class TaskLineReader:
    """The lines of a job's tasks; each call gives those that are new, by instant."""

    def __init__(self, directory: Path, job: str, task: int | None) -> None:
        self._directory, self._job, self._task = directory, job, task
        self._spots: dict[Path, FileSpot] = {}

    @property
    def places(self) -> Mapping[str, Path]:
        """The places of containers that are here."""
        return places_in(self._directory)

    def heard(self, container: str, task: int) -> bool:
        """Has this task said anything in that container?"""
        place = self.places.get(container)
        return place is not None and task in tasks_in(place, self._job)

    def read(self, last: int | None = None) -> list[AttributedLine]:
        """What is new; no more than the last ones of each task, where that is asked."""
        by_task: dict[int, list[AttributedLine]] = {}
        for container, place in self.places.items():
            for task in tasks_in(place, self._job):
                if self._task in (None, task):
                    lines = self._lines(file_of(place, self._job, task))
                    found = by_task.setdefault(task, [])
                    found += [AttributedLine(line, container, self._job, task) for line in lines]
        for found in by_task.values():
            found.sort(key=_at_ms)  # lines of one instant stay in their order
            if last is not None:
                del found[: max(0, len(found) - last)]
        return sorted(chain.from_iterable(by_task.values()), key=_at_ms)

    def _lines(self, path: Path) -> Iterable[PrintedLine]:
        """What is new in a file, and in the one that was put aside meanwhile."""
        known = self._spots.get(path)
        texts, spot = _whole_lines(path, known)
        if known is None or (spot is not None and spot.file != known.file):
            before, aside = _whole_lines(older(path), known)
            if aside is None or spot is None or aside.file != spot.file:  # else it is this one
                texts = before + texts
        if spot is not None:
            self._spots[path] = spot
        return lines_of(texts)


def _at_ms(said: AttributedLine) -> int:
    return said.line.at_ms


def tail_of(place: Path, job: str, task: int, most: int) -> list[PrintedLine]:
    """The last lines of a task in the place of a container, read from the end of its files."""
    path, texts, known = file_of(place, job, task), list[bytes](), -1
    for one in (path, older(path)):
        room = TAIL_BYTES_MOST - sum(map(len, texts))
        if len(texts) < most and room > 0:
            before, known = _last_texts(one, room, known)
            texts = before + texts
    return [line for line in lines_of(texts) if line.run][-most:]


def _last_texts(path: Path, room: int, known: int) -> tuple[list[bytes], int]:
    """The whole lines in the last bytes of a file, and its number; none of one that is known."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino == known:
                return [], known  # it was put aside meanwhile
            skip = max(0, found.st_size - room)
            file.seek(skip)
            *lines, _ = file.read(room).split(b"\n")
            return lines[1:] if skip else lines, found.st_ino
    except OSError:  # it is not there
        return [], known


def lines_of(texts: Iterable[bytes]) -> Iterator[PrintedLine]:
    """The lines of a file; what a full disk or a dying machine has torn goes with the one
    before."""
    before = PrintedLine(0, "", OUTPUT, "")
    for text in filter(None, texts):
        before = line_of(text) or before._replace(text=text.decode(errors="replace"))
        yield before


def _whole_lines(path: Path, known: FileSpot | None) -> tuple[list[bytes], FileSpot | None]:
    """From where the file was read to, or from its beginning if it is another one."""
    try:
        with path.open("rb") as file:
            which = (os.fstat(file.fileno()).st_ino, file.read(STAMP_BYTES))
            begin = known.offset if known is not None and known.file == which else 0
            file.seek(begin)
            *lines, rest = file.read().split(b"\n")
            return lines, FileSpot(which, file.tell() - len(rest))
    except OSError:  # it is not there
        return [], None
