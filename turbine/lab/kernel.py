"""Virtual time: callbacks on a heap, seeded streams forked by name, and the hash of a run."""

from __future__ import annotations

import hashlib
import heapq
import random  # noqa: TID251 - the one place that makes streams, each from its seed
from collections.abc import Callable
from dataclasses import dataclass, field


class Streams:
    """Randomness by name: drawing more from one stream never shifts another."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fork(self, name: str) -> random.Random:
        """The stream of that name, the same for the same seed on every machine."""
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "big"))


@dataclass(slots=True)
class VirtualClock:
    """The only time there is: it moves to the next callback, and no faster than that."""

    now_ms: int = 0
    _queue: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _count: int = 0

    def at(self, at_ms: int, call: Callable[[], None]) -> None:
        """Calls back at that instant; callbacks of one instant keep their order."""
        self._count += 1
        heapq.heappush(self._queue, (max(at_ms, self.now_ms), self._count, call))

    def after(self, ms: float, call: Callable[[], None]) -> None:
        """Calls back so many milliseconds from now."""
        self.at(self.now_ms + int(ms), call)

    def run_until(self, end_ms: int) -> None:
        """Lets all happen that is due up to that instant."""
        while self._queue and self._queue[0][0] <= end_ms:
            at_ms, _, call = heapq.heappop(self._queue)
            self.now_ms = max(self.now_ms, at_ms)
            call()
        self.now_ms = max(self.now_ms, end_ms)
