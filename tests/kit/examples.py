"""How many examples a test tries: all of them in `make test`, some in `make check`.

`make check` runs under the Hypothesis profile `check`; without it nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

CHECK = "check"
EXAMPLES = 25
"""Of a law, in `make check`."""

Case = TypeVar("Case")


def in_check() -> bool:
    """Is this the short run?"""
    return settings.get_current_profile_name() == CHECK


def at_most(examples: int) -> int:
    """The examples of a law that has more of them than usual."""
    return min(examples, EXAMPLES) if in_check() else examples


def some_of(cases: Sequence[Case], count: int) -> Sequence[Case]:
    """All cases, or so many of them in the short run, spread over the whole."""
    if not in_check() or len(cases) <= count:
        return cases
    return [cases[at * len(cases) // count] for at in range(count)]
