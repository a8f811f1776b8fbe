"""Who follows the decisions, and what wakes them: nothing is gathered for anybody."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from turbine.read.sources.log import Log, Standing
from turbine.read.state.decisions import DecisionSpot
from turbine.read.state.live import LiveLog
from turbine.read.state.looking import look_up

HELD = 2000
"""Decisions that are held as they were read: all who follow are shown the same."""
READERS_MAX = 100
WAIT_S = 1.0


class Feed:
    """Wakes who follows, and reads for all of them once. Asked from any thread."""

    def __init__(self, log: Log, views: LiveLog, held: int = HELD) -> None:
        self._log, self._views, self._most = log, views, held
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, int], Standing] = OrderedDict()
        self._wakes: dict[int, Callable[[], None]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> Feed:
        """Begins to wake those who follow."""
        self._thread.start()
        return self

    def _run(self) -> None:
        at: Mapping[str, int] = self._views.view().at
        while not self._stop.is_set():
            view = self._views.wait(at, WAIT_S)
            if view is not None:
                at = view.at
                self.wake()

    def wake(self) -> None:
        """Whoever follows looks, as something may have come."""
        with self._lock:
            wakes = list(self._wakes.values())
        for wake in wakes:
            wake()

    def end(self) -> None:
        """Whoever follows is let go: they come back to who serves next."""
        self._stop.set()
        self.wake()

    @property
    def ended(self) -> bool:
        """Is there nothing more to come from here?"""
        return self._stop.is_set()

    def close(self) -> None:
        """Wakes nobody from now on."""
        self.end()
        if self._thread.is_alive():
            self._thread.join(10)

    # --- following

    @property
    def readers(self) -> int:
        """How many follow the feed now."""
        return len(self._wakes)

    @contextmanager
    def followed(self) -> Iterator[asyncio.Event]:
        """An event of this loop that is set when something may have come."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(woken.set)

        with self._lock:
            self._wakes[id(woken)] = wake
        try:
            yield woken
        finally:
            with self._lock:
                del self._wakes[id(woken)]

    def beyond(
        self, position: Mapping[str, int], number: int, most: int
    ) -> tuple[list[Standing], int] | None:
        """Decisions beyond a position, as they took effect, from a number on; and the number to go
        on from. None where some of them are not known any more."""
        found = self._views.decisions.beyond(position, number, most)
        if found is None:
            return None
        spots, rest = found
        return self.read(spots), rest

    def read(self, spots: Sequence[DecisionSpot]) -> list[Standing]:
        """What lies there: as it is held, else from the log."""
        with self._lock:
            known = {
                (one.place, one.offset): self._held.get((one.place, one.offset)) for one in spots
            }
        missing = [one for one in spots if known[one.place, one.offset] is None]
        if missing:
            read = {(one.read.place, one.read.offset): one for one in look_up(self._log, missing)}
            known |= read
            with self._lock:
                self._held |= read
                while len(self._held) > self._most:
                    self._held.popitem(last=False)
        found = (known[one.place, one.offset] for one in spots)
        return [one for one in found if one is not None]
