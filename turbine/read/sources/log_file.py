"""A log in one file, opened with nothing else running: every read that a broker answers, it does.

The file is read once and checked whole; what it holds then lies, unpacked, in a nameless file of
this process (in memory while it is small) with an index by place, offset and time.
"""

from __future__ import annotations

import hashlib
import heapq
import marshal
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from typing import TypeVar

from components.runtime.core.component import Component
from components.runtime.core.store import Restored
from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import Spans
from events.job_config.strict_json import printable
from events.topics import BY_SHORT, CLOCK, JOURNAL
from events.wire.lock import read_lock
from turbine.read.moments import BadMoment, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log_lines import (
    BadFile,
    FileHead,
    Tail,
    head_of,
    message_of,
    not_there_of,
    object_of,
    read_lines,
    tail_of,
)
from turbine.read.sources.source import NoInstallation
from turbine_client.reading import BATCH
from turbine_client.settings import Settings

R = TypeVar("R")

LENGTH_BYTES = 4
HELD_BYTES = 64 * 1024 * 1024
"""Of what is unpacked, in memory; a larger log goes to the disk's directory for such files."""


@dataclass(slots=True)
class _Place:
    """Where the records of one place lie, by ascending offset."""

    offsets: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))  # the greatest up to there
    spots: array[int] = field(default_factory=lambda: array("q"))

    def add(self, offset: int, at_ms: int, spot: int) -> None:
        """One more, in the order of the file."""
        self.offsets.append(offset)
        self.times.append(at_ms)
        self.spots.append(spot)

    def settle(self) -> bool:
        """Puts them in order; False where two have one offset."""
        if any(a >= b for a, b in pairwise(self.offsets)):
            rows = sorted(zip(self.offsets, self.times, self.spots, strict=True))
            self.offsets, self.times, self.spots = (
                array("q", column) for column in zip(*rows, strict=True)
            )
        self.times = array("q", accumulate(self.times, max))
        return all(a < b for a, b in pairwise(self.offsets))


