"""A container's door: answers over HTTP with the last lines of its tasks, and with nothing else.

`GET /tasks/JOB/INDEX?tail=N`, with the key of this life as `Authorization: Bearer KEY`. Address and
key are told in the log (`ContainerStarted`): who may read the log may read what tasks print, and a
page in somebody's browser may not. See docs/adr/0024.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from turbine.ops.task_lines import tail_of
from turbine_client.identity import is_job_id
from turbine_client.settings import BadSettings

OFF = "off"
TAIL_MOST = 1_000
ANSWER_BYTES_MOST = 1_000_000
AT_ONCE_MOST = 8
"""Who asks then is let go: a container's own work comes first."""
PATIENCE_S = 5.0
"""With who sends or takes nothing."""
_ASKED = re.compile(r"/tasks/(?P<job>[^/]{1,128})/(?P<task>[0-9]{1,9})", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DoorAddress:
    """What the log tells of a door; empty where there is none."""

    url: str = ""
    key: str = ""


class _Door(ThreadingHTTPServer):
    """Some threads at once, which end with the process."""

    daemon_threads = True

    def __init__(self, family: int, address: tuple[str, int], place: Path, key: str) -> None:
        self.address_family = family
        self.place, self.key = place, key
        self._room = threading.BoundedSemaphore(AT_ONCE_MOST)
        super().__init__(address, _Answers)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Takes a request where there is room for it."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers a request, and makes room again."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up is nobody's business."""


class _Answers(BaseHTTPRequestHandler):
    timeout = PATIENCE_S
    server: _Door

    def do_GET(self) -> None:
        """The one thing that can be asked."""
        status, answer = self._found()
        body = json.dumps(answer).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _found(self) -> tuple[int, Mapping[str, object]]:
        scheme, _, key = self.headers.get("Authorization", "").partition(" ")
        known = hmac.compare_digest(key.strip().encode(), self.server.key.encode())
        if scheme.lower() != "bearer" or not known:
            return 401, {"detail": "this needs the key of the container's life; the log tells it"}
        asked = urlsplit(self.path)
        found = _ASKED.fullmatch(asked.path)
        if found is None or not is_job_id(found["job"]):
            return 404, {"detail": "ask for /tasks/JOB/INDEX"}
        given = parse_qs(asked.query).get("tail", ["100"])[0]
        if not _NUMBER.fullmatch(given) or not 1 <= int(given) <= TAIL_MOST:
            return 422, {"detail": f"tail is a number from 1 to {TAIL_MOST}"}
        return 200, lines_told(self.server.place, found["job"], int(found["task"]), int(given))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called there
        """What is asked is nobody's business either."""


def lines_told(place: Path, job: str, task: int, tail: int) -> Mapping[str, object]:
    """The last lines of a task that lie in a place, as JSON; the oldest go where they are many."""
    told = [line._asdict() for line in tail_of(place, job, task, tail)]
    size = len(told)
    room = ANSWER_BYTES_MOST
    for at in range(len(told) - 1, -1, -1):
        room -= len(json.dumps(told[at])) + 2
        if room < 0:
            told = told[at + 1 :]
            break
    return {"lines": told, "cut": len(told) < size}


def open_door(host: str, port: int, place: Path) -> DoorAddress:
    """Answers from now on, to the end of the process; BadSettings where it cannot be opened."""
    if host == OFF:
        return DoorAddress()
    key = secrets.token_urlsafe(24)
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = _Door(family, (str(address[0]), int(address[1])), place, key)
    except OSError as error:
        raise BadSettings(
            f"--logs-host {host} --logs-port {port}: tasks' lines cannot be answered for there"
            f" ({error.strerror}); name an address of this machine and a free port, or"
            f" --logs-host {OFF}"
        ) from None
    threading.Thread(target=door.serve_forever, name="lines", daemon=True).start()
    return DoorAddress(_url_of(door), key)


def _url_of(door: _Door) -> str:
    """Under which it is found: every address of a machine goes by the machine's name."""
    host, port = door.server_address[:2]
    name = str(host)
    if ip_address(name).is_unspecified:
        name = socket.gethostname()
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
