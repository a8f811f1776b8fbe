"""Rows as they stood at many positions, in a local directory: what a view of the past begins from.

A frame is kept every so many records: of all rows those that have changed since the frame before,
so that a row as it stood is its last version before that. It is a cache of the log and nothing
else: wherever it does not fit, in whatever way, all of it is thrown away and made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from components.runtime.core.step import Stepper
from turbine.read.state.beside_rows import Rest
from turbine.read.state.fold_start import (
    CAPACITY,
    FLEET,
    JOBS,
    LOADED,
    NOTES,
    OWNED,
    Fetched,
    FoldStart,
    KeptRows,
    pack_held,
    unpack_held,
)
from turbine.read.state.folding import Folding
from turbine.read.state.serialization import UNFIT, pack, unpack
from turbine_client.errors import Corrupt

BYTES_MAX = 4 * 1024**3
"""Of rows on disk: of some ten million records. From there on no more frames are kept, and what is
asked of later instants is folded from the last one."""
DATA, IDENTITY, LOCK, FRAME = "rows", "identity.json", "lock", ".frame"
_WRITTEN = os.O_RDWR | os.O_CREAT
_STRIDE = 3  # of an index of versions: frame, offset, length

log = structlog.get_logger(__name__)


class Spoilt(Corrupt):
    """What lies there does not fit; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How far was read, and what is needed at once of what was known then."""

    number: int
    seen: Mapping[str, int]
    rest: Rest
    tiers: tuple[str, ...]
    blocked: tuple[tuple[str, str], ...]  # rows that hold something back, by what they lie under


class Cache:
    """Frames of one log. One process writes, others read; used from any thread for reading."""

    def __init__(
        self,
        directory: Path,
        identity: Mapping[str, Any],
        *,
        reading: bool = False,
        bytes_max: int = BYTES_MAX,
        passing: bool = False,
    ) -> None:
        self.directory, self._bytes_max, self._passing = directory, bytes_max, passing
        self.frames: list[Frame] = []
        self._identity = dict(identity)
        self._index: dict[str, dict[str, array[int]]] = {}
        self._named: dict[str, int] = {}  # jobs that there are, by the first frame that has them
        self.witness: Mapping[str, tuple[int, str]] = {}  # of each place the last record's digest
        self.bytes = 0
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = -1 if reading else os.open(directory / LOCK, _WRITTEN, 0o600)
        self.writes = not reading and _locked(self._lock)
        self._full = False
        self._data = os.open(directory / DATA, os.O_RDONLY if reading else _WRITTEN, 0o600)
        try:
            self._load()
        except Spoilt as bad:
            self.throw_away(str(bad))

    # --- opening

    def _load(self) -> None:
        found = self._identity_found()
        if found is not None and found != self._identity:
            which = [name for name in self._identity if found.get(name) != self._identity[name]]
            raise Spoilt(f"it was made of another {', '.join(which) or 'log'}")
        if found is None:
            if self._files():
                raise Spoilt("it does not say of what it was made")
            self._begin()
            return
        for number, file in enumerate(self._files()):
            try:
                plain = unpack(file.read_bytes())
                frame = Frame(*plain["frame"])
                if (file.name, frame.number) != (_name(number), number):
                    raise Spoilt(f"the frame {_name(number)} is missing")
                self._check(plain)
                self._put(frame, plain["entries"], plain["named"])
                self.witness = plain["witness"]
            except (OSError, *UNFIT) as bad:
                raise Spoilt(f"{file.name} cannot be read: {type(bad).__name__}") from None

    def _identity_found(self) -> Any:
        try:
            return json.loads((self.directory / IDENTITY).read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise Spoilt(f"{IDENTITY} cannot be read") from None

    def _files(self) -> list[Path]:
        return sorted(self.directory.glob(f"*{FRAME}"))

    def _check(self, plain: Mapping[str, Any]) -> None:
        """That its rows are there, to the last byte."""
        offset, length, digest = plain["rows"]
        packed = os.pread(self._data, length, offset)
        if offset != self.bytes or hashlib.sha256(packed).hexdigest() != digest:
            raise Spoilt("its rows are cut or changed")

    def throw_away(self, why: str) -> None:
        """Begins anew; what others have open they read to its end."""
        if self.writes:  # else it is the writer's to say, and to do
            log.warning("views cache thrown away", at=str(self.directory), why=why)
        self.frames, self._index, self._named = [], {}, {}
        self.witness, self.bytes = {}, 0
        if not self.writes:
            return
        for file in [*self._files(), self.directory / IDENTITY, self.directory / DATA]:
            file.unlink(missing_ok=True)
        self._begin()

    def _begin(self) -> None:
        if self.writes:
            os.close(self._data)
            self._data = os.open(self.directory / DATA, os.O_RDWR | os.O_CREAT, 0o600)
            os.truncate(self._data, 0)
            _replace(self.directory / IDENTITY, json.dumps(self._identity).encode())

    # --- keeping

    def keep(self, folding: Folding, more: Any = None) -> None:
        """A frame of what has changed since the last one."""
        if not self.writes or self._is_full():
            return
        entries: list[tuple[str, list[str], list[int]]] = []
        parts: list[bytes] = []
        for name, keys in folding.unkept.items():
            packed = [pack(_plain(folding, name, key)) for key in sorted(keys)]
            entries.append((name, sorted(keys), [len(one) for one in packed]))
            parts += packed
        held, known = folding.jobs.held, self._named
        new = sorted(folding.unkept.get(JOBS, set()) - known.keys())
        named = [key for key in new if held[key].row is not None]
        data = b"".join(parts)
        frame = Frame(
            number=len(self.frames),
            seen=dict(folding.seen),
            rest=folding.rest,
            tiers=tuple(sorted(folding.tiers)),
            blocked=tuple((name, key) for name, one in folding.owners() for key in one.blocked),
        )
        rows = (self.bytes, len(data), hashlib.sha256(data).hexdigest())
        _pwrite(self._data, data, self.bytes)
        now = {at: (one.offset, digest_of(one)) for at, one in folding.last.items()}
        self.witness = {**self.witness, **now}
        folding.last.clear()
        plain = {
            "frame": _fields(frame),
            "witness": self.witness,
            "entries": entries,
            "named": named,
            "rows": rows,
            "more": more,
        }
        _replace(self.directory / _name(frame.number), pack(plain))
        self._put(frame, entries, named)
        folding.unkept.clear()

    def _is_full(self) -> bool:
        if self.bytes >= self._bytes_max and not self._full:
            self._full = True
            log.warning("views cache is full", at=str(self.directory), bytes=self.bytes)
        return self._full

    def _put(
        self, frame: Frame, entries: list[tuple[str, list[str], list[int]]], named: list[str]
    ) -> None:
        at = self.bytes
        for name, keys, lengths in entries:
            index = self._index.setdefault(name, {})
            for key, length in zip(keys, lengths, strict=True):
                index.setdefault(key, array("q")).extend((frame.number, at, length))
                at += length
        self.bytes = at
        self._named |= dict.fromkeys(named, frame.number)
        self.frames.append(frame)

    # --- reading

    def fetch(self, number: int, name: str, key: str) -> Any:
        """A row as it stood at a frame; None where there was none."""
        versions = self._index.get(name, {}).get(key)
        if versions is None:
            return None
        starts = range(0, len(versions), _STRIDE)
        at = bisect_right(starts, number, key=lambda start: versions[start]) - 1
        if at < 0:
            return None
        _, offset, length = versions[at * _STRIDE : at * _STRIDE + _STRIDE]
        found = unpack(os.pread(self._data, length, offset))
        return unpack_held(found) if name.partition("/")[0] in OWNED else found

    def jobs(self, number: int) -> Iterator[str]:
        """Names of the jobs that there were at a frame."""
        return (name for name, first in self._named.items() if first <= number)

    def nearest(self, end: Mapping[str, int], topics: frozenset[str] | None = None) -> Frame | None:
        """The last frame that has not read beyond the end; of these topics, if they are named."""

        def beyond(frame: Frame) -> bool:
            return any(
                offset > end.get(at, 0)
                for at, offset in frame.seen.items()
                if topics is None or at.partition("/")[0] in topics
            )

        count = bisect_right(self.frames, False, key=beyond)  # each has read as far as the last
        return self.frames[count - 1] if count else None

    def keys(self, name: str) -> list[str]:
        """All that ever lay under that name."""
        return list(self._index.get(name, ()))

    def more(self) -> Iterator[Any]:
        """What was kept beside the rows of each frame, oldest first."""
        for file in self._files()[: len(self.frames)]:
            yield unpack(file.read_bytes())["more"]

    def close(self) -> None:
        """Closes the files, so that others may write."""
        os.close(self._data)
        if self._lock >= 0:
            os.close(self._lock)
        if self._passing:  # made for one process
            shutil.rmtree(self.directory, ignore_errors=True)


class Framed(FoldStart):
    """A fold begins where a frame was kept."""

    def __init__(self, cache: Cache, frame: Frame, *, whole: bool = False) -> None:
        self._cache, self._frame, self._whole = cache, frame, whole
        self.seen, self.rest, self.tiers = frame.seen, frame.rest, frame.tiers

    def rows(self, name: str) -> KeptRows:
        """Each is fetched when it is asked for; what holds something back is looked at anyway."""
        number = self._frame.number
        if self._whole:  # for who stays: the cache may be gone tomorrow
            every = ((key, self._cache.fetch(number, name, key)) for key in self._cache.keys(name))
            return {key: row for key, row in every if row is not None}
        found = Fetched[Any](lambda key: self._cache.fetch(number, name, key))
        for where, key in self._frame.blocked:
            if where == name:
                found.get(key)
        return found


def digest_of(message: Any) -> str:
    """What tells a record from any other that lies in its place."""
    said = f"{message.place}:{message.offset}:{message.at_ms}".encode()
    return hashlib.sha256(
        b"%b\0%b\0%b" % (said, message.key or b"", message.value or b"")
    ).hexdigest()[:32]


def _plain(folding: Folding, name: str, key: str) -> Any:
    if name == NOTES:
        return folding.notes[key]
    if name == LOADED:
        return folding.loads[key]
    return pack_held(_owner(folding, name).held[key])


def _owner(folding: Folding, name: str) -> Stepper[Any]:
    what, _, tier = name.partition("/")
    if what in (FLEET, CAPACITY):
        return folding.tiers[tier][what == CAPACITY]
    return dict(folding.owners())[name]


def _fields(frame: Frame) -> tuple[Any, ...]:
    return tuple(getattr(frame, name) for name in Frame.__slots__)


def _name(number: int) -> str:
    return f"{number:08d}{FRAME}"


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _replace(file: Path, data: bytes) -> None:
    """In one piece: whoever reads finds the one or the other."""
    beside = file.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(file)


def _pwrite(target: int, data: bytes, offset: int) -> None:
    while data:
        done = os.pwrite(target, data, offset)
        data, offset = data[done:], offset + done
