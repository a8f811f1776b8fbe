"""Tiers and what they hold, as their own chains tell it: reports, limits, loans, who stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from events.generated.records import CapacityReported, TierDefined
from projections.capacity import Capacity
from projections.capacity_folds import fold
from turbine.read.answers.tiers import Tier, tier
from turbine.read.sources.log import Log, Standing

KINDS = frozenset(
    {
        "CapacityBorrowed",
        "CapacityLent",
        "CapacityReported",
        "CapacityShared",
        "JobsPreempted",
        "JobsRestored",
        "TierDefined",
    }
)


def tiers_in(log: Log, *, end: Mapping[str, int] | None = None) -> list[Tier]:
    """Every tier that is defined, by name."""
    return list(_tiers([one for one in log.of_tiers(KINDS, end=end) if one.stands]))


def _tiers(standing: Iterable[Standing]) -> Iterator[Tier]:
    known = list(standing)
    tiers: dict[str, TierDefined] = {}
    reports: dict[str, tuple[CapacityReported, int]] = {}
    for one in known:
        body = one.read.record.body
        if isinstance(body, TierDefined):
            tiers[body.tier] = body
        elif isinstance(body, CapacityReported):
            reports[body.tier] = body, one.read.at_ms
    for name, defined in sorted(tiers.items()):
        row = Capacity(name)
        for one in known:
            if one.read.record.kind in KINDS and one.read.record.body is not None:
                row = fold(row, one.read, name)
        yield tier(row, defined, *reports.get(name, (None, None)))
