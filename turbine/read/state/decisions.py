"""Where each decision lies, of which kind it is and whether it stands: an index, without bodies.

Sixty bytes a decision. What it says is read from the log when somebody looks at it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from events.wire.codec import Read

MOST = 2_000_000
"""Held at most; then the older half goes. What is older is in the log."""
NAMES_MOST = 65_535
OTHER = "other"
ROW = np.dtype(
    [
        ("place", "u2"),
        ("offset", "i8"),
        ("at_ms", "i8"),
        ("kind", "u2"),
        ("source", "u2"),
        ("key", "u4"),
        ("stands", "?"),
        ("id", "u8", 2),
        ("parent", "u8", 2),
    ]
)
CLASSES = ("config", "sync", "scaling", "placement", "alert")
_BEGINNINGS = (
    ("Alert", "alert"),
    ("Scaling", "scaling"),
    ("Sync", "sync"),
    ("TaskSpecs", "sync"),
    ("JobQuarantined", "sync"),
    ("JobReleased", "sync"),
    ("JobConfig", "config"),
    ("JobDeleted", "config"),
    ("Override", "config"),
)
_PER_CHUNK = 1024


def class_of(kind: str) -> str:
    """What a decision is about, for the time bar; all that is left is about tiers."""
    return next((name for begin, name in _BEGINNINGS if kind.startswith(begin)), "placement")


@dataclass(frozen=True, slots=True)
class DecisionSpot:
    """Where one decision lies, and what it is about."""

    place: str
    offset: int
    at_ms: int
    kind: str
    key: str
    source: str
    stands: bool

    @property
    def position(self) -> str:
        """As it is shown, and named by whoever asks for what is older."""
        return f"{self.place}:{self.offset}"


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions; None for all."""

    job: str | None = None
    kind: str | None = None
    component: str | None = None
    void: bool | None = None
    upto: Mapping[str, int] | None = None  # before this position
    kinds: frozenset[str] | None = None  # of these kinds, or of these classes
    since_ms: int | None = None  # at that instant or later
    until_ms: int | None = None  # before that instant
    topic: str | None = None


ALL = DecisionFilter()


class Names:
    """Texts by number, of which there are few."""

    def __init__(self, most: int) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._most = most

    def number(self, text: str) -> int:
        """The text's own; beyond the bound all others share one."""
        found = self._numbers.get(text)
        if found is None:
            if len(self.texts) >= self._most - 1 and text != OTHER:
                return self.number(OTHER)
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found

    def known(self, text: str) -> int:
        """Its number; -1 where nobody named it."""
        return self._numbers.get(text, -1)


