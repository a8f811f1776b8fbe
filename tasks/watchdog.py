"""Ends a process when a call into a client does not return, counted in time awake.

A process that is frozen is not at fault: the clock goes on meanwhile, and the looks of a thread
that is frozen with it do not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from components.runtime.process.exits import EXIT_STUCK, die

LOOK_S = 0.5


class Watchdog:
    """One thread that looks at what the main one is doing."""

    def __init__(self, end: Callable[[int, str], None] = die) -> None:
        self._end = end
        self._doing: tuple[str, float] | None = None
        self._looks = 0
        self._over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @contextmanager
    def within(self, seconds: float, what: str) -> Iterator[None]:
        """What is done in here returns in time, or is the last thing that is done."""
        self._looks, self._doing = 0, (what, seconds)
        try:
            yield
        finally:
            self._doing = None

    def look(self) -> None:
        """One look: the same call, once too often?"""
        doing = self._doing
        if doing is None:
            return
        what, seconds = doing
        self._looks += 1
        if self._looks * LOOK_S > seconds:
            self._end(EXIT_STUCK, f"{what} did not return in {seconds:g} s")

    def _run(self) -> None:
        while not self._over.wait(LOOK_S):
            self.look()

    def close(self) -> None:
        """Ends the thread that looks."""
        self._over.set()
