"""What became of the records that an owner read: every one of them is in exactly one count."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """The records of a partition by what became of them, since it was assigned."""

    folded: int = 0
    void: int = 0  # a duplicate, a zombie's, the loser of a race, or impossible
    impossible: int = 0  # of these: it claimed to know what was not there yet
    repeated: int = 0  # read again, and folded or held back already