class Decisions:
    """In the order in which they took effect. Written by one thread, read by any."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._names = {name: Names(NAMES_MOST) for name in ("place", "kind", "source")}
        self._names["key"] = Names(2**31)
        self._rows: NDArray[Any] = np.empty(_PER_CHUNK, ROW)
        self._count = 0
        self.dropped = 0  # that were held once
        self._kept = 0

    def __len__(self) -> int:
        return self._count

    def add(self, read: Read, stands: bool) -> None:
        """Adds the next decision of its place."""
        if self._count == len(self._rows):
            self._grow()
        record, names = read.record, self._names
        self._rows[self._count] = (
            names["place"].number(read.place),
            read.offset,
            read.at_ms,
            names["kind"].number(record.kind),
            names["source"].number(record.source),
            names["key"].number(record.key),
            stands,
            _halves(record.id),
            _halves(record.parent),
        )
        self._count += 1

    def _grow(self) -> None:
        if self._count >= self._most:
            half = self._count // 2
            rows = np.empty(len(self._rows), ROW)
            rows[: self._count - half] = self._rows[half : self._count]
            self._count -= half
            self.dropped += half
            self._kept = max(0, self._kept - half)
        else:
            rows = np.empty(min(self._most, 2 * len(self._rows)), ROW)
            rows[: self._count] = self._rows[: self._count]
        self._rows = rows

    # --- asking

    def page(
        self, wanted: DecisionFilter, limit: int, before: str = ""
    ) -> tuple[list[DecisionSpot], str]:
        """The newest that are wanted, older than the one at `before`; and where to go on, "" at
        the end."""
        rows = self._rows[: self._count]
        if before:
            rows = rows[: self._number_of(before)]
        found = np.flatnonzero(self._mask(rows, wanted))
        some = found[::-1][:limit]
        spots = [self._spot(rows[at]) for at in some]
        return spots, spots[-1].position if spots and len(found) > len(spots) else ""

    def beyond(
        self, position: Mapping[str, int], number: int, most: int
    ) -> tuple[list[DecisionSpot], int] | None:
        """Those that lie beyond a position, in the order in which they took effect, from a number
        on; and the number to go on from. None where some of them are not held any more."""
        rows, dropped = self._rows[: self._count], self.dropped
        if number < dropped and (number or not self._all_after(position)):
            return None
        rows = rows[max(0, number - dropped) :]
        texts = self._names["place"].texts
        begins = np.array([position.get(at, 0) for at in texts] or [0])
        found = np.flatnonzero(rows["offset"] >= begins[rows["place"]])
        some = found[:most]
        rest = int(some[-1]) + 1 if len(found) > len(some) else len(rows)
        return [self._spot(rows[at]) for at in some], max(number, dropped) + rest

    def _all_after(self, position: Mapping[str, int]) -> bool:
        """Is all that was dropped before that position?"""
        rows = self._rows[: self._count]
        first = dict[int, int]()
        for at in range(len(self._names["place"].texts)):
            of = rows["offset"][rows["place"] == at]
            first[at] = int(of.min()) if len(of) else 0
        texts = self._names["place"].texts
        return all(position.get(texts[at], 0) >= offset for at, offset in first.items())

    def last_of(
        self, keys: Collection[str], wanted: DecisionFilter, most: int
    ) -> list[DecisionSpot]:
        """The last ones about each of the keys, so many of each, in the order in which they took
        effect."""
        rows, names = self._rows[: self._count], self._names["key"]
        numbers = np.array(sorted({names.known(key) for key in keys} - {-1}), np.int64)
        found = np.flatnonzero(self._mask(rows, wanted) & np.isin(rows["key"], numbers))
        # By key, and within a key as they were: the last ones of each are where it ends.
        ordered = found[np.argsort(rows["key"][found], kind="stable")]
        sorted_keys = rows["key"][ordered]
        ends = np.searchsorted(sorted_keys, sorted_keys, side="right")
        kept = ordered[ends - np.arange(len(ordered)) <= most]
        return [self._spot(rows[at]) for at in np.sort(kept)]

    def find(self, name: str) -> DecisionSpot | None:
        """The decision of that id, the standing one if there are several."""
        high, low = _halves(name)
        rows = self._rows[: self._count]
        found = rows[(rows["id"][:, 0] == high) & (rows["id"][:, 1] == low)]
        if not len(found):
            return None
        standing = found[found["stands"]]
        return self._spot((standing if len(standing) else found)[0])

    def markers(
        self, begin_ms: int, end_ms: int, buckets: int, wanted: DecisionFilter = ALL
    ) -> dict[str, list[int]]:
        """How many of each class were made in each part of a span of time."""
        rows = self._rows[: self._count]
        rows = rows[
            self._mask(rows, wanted) & (rows["at_ms"] >= begin_ms) & (rows["at_ms"] < end_ms)
        ]
        width = max(1, end_ms - begin_ms)
        at = (rows["at_ms"] - begin_ms) * buckets // width
        kinds = [CLASSES.index(class_of(kind)) for kind in self._names["kind"].texts]
        of = np.array(kinds or [0])[rows["kind"]]
        counts = np.bincount(of * buckets + at, minlength=len(CLASSES) * buckets)
        told = {name: counts[i * buckets : (i + 1) * buckets] for i, name in enumerate(CLASSES)}
        times = {"t_ms": [begin_ms + width * i // buckets for i in range(buckets)]}
        return times | {name: [int(one) for one in some] for name, some in told.items()}

    def _mask(self, rows: NDArray[Any], wanted: DecisionFilter) -> NDArray[np.bool_]:
        mask = np.ones(len(rows), np.bool_)
        for name, text in (
            ("key", wanted.job),
            ("kind", wanted.kind),
            ("source", wanted.component),
        ):
            if text is not None:
                mask &= rows[name] == self._names[name].known(text)
        if wanted.kinds is not None:
            kinds = self._names["kind"].texts
            of = [bool(wanted.kinds & {kind, class_of(kind)}) for kind in kinds]
            mask &= np.array(of or [False])[rows["kind"]]
        if wanted.void is not None:
            mask &= rows["stands"] != wanted.void
        if wanted.upto is not None:
            upto = [wanted.upto.get(at, 0) for at in self._names["place"].texts]
            mask &= rows["offset"] < np.array(upto or [0])[rows["place"]]
        if wanted.topic is not None:
            there = [at.partition("/")[0] == wanted.topic for at in self._names["place"].texts]
            mask &= np.array(there or [False])[rows["place"]]
        if wanted.since_ms is not None:
            mask &= rows["at_ms"] >= wanted.since_ms
        if wanted.until_ms is not None:
            mask &= rows["at_ms"] < wanted.until_ms
        return mask

    def holds(self, position: str) -> bool:
        """Does a decision lie there?"""
        return len(self._at(position)) > 0

    def _number_of(self, position: str) -> int:
        """Of the decision that lies there; 0 where none does that is held."""
        found = self._at(position)
        return int(found[0]) if len(found) else 0

    def _at(self, position: str) -> NDArray[np.int64]:
        where, _, offset = position.rpartition(":")
        if not (offset.isascii() and offset.isdigit()) or len(offset) > 18:
            return np.array([], np.int64)
        rows = self._rows[: self._count]
        here = self._names["place"].known(where)
        return np.flatnonzero((rows["place"] == here) & (rows["offset"] == int(offset)))

    def _spot(self, row: Any) -> DecisionSpot:
        names = self._names
        return DecisionSpot(
            place=names["place"].texts[row["place"]],
            offset=int(row["offset"]),
            at_ms=int(row["at_ms"]),
            kind=names["kind"].texts[row["kind"]],
            key=names["key"].texts[row["key"]],
            source=names["source"].texts[row["source"]],
            stands=bool(row["stands"]),
        )

    # --- keeping

    def take_new(self) -> Any:
        """What has come since it was asked last, with all names."""
        rows, self._kept = self._rows[self._kept : self._count].tobytes(), self._count
        return rows, {name: list(one.texts) for name, one in self._names.items()}

    def put_back(self, kept: Iterable[Any]) -> None:
        """What `take_new` gave, one after the other."""
        for packed, names in kept:
            for name, texts in names.items():
                for text in texts[len(self._names[name].texts) :]:
                    self._names[name].number(text)
            for row in np.frombuffer(packed, ROW):
                if self._count == len(self._rows):
                    self._grow()
                self._rows[self._count] = row
                self._count += 1
        self._kept = self._count


def _halves(name: str) -> tuple[int, int]:
    """An id as two numbers: ours are UUIDs, and whatever else stands there is hashed."""
    try:
        whole = UUID(name).int if name else 0
    except ValueError:
        whole = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])
    return whole >> 64, whole & (2**64 - 1)
