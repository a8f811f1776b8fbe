"""The compacted topic in which a component keeps its rows: claims its partitions, reads, writes.

What is kept is a cache of the log. Wherever it cannot be trusted to be whole and readable, it is
left aside and the partition is folded again from the log's beginning.
"""

from __future__ import annotations

import hashlib
import json
import time  # noqa: TID251 - a claim's name must be new, and is never compared by time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from components.runtime.core.component import Component
from components.runtime.core.ground import Ground, headless, misfit
from components.runtime.core.store import CLAIM, LOG, Restored, RowEntry, restore
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import Message
from events.topics import Topic, place, rows_topic
from events.wire.lock import read_lock
from turbine_client.errors import Unreadable
from turbine_client.reading import LogUnreadable, read_span, starts_now
from turbine_client.settings import Settings

R = TypeVar("R")

NOBODYS = -2
"""The claim of an entry that names none: before the first claim of all, -1 would hold."""
CLAIM_S = 15.0
_UNFIT = (AttributeError, IndexError, KeyError, TypeError, Unreadable, ValueError)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RowClaim:
    """Written by a new owner: from its offset on, what others keep does not hold."""

    name: str
    start: int  # the topic's first offset then


@dataclass(frozen=True, slots=True)
class Opened(Generic[R]):
    """What an owner starts from, and the offset of its claim."""

    claim: int
    restored: Restored[R]


def build() -> str:
    """What this build can read: another one tries again what froze a key for this one."""
    versions = "".join(f"{version.id}:{version.sha256};" for version in read_lock())
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


class KeptRows(Generic[R]):
    """One component's kept rows; used from one thread."""

    def __init__(
        self,
        settings: Settings,
        component: Component[R],
        instance: str,
        emitter: Emitter,
        **reading: object,
    ) -> None:
        self.build = build()
        self._settings, self._component, self._instance = settings, component, instance
        self._emitter, self._reading = emitter, reading
        self._topic = rows_topic(component.name)
        self._claims = 0

    def claim(self, partitions: Iterable[int]) -> dict[int, RowClaim]:
        """Writes a claim to each; it holds once the emitter has settled."""
        starts = self._starts(partitions)
        claims = {}
        for partition, start in starts.items():
            self._claims += 1
            name = f"{self._instance}/{self._claims}/{time.time_ns()}"
            claims[partition] = RowClaim(name, start)
            value = json.dumps({"start": start}).encode()
            self._emitter.write(self._topic.short, partition, f"{CLAIM}{name}".encode(), value, [])
        return claims

    def open(self, claims: Mapping[int, RowClaim]) -> dict[int, Opened[R]]:
        """What was kept in each partition before the claim, as far as it holds."""
        entries = self._read(claims)
        limit = time.monotonic() + CLAIM_S
        # The broker acknowledges a transaction a little before its readers get to see it.
        while hidden := {p for p in claims if _at(claims[p], entries[p]) is None}:
            if time.monotonic() > limit:
                raise LogUnreadable(f"{self._place(min(hidden))}: our own claim is not there")
            entries |= self._read(hidden)
        now = self._starts(claims)
        moved = [p for p, one in claims.items() if now[p] != one.start]
        if moved:
            raise LogUnreadable(f"{self._place(moved[0])}: records were deleted while it was read")
        return {p: self._opened(p, claims[p], entries[p]) for p in claims}

    def _read(self, partitions: Iterable[int]) -> dict[int, list[RowEntry]]:
        return _read(self._settings, self._topic, partitions, self._reading)

    def _opened(self, partition: int, mine: RowClaim, entries: list[RowEntry]) -> Opened[R]:
        at = _at(mine, entries)
        assert at is not None, "it was there a moment ago"
        entries = _whole([entry for entry in entries if entry.offset <= at], mine.start)
        return Opened(at, _restored(self._component, entries, self.build, self._place(partition)))

    def stand(self, opened: Mapping[int, Opened[R]], ground: Ground, remedy: str) -> None:
        """LogUnreadable where what was kept is not of this log; else the log is kept with it."""
        if why := headless(ground):
            raise LogUnreadable(why)
        for partition, one in sorted(opened.items()):
            kept = one.restored
            unread = {at: 0 for at in ground.starts if self._reads(at, partition)}
            if kept.seen and (why := misfit(kept.log, unread | kept.seen, ground)):
                raise LogUnreadable(f"{why}; {remedy}")
            value = json.dumps(dict(ground.ids), sort_keys=True).encode()
            self.write(partition, RowEntry(LOG, value, one.claim))

    def _reads(self, at: str, partition: int) -> bool:
        topic, _, number = at.partition("/")
        return number == str(partition) and topic in self._component.inputs

    def taken(self, partition: int, claim: int) -> bool:
        """Did anybody claim the partition after that? Then what is held in memory is old."""
        spans = {self._place(partition): (claim + 1, None)}
        later = (m for poll in read_span(self._settings, spans, **self._reading) for m in poll)
        return any((m.key or b"").startswith(CLAIM.encode()) for m in later)

    def write(self, partition: int, entry: RowEntry) -> None:
        """Keeps an entry, under the claim that it names."""
        headers = [("claim", str(entry.claim).encode())]
        self._emitter.write(self._topic.short, partition, entry.key.encode(), entry.value, headers)

    def _starts(self, partitions: Iterable[int]) -> dict[int, int]:
        at = {self._place(partition): partition for partition in partitions}
        return {at[where]: start for where, start in starts_now(self._settings, at).items()}

    def _place(self, partition: int) -> str:
        return place(self._topic.short, partition)


