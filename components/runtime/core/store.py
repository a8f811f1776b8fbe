"""How an owner's keys are kept over restarts, and which of the kept entries still hold. Pure.

One compacted topic a component, one partition an owner. An owner first writes a claim; what it
keeps names that claim by its offset. An entry holds only while its claim is the newest before it,
so the topic's own order fences a frozen owner that wakes up after its successor claimed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from components.runtime.core.chunks import ROW, cut, joined, key_of, name_of
from components.runtime.core.component import Component
from components.runtime.core.following import dumped
from components.runtime.core.step import KeyState, Stepper
from events.generated.records import Body
from events.topics import BY_SHORT, CLOCK
from events.wire.codec import REQUESTS, SKIPPED, Read, Record, decode, traced
from turbine_client.errors import Unreadable

R = TypeVar("R")

CLAIM = "\x00claim/"
"""Each claim has a key of its own: were one overwritten by compaction, the entries of the owner
before it could be taken for a later one's."""
POSITIONS = "\x00positions"
EARLY = "\x00early/"
FORM = 2
"""Of what is kept of a key. One that was kept in another form is made anew, from the log."""
LOG = "\x00log"
"""Of which topics the positions are, by the ids that the broker gives them."""


@dataclass(frozen=True, slots=True)
class RowEntry:
    """One record of the topic that keeps rows."""

    key: str
    value: bytes | None  # None: gone
    claim: int  # the offset of the claim of the owner who wrote it; a header
    offset: int = -1


