"""Serves the schemas over HTTP to the programs of this machine. A shell: all it says is pure."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from turbine.contract.registry import BODY_BYTES_MAX, CONTENT_TYPE, Registry

HOST = "127.0.0.1"
"""Nobody else is let in: the schemas are no secret, but a port of ours is a door."""
PATIENCE_S = 10.0
_HOSTS = ("127.0.0.1", "localhost")


class RegistryServer(ThreadingHTTPServer):
    """Listens at once; `serve_forever` answers. Port 0 takes a free one."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, registry: Registry | None = None) -> None:
        self.registry = registry or Registry()
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is its own affair; anything else is a bug of ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "turbine"
    sys_version = ""
    timeout = PATIENCE_S  # who opens a connection and says nothing does not keep it

    def do_GET(self) -> None:
        """Reads."""
        self._answer()

    def do_POST(self) -> None:
        """Looks a schema up."""
        self._answer()

    def do_PUT(self) -> None:
        """Is refused, in the protocol's words."""
        self._answer()

    def do_DELETE(self) -> None:
        """Is refused, in the protocol's words."""
        self._answer()

    def _answer(self) -> None:
        # A page of elsewhere can have its own name lead to this machine; it cannot choose this.
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in _HOSTS:
            return self._refuse(403, f"this is served to this machine only, as {HOST}")
        size = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not (size.isascii() and size.isdigit()):
            return self._refuse(411, "give the length of the body as Content-Length")
        if len(size) > 9 or int(size) > BODY_BYTES_MAX:
            return self._refuse(413, f"a body has at most {BODY_BYTES_MAX} bytes")
        assert isinstance(self.server, RegistryServer)
        body = self.rfile.read(int(size))
        self._send(*self.server.registry.answer(self.command, self.path, body))
        return None

    def _refuse(self, status: int, sentence: str) -> None:
        """Whatever follows on the connection was not read, so it ends."""
        self.close_connection = True
        self._send(status, {"error_code": status, "message": sentence})

    def _send(self, status: int, value: object) -> None:
        told = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(told)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing is logged: a client that asks for a schema at every start is no news."""
