"""Asks for what a task printed: its file where the container's place is here, else its door. `Far`
asks the doors of other machines again and again.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import socket
import threading
import time  # noqa: TID251 - patience with a container is real time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from events.generated.records import ContainerStarted
from events.job_config.strict_json import shorten
from events.topics import CONTAINERS
from projections.fleet import TierFleet
from tasks.task_log import PrintedLine
from turbine.ops.lines_door import ANSWER_BYTES_MOST, OFF, TAIL_MOST, lines_told
from turbine.ops.task_lines import AttributedLine, places_in
from turbine.read.answers.tiers import since_of
from turbine.read.sources.log import Log
from turbine_client.errors import Unavailable

PATIENCE_S = 3.0
AT_ONCE_MOST = 8
NEAR_MS = 60_000
"""A container's start is looked for so far from the instant that its life has by the ticks."""
TAIL_AGAIN = 200
"""Of a task that is followed: as many as one prints between two looks."""
_CHUNK = 65_536
_URL = re.compile(
    r"http://(\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9.-]{1,253})):(?P<port>[0-9]{1,5})",
    re.ASCII,
)
_turns = threading.BoundedSemaphore(AT_ONCE_MOST)


class TailUnanswered(Unavailable):
    """Nobody tells what the task printed; the sentence says why, and what helps."""


class TailQuery(NamedTuple):
    """The last lines of which task."""

    job: str
    task: int
    tail: int


class TailAnswer(NamedTuple):
    """The last lines of a task, as they are now."""

    lines: tuple[PrintedLine, ...]
    cut: bool = False  # there were more, and they are too many for one answer


def ask(
    directory: Path | None, container: str, started: ContainerStarted | None, asked: TailQuery
) -> TailAnswer:
    """What a task printed last in a container; `started` is what its newest life said of itself."""
    place = None if directory is None else places_in(directory).get(container)
    if place is not None:
        return _answer_of(lines_told(place, *asked), container)
    if started is None:
        raise TailUnanswered(
            f"{container} has never said where its tasks' lines are asked for; is it of this fleet?"
        )
    if not started.logs_url:
        raise TailUnanswered(
            f"{container} on {_host(started)} does not answer for its tasks' lines; start it"
            f" without --logs-host {OFF}, or run `turbine logs {asked.job}/{asked.task}` there"
        )
    if not _turns.acquire(timeout=PATIENCE_S):
        raise TailUnanswered("too many ask for tasks' lines at once; ask again in a moment")
    try:
        return _answer_of(_asked(started, asked), container)
    finally:
        _turns.release()


def _host(started: ContainerStarted) -> str:
    return started.host or "a host that nobody knows"


def _asked(started: ContainerStarted, asked: TailQuery) -> Any:
    job, task, tail = asked.job, asked.task, min(asked.tail, TAIL_MOST)
    container, host, port = started.container, *_address(started)
    until_s = time.monotonic() + PATIENCE_S
    asking = http.client.HTTPConnection(host, port, timeout=PATIENCE_S)
    try:
        headers = {"Authorization": f"Bearer {started.logs_key}"}
        asking.request("GET", f"/tasks/{job}/{task}?tail={tail}", headers=headers)
        answer = asking.getresponse()
        body = b""
        while len(body) <= ANSWER_BYTES_MOST + _CHUNK and time.monotonic() < until_s:
            chunk = answer.read1(_CHUNK)
            if not chunk:
                break
            body += chunk
        found = json.loads(body)
    except (OSError, http.client.HTTPException) as error:
        why = str(error) or type(error).__name__
        raise TailUnanswered(
            f"{container} does not answer at {started.logs_url} ({why}); if it has ended, how its"
            f" tasks failed stands in the log, and what they printed in its place on"
            f" {_host(started)}"
        ) from None
    except (ValueError, RecursionError):
        raise _foreign(container) from None
    if answer.status == http.HTTPStatus.UNAUTHORIZED:
        raise TailUnanswered(f"another life of {container} answers by now; ask again in a moment")
    if answer.status != http.HTTPStatus.OK:
        raise _foreign(container)
    return found


