"""Asks an app without a server, as one would ask over HTTP: a request, its answer, or a stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

App = Any
HOST = "127.0.0.1:8090"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def scope_of(method: str, target: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """What a server would hand over."""
    path, _, query = target.partition("?")
    named = {"host": HOST} | {name.lower(): value for name, value in headers.items()}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items() if value],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8090),
        "state": {},
    }


def ask(
    app: App,
    method: str,
    target: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    **headers: str,
) -> Answer:
    """One request. Names of headers have `_` for `-`."""
    content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if content:
        named = {"content-type": "application/json", "content-length": str(len(content))} | named
    return asyncio.run(_asked(app, scope_of(method, target, named), content))


async def _asked(app: App, scope: dict[str, Any], content: bytes) -> Answer:
    start: dict[str, Any] = {}
    parts: list[bytes] = []
    asked = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> dict[str, Any]:
        found = next(asked, None)
        if found is None:
            await asyncio.Event().wait()  # a client that waits for its answer says no more
        assert found is not None
        return found

    async def send(event: dict[str, Any]) -> None:
        if event["type"] == "http.response.start":
            start.update(event)
        else:
            parts.append(event.get("body", b""))

    try:
        await app(scope, receive, send)
    except Exception:
        if not start:  # else it is logged by the server, and answered all the same
            raise
    headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(parts))
