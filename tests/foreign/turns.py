"""One process at a time fetches what foreign programs need; the others wait, and find it there.

Test files run side by side, and who fetches begins by removing what another one is about to use.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(list_of_needs: Path) -> Iterator[None]:
    """Holds the file that names what is fetched: it is there before, and nobody removes it."""
    with list_of_needs.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
