"""What a task counts, in memory that it shares with its engine, so that nobody has to ask it."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence

from tasks.core.protocol import Left

_NAMES = (
    "bytes_in",
    "records_out",
    "bytes_out",
    "lag_records",
    "busy_us",
    "committed_ms",
    "looked_ms",
)
_UNKNOWN = -1
LOOKED_MS_MAX = 10_000
"""A task that is held up does not look at its lag: what it saw before says nothing about now."""

At = tuple[str, int]


class Counters:
    """Made before the fork. Each number has one writer and is read whole (see `deadline`)."""

    def __init__(self, places: Sequence[At] = ()) -> None:
        """`places` are the task's partitions: each has two numbers of its own, what is left of it
        and what was read."""
        self._words = memoryview(mmap.mmap(-1, 8 * (len(_NAMES) + 2 * len(places)))).cast("q")
        self._places = {at: len(_NAMES) + 2 * number for number, at in enumerate(places)}
        for name in ("lag_records", "committed_ms", "looked_ms"):
            self._set(name, None)
        for at in self._places.values():
            self._words[at] = _UNKNOWN

    def add(
        self, records_in: Mapping[At, int], bytes_in: int, records_out: int, bytes_out: int
    ) -> None:
        """What one batch read of each partition and wrote, once that is committed."""
        for at, count in enumerate((bytes_in, records_out, bytes_out)):
            self._words[at] += count
        for place, count in records_in.items():
            self._words[self._places[place] + 1] += count

    def lag(self, records: Mapping[At, int | None], now_ms: int) -> None:
        """How many records of each partition are not read yet."""
        total: int | None = 0
        for at, count in records.items():
            self._words[self._places[at]] = _UNKNOWN if count is None else count
            total = None if total is None or count is None else total + count
        self._set("lag_records", total)
        self._set("looked_ms", now_ms)

    def committed(self, now_ms: int) -> None:
        """When offsets were committed last."""
        self._set("committed_ms", now_ms)

    def busy(self, us: int) -> None:
        """How long a batch took."""
        self._words[_NAMES.index("busy_us")] += us

    def read(self, now_ms: int) -> tuple[dict[str, int | None], list[Left]]:
        """All of them, by name, with the age of the last commit, and each partition's; what is
        unknown is None. A batch may be counted meanwhile, so what was read is added up here: of two
        looks the one would have what the other has not."""
        left = self._left(now_ms)
        found = {name: self._known(at) for at, name in enumerate(_NAMES)}
        committed_ms = found.pop("committed_ms")
        age_ms = None if committed_ms is None else max(0, now_ms - committed_ms)
        if not _is_fresh(found.pop("looked_ms"), now_ms):
            found["lag_records"] = None
        total = sum(one.read or 0 for one in left)
        return {**found, "records_in": total, "checkpoint_age_ms": age_ms}, left

    def _left(self, now_ms: int) -> list[Left]:
        """How old what is left is nobody looks."""
        fresh = _is_fresh(self._known(_NAMES.index("looked_ms")), now_ms)
        return [
            Left(*at, self._known(word) if fresh else None, read=self._words[word + 1])
            for at, word in self._places.items()
        ]

    def _known(self, at: int) -> int | None:
        word = self._words[at]
        return None if word == _UNKNOWN else word

    def _set(self, name: str, value: int | None) -> None:
        self._words[_NAMES.index(name)] = _UNKNOWN if value is None else value


def _is_fresh(looked_ms: int | None, now_ms: int) -> bool:
    return looked_ms is not None and now_ms - looked_ms <= LOOKED_MS_MAX
