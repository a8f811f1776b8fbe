"""How far behind its input a task is, by partition in records and in time, by where they end.

The age of the oldest record that was not read is told by when the partition's end passed it:
between two looks it is taken to have grown evenly, so it is true to LOOK_S. What nobody has seen is
unknown, and never 0: of a record that was there before the first look nobody knows the age.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - ages are of real time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # public, but not re-exported

from spark_streaming.source import At

LOOK_S = 5.0
KEPT = 720
"""Looks of a partition, an hour of them. Then every second one goes: the age of a record that lies
there for a day is known, too, to a few minutes."""
ASK_S = 10.0


class InputLag(NamedTuple):
    """A partition, or a task; None is unknown."""

    records: int | None
    ms: int | None


UNKNOWN, CAUGHT_UP = InputLag(None, None), InputLag(0, 0)


class LagClock:
    """What the ends of some partitions were, and when. Pure: instants come from outside."""

    def __init__(self) -> None:
        self._seen: dict[At, list[tuple[int, int]]] = {}
        self._unseen: set[At] = set()

    def note(self, now_ms: int, ends: Mapping[At, int], wanted: Iterable[At] = ()) -> None:
        """A look. What is wanted and was not seen this time is unknown until it is seen again;
        other partitions are forgotten."""
        self._seen = {at: self._seen.get(at, []) for at in {*ends, *wanted}}
        self._unseen = {at for at in self._seen if at not in ends}
        for at, end in ends.items():
            seen = self._seen[at]
            if len(seen) > 1 and seen[-1][1] == seen[-2][1] == end:
                seen.pop()  # of a quiet time its begin and its end are enough
            seen.append((now_ms, end))
            if len(seen) > KEPT:
                del seen[1:-1:2]

    def behind(self, position: Mapping[At, int], now_ms: int) -> dict[At, InputLag]:
        """Each partition: its records, and the age of the oldest of them."""
        return {at: self._behind(at, offset, now_ms) for at, offset in position.items()}

    def _behind(self, at: At, offset: int, now_ms: int) -> InputLag:
        seen = self._seen.get(at)
        if not seen or at in self._unseen:
            return UNKNOWN
        left = seen[-1][1] - offset
        return InputLag(left, _age_ms(seen, offset, now_ms)) if left > 0 else CAUGHT_UP


def together(parts: Iterable[InputLag]) -> InputLag:
    """A task by its partitions: records add up, and the oldest counts. Without one of them the rest
    would pass for less."""
    whole = list(parts)
    records = [one.records for one in whole if one.records is not None]
    ages_ms = [one.ms for one in whole if one.ms is not None]
    return InputLag(
        sum(records) if len(records) == len(whole) else None,
        max(ages_ms, default=0) if len(ages_ms) == len(whole) else None,
    )


def _age_ms(seen: Iterable[tuple[int, int]], offset: int, now_ms: int) -> int | None:
    """How long ago the end passed the offset; None where that was before anybody looked."""
    before: tuple[int, int] | None = None
    for at_ms, end in seen:
        if end > offset:
            if before is None:
                return None
            share = (offset - before[1]) / (end - before[1])
            return max(0, now_ms - round(before[0] + share * (at_ms - before[0])))
        before = (at_ms, end)
    return None


class Lags:
    """Looks at the ends from time to time, in a thread of its own."""

    def __init__(self, client: Mapping[str, str]) -> None:
        self._admin = AdminClient(dict(client))
        self._clock, self._lock = LagClock(), threading.Lock()
        self._looking = threading.Lock()  # one look at a time, so that ends come in their order
        self._wanted: dict[int, frozenset[At]] = {}
        threading.Thread(target=self._run, name="lags", daemon=True).start()

    def watch(self, run: int, places: Iterable[At]) -> None:
        """Includes the inputs of a run from now on."""
        with self._lock:
            self._wanted[run] = frozenset(places)

    def forget(self, run: int) -> None:
        """Leaves out the inputs of a run that has ended."""
        with self._lock:
            self._wanted.pop(run, None)

    def behind(self, position: Mapping[At, int]) -> dict[At, InputLag]:
        """As it is now, by the last look."""
        with self._lock:
            return self._clock.behind(position, _now_ms())

    def _run(self) -> None:
        while True:
            self.look()
            time.sleep(LOOK_S)

    def look(self) -> None:
        """Now, beside the usual ones."""
        with self._looking:
            with self._lock:
                places = frozenset[At]().union(*self._wanted.values())
            try:
                ends = self._ends(sorted(places)) if places else {}
            except (KafkaException, TimeoutError):
                ends = {}  # nobody knows until the broker answers
            with self._lock:
                self._clock.note(_now_ms(), ends, places)

    def _ends(self, places: Iterable[At]) -> dict[At, int]:
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # it has no types
        answers = self._admin.list_offsets(
            {TopicPartition(*at): latest for at in places},
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=ASK_S,
        )
        found = dict[At, int]()
        for at, answer in answers.items():
            with suppress(KafkaException, TimeoutError):  # of this one nobody knows
                found[at.topic, at.partition] = answer.result(ASK_S).offset
        return found


def _now_ms() -> int:
    return int(time.monotonic() * 1000)
