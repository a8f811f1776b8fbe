"""What of the decisions about a job later ones depend on: it changes by them alone. Pure.

What a job teaches comes from its minutes; what was decided comes from decisions. The two never mix:
back-tests apply a decision right away, the component when it reads it back, by the same function.
"""

from __future__ import annotations

from typing import NamedTuple

from projections.scaling.actions import (
    ALERT,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
    VERIFIED,
    JobSize,
)

OTHER_CAUSES = frozenset({"stuck-partition", "dependency", "straggler", "skew"})
"""Of a lag that more tasks do not mend."""


class Open(NamedTuple):
    """A change whose outcome is waited for."""

    by_ms: int
    before: JobSize
    could: float  # records a second, before
    expected: float  # after


class Done(NamedTuple):
    """What was decided, as far as later looks depend on it."""

    acted_ms: int | None = None
    open: Open | None = None
    held_ms: int = 0  # no change before it
    fails: int = 0  # changes in a row that did not help
    other_ms: int | None = None  # when its lag was last laid to a cause that tasks do not mend
    mended_ms: int | None = None  # when something was done last about one task


class PastDecision(NamedTuple):
    """What counts of a decision: the same of a verdict and of the record that it became."""

    action: str
    diagnosis: str
    sized: bool  # another size comes of it
    until_ms: int | None = None
    by_ms: int | None = None
    reads: float | None = None  # records a second, as it is
    expected: float | None = None


def done_after(done: Done, deed: PastDecision, before: JobSize, now_ms: int) -> Done:
    """What is remembered once it was decided, of a job that had this size."""
    action = deed.action
    if deed.diagnosis in OTHER_CAUSES and action in {ALERT, MOVE, REBALANCE}:
        done = done._replace(other_ms=now_ms)
    if action == VERIFIED:
        return done._replace(open=None, fails=0)
    if action == REVERT and not deed.sized:  # nothing is to be done any more
        return done._replace(open=None)
    if action == REVERT and deed.until_ms is None:
        return done._replace(open=None, acted_ms=now_ms)
    if action == REVERT:
        held_ms = max(done.held_ms, deed.until_ms or now_ms)
        return done._replace(open=None, fails=done.fails + 1, held_ms=held_ms, acted_ms=now_ms)
    if action in {MOVE, REBALANCE}:
        return done._replace(acted_ms=now_ms, mended_ms=now_ms)
    if not deed.sized:
        return done
    if action in {SCALE_UP, SCALE_DOWN}:
        done = done._replace(open=_opened(deed, before))
    return done._replace(acted_ms=now_ms)


def _opened(deed: PastDecision, before: JobSize) -> Open | None:
    """More is held against what it was to bring; less of it is not."""
    if deed.action != SCALE_UP or deed.by_ms is None:
        return None
    if deed.reads is None or deed.expected is None:
        return None
    return Open(deed.by_ms, before, deed.reads, deed.expected)
