"""The lines of a log's file: what each says, how it is made of a message and how it is checked.

A file is JSON lines, compressed by gzip unless it is named .jsonl: one about the file itself, one
for each schema, one for each record with all its bytes, and a last one with the SHA-256 of all
before it. docs/adr/0018 argues the form. Nothing that a file says is trusted unseen.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from components.runtime.kafka.intake import Message
from events.job_config.strict_json import printable
from events.topics import BY_SHORT, place
from turbine.read.plain import JsonObject
from turbine_client.errors import Corrupt

FORMAT = "turbine-log/2"
PLAIN = ".jsonl"
"""A file of this name is not compressed: for a pipe, and for whoever wants to look into it."""
LINE_BYTES = 32 * 1024 * 1024
"""A dead letter may have 8 MiB, which text makes a third longer, and its headers; no more than
one line is held while a file is read."""
SWELL = 300
"""How many times as long as its file a log may be. Ours come to some 20, ticks alone to 50; gzip
can make it 1,030."""
SWELL_FROM = 64 * 1024 * 1024
PARTITIONS_MOST = 10_000
OFFSET_MOST = 1 << 62
_MAGIC = b"\x1f\x8b"
_HEAD_WORDS = ("topics", "begins", "ends")
ABOUT = "the log of a Turbine installation: `turbine open FILE` says what is in it"


class BadFile(Corrupt):
    """What is no log, or not as it was written; the sentence says where, and the remedy."""


class NotThere(NamedTuple):
    """Of a place below an offset: not all of it was in the log by that time, or is not yet."""

    place: str
    offset: int
    by_ms: int
    yet: bool


@dataclass(frozen=True, slots=True)
class FileHead:
    """The first line: what the file is about."""

    topics: Mapping[str, int]  # short name to number of partitions
    begins: Mapping[str, int]  # by place: from there on the file has all of it
    ends: Mapping[str, int]
    job: str = ""  # "" where it is the log of all jobs
    settings: Mapping[str, str] = field(default_factory=dict)
    since_ms: int = 0  # the instant of the beginning, where one was named

    def to_plain(self) -> JsonObject:
        """The head of the file as JSON."""
        return {
            "format": FORMAT,
            "about": ABOUT,
            "job": self.job or None,
            "since_ms": self.since_ms or None,
            "topics": dict(self.topics),
            "begins": dict(sorted(self.begins.items())),
            "ends": dict(sorted(self.ends.items())),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True)
class Tail:
    """The last line: what a whole file has before it."""

    records: int
    first_ms: int
    last_ms: int
    sha256: str

    def to_plain(self) -> JsonObject:
        """The tail of the file as JSON."""
        return {
            "end": {
                "records": self.records,
                "first_ms": self.first_ms,
                "last_ms": self.last_ms,
                "sha256": self.sha256,
            }
        }


# --- writing


class Out(Protocol):
    """What lines are written to."""

    def write(self, line: bytes, /) -> object:
        """Takes all of the bytes at once."""


class LogLineWriter:
    """Writes a file's lines and counts what it wrote: `end` closes them with their digest."""

    def __init__(self, out: Out) -> None:
        self._out, self._digest = out, hashlib.sha256()
        self.records, self._first_ms, self._last_ms = 0, 0, 0

    def put(self, plain: JsonObject) -> None:
        """Writes an object as one line."""
        line = json.dumps(plain, ensure_ascii=False).encode() + b"\n"
        self._digest.update(line)
        self._out.write(line)

    def record(self, message: Message, plain: JsonObject) -> None:
        """The line of a record."""
        self.records += 1
        self._first_ms = min(self._first_ms or message.at_ms, message.at_ms)
        self._last_ms = max(self._last_ms, message.at_ms)
        self.put(plain)

    def end(self) -> Tail:
        """Writes the last line, which says what came before."""
        tail = Tail(self.records, self._first_ms, self._last_ms, self._digest.hexdigest())
        self._out.write(json.dumps(tail.to_plain()).encode() + b"\n")
        return tail


class LogFileWriter:
    """A new file that is whole or not there: one that ends half-way must not look like a log."""

    def __init__(self, path: Path) -> None:
        self.path, self._part = path, path.with_name(path.name + ".part")
        self._open = ExitStack()

    def __enter__(self) -> LogLineWriter:
        raw = self._open.enter_context(self._part.open("wb"))
        if self.path.suffix == PLAIN:
            return LogLineWriter(raw)
        # Without a name and a time: the same log makes the same file.
        packed = gzip.GzipFile("", "wb", 6, raw, mtime=0)
        self._open.callback(packed.close)
        return LogLineWriter(packed)

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            self._open.close()
            if kind is None:
                self._part.replace(self.path)
        finally:
            self._part.unlink(missing_ok=True)


# --- reading