def look(
    settings: Settings, component: Component[R], partitions: Iterable[int]
) -> dict[int, Restored[R]]:
    """What stands kept now, for one who owns nothing there and keeps nothing.

    The owner goes on meanwhile, and what it writes anew may be compacted away before it is reached
    here: then a key or a row is missing, by what the owner counted, and nothing is taken.
    """
    topic = rows_topic(component.name)
    at = {place(topic.short, partition): partition for partition in partitions}
    starts = starts_now(settings, at)
    entries = _read(settings, topic, at.values(), {"isolation.level": "read_committed"})
    if starts_now(settings, at) != starts:  # records were deleted while it was read
        return {partition: Restored() for partition in at.values()}
    return {
        partition: _restored(component, _whole(entries[partition], starts[where]), build(), where)
        for where, partition in at.items()
    }


def _read(
    settings: Settings, topic: Topic, partitions: Iterable[int], reading: Mapping[str, object]
) -> dict[int, list[RowEntry]]:
    entries: dict[int, list[RowEntry]] = {partition: [] for partition in partitions}
    spans: dict[str, tuple[int, int | None]] = {place(topic.short, p): (0, None) for p in entries}
    for poll in read_span(settings, spans, **reading):
        for message in poll:
            entry = _entry(message)
            if entry is not None:
                entries[message.partition].append(entry)
    return entries


def _restored(
    component: Component[R], entries: list[RowEntry], build: str, where: str
) -> Restored[R]:
    try:
        return restore(component, entries, build)
    except _UNFIT as bad:
        # Another build kept it in another form: the log has it all, and a row that cannot be
        # loaded would end every process that tries.
        log.warning("kept rows left aside", at=where, why=repr(bad))
        return Restored()


def _at(mine: RowClaim, entries: list[RowEntry]) -> int | None:
    return next((e.offset for e in entries if e.key == f"{CLAIM}{mine.name}"), None)


def _whole(entries: list[RowEntry], start: int) -> list[RowEntry]:
    """The entries that are all there is, where the topic's beginning was deleted.

    Compaction leaves the first offset at 0; only a deletion (by hand, or a wrong cleanup policy)
    moves it, and takes rows with it that nobody writes again. The first owner that comes after it
    folds the log anew, so what is kept from its claim on is whole; what is older is not.
    """
    if start == 0:
        return entries
    for at, entry in enumerate(entries):
        if entry.key.startswith(CLAIM) and json.loads(entry.value or b"{}").get("start") == start:
            return entries[at:]
    return []


def _entry(message: Message) -> RowEntry | None:
    """What was kept; None where it is nothing of ours and could not be taken for it."""
    try:
        key = (message.key or b"").decode()
    except UnicodeDecodeError:
        return None
    claim = dict(message.headers or []).get("claim") or b""
    number = int(claim) if claim.isdigit() else NOBODYS
    return RowEntry(key, message.value, number, message.offset)
