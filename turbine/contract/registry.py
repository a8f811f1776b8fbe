"""The reading half of the Schema Registry protocol, answered from the committed schemas.

So every console, serializer and kcat decodes our topics with no registry to run. Registering what
is there already changes nothing and has its id for an answer; anything else is refused.
`Registry.answer` is pure; `RegistryServer` serves it to the programs of this machine.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from fastavro.schema import SchemaParseException

from events.job_config.strict_json import Malformed, parse_json, shorten
from events.topics import USUAL_PREFIX, topics_under
from events.wire.lock import Version, hash_of, read_lock

Answer = tuple[int, object]
Query = Mapping[str, list[str]]

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
COMPATIBILITY = "FULL_TRANSITIVE"
BODY_BYTES_MAX = 256 * 1024
"""The text of a schema within JSON; none of ours is a tenth of it."""
VERSION_MAX = 2**31 - 1
HOST = "127.0.0.1"
"""Nobody else is let in: the schemas are no secret, but a port of ours is a door."""
PATIENCE_S = 10.0
_HOSTS = (HOST, "localhost")
_WHOLE = re.compile(r"-?[0-9]{1,12}", re.ASCII)
# What fastavro raises on JSON that is no schema; the text has bounds, so it cannot run away.
_NO_SCHEMA = (SchemaParseException, AttributeError, KeyError, TypeError, ValueError)


class RegistryRefusal(Exception):
    """What is answered instead: the protocol's code, which begins with HTTP's."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code

    @property
    def status(self) -> int:
        """HTTP's part of the code."""
        return self.code if self.code < 1000 else self.code // 100


@dataclass(frozen=True, slots=True)
class Numbered:
    """A version of a schema under a subject, which counts its own from 1."""

    subject: str
    number: int
    version: Version

    def to_plain(self) -> dict[str, object]:
        """As the protocol has it."""
        return {
            "subject": self.subject,
            "version": self.number,
            "id": self.version.id,
            "schema": _text(self.version),
        }


class Registry:
    """Each schema stands under its full name, and under <topic>-value where a topic carries
    nothing else: the names that serializers make up by their two usual strategies."""

    __slots__ = ("_by_guid", "_by_id", "_by_subject")

    def __init__(
        self, versions: Iterable[Version] | None = None, prefix: str = USUAL_PREFIX
    ) -> None:
        known = sorted(read_lock() if versions is None else versions, key=lambda one: one.id)
        topics: dict[str, list[str]] = defaultdict(list)
        for topic in topics_under(prefix):
            if len(topic.records) == 1:
                topics[topic.records[0]].append(f"{topic.name}-value")
        held: dict[str, list[Numbered]] = defaultdict(list)
        for one in known:
            for subject in (one.full_name, *topics[one.name]):
                held[subject].append(Numbered(subject, len(held[subject]) + 1, one))
        self._by_subject = dict(sorted(held.items()))
        self._by_id = {one.id: one for one in known}
        self._by_guid = {one.guid: one for one in known}

    def answer(self, method: str, target: str, body: bytes = b"") -> Answer:
        """The status of a request, and the JSON value that answers it."""
        try:
            path, query = _split(target)
            if method == "GET":
                return 200, self._read(path, query)
            return 200, self._look_up(path if method == "POST" else (), body)
        except RegistryRefusal as wrong:
            return wrong.status, {"error_code": wrong.code, "message": str(wrong)}

    # --- reading

    def _read(self, path: tuple[str, ...], query: Query) -> object:
        match path:
            case ("",):
                return {}
            case ("contexts",):
                return ["."]
            case ("subjects",):
                prefix = query.get("subjectPrefix", [""])[0]
                return [one for one in self._by_subject if one.startswith(prefix)]
            case ("subjects", subject, *rest):
                return self._read_subject(subject, rest)
            case ("schemas", *rest):
                return self._read_schema(rest)
            case ("config",):
                return {"compatibilityLevel": COMPATIBILITY}
            case ("config", subject):
                _needs_default(subject, query, 40408, "compatibility")
                return {"compatibilityLevel": COMPATIBILITY}
            case ("mode",):
                return {"mode": "READONLY"}
            case ("mode", subject):
                _needs_default(subject, query, 40409, "mode")
                return {"mode": "READONLY"}
        raise _no_such_path()

    def _read_subject(self, subject: str, rest: list[str]) -> object:
        match rest:
            case ["versions"]:
                return [one.number for one in self._subject(subject)]
            case ["versions", number]:
                return self._version(subject, number).to_plain()
            case ["versions", number, "schema"]:
                return self._version(subject, number).version.schema
            case ["versions", number, "referencedby"]:
                self._version(subject, number)
                return []  # each schema of ours holds all that it needs
        raise _no_such_path()

    def _read_schema(self, rest: list[str]) -> object:
        match rest:
            case ["types"]:
                return ["AVRO"]
            case ["guids", guid]:
                if guid not in self._by_guid:
                    raise RegistryRefusal(40403, f"Schema {shorten(guid)} not found")
                return {"schema": _text(self._by_guid[guid])}
            case ["ids", number]:
                return {"schema": _text(self._schema(number))}
            case ["ids", number, "schema"]:
                return self._schema(number).schema
            case ["ids", number, "subjects"]:
                return [one.subject for one in self._standing(self._schema(number))]
            case ["ids", number, "versions"]:
                found = self._standing(self._schema(number))
                return [{"subject": one.subject, "version": one.number} for one in found]
        raise _no_such_path()

    def _schema(self, number: str) -> Version:
        if not _WHOLE.fullmatch(number):
            raise _no_such_path()
        found = self._by_id.get(int(number))
        if found is None:
            raise RegistryRefusal(40403, f"Schema {number} not found")
        return found

    def _standing(self, version: Version) -> list[Numbered]:
        return [one for held in self._by_subject.values() for one in held if one.version is version]

    def _subject(self, subject: str) -> list[Numbered]:
        if subject not in self._by_subject:
            raise RegistryRefusal(40401, f"Subject {shorten(subject)} not found.")
        return self._by_subject[subject]

    def _version(self, subject: str, number: str) -> Numbered:
        held = self._subject(subject)
        if number in ("latest", "-1"):
            return held[-1]
        if not _WHOLE.fullmatch(number) or not 1 <= int(number) <= VERSION_MAX:
            raise RegistryRefusal(
                42202,
                f"The specified version {shorten(number)} is not a valid version id. Allowed"
                ' values are between [1, 2^31-1] and the string "latest"',
            )
        if int(number) > len(held):
            raise RegistryRefusal(40402, f"Version {number} not found.")
        return held[int(number) - 1]

    # --- what serializers ask before they write

    def _look_up(self, path: tuple[str, ...], body: bytes) -> object:
        match path:
            case ("subjects", subject):
                found = _same(self._subject(subject), _schema_in(body))
                if found is None:
                    raise RegistryRefusal(40403, "Schema not found")
                return found.to_plain()
            case ("subjects", subject, "versions"):
                found = _same(self._by_subject.get(subject, []), _schema_in(body))
                if found is None:
                    raise RegistryRefusal(
                        42205,
                        f"Subject {shorten(subject)} is in read-only mode: schemas are committed"
                        " with Turbine, each under its full name (RecordNameStrategy)",
                    )
                return {"id": found.version.id}
        raise RegistryRefusal(405, "HTTP 405 Method Not Allowed")