@dataclass(slots=True)
class Restored(Generic[R]):
    """What an owner starts from."""

    held: dict[str, KeyState[R]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    early: dict[str, set[str]] = field(default_factory=dict)  # key to its kept held-back records
    again: set[str] = field(default_factory=set)  # to be kept again: compaction may lose them
    lost: set[str] = field(default_factory=set)  # of which only a zombie's entry is left
    pieces: dict[str, int] = field(default_factory=dict)  # of rows that are kept apart
    log: dict[str, str] = field(default_factory=dict)  # topics and their ids


KEEP_MS = 600_000
"""Of ticks, for which a changed row may be unkept: a row of 14 kB that each of its job's reports
changes is written six times an hour, and not with each of them."""
KEEP_MOST = 20_000
"""Records of a partition that a restart may have to read again; the 16 of them take one worker some
ten seconds."""
STRETCHES = 40
"""Into which both are cut: keys that changed first in the same one wait from the same position."""
NEARLY = 0.9
"""Of both, for what is kept along with the oldest: positions are not written with every row."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """From here on nothing is kept of the keys that changed first in it."""

    seen: dict[str, int]
    at_ms: int

    def old(self, owner: Stepper[Any], share: float, keep_ms: int, keep_most: int) -> bool:
        """Has it lasted for that share of what a row may be unkept for?"""
        passed_ms = owner.now_ms - self.at_ms
        return passed_ms >= share * keep_ms or _records(self.seen, owner.seen) > share * keep_most


def _records(since: Mapping[str, int], seen: Mapping[str, int]) -> int:
    """Read in between; ticks are passed over by the hundred thousand a second."""
    clock = f"{CLOCK}/"
    return sum(n - since.get(at, 0) for at, n in seen.items() if not at.startswith(clock))


class Keeper(Generic[R]):
    """Says what is to be written so that an owner's changed keys survive it.

    The log has all that a row has, so a row need not be kept whenever it changes. The positions
    that are kept stay behind the oldest change that is not; what lies below a row's own vector is
    passed over when it is read again.
    """

    def __init__(
        self,
        owner: Stepper[R],
        claim: int,
        build: str,
        restored: Restored[R],
        *,
        keep_ms: int = KEEP_MS,
        keep_most: int = KEEP_MOST,
    ) -> None:
        self.owner, self.claim, self.build = owner, claim, build
        self._early, self._lost = restored.early, restored.lost
        held = restored.held
        self._apart = {key: (one.row, restored.pieces.get(key, 0)) for key, one in held.items()}
        for key in restored.again:
            self._apart[key] = None, restored.pieces.get(key, 0)
        self._names = set(held)
        self._at_once = restored.again
        # Who began from nothing finds rows there that do not go with its positions.
        self._all_at_once = not restored.seen
        self._bounds = keep_ms, keep_most
        self._waiting: dict[str, _Stretch] = {}  # the longest wait first
        self._stretch = self._kept = _Stretch(dict(owner.seen), owner.now_ms)
        owner.changed |= restored.again

    def entries(self) -> Iterator[RowEntry]:
        """Every changed key, then the positions: in this order, on one partition."""
        self._look()
        yield from self._written(sorted(self._waiting))

    def due(self) -> Iterator[RowEntry]:
        """The same of the keys that have waited for long enough; nothing where none has."""
        self._look()
        if self._all_at_once:
            yield from self._written(sorted(self._waiting))
        elif self._at_once or self._old(self._kept):
            late = {key for key, since in self._waiting.items() if self._old(since, NEARLY)}
            yield from self._written(sorted(late | self._at_once))

    def _old(self, stretch: _Stretch, share: float = 1.0) -> bool:
        return stretch.old(self.owner, share, *self._bounds)

    def _look(self) -> None:
        """What has changed since the last look waits from then on, or from a little before."""
        owner, stretch = self.owner, self._stretch
        if not stretch.at_ms:  # no tick was read yet
            self._stretch = self._kept = stretch = _Stretch(stretch.seen, owner.now_ms)
        for key in sorted(owner.changed):
            self._waiting.setdefault(key, stretch)
        owner.changed.clear()
        if self._old(stretch, 1 / STRETCHES):
            self._stretch = _Stretch(dict(owner.seen), owner.now_ms)

    def _written(self, keys: Iterable[str]) -> Iterator[RowEntry]:
        owner = self.owner
        for name in sorted(self._lost - owner.held.keys() - {POSITIONS}):
            yield RowEntry(name, None, self.claim)  # else every restart would begin from nothing
        self._lost, self._at_once, self._all_at_once = set(), set(), False
        for key in keys:
            del self._waiting[key]
            yield from self._entries(key, owner.held[key])
        self._stretch = _Stretch(dict(owner.seen), owner.now_ms)
        self._kept = next(iter(self._waiting.values()), self._stretch)
        state = {
            "build": self.build,
            "logic": owner.component.logic,
            "form": FORM,
            "seen": self._kept.seen,
            "keys": len(self._names),
        }
        yield RowEntry(POSITIONS, _bytes(state), self.claim)

    def _entries(self, key: str, one: KeyState[R]) -> Iterator[RowEntry]:
        """The row, then what it holds back, in the order of the log.

        Held-back records go under keys of their own: a row stays one message, and a record that
        waits long is not written again with each change of its row. Whoever dies in between
        leaves older positions, from which all is read again that is not held: so nothing may be
        held that lies beyond a record which neither row nor entries have.
        """
        self._names.add(key)
        kept = self._early.pop(key, set())
        waiting = {
            f"{EARLY}{key}\x00{read.place}\x00{read.offset}": read
            for place in sorted(one.early)
            for read in one.early[place]
        }
        yield from self._row(key, one)
        for name, read in waiting.items():
            if name not in kept:
                yield RowEntry(name, _bytes(_dump_read(read)), self.claim)
        for name in sorted(kept - waiting.keys()):
            yield RowEntry(name, None, self.claim)
        if waiting:
            self._early[key] = set(waiting)

    def _row(self, key: str, one: KeyState[R]) -> Iterator[RowEntry]:
        """The chain, with its row; or then the row by itself, where it is another."""
        component, row = self.owner.component, one.row
        if not component.apart or row is None:
            yield RowEntry(key, dump_held(component, one), self.claim)
            return
        was, before = self._apart.get(key, (None, 0))
        if row is was:
            yield RowEntry(key, dump_held(component, one, before), self.claim)
            return
        pieces = [*cut(_bytes(component.dump(row)))]
        self._apart[key] = row, len(pieces)
        yield RowEntry(key, dump_held(component, one, len(pieces)), self.claim)
        for number, piece in enumerate(pieces):
            yield RowEntry(name_of(key, number), piece, self.claim)
        for number in range(len(pieces), before):
            yield RowEntry(name_of(key, number), None, self.claim)


def by_key(entries: Iterable[RowEntry]) -> Iterator[list[RowEntry]]:
    """What must be kept together: a chain, its row, and what it holds back; or the positions."""
    group: list[RowEntry] = []
    for entry in entries:
        if group and not entry.key.startswith((ROW, EARLY)):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _bytes(plain: object) -> bytes:
    """One text for one value. Not the canonical form of configs: our own rows need no bounds."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def dump_held(component: Component[R], one: KeyState[R], apart: int = 0) -> bytes:
    """A key's row with its vector and chain, as canonical JSON; or in how many pieces the row lies
    beside it."""
    plain: dict[str, object] = {
        "row": None if one.row is None or apart else component.dump(one.row),
        "vector": one.vector,
        "last": one.last,
        "tick_ms": one.tick_ms,
        "frozen": one.frozen,
        "marks": dumped(one.marks),
    }
    return _bytes(plain | ({"apart": apart} if apart else {}))


def restore(component: Component[R], entries: Iterable[RowEntry], build: str) -> Restored[R]:
    """What the entries say, or nothing at all where they cannot be trusted to be whole."""
    holds, again, lost, late = _sift(entries)
    positions = json.loads(holds.pop(POSITIONS, None) or b"{}")
    log = json.loads(holds.pop(LOG, None) or b"{}")
    lost.discard(LOG)  # it is written anew at each start
    if lost or positions.get("form") != FORM or positions.get("logic") != component.logic:
        return Restored(lost=lost)  # from nothing: the log has everything
    out: Restored[R] = Restored(seen=positions["seen"], log=log)
    for key, value in sorted(holds.items()):
        if value is None or key.startswith(ROW):
            continue
        if key.startswith(EARLY):
            _put_early(component, out, key, json.loads(value))
        else:
            _put_row(component, out, key, json.loads(value), holds)
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
    entries: Iterable[RowEntry],
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
    component: Component[R],
    out: Restored[R],
    key: str,
    plain: Any,
    holds: Mapping[str, bytes | None],
) -> None:
    one, row = out.held.setdefault(key, KeyState()), plain["row"]
    if count := plain.get("apart", 0):
        out.pieces[key] = count
        row = json.loads(joined(key, count, holds))
    one.row = None if row is None else component.load(row)
    one.vector, one.last = plain["vector"], plain["last"]
    one.tick_ms, one.frozen = plain["tick_ms"], plain["frozen"]
    one.marks = dict(plain["marks"])


def _put_early(component: Component[R], out: Restored[R], name: str, plain: Any) -> None:
    read, key = _load_read(component, plain), _key_of_early(name)
    out.held.setdefault(key, KeyState()).early.setdefault(read.place, []).append(read)
    out.early.setdefault(key, set()).add(name)


def _key_of(name: str) -> str:
    if name.startswith(EARLY):
        return _key_of_early(name)
    return key_of(name) if name.startswith(ROW) else name


def _key_of_early(name: str) -> str:
    """Whose row waits for the record: it may be about another key."""
    return name.removeprefix(EARLY).rsplit("\x00", 2)[0]


def _order_early(one: KeyState[R]) -> None:
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
        if kind in REQUESTS and body is not None:
            body = traced(body, plain["trace"])
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
