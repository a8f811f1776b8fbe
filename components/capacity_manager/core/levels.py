"""How full a tier is, by what its jobs reserve and use, and what it lacks (Turbine V-F). Pure."""

from __future__ import annotations

from typing import NamedTuple

from projections.capacity import PLENTY, SHORT, TIGHT, UNKNOWN, Capacity
from projections.loads import RESOURCES
from projections.resource_sums import (
    NOTHING,
    Amounts,
    minus,
    most,
    plus,
    share,
    spoken,
    times,
    total,
)


class Levels(NamedTuple):
    """Of one tier at one instant, by resource. Of one that no container names nothing is known."""

    capacity: Amounts
    usable: Amounts
    reserved: Amounts  # by jobs that are to go on
    load: Amounts  # what is reserved, or used where that is more
    wanted: Amounts  # the load, with all that jobs wait for
    share: int  # of what is usable, in thousandths: of the fullest resource
    fullest: int  # which one that is
    state: str
    lacking: Amounts


def levels_of(row: Capacity, now_ms: int) -> Levels:
    """How the tier stands now. Once it is tight it stays so until there is plenty for those who
    wait as well, so that limits do not come and go with what they make jobs do."""
    capacity, usable = row.capacity, row.usable
    reserved = minus(row.reserved, row.stopping(now_ms))
    load = most(reserved, row.used)
    wanted = plus(load, total(times(one.each, n - one.tasks) for _, one, n in row.waiting()))
    wanted = plus(wanted, stopped(row))
    full, fullest = share_of(load, usable)
    state = _state(row, reserved, full, share_of(wanted, usable)[0])
    lacking = NOTHING
    if state in (TIGHT, SHORT):
        bar = share(usable, row.sharing.tight)
        missing = minus(wanted, bar)
        lacking = tuple(max(0, a) if usable[at] else 0 for at, a in enumerate(missing))
    return Levels(capacity, usable, reserved, load, wanted, full, fullest, state, lacking)


def share_of(load: Amounts, usable: Amounts) -> tuple[int, int]:
    """The fullest resource's share, in thousandths, and which one it is."""
    shares = [(amount * 1000 // usable[at], -at) for at, amount in enumerate(load) if usable[at]]
    full, at = max(shares, default=(0, 0))
    return full, -at


def over(asked: Amounts, there: Amounts) -> Amounts:
    """By how much more is asked than there is, of what containers name."""
    return tuple(max(0, amount - there[at]) if there[at] else 0 for at, amount in enumerate(asked))


def stopped(row: Capacity) -> Amounts:
    """What jobs would take that were stopped for others, once they run again."""
    return total(
        demand.whole
        for job in row.preempted
        if (demand := row.jobs.get(job)) is not None and demand.paused
    )


def fits(room: Amounts, each: Amounts, usable: Amounts, count: int) -> int:
    """How many of so many tasks the room holds."""
    held = [max(0, room[at]) // a for at, a in enumerate(each) if a and usable[at]]
    return min([count, *held])


def told_share(one: Levels) -> str:
    """How full it is, in words."""
    return f"{one.share / 10:g} % of the usable {RESOURCES[one.fullest]} is taken"


def told_over(one: Levels) -> str:
    """Of what more is reserved than there is, in words."""
    return ", ".join(
        f"{_amount(one.reserved[at], at)} of {_amount(one.capacity[at], at)}"
        f" {RESOURCES[at]} are reserved"
        for at, amount in enumerate(over(one.reserved, one.capacity))
        if amount
    )


def _amount(units: int, at: int) -> str:
    amount = spoken(units, at)
    return f"{amount:g}" if at == 0 else f"{amount / 1024**3:.1f} Gi"


def _state(row: Capacity, reserved: Amounts, full: int, wanted: int) -> str:
    if not any(row.capacity):
        return UNKNOWN
    if any(over(reserved, row.capacity)):
        return SHORT
    sharing = row.sharing
    if row.said is not None and row.said.state in (TIGHT, SHORT):
        lifted = full < sharing.plenty and wanted < sharing.tight and not row.preempted
        return PLENTY if lifted else TIGHT
    return TIGHT if full >= sharing.tight else PLENTY
