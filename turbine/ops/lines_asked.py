"""Asks for what a task printed: its file where the container's place is here, else its door."""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import socket
import threading
import time  # noqa: TID251 - patience with a container is real time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from events.generated.records import ContainerStarted
from events.job_config.strict_json import shorten
from tasks.task_log import PrintedLine
from turbine.ops.lines_door import ANSWER_BYTES_MOST, OFF, TAIL_MOST, lines_told
from turbine.ops.task_lines import places_in
from turbine_client.errors import Unavailable

PATIENCE_S = 3.0
AT_ONCE_MOST = 8
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