class _Stream(Protocol):
    def readline(self, size: int, /) -> bytes: ...


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers, from 1; BadFile where there is no more of them that fits."""
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(path.open("rb"))
            packed = raw.read(2) == _MAGIC
            raw.seek(0)
            stream: _Stream = raw
            if packed:
                stream = gzip.GzipFile(fileobj=raw, mode="rb")
            yield from _bounded(path, stream, path.stat().st_size)
    except FileNotFoundError:
        raise BadFile(
            f"there is no file {path}; `turbine log export --out FILE` makes one"
        ) from None
    except EOFError:
        raise BadFile(f"{path}: it is cut off; export it again, or copy it whole") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadFile(f"{path}: its bytes are spoilt; export it again, or copy it anew") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read ({error.strerror}); name another file") from None


def _bounded(path: Path, stream: _Stream, size: int) -> Iterator[tuple[int, bytes]]:
    number, total = 0, 0
    while line := stream.readline(LINE_BYTES + 1):
        number, total = number + 1, total + len(line)
        if len(line) > LINE_BYTES:
            raise BadFile(
                f"{path}: line {number} is longer than {LINE_BYTES} bytes, which no record is;"
                " export it again"
            )
        if total > SWELL_FROM and total > SWELL * size:
            raise BadFile(
                f"{path}: it unpacks to more than {SWELL} times its size, which no log does;"
                " export it again"
            )
        if not line.endswith(b"\n"):
            raise BadFile(f"{path}: it is cut off; export it again, or copy it whole")
        yield number, line


def object_of(path: Path, number: int, line: bytes) -> JsonObject:
    """The JSON object of a line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadFile(f"{path}: line {number} is no JSON object; {_wrong(number)}")
    return found


def _wrong(number: int) -> str:
    if number == 1:
        return "a log's file begins with one; `turbine log export --out FILE` makes one"
    return "it was not written so; export it again"


def head_of(path: Path, plain: JsonObject) -> FileHead:
    """The first line, if it is that of a log that this build opens."""
    told = plain.get("format")
    if told != FORMAT:
        if isinstance(told, str) and told.startswith("turbine-log/"):
            raise BadFile(
                f"{path} has the form {printable(told[:40])}, and this build opens {FORMAT};"
                " open it with the build that wrote it, or export it again"
            )
        raise BadFile(f"{path} is no log of Turbine; `turbine log export --out FILE` makes one")
    topics, begins, ends = (_counts(path, plain, name) for name in _HEAD_WORDS)
    for short, count in topics.items():
        if short not in BY_SHORT or not 0 < count <= PARTITIONS_MOST:
            raise _unfit(path, "topics", short)
    places = {place(short, p) for short, count in topics.items() for p in range(count)}
    for name, vector in (("begins", begins), ("ends", ends)):
        if vector.keys() - places or any(not 0 <= at <= OFFSET_MOST for at in vector.values()):
            raise _unfit(path, name, next(iter(vector.keys() - places), "an offset"))
    job, settings = plain.get("job") or "", plain.get("settings")
    since_ms = plain.get("since_ms") or 0
    if not (isinstance(job, str) and isinstance(settings, dict) and type(since_ms) is int):
        raise _unfit(path, "job, since_ms or settings", "what they say")
    shown = {str(name): str(value) for name, value in settings.items()}
    return FileHead(topics, begins, ends, job, shown, since_ms)


def _counts(path: Path, plain: JsonObject, name: str) -> dict[str, int]:
    found = plain.get(name)
    if not isinstance(found, dict) or not all(type(one) is int for one in found.values()):
        raise _unfit(path, name, "what it says")
    return found


def _unfit(path: Path, name: str, what: str) -> BadFile:
    return BadFile(
        f"{path}: line 1, {name}: {printable(what[:80])} is nothing that a log has; export it again"
    )


def tail_of(plain: JsonObject) -> Tail | None:
    """The last line, if it is one."""
    found = plain.get("end")
    if not isinstance(found, dict):
        return None
    records, first_ms, last_ms = (found.get(name) for name in ("records", "first_ms", "last_ms"))
    digest = found.get("sha256")
    if not (type(records) is type(first_ms) is type(last_ms) is int and isinstance(digest, str)):
        return None
    return Tail(records, first_ms, last_ms, digest)


def message_of(plain: JsonObject, head: FileHead) -> Message | None:
    """The message of a record's line; None where it is none of this log."""
    try:
        at, offset, at_ms = plain["place"], plain["offset"], plain["at_ms"]
        if not (type(offset) is int and type(at_ms) is int and 0 <= at_ms <= OFFSET_MOST):
            return None
        if not 0 <= offset < head.ends.get(at, 0):
            return None
        short, _, partition = at.partition("/")
        headers = plain["headers"]
        return Message(
            short,
            int(partition),
            offset,
            at_ms,
            _bytes(plain["key"]),
            None if plain["value_base64"] is None else _unpacked(plain["value_base64"]),
            None if headers is None else [(str(name), _bytes(one)) for name, one in headers],
            str(plain.get("spoilt", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
        return None


def _bytes(value: object) -> bytes | None:
    match value:
        case None:
            return None
        case str():
            return value.encode()
        case {"base64": str(text)}:
            return _unpacked(text)
        case _:
            raise TypeError


def _unpacked(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def not_there_of(plain: JsonObject) -> NotThere | None:
    """The line of an exception, if it is one."""
    match plain.get("not_there"):
        case [str(at), int(offset), int(by_ms), bool(yet)]:
            return NotThere(at, offset, by_ms, yet)
        case _:
            return None
