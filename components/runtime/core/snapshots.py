"""A tier-wide component's rows as snapshots: how one is cut and closed, and which one holds. Pure.

One partition of a compacted topic. A snapshot lies in one of two slots: its chunks, each under a
key of its own and with the snapshot's id in a header, then a marker that closes it. Whoever writes
takes the slot that does not hold the newest whole one, so that a writer who dies in the middle of
it leaves that one as it was. Chunks of several writers in one slot do not add up to what a marker
names; then the slot holds nothing. Nothing here rests on transactions, on claims or on the order of
compaction.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from components.runtime.core.component import Component
from components.runtime.core.ground import Ground, misfit, remedy_of
from components.runtime.core.step import Stepper
from components.runtime.core.store import Keeper, Restored, RowEntry, restore
from events.topics import FACTS_MS

R = TypeVar("R")

CHUNK_BYTES = 512 * 1024
"""Some of them make a batch, far below what a broker takes; the row may be of any size."""
LEVEL = 1
"""Of compression: the next ones take twice the time and more, and save a tenth of the bytes."""
STALE_MS = FACTS_MS
"""What another logic kept is removed then: its positions lie below what facts are kept for."""
_UNCLAIMED = -1
_ID_LENGTH = 32
_UNFIT = (AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """One record of the topic: a chunk, or the marker that closes a snapshot."""

    key: str
    value: bytes | None  # None: gone
    of: str  # the snapshot's id; a header
    offset: int = -1
    at_ms: int = 0  # the broker's append time


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that an owner held once it had read so far."""

    packed: bytes
    seen: Mapping[str, int]
    logic: str
    build: str
    slot: str = ""
    offset: int = -1  # of its marker
    at_ms: int = 0
    log: Mapping[str, str] = field(default_factory=dict)  # topics that it is of, and their ids

    @property
    def id(self) -> str:
        """Of its content: who keeps the same writes the same."""
        return self.digest[:_ID_LENGTH]

    @property
    def digest(self) -> str:
        """SHA-256 of all its bytes."""
        return hashlib.sha256(self.packed).hexdigest()


def keepable(owner: Stepper[Any]) -> bool:
    """Is there something new to keep that a later start may go on from?

    A frozen row is not kept: the build that can read what froze it needs the row as it was before,
    and the log below that may have expired.
    """
    frozen = any(one.frozen for one in owner.held.values())
    return owner.ready and bool(owner.changed) and not frozen


def take(owner: Stepper[Any], build: str, log: Mapping[str, str] | None = None) -> Snapshot:
    """All that the owner holds, held-back records as bytes; nothing of it counts as changed now."""
    owner.changed.update(owner.held)
    lines: list[bytes] = []
    for entry in Keeper(owner, _UNCLAIMED, build, Restored()).entries():
        assert entry.value is not None, "nothing was kept before that could be gone"
        lines += (json.dumps(entry.key).encode(), entry.value)
    packed = zlib.compress(b"\n".join(lines), LEVEL)
    return Snapshot(packed, dict(owner.seen), owner.component.logic, build, log=log or {})


def restored(component: Component[R], snapshot: Snapshot, build: str) -> Restored[R]:
    """What an owner starts from."""
    lines = zlib.decompress(snapshot.packed).split(b"\n")
    pairs = zip(lines[::2], lines[1::2], strict=True)
    entries = [RowEntry(json.loads(key), value, _UNCLAIMED) for key, value in pairs]
    found = restore(component, entries, build)
    found.log = dict(snapshot.log)
    return found


def lost(snapshot: Restored[R], places: Iterable[str], ground: Ground, component: str) -> str:
    """Why the log cannot be read on from there, with the remedy; "" where it can."""
    seen = dict.fromkeys(places, 0) | snapshot.seen
    why = misfit(snapshot.log, seen, ground)
    return f"{why}; {remedy_of(component)}" if why else ""


class Slots:
    """What the topic holds, as far as it was read, for one logic."""

    def __init__(self, logic: str, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.logic, self._chunk_bytes = logic, chunk_bytes
        # A pair for each logic: while builds are changed over two of them write side by side, and
        # neither has a use for what the other kept. The one that is gone may have to come back.
        tail = logic.replace("/", "-")
        self.names = (f"a.{tail}", f"b.{tail}")
        self._pieces: dict[str, SnapshotRecord] = {}
        self._now_ms = 0

    def lay(self, piece: SnapshotRecord) -> None:
        """The next record of the topic: the newest of each key counts."""
        self._now_ms = max(self._now_ms, piece.at_ms)
        if piece.value is None:
            self._pieces.pop(piece.key, None)
        else:
            self._pieces[piece.key] = piece

    def closes(self, piece: SnapshotRecord) -> bool:
        """Is it a marker of this logic?"""
        return piece.value is not None and piece.key in self.names

    def whole(self) -> list[Snapshot]:
        """The snapshots that are all there, the one that has read furthest first."""
        found = [one for slot in self.names if (one := self._join(slot)) is not None]
        return sorted(found, key=lambda one: (sum(one.seen.values()), one.offset), reverse=True)

    def cut(self, snapshot: Snapshot) -> Iterator[SnapshotRecord]:
        """What is to be written, in this order, so that the snapshot holds."""
        newest = next(iter(self.whole()), None)
        slot = self.names[newest is not None and newest.slot == self.names[0]]
        name, packed, size = snapshot.id, snapshot.packed, self._chunk_bytes
        starts = range(0, len(packed), size)
        keys = [f"{slot}/{number}" for number in range(len(starts))]
        for key, start in zip(keys, starts, strict=True):
            yield SnapshotRecord(key, packed[start : start + size], name)
        for key in self._useless(slot, keys):
            yield SnapshotRecord(key, None, name)
        marker = {
            "sha256": snapshot.digest,
            "chunks": len(keys),
            "seen": snapshot.seen,
            "logic": snapshot.logic,
            "build": snapshot.build,
            "log": dict(snapshot.log),
        }
        yield SnapshotRecord(slot, json.dumps(marker, sort_keys=True).encode(), name)

    def _useless(self, slot: str, keys: Iterable[str]) -> list[str]:
        """Chunks of a longer snapshot that lay in the slot, and what other logics left behind."""
        ours = {slot, *keys}
        return [
            key
            for key, piece in sorted(self._pieces.items())
            if key not in ours
            and (
                key.startswith(f"{slot}/")
                or (
                    key.partition("/")[0] not in self.names
                    and self._now_ms - piece.at_ms > STALE_MS
                )
            )
        ]

    def _join(self, slot: str) -> Snapshot | None:
        """The slot's snapshot, if its chunks are those that its marker closed."""
        marker = self._pieces.get(slot)
        if marker is None or marker.value is None:
            return None
        try:
            said = json.loads(marker.value)
            chunks = [self._pieces[f"{slot}/{number}"] for number in range(said["chunks"])]
            if any(chunk.of != marker.of for chunk in chunks):
                return None
            packed = b"".join(chunk.value or b"" for chunk in chunks)
            found = Snapshot(
                packed,
                {str(at): int(offset) for at, offset in said["seen"].items()},
                said["logic"],
                said["build"],
                slot,
                marker.offset,
                marker.at_ms,
                {str(topic): str(name) for topic, name in said.get("log", {}).items()},
            )
            return found if (found.digest, found.logic) == (said["sha256"], self.logic) else None
        except _UNFIT:
            return None  # a chunk that is not there, or a marker that is none of ours
