"""An open loop: things are begun when they are due, however long the ones before them take."""

from __future__ import annotations

import time
from collections.abc import Iterator


def due(rate_per_s: float, count: int) -> Iterator[int]:
    """Numbers from 0, each at its instant; what is late comes at once, and none is left out."""
    begun = time.monotonic()
    for number in range(count):
        wait = begun + number / rate_per_s - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        yield number