def _address(started: ContainerStarted) -> tuple[str, int]:
    """What the log names; nothing else than a host and a port is taken from there."""
    found = _URL.fullmatch(started.logs_url)
    if found is None:
        raise TailUnanswered(
            f"{started.container} says that it answers at {shorten(started.logs_url)}, which is no"
            " address; start it anew with --logs-host ADDRESS"
        )
    host = found["six"] or found["name"]
    if _is_loopback(host) and started.host != socket.gethostname():
        raise TailUnanswered(
            f"{started.container} answers for its tasks' lines to {_host(started)} only, where it"
            " runs; ask there, or start it with --logs-host ADDRESS"
        )
    return host, int(found["port"])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _answer_of(told: Any, container: str) -> TailAnswer:
    """What a container says is not taken on trust."""
    try:
        return TailAnswer(tuple(_lines(told["lines"])), bool(told["cut"]))
    except (KeyError, OverflowError, TypeError, ValueError):
        raise _foreign(container) from None


def _lines(told: Iterable[Any]) -> Iterable[PrintedLine]:
    for one in told:
        line = PrintedLine(int(one["at_ms"]), str(one["run"]), str(one["stream"]), str(one["text"]))
        if not 0 <= line.at_ms < 2**53:
            raise ValueError
        yield line


def _foreign(container: str) -> TailUnanswered:
    return TailUnanswered(
        f"what answers for {container} is none of ours; is another program at its address by now?"
    )


# --- again and again


def started_of(log: Log, fleet: TierFleet, container: str) -> ContainerStarted | None:
    """What its newest life said of itself; None: it did not, or that is no longer in the log."""
    life, kinds = fleet.lives.get(container), frozenset({"ContainerStarted"})
    since_ms = None if life is None else since_of(fleet, life)
    spans = [] if since_ms is None else [(since_ms - NEAR_MS, since_ms + NEAR_MS)]
    # By the ticks that is nearly its instant, unless the clock stood still; then all is read.
    for reads in (log.spoken(spans, kinds), log.read([CONTAINERS], kinds=kinds, key=container)):
        bodies = [one.record.body for one in reads if one.record.key == container]
        found = [one for one in bodies if isinstance(one, ContainerStarted)]
        if found:
            return max(reversed(found), key=lambda one: one.epoch)
    return None


class Far:
    """The lines of a job's tasks, each of one container; each call gives those that are new."""

    def __init__(self, job: str, tasks: Mapping[int, ContainerStarted]) -> None:
        self._job = job
        self._tasks = {task: one for task, one in tasks.items() if one.logs_url}
        self._last: dict[int, list[PrintedLine]] = {}
        self.silent: dict[str, str] = {}  # containers that do not answer, and why
        self.answered: set[int] = set()  # tasks of which a container has told
        self.heard: set[int] = set()  # of these, who has said anything

    def read(self, last: int = TAIL_AGAIN) -> list[AttributedLine]:
        """What is new, by instant. Who does not answer once is not asked again in this call."""
        self.silent.clear()
        found = [
            AttributedLine(line, started.container, self._job, task)
            for task, started in sorted(self._tasks.items())
            if last and started.container not in self.silent
            for line in self._new(task, started, last)
        ]
        return sorted(found, key=lambda said: said.line.at_ms)

    def _new(self, task: int, started: ContainerStarted, last: int) -> Iterator[PrintedLine]:
        try:
            lines = ask(None, started.container, started, TailQuery(self._job, task, last)).lines
        except TailUnanswered as sentence:
            self.silent[started.container] = str(sentence)
            return
        self.answered.add(task)
        known = self._last.get(task, [])
        since_ms = known[-1].at_ms if known else -1
        seen = Counter(line for line in known if line.at_ms == since_ms)
        for line in lines:
            if seen[line]:  # several lines have one instant
                seen[line] -= 1
            elif line.at_ms >= since_ms:
                yield line
        if lines:
            self._last[task] = list(lines)
            self.heard.add(task)
