"""From where a task reads what an operator wants to be read anew. Pure, but for what it asks.

The wish stands in the list of task specs, and a partition's claim names the one that moved it last:
so each wish moves each partition once, in the transaction that claims it, whoever reads it then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from events.job_config.reset import EARLIEST, LATEST, Reset, goal_of
from tasks.core.protocol import REFUSED
from turbine_client.errors import BadRequest

At = tuple[str, int]


class OutOfRange(BadRequest):
    """An offset that the partition does not have; the sentence says which it has."""

    how, cause = REFUSED, "reset-out-of-range"


class OffsetSource(Protocol):
    """What is asked of it about one partition."""

    def edges(self, at: At) -> tuple[int, int]:
        """Its first offset, and the next one after its last."""
        ...

    def since(self, at: At, ms: int) -> int:
        """The first record of that instant or later; below 0: there is none."""
        ...


def wish_of(config: Mapping[str, Any]) -> Reset | None:
    """What the job's config, as tasks see it, says of a reset."""
    plain = config.get("reset")
    return None if plain is None else Reset(plain["id"], plain["to"], plain["at_ms"])


def begin_of(reset: Reset, at: At, known: int | None, broker: OffsetSource) -> int | None:
    """Where the partition is to be read from; None: the wish is not about it. `known` is what the
    group has committed."""
    goal = goal_of(reset.to)
    if isinstance(goal, Mapping) and at not in goal:
        return None
    low, high = broker.edges(at)
    if isinstance(goal, Mapping):
        return _within(at, goal[at], low, high)
    if goal == EARLIEST:
        return low
    if goal == LATEST and known is not None:
        return high
    # What nobody has read when its end was asked for, such as a partition that came later, is read
    # from that moment on: its end may lie beyond records that nobody saw.
    found = broker.since(at, goal if isinstance(goal, int) else reset.at_ms)
    return found if found >= 0 else high


def _within(at: At, offset: int, low: int, high: int) -> int:
    if not low <= offset <= high:
        raise OutOfRange(
            f"{at[0]}/{at[1]} has the offsets {low} to {high}, and the reset asks for {offset};"
            " reset the job to one that it has, then release it"
        )
    return offset
