"""A receiver of webhooks on loopback, which does as a test tells it: takes, refuses, hangs."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from turbine_client.signing import Tampered, read_secret, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - everybody knows it
"""The one of Standard Webhooks' own example."""
KEY = read_secret(SECRET)
HANG, DRIP, GARBAGE = -1, -2, -3
"""What it does instead of an answer with a status."""


@dataclass(frozen=True, slots=True)
class Request:
    """One that came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


Answers = Callable[[Request], int]


class Receiver:
    """Listens at one port, also after it was stopped and started again."""

    def __init__(
        self, answers: Answers, more: dict[str, str] | None = None, pair: Path | None = None
    ) -> None:
        self.answers, self.more, self.pair = answers, more or {}, pair
        self.came: list[Request] = []
        self.taken: list[Request] = []
        self.forged: list[str] = []
        self.released = threading.Event()  # of those that hang
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        scheme = "http" if self.pair is None else "https"
        return f"{scheme}://127.0.0.1:{self._port}/hook"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._port = self._server.server_address[1]
        if self.pair is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.pair)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        serve = self._server.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self._server = None

    def take(self, request: Request) -> int:
        """What is answered. Only what is signed, and by the right key, counts as taken."""
        status = self.answers(request)
        with self._lock:
            self.came.append(request)
            try:
                verify([KEY], request.headers, request.body, time.time())
            except Tampered as bad:
                self.forged.append(str(bad))
                return 400
            if 200 <= status < 300:
                self.taken.append(request)
        return status

    def told(self, subject: str) -> list[str]:
        """The ids of what was taken about a subject, each once, in the order of the first times."""
        with self._lock:
            found = [one.event for one in self.taken]
        return list(dict.fromkeys(one["id"] for one in found if one["subject"] == subject))


@contextmanager
def receiving(
    answers: Answers = lambda _: 204, *, pair: Path | None = None, **more: str
) -> Iterator[Receiver]:
    """One for a test; it answers with those headers, and speaks TLS where it has a key."""
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    one = Receiver(answers, headers, pair)
    try:
        yield one
    finally:
        one.released.set()
        if one._server is not None:
            one.stop()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.take(Request(self.path, dict(self.headers.items()), body))
            if status > 0:
                self.send_response(status)
                for name, value in receiver.more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif status == GARBAGE:
                self.wfile.write(b"what?\r\n\r\n")
            elif status == DRIP:
                self._drip()
            else:
                receiver.released.wait(60)

        def _drip(self) -> None:
            """A byte now and then: no single read takes long."""
            while not receiver.released.wait(0.05):
                try:
                    self.wfile.write(b"H")
                except OSError:
                    break

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
            """Says nothing."""

    return Handler
