"""Who is let in: the host, the origin, the token of writers, the size of a body, and which headers
every answer carries. Wraps the whole app, so that its errors pass here too.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import structlog

from turbine.api.problems import PROBLEM, RequestRefused, problem_of

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = structlog.get_logger(__name__)

BODY_BYTES_MAX = 256 * 1024
"""As much as one message of the log; nothing that is asked for is larger."""
TARGET_BYTES_MAX = 48 * 1024
"""Of path and query: a position vector of a large installation fits; the server reads 64 KiB."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SAFE = ("GET", "HEAD", "OPTIONS")
UNWRITTEN = ("/api/v1/whatif",)
"""A POST that only computes: it needs no token, and a server that only reads answers it."""


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What this server lets in."""

    token: str
    hosts: tuple[str, ...] = LOOPBACK  # names under which it may be asked, without a port
    read_only: str = ""  # why nothing can be written; "" where it can
    script_hashes: tuple[str, ...] = ()  # of what the page has inline: its import map
    stall_s: float = 30.0  # a reader that takes nothing for so long is let go

    def policy(self) -> str:
        """The Content-Security-Policy: nothing from elsewhere, nothing inline but by its hash."""
        scripts = " ".join(["'self'", *(f"'{one}'" for one in self.script_hashes)])
        return (
            f"default-src 'self'; script-src {scripts}; style-src 'self'; img-src 'self' data:;"
            " connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none';"
            " form-action 'self'; frame-ancestors 'none'"
        )


@dataclass(slots=True)
class RequestGuard:
    """The app behind its rules."""

    app: App
    rules: GuardRules
    _headers: list[tuple[bytes, bytes]] = field(init=False)

    def __post_init__(self) -> None:
        self._headers = [
            (b"content-security-policy", self.rules.policy().encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; or the server's start and stop, which are passed on."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return  # there is none: the server answers for us that it is closed
            await self.app(scope, receive, send)
            return
        stalled: list[str] = []
        outward = self._outward(send, stalled)
        try:
            self._check(scope)
        except RequestRefused as refusal:
            await _refuse(scope, outward, refusal)
            return
        try:
            await self.app(scope, receive, outward)
        except Exception:
            if not stalled:
                raise
            log.info("let go", why=stalled[0], path=scope["path"])

    def _outward(self, send: Send, stalled: list[str]) -> Send:
        """Adds the headers. Nothing is gathered for a reader that does not take it: what is sent
        waits until the one before is taken, and for a stall only so long."""

        async def sent(event: Event) -> None:
            if event["type"] == "http.response.start":
                there = {name.lower() for name, _ in event.get("headers", ())}
                more = [one for one in self._headers if one[0] not in there]
                if b"cache-control" not in there:
                    more.append((b"cache-control", b"no-cache"))
                event = {**event, "headers": [*event.get("headers", ()), *more]}
            try:
                async with asyncio.timeout(self.rules.stall_s):
                    await send(event)
            except TimeoutError:
                stalled.append(f"nothing was taken for {self.rules.stall_s:g} s")
                raise ConnectionError(stalled[0]) from None

        return sent

    def _check(self, scope: Scope) -> None:
        """Refuses what must not reach the app."""
        named: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            named.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        self._check_host(named)
        self._check_origin(named, scope)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > TARGET_BYTES_MAX:
            raise RequestRefused(
                414, "too-long", f"path and query have at most {TARGET_BYTES_MAX} bytes", "query"
            )
        if scope["method"] not in SAFE:
            _check_body(named)
            if scope["path"] not in UNWRITTEN:
                self._check_writer(named)

    def _check_host(self, named: dict[str, list[str]]) -> None:
        # A page of elsewhere can have its own name lead to this machine; it cannot choose this.
        given = named.get("host", [])
        if len(given) != 1 or _name_of(given[0]) not in self.rules.hosts:
            raise RequestRefused(
                403,
                "foreign-host",
                f"this is served as {' or '.join(self.rules.hosts)} only; ask for it by one of"
                " these names, or start it with --allow-host NAME",
                "header.host",
            )

    def _check_origin(self, named: dict[str, list[str]], scope: Scope) -> None:
        """A browser tells from which page a request comes: from ours, or from none."""
        host = named["host"][0].lower()
        for origin in named.get("origin", []):
            if urlsplit(origin).netloc.lower() != host or origin == "null":
                raise _foreign("header.origin")
        site = named.get("sec-fetch-site", ["none"])[0]
        if scope["method"] not in SAFE and site not in ("same-origin", "none"):
            raise _foreign("header.sec-fetch-site")

    def _check_writer(self, named: dict[str, list[str]]) -> None:
        if self.rules.read_only:
            raise RequestRefused(
                403, "read-only", f"nothing can be written: {self.rules.read_only}"
            )
        given = named.get("authorization", [""])[0]
        scheme, _, token = given.partition(" ")
        known = hmac.compare_digest(token.strip().encode(), self.rules.token.encode())
        if scheme.lower() != "bearer" or not known or not self.rules.token:
            raise RequestRefused(
                401,
                "no-token",
                "a change needs the token that stands in the file api-token of this server's"
                " directory; send it as Authorization: Bearer TOKEN",
                "header.authorization",
                **{"WWW-Authenticate": 'Bearer realm="turbine"'},
            )


def _foreign(place: str) -> RequestRefused:
    return RequestRefused(
        403, "foreign-origin", "a page of elsewhere asks for this; open it from ours", place
    )


def _name_of(host: str) -> str:
    """Without the port, which a tunnel may change."""
    found = host.strip().lower()
    if found.startswith("["):
        return found.partition("]")[0] + "]"
    return found.partition(":")[0]


def _check_body(named: dict[str, list[str]]) -> None:
    size = named.get("content-length", ["0"])[0]
    if "transfer-encoding" in named or not (size.isascii() and size.isdigit()):
        raise RequestRefused(
            411,
            "no-length",
            "give the length of the body as Content-Length",
            "header.content-length",
            Connection="close",
        )
    if len(size) > 9 or int(size) > BODY_BYTES_MAX:
        raise RequestRefused(
            413,
            "too-large",
            f"a body has at most {BODY_BYTES_MAX} bytes; ask for less at once",
            "body",
            Connection="close",
        )
    kind = named.get("content-type", [""])[0].partition(";")[0].strip().lower()
    if int(size) and kind != "application/json":
        raise RequestRefused(
            415,
            "no-json",
            "the body has to be JSON; send it with Content-Type: application/json",
            "header.content-type",
        )


async def _refuse(scope: Scope, send: Send, refusal: RequestRefused) -> None:
    told = problem_of(refusal.status, refusal.kind, str(refusal), scope["path"], refusal.place)
    body = json.dumps(told, ensure_ascii=False).encode()
    headers = [
        (b"content-type", PROBLEM.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in refusal.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    more = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.body", "body": more})
