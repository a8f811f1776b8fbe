"""How an owner's keys are kept over restarts, and which of the kept entries still hold. Pure.

One compacted topic a component, one partition an owner. An owner first writes a claim; what it
keeps names that claim by its offset. An entry holds only while its claim is the newest before it,
so the topic's own order fences a frozen owner that wakes up after its successor claimed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from components.runtime.component import Component
from components.runtime.step import Held, Owner
from events.codec import SKIPPED, Read, Record, decode
from events.errors import Unreadable
from events.records import Body
from events.topics import BY_SHORT

R = TypeVar("R")

CLAIM = "\x00claim/"
"""Each claim has a key of its own: were one overwritten by compaction, the entries of the owner
before it could be taken for a later one's."""
POSITIONS = "\x00positions"
EARLY = "\x00early/"
ROW = "\x00row/"
"""Before the key of a row that is kept apart from its chain."""
_APART = {"apart": True}
"""In the place of such a row: without it what is kept is not whole."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the topic that keeps rows."""

    key: str
    value: bytes | None  # None: gone
    claim: int  # the offset of the claim of the owner who wrote it; a header
    offset: int = -1


@dataclass(slots=True)
class Restored(Generic[R]):
    """What an owner starts from."""

    held: dict[str, Held[R]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    early: dict[str, set[str]] = field(default_factory=dict)  # key to its kept held-back records
    again: set[str] = field(default_factory=set)  # to be kept again: compaction may lose them
    lost: set[str] = field(default_factory=set)  # of which only a zombie's entry is left


class Keeper(Generic[R]):
    """Says what is to be written so that an owner's changed keys survive it."""

    def __init__(self, owner: Owner[R], claim: int, build: str, restored: Restored[R]) -> None:
        self.owner, self.claim, self.build = owner, claim, build
        self._early, self._lost = restored.early, restored.lost
        self._apart = {key: one.row for key, one in restored.held.items()}
        for key in restored.again:
            self._apart.pop(key, None)
        self._names = set(restored.held)
        owner.changed |= restored.again

    def entries(self) -> Iterator[Entry]:
        """Every changed key, then the positions: in this order, on one partition."""
        owner = self.owner
        for name in sorted(self._lost - owner.held.keys() - {POSITIONS}):
            yield Entry(name, None, self.claim)  # else every restart would begin from nothing
        self._lost = set()
        for key in sorted(owner.changed):
            yield from self._entries(key, owner.held[key])
        owner.changed.clear()
        state = {
            "build": self.build,
            "logic": owner.component.logic,
            "seen": owner.seen,
            "keys": len(self._names),
        }
        yield Entry(POSITIONS, _bytes(state), self.claim)

    def _entries(self, key: str, one: Held[R]) -> Iterator[Entry]:
        """The row, then what it holds back, in the order of the log.

        Held-back records go under keys of their own: a row stays one message, and a record that
        waits long is not written again with each change of its row. Whoever dies in between
        leaves older positions, from which all is read again that is not held: so nothing may be
        held that lies beyond a record which neither row nor entries have.
        """
        self._names.add(key)
        component, row = self.owner.component, one.row
        if component.apart and row is not None and row is not self._apart.get(key):
            self._apart[key] = row
            yield Entry(f"{ROW}{key}", _bytes(component.dump(row)), self.claim)
        kept = self._early.pop(key, set())
        waiting = {
            f"{EARLY}{key}\x00{read.place}\x00{read.offset}": read
            for place in sorted(one.early)
            for read in one.early[place]
        }
        yield Entry(key, dump_held(self.owner.component, one), self.claim)
        for name, read in waiting.items():
            if name not in kept:
                yield Entry(name, _bytes(_dump_read(read)), self.claim)
        for name in sorted(kept - waiting.keys()):
            yield Entry(name, None, self.claim)
        if waiting:
            self._early[key] = set(waiting)


def _bytes(plain: object) -> bytes:
    """One text for one value. Not the canonical form of configs: our own rows need no bounds."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def dump_held(component: Component[R], one: Held[R]) -> bytes:
    """A key's row with its vector and chain, as canonical JSON."""
    row = None
    if one.row is not None:
        row = _APART if component.apart else component.dump(one.row)
    plain = {
        "row": row,
        "vector": one.vector,
        "last": one.last,
        "tick_ms": one.tick_ms,
        "frozen": one.frozen,
    }
    return _bytes(plain)


def restore(component: Component[R], entries: Iterable[Entry], build: str) -> Restored[R]:
    """What the entries say, or nothing at all where they cannot be trusted to be whole."""
    holds, again, lost, late = _sift(entries)
    positions = json.loads(holds.pop(POSITIONS, None) or b"{}")
    if lost or positions.get("logic") != component.logic:
        return Restored(lost=lost)  # from nothing: the log has everything
    out: Restored[R] = Restored(seen=positions["seen"])
    for key, value in sorted(holds.items()):
        if value is None or key.startswith(ROW):
            continue
        if key.startswith(EARLY):
            _put_early(component, out, key, json.loads(value))
        else:
            _put_row(component, out, key, json.loads(value), holds.get(f"{ROW}{key}"))
    for one in out.held.values():
        _order_early(one)
    if len(out.held) < positions.get("keys", 0):
        raise ValueError(f"{len(out.held)} keys are there, of {positions['keys']}")
    other = positions["build"] != build
    if any(one.frozen and (other or key in late) for key, one in out.held.items()):
        return Restored()  # another build may read what froze the key
    out.again = {_key_of(name) for name in again}
    out.again = {key for key in out.again if key in out.held}
    return out


def _sift(
    entries: Iterable[Entry],
) -> tuple[dict[str, bytes | None], set[str], set[str], set[str]]:
    """The newest entry of each key that holds; the keys to write again; the keys that are lost;
    the keys that were written after the positions, so that nobody knows by which build."""
    claim = -1
    late: set[str] = set()
    holds: dict[str, bytes | None] = {}
    again: set[str] = set()
    lost: set[str] = set()
    for entry in entries:
        if entry.key.startswith(CLAIM):
            claim = entry.offset
        elif entry.claim == claim:
            holds[entry.key] = entry.value
            late.add(entry.key)
            if entry.key == POSITIONS:
                late.clear()
            again.discard(entry.key)
            lost.discard(entry.key)
        elif entry.key in holds:
            again.add(entry.key)  # a zombie's came last: compaction would keep that one
        else:
            lost.add(entry.key)  # only a zombie's is left: compaction has kept it
    return holds, again, lost, late


def _put_row(
    component: Component[R], out: Restored[R], key: str, plain: Any, apart: bytes | None
) -> None:
    one, row = out.held.setdefault(key, Held()), plain["row"]
    if row == _APART:
        if apart is None:
            raise ValueError(f"the row of {key} is not there")
        row = json.loads(apart)
    one.row = None if row is None else component.load(row)
    one.vector, one.last = plain["vector"], plain["last"]
    one.tick_ms, one.frozen = plain["tick_ms"], plain["frozen"]


def _put_early(component: Component[R], out: Restored[R], name: str, plain: Any) -> None:
    read, key = _load_read(component, plain), _key_of_early(name)
    out.held.setdefault(key, Held()).early.setdefault(read.place, []).append(read)
    out.early.setdefault(key, set()).add(name)


def _key_of(name: str) -> str:
    return _key_of_early(name) if name.startswith(EARLY) else name.removeprefix(ROW)


def _key_of_early(name: str) -> str:
    """Whose row waits for the record: it may be about another key."""
    return name.removeprefix(EARLY).rsplit("\x00", 2)[0]


def _order_early(one: Held[R]) -> None:
    """What a row has folded since is not early any more: a rebuilt row leaves such entries behind,
    and the keeper removes them with the row's next change."""
    for place in sorted(one.early):
        rest = [read for read in one.early[place] if read.offset >= one.vector.get(place, 0)]
        one.early[place] = sorted(rest, key=lambda read: read.offset)
        if not rest:
            del one.early[place]


def _dump_read(read: Read) -> object:
    record = read.record
    return {
        "place": read.place,
        "topic": read.topic,
        "offset": read.offset,
        "at_ms": read.at_ms,
        "key": record.key,
        "id": record.id,
        "kind": record.kind,
        "value": base64.b64encode(record.value).decode(),
        "parent": record.parent,
        "evidence": record.evidence,
        "tick_ms": record.tick_ms,
        "logic": record.logic,
        "source": record.source,
        "trace": record.trace,
        "cause": record.cause,
    }


def _load_read(component: Component[R], plain: Any) -> Read:
    """Decoded anew from its bytes: what the last build could not read, this one may."""
    value, kind = base64.b64decode(plain["value"]), plain["kind"]
    body: Body | None = None
    if kind in BY_SHORT[plain["topic"]].records and kind not in component.folds:
        body = SKIPPED
    else:
        try:
            body = decode(value)
        except Unreadable:
            body = None
    head = (
        "key",
        "id",
        "kind",
        "parent",
        "evidence",
        "tick_ms",
        "logic",
        "source",
        "trace",
        "cause",
    )
    record = Record(value=value, body=body, **{name: plain[name] for name in head})
    return Read(plain["place"], plain["topic"], plain["offset"], plain["at_ms"], record)
