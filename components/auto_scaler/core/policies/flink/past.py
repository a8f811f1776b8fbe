"""What Flink's autoscaler remembers: shrinking put off, past changes, and how long restarts took.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Advised(NamedTuple):
    """A smaller number that was recommended."""

    at_ms: int
    target: int
    outside: bool  # was the vertex outside its band then?


class PendingShrink(NamedTuple):
    """A shrinking that is put off: greater numbers after lesser ones push these out."""

    first_ms: int
    kept: tuple[Advised, ...] = ()


class VertexChange(NamedTuple):
    """A change of a vertex, with what was measured before it."""

    at_ms: int
    before: int
    after: int
    rate: float | None
    hoped: float | None  # the rate that was expected of it


class Restart(NamedTuple):
    """A restart for a change; how long it took is known when the new number runs."""

    at_ms: int
    target: int
    took_s: int | None = None


def recorded(pending: PendingShrink | None, advised: Advised) -> PendingShrink:
    """With one more recommendation; the first one's time stays."""
    kept = pending.kept if pending else ()
    while kept and kept[-1].target <= advised.target:
        kept = kept[:-1]
    return PendingShrink(pending.first_ms if pending else advised.at_ms, (*kept, advised))


def ripe(pending: PendingShrink, now_ms: int, interval_ms: int) -> bool:
    """Has shrinking been put off for long enough?"""
    return now_ms - interval_ms >= pending.first_ms


def greatest(pending: PendingShrink, from_ms: int) -> PendingShrink:
    """Without what was recommended before; the greatest of the rest comes first."""
    kept = pending.kept
    while kept and kept[0].at_ms < from_ms:
        kept = kept[1:]
    assert kept, "asked only with a recommendation of this very moment"
    return pending._replace(kept=kept)


def changes_kept(
    changes: Sequence[VertexChange], now_ms: int, age_ms: int, count: int
) -> tuple[VertexChange, ...]:
    """The newest, none too old."""
    young = [one for one in changes if one.at_ms >= now_ms - age_ms]
    return tuple(young[max(0, len(young) - count) :])


def restarts_kept(
    restarts: Sequence[Restart], now_ms: int, age_ms: int, count: int
) -> tuple[Restart, ...]:
    """The newest, none too old; but the last one always."""
    young = [one for one in restarts if one.at_ms >= now_ms - age_ms]
    return tuple(young[max(0, len(young) - count) :]) or tuple(restarts[-1:])


def came_back(
    restarts: tuple[Restart, ...], tasks: int, running_since_ms: int
) -> tuple[Restart, ...]:
    """The last restart is over where its number runs."""
    if not restarts:
        return restarts
    last = restarts[-1]
    if last.took_s is not None or last.target != tasks or running_since_ms < last.at_ms:
        return restarts
    return (*restarts[:-1], last._replace(took_s=(running_since_ms - last.at_ms) // 1000))


def restart_time(restarts: Sequence[Restart], default_s: int, limit_s: int, tracked: bool) -> int:
    """How long a restart is taken to be: the longest known one, up to a limit, or the default."""
    known = [one.took_s for one in restarts if one.took_s is not None] if tracked else []
    return min(max(known), limit_s) if known else default_s
