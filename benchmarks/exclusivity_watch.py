"""Looks at the processes of containers from beside them: which tasks live, and are they stopped.

It asks the system and nobody else, so that who lies, or hangs, is seen all the same. Times are of
the clock that containers hold their leases by.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tasks.deadline import own_ms

LOOK_S = 0.02
STOPPED, GONE = "Tt", "ZXx"
Span = tuple[int, int]


class Stat(NamedTuple):
    """One line of the system about one process."""

    name: str
    state: str
    parent: int
    began: int  # in ticks since the machine's start: tells two of one number apart


@dataclass(slots=True)
class Seen:
    """One process, for as long as it was seen."""

    pid: int
    parent: int
    container: str
    root: int  # the process of its supervisor: one life
    began: int
    name: str = ""
    spans: list[Span] = field(default_factory=list)  # awake: from a look to a look, both included
    awake: bool = False
    stopped: bool = False
    last_ms: int = 0
    alive: bool = True

    def look(self, stat: Stat, now_ms: int) -> None:
        """What is between two looks counts where both say the same: less than the truth."""
        self.name, self.last_ms = stat.name, now_ms
        awake, self.stopped = stat.state not in STOPPED, stat.state in STOPPED
        if awake and self.awake:
            self.spans[-1] = (self.spans[-1][0], now_ms)
        elif awake:
            self.spans.append((now_ms, now_ms))
        self.awake = awake

    @property
    def is_task(self) -> bool:
        """Tasks are named job/index; an engine's name is on a task until that gives itself one."""
        return "/" in self.name


class Watch:
    """A thread that looks every 20 ms. `roots`: the supervisors of the moment, by container."""

    def __init__(
        self,
        roots: Callable[[], Mapping[str, int]],
        stat: Callable[[int], Stat | None] | None = None,
        pids: Callable[[], list[int]] | None = None,
    ) -> None:
        self._roots, self._stat, self._pids = roots, stat or stat_of, pids or all_pids
        self.living: dict[int, Seen] = {}
        self.gone: list[Seen] = []
        self.gaps_ms: list[int] = []
        self._foreign: set[int] = set()
        self._last_ms = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def close(self) -> None:
        """No more looks."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            self.look(own_ms())
            self._stop.wait(max(0.001, LOOK_S - (time.monotonic() - began)))

    def look(self, now_ms: int) -> None:
        """Once at all of them."""
        if self._last_ms:
            self.gaps_ms.append(now_ms - self._last_ms)
        self._last_ms = now_ms
        for container, pid in self._roots().items():
            if pid not in self.living and (stat := self._stat(pid)) is not None:
                self.living[pid] = Seen(pid, stat.parent, container, pid, stat.began)
        present = self._pids()
        self._foreign.intersection_update(present)
        for pid in present:
            if pid not in self.living and pid not in self._foreign:
                self._adopt(pid)
        for pid, seen in list(self.living.items()):
            stat = self._stat(pid)
            if stat is None or stat.state in GONE or stat.began != seen.began:
                seen.alive = False
                del self.living[pid]
                self.gone.append(seen)
            else:
                seen.look(stat, own_ms())

    def _adopt(self, pid: int) -> None:
        """Whoever was started by one of ours is ours."""
        stat = self._stat(pid)
        parent = self.living.get(stat.parent) if stat is not None else None
        if stat is None or parent is None:
            self._foreign.add(pid)
        else:
            self.living[pid] = Seen(pid, stat.parent, parent.container, parent.root, stat.began)

    # --- what was seen

    def seen(self) -> list[Seen]:
        """All processes that ever were."""
        return [*self.gone, *list(self.living.values())]

    def of(self, container: str) -> list[Seen]:
        """The processes of a container that live now."""
        return [one for one in list(self.living.values()) if one.container == container]

    def tasks(self, container: str | None = None) -> dict[str, Seen]:
        """The tasks that live now, by name; of one container if it is named."""
        return {
            one.name: one
            for one in list(self.living.values())
            if one.is_task and container in (None, one.container)
        }

    def named(self, container: str, name: str) -> Seen | None:
        """The guard or the engine of a container, if it lives."""
        # A task has its engine's name for a moment, but not its parent.
        found = (one for one in self.of(container) if one.name == name and one.parent == one.root)
        return next(found, None)


def all_pids() -> list[int]:
    """In order, so that parents come before children, mostly; else at the next look."""
    return sorted(int(one.name) for one in os.scandir("/proc") if one.name.isdigit())


def stat_of(pid: int) -> Stat | None:
    """What the system says of a process; None where there is none."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        return parse_stat(os.read(file, 1024))
    except OSError:
        return None  # it ended while we looked
    finally:
        os.close(file)


def parse_stat(text: bytes) -> Stat | None:
    """The name, in brackets, may hold blanks and brackets; the rest is numbers."""
    head, _, rest = text.rpartition(b") ")
    fields = rest.split()
    if len(fields) < 20:
        return None
    name = head.partition(b" (")[2].decode(errors="replace")
    return Stat(name, fields[0].decode(), int(fields[1]), int(fields[19]))


def left_in(text: str) -> Iterator[int]:
    """The processes of this machine that name it on their command line."""
    for pid in all_pids():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue  # it ended while we looked
        if text.encode() in line and pid != os.getpid():
            yield pid
