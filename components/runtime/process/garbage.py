"""How often Python looks for cycles in a process that reads the log."""

from __future__ import annotations

import gc

GENERATIONS = (200_000, 20, 50)
"""A poll is ten thousand tuples and texts, of which none is part of a cycle: looked through after
every 700 new ones, as is the default, they cost more than a third of all time of a catch-up."""


def collect_seldom() -> None:
    """For processes of our own; what is loaded by now is not looked through again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GENERATIONS)
