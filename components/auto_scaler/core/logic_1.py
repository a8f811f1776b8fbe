"""The auto scaler as it decided first: it learnt what a job can read from numbers that were told
again and again as well, and knew the same again by what it had worked out itself. Pure."""

from __future__ import annotations

from dataclasses import replace

from components.auto_scaler.decide import component as newest
from events.wire.codec import Read
from projections.scaling.fold import fold as fold_now
from projections.scaling.model import BOUNDS
from projections.scaling.newest import (
    SATURATED,
    CauseSigns,
)
from projections.scaling.row import ScalingRow
from projections.scaling.seen import Minute


def watched(before: CauseSigns, minute: Minute, share: float | None) -> tuple[CauseSigns, bool]:
    """What was kept of a minute then."""
    last = before.newest
    same = last is not None and minute.rate > 0 and minute[1:9] == last[1:9]
    less = share is not None and share < BOUNDS.slow
    slow = less and (minute.busy or 0.0) >= SATURATED
    seen = CauseSigns(minute, before.same + 1 if same else 0, before.slow + 1 if slow else 0)
    return seen, not less


def fold(row: ScalingRow | None, read: Read) -> ScalingRow:
    """The row as it was then."""
    return fold_now(row, read, watched)


component = replace(newest, logic="auto-scaler/1", fold=fold)