class LogFile:
    """The source that a file is. Opened once; nothing of it changes afterwards."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = f"the file {path}"
        self._spool = tempfile.SpooledTemporaryFile(HELD_BYTES)  # noqa: SIM115 - as long as this
        self._reading = Lock()  # one place in it at a time, whoever reads
        self._places: dict[str, _Place] = {}
        self._never: dict[tuple[str, int, bool], int] = {}
        self.schemas: list[JsonObject] = []
        self.head, self.tail = self._open()
        self.since_ms = self._since_ms()

    # --- opening

    def _open(self) -> tuple[FileHead, Tail]:
        head, tail, digest, number = None, None, hashlib.sha256(), 0
        for number, line in read_lines(self.path):
            if tail is not None:
                raise BadFile(f"{self.path}: line {number} lies beyond its end; export it again")
            plain = object_of(self.path, number, line)
            if head is None:
                head = head_of(self.path, plain)
                self._places = {at: _Place() for at in head.ends}
            elif (tail := tail_of(plain)) is not None:
                self._check(tail, digest.hexdigest())
            else:
                self._take(head, number, plain)
            digest.update(line)
        if head is None:
            raise BadFile(
                f"{self.path} is empty; `turbine log export --out FILE` makes a log's file"
            )
        if tail is None:
            raise BadFile(f"{self.path}: it is cut off; export it again, or copy it whole")
        for at, one in self._places.items():
            if not one.settle():
                raise BadFile(f"{self.path}: {at} has one offset twice; export it again")
        return head, tail

    def _take(self, head: FileHead, number: int, plain: JsonObject) -> None:
        if isinstance(plain.get("schema"), dict):
            self.schemas.append(plain["schema"])
            return
        if (never := not_there_of(plain)) is not None:
            at = (never.place, never.offset, never.yet)
            self._never[at] = max(never.by_ms, self._never.get(at, never.by_ms))
            return
        message = message_of(plain, head)
        if message is None:
            raise BadFile(
                f"{self.path}: line {number} is no record of the places that line 1 names;"
                " it was not written so, export it again"
            )
        spot = self._spool.tell()
        # Bytes that this process alone wrote and reads again.
        content = marshal.dumps(tuple(message))
        self._spool.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
        self._places[message.place].add(message.offset, message.at_ms, spot)

    def _check(self, tail: Tail, digest: str) -> None:
        records = sum(len(one.offsets) for one in self._places.values())
        if tail.sha256 != digest or tail.records != records:
            raise BadFile(
                f"{self.path}: it is not what was written: its content has not the digest that"
                " its last line names; export it again, or copy it anew"
            )

    # --- what it is

    @property
    def settings(self) -> Settings:
        """There is no installation behind a file."""
        raise NoInstallation(
            f"{self.path} is a file, in which nothing runs that could be asked or followed;"
            " leave --log away to reach the installation that the settings name"
        )

    @property
    def now_ms(self) -> int:
        """When its last record was appended: what "now" and "10m ago" are by."""
        return self.tail.last_ms

    def _since_ms(self) -> int:
        """From when on it has all; 0 where that is the log's own beginning."""
        if self.head.since_ms:
            return self.head.since_ms
        cut = [at for at, begin in self.head.begins.items() if begin and self._places[at].times]
        clocks = [at for at in cut if at.startswith(f"{CLOCK}/")] or cut
        found = [self._first_ms(at) for at in clocks]
        return min(found, default=0)

    def _first_ms(self, at: str) -> int:
        one = self._places[at]
        first = bisect_left(one.offsets, self.head.begins.get(at, 0))
        return one.times[min(first, len(one.times) - 1)]

    @property
    def at_hand(self) -> bool:
        """Nobody has to be asked for anything."""
        return True

    def lacks(self, component: Component[R]) -> str:
        """Which records that the component reads the file leaves out; "" where it has them all."""
        if component.key_of is not None and self.head.job:
            return f"the file has the records of the job {self.head.job} alone"
        if not any(self.head.begins.values()):
            return ""
        for short in sorted(component.inputs):
            told_again = (
                BY_SHORT[short].kind == "facts"
                and BY_SHORT[short].config.get("retention.ms") != "-1"
            )
            if told_again and any(
                begin for at, begin in self.head.begins.items() if at.startswith(f"{short}/")
            ):
                return f"the file has not all of {short} from before its beginning"
        return ""

    # --- reading

    def counts(self) -> dict[str, int]:
        """As its first line says; without a journal a log tells nothing."""
        return {JOURNAL: 1} | dict(self.head.topics)

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place from which on the file has all."""
        return {at: self.head.begins.get(at, 0) for at in places}

    def lowest(self, places: Iterable[str]) -> dict[str, int]:
        """From before its beginning it has what later records rest on."""
        return dict.fromkeys(places, 0)

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place."""
        return {at: self.head.ends.get(at, 0) for at in places}

    def times(self, places: Iterable[str], at_ms: int) -> dict[str, int]:
        """The first offset of each place that was appended at that time or later."""
        return {at: self._from(at, at_ms) for at in places}

    def _from(self, at: str, at_ms: int) -> int:
        one = self._places.get(at)
        first = 0 if one is None else bisect_left(one.times, at_ms)
        if one is None or first == len(one.times):
            return self.head.ends.get(at, 0)
        return one.offsets[first]

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        """Polls of all messages of each place, together in the order of their times."""
        del committed  # what was not, is not in it
        rows = heapq.merge(*(self._rows(at, *span) for at, span in sorted(spans.items())))
        batch: list[Message] = []
        for _, _, _, spot in rows:
            with self._reading:
                self._spool.seek(spot)
                content = self._spool.read(int.from_bytes(self._spool.read(LENGTH_BYTES), "big"))
            batch.append(Message(*marshal.loads(content)))  # noqa: S302 - what _take put there
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = BATCH
    ) -> Iterator[list[Message]]:
        """The same: they are in the order of their times, and few of them in memory."""
        del most
        return self.spans(dict(spans))

    def _rows(self, at: str, first: int, end: int | None) -> Iterator[tuple[int, str, int, int]]:
        one = self._places.get(at)
        if one is None:
            return
        stop = len(one.offsets) if end is None else bisect_left(one.offsets, end)
        for row in range(bisect_left(one.offsets, first), stop):
            yield one.times[row], at, one.offsets[row], one.spots[row]

    def append_times(self) -> LogFile:
        """It knows itself when what came."""
        return self

    def possible(self, place: str, offset: int, by_ms: int) -> bool | None:
        """Was all of the place below that offset in the log by then? None: it may come yet.

        Of what the export left out this is so, but for the exceptions that it noted.
        """
        for yet, answer in ((False, False), (True, None)):
            if by_ms <= self._never.get((place, offset, yet), -1):
                return answer
        one, end = self._places.get(place), self.head.ends.get(place, 0)
        if one is None:
            return bool(self.head.job)  # of others nothing is told
        row = bisect_right(one.offsets, offset - 1)
        if offset <= self.head.begins.get(place, 0):
            return True
        if self.head.job and (row == 0 or one.offsets[row - 1] != offset - 1):
            return True
        if row and one.times[row - 1] > by_ms:
            return False
        if offset <= end:
            return True
        return False if one.times and one.times[-1] > by_ms else None

    def close(self) -> None:
        """Nothing was opened for an answer."""

    def kept(
        self, view: Component[R], places: Iterable[str], end: Mapping[str, int] | None
    ) -> Restored[R]:
        """Nothing: rows are made again from the records."""
        del view, places, end
        return Restored()

    def check(self, at_ms: int, what: str) -> None:
        """BadMoment where the file tells nothing of that instant."""
        if at_ms > self.tail.last_ms:
            raise BadMoment(
                f"{what}: {self.path} ends at {show_time(self.tail.last_ms)}, before"
                f" {show_time(at_ms)}; name an instant that is in it"
            )
        if at_ms < self.since_ms:
            raise BadMoment(
                f"{what}: {self.path} begins at {show_time(self.since_ms)}, after"
                f" {show_time(at_ms)}; name an instant that is in it, or export the log from"
                " earlier on"
            )

    def strange(self) -> list[str]:
        """Schemas of the file that this build does not know, or knows as others."""
        known = {one.id: one.schema for one in read_lock()}
        return [
            printable(str(one.get("name", "?"))[:80])
            for one in self.schemas
            if known.get(one.get("id", -1)) != one.get("schema")
        ]
