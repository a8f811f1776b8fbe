"""Tiers and what they hold, as their own chains tell it: reports, limits, loans, who stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from events.records import CapacityReported, ResourceUse, TierDefined
from projections.capacity import CAPACITY, Capacity
from projections.capacity_folds import fold
from turbine.log import Log, Standing

Row = dict[str, Any]

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


def tiers_to_plain(log: Log, *, end: Mapping[str, int] | None = None) -> list[Row]:
    """Every tier that is defined, by name."""
    return list(_plain([one for one in log.of_tiers(KINDS, end=end) if one.stands]))


def _plain(standing: Iterable[Standing]) -> Iterator[Row]:
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
        yield tier_to_plain(row, defined, *reports.get(name, (None, None)))


def tier_to_plain(
    row: Capacity, defined: TierDefined, said: CapacityReported | None, at_ms: int | None
) -> Row:
    """A tier with what it said of itself last, as JSON."""
    return _tier(row, defined) | _reported(said, at_ms)


def _tier(row: Capacity, defined: TierDefined) -> Row:
    return {
        "tier": row.tier,
        "key": f"{row.tier}/{CAPACITY}",
        "shards": defined.shards,
        "regions": list(defined.regions),
        "preempted": sorted(row.preempted),
        "limits": dict(sorted(row.limits.items())),
        "loans": [
            {
                "loan_id": loan_id,
                "lender": loan.lender,
                "borrower": loan.borrower,
                "containers": list(loan.containers),
                "since_ms": loan.since_ms,
            }
            for loan_id, loan in sorted(row.loans.items())
        ],
    }


def _reported(said: CapacityReported | None, at_ms: int | None) -> Row:
    """What the tier said of itself last; nothing is known of one that never did."""
    if said is None:
        return {
            "state": None,
            "containers": None,
            "jobs": None,
            "jobs_waiting": None,
            "resources": {},
            "reported_ms": None,
        }
    return {
        "state": said.state,
        "containers": said.containers,
        "jobs": said.jobs,
        "jobs_waiting": said.jobs_waiting,
        "resources": uses_of(said),
        "reported_ms": at_ms,
    }


def uses_of(said: CapacityReported) -> dict[str, Row]:
    """Of each resource what is reserved and what is used, as the tier said last."""
    measured = said.containers_measured > 0
    return {one.resource: _use(one, measured=measured) for one in said.resources}


def _use(one: ResourceUse, *, measured: bool) -> Row:
    """What jobs ask for is reserved, what their tasks were seen to take is used: neither is a word
    for the other."""
    taken, used = max(one.reserved, one.used), one.used if measured else None
    return {
        "capacity": one.capacity,
        "reserved": one.reserved,
        "reserved_share": share_of(one.reserved, one.capacity),
        "used": used,
        "used_share": share_of(used, one.capacity),
        "left": max(0.0, one.capacity - taken),
        "lent": one.lent,
        "borrowed": one.borrowed,
        "lacking": one.lacking,
    }


def share_of(amount: float | None, capacity: float) -> float | None:
    """To four places; None where either is not known."""
    return round(amount / capacity, 4) if amount is not None and capacity > 0 else None