def _same(held: list[Numbered], schema: Any) -> Numbered | None:
    """The version with this text, or else the newest that writes the same bytes."""
    for one in held:
        if one.version.schema == schema:
            return one
    try:
        digest = hash_of(schema)
    except _NO_SCHEMA:
        raise RegistryRefusal(42201, "Invalid schema: it is no schema of Avro") from None
    return next((one for one in reversed(held) if one.version.sha256 == digest), None)


def _schema_in(body: bytes) -> Any:
    try:
        asked = parse_json(body, what="the body", max_bytes=BODY_BYTES_MAX)
        if not isinstance(asked, dict) or not isinstance(text := asked.get("schema"), str):
            raise RegistryRefusal(42201, "Invalid schema: give the text of one as schema")
        if asked.get("schemaType", "AVRO") not in ("AVRO", None):
            raise RegistryRefusal(42201, "Invalid schema: only Avro is spoken here")
        return parse_json(text, what="schema", max_bytes=BODY_BYTES_MAX)
    except Malformed as bad:
        raise RegistryRefusal(42201, f"Invalid schema: {bad.sentence}") from None


def _needs_default(subject: str, query: Query, code: int, what: str) -> None:
    """No subject has one of its own; who asks for the general one as well gets that."""
    if query.get("defaultToGlobal") != ["true"]:
        raise RegistryRefusal(
            code, f"Subject {shorten(subject)} does not have subject-level {what} configured"
        )


def _split(target: str) -> tuple[tuple[str, ...], Query]:
    try:
        parts = urlsplit(target)
    except ValueError:  # such as a bracket that is not closed
        raise _no_such_path() from None
    return tuple(unquote(one) for one in parts.path.strip("/").split("/")), parse_qs(parts.query)


def _no_such_path() -> RegistryRefusal:
    return RegistryRefusal(404, "HTTP 404 Not Found")


def _text(version: Version) -> str:
    return json.dumps(version.schema, ensure_ascii=False, separators=(",", ":"))


# --- served


class RegistryServer(ThreadingHTTPServer):
    """Listens at once; `serve_forever` answers. Port 0 takes a free one."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, registry: Registry | None = None) -> None:
        self.registry = registry or Registry()
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """The address on which it listens."""
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
        """Answers what is read of schemas."""
        self._answer()

    def do_POST(self) -> None:
        """Looks up the id of a schema."""
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
