"""Whole containers that go from one tier to another for a while (Turbine V-F). Pure.

The lender's word begins and ends a loan, so that a container belongs to one tier at a time by one
chain. The borrower says that it has the containers, and offers them back when it can do without.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.capacity_manager.core.levels import levels_of, share_of
from events.generated.records import Body, CapacityBorrowed, CapacityLent
from projections.capacity import PLENTY, SHORT, TIGHT, Capacity, TierLoan, room_of
from projections.liveness import Life
from projections.resource_sums import NOTHING, Amounts, minus, plus, total

CONTAINERS_MOST = 100
"""In one loan. What is still missing is lent with the next one."""


def lend(row: Capacity, now_ms: int) -> Iterator[Body]:
    """What becomes of the loans that there are, then a new one where a neighbour is in need."""
    ended = False
    for name, loan in sorted(row.loans.items()):
        if loan.lender == row.tier:
            why = _over(row, loan)
            ended = ended or bool(why)
            if why:
                yield CapacityLent(row.tier, name, loan.borrower, (), why)
        elif not loan.taken:
            why = f"tier {loan.lender} has spare containers, and tier {row.tier} has too few"
            yield CapacityBorrowed(row.tier, name, loan.lender, loan.containers, why)
        elif not loan.offered and _spared(row, loan, now_ms):
            why = f"tier {row.tier} has plenty without them"
            yield CapacityBorrowed(row.tier, name, loan.lender, (), why)
    if not ended:
        yield from _lent(row, now_ms)


def _over(row: Capacity, loan: TierLoan) -> str:
    """Why the loan is to end now; "" where it goes on."""
    if loan.offered:
        return f"tier {loan.borrower} gives them back"
    if row.said is not None and row.said.state in (TIGHT, SHORT):
        return f"tier {row.tier} is {row.said.state} itself"
    return ""


def _spared(row: Capacity, loan: TierLoan, now_ms: int) -> bool:
    """Would the borrower still have plenty without the containers?"""
    if row.said is None or row.said.state != PLENTY:
        return False
    if now_ms < loan.since_ms + row.sharing.loan_ms:
        return False
    given = total(row.rooms.get(name, NOTHING) for name in loan.containers)
    return _share_without(row, given, now_ms) < row.sharing.plenty


def _share_without(row: Capacity, given: Amounts, now_ms: int) -> int:
    left = row._replace(capacity=minus(row.capacity, given)).usable
    load = levels_of(row, now_ms).load
    if any(a and row.capacity[at] and left[at] <= 0 for at, a in enumerate(load)):
        return 1000
    return share_of(load, left)[0]


def _lent(row: Capacity, now_ms: int) -> Iterator[CapacityLent]:
    """A loan to the tier that needs it most, if this one has enough to spare."""
    step_ms = row.sharing.step_ms
    if row.said is None or row.said.state != PLENTY:
        return
    if row.lent_ms and now_ms < row.lent_ms + step_ms:
        return
    if any(loan.borrower == row.tier for loan in row.loans.values()):
        return  # what it borrows itself is not its to spare
    needy = [
        (one.state != SHORT, tier)
        for tier, one in row.neighbours.items()
        if any(one.lacking) and one.at_ms > row.lent_ms and tier in row.regions
    ]
    for _, borrower in sorted(needy):
        chosen, last = _chosen(row, borrower, now_ms)
        if chosen:
            state = row.neighbours[borrower].state
            yield CapacityLent(
                tier=row.tier,
                loan_id=f"{row.tier}-{borrower}-{row.made + 1}",
                borrower=borrower,
                containers=chosen,
                explanation=f"tier {borrower} is {state}, and tier {row.tier} is no fuller than"
                f" {last / 10:g} % without them",
            )
            return


def _chosen(row: Capacity, borrower: str, now_ms: int) -> tuple[tuple[str, ...], int]:
    """Those that do least, as long as the lender keeps enough; and how full it is then."""
    lacking, regions = row.neighbours[borrower].lacking, row.regions[borrower]
    away = sum(len(loan.containers) for loan in row.loans.values() if loan.lender == row.tier)
    most = (len(row.rooms) + away) * row.sharing.lend_max // 1000 - away
    found, given, full = list[str](), NOTHING, 0
    for life in sorted(_spare(row, regions), key=lambda one: (_does(row, one), one.name)):
        room = room_of(life)
        if len(found) >= min(most, len(row.rooms) - 1, CONTAINERS_MOST):
            break
        if not any(a and lacking[at] > given[at] for at, a in enumerate(room)):
            continue
        after = _share_without(row, plus(given, room), now_ms)
        if after > row.sharing.lend_to:
            continue
        found.append(life.name)
        given, full = plus(given, room), after
        if all(given[at] >= a for at, a in enumerate(lacking)):
            break
    return tuple(found), full


def _spare(row: Capacity, regions: tuple[str, ...]) -> Iterator[Life]:
    for name in row.rooms:
        life = row.lives[name]
        if not regions or life.region in regions:
            yield life


def _does(row: Capacity, life: Life) -> int:
    """How full the container is, by its own word."""
    use = row.uses.get(life.name)
    parts = () if use is None else use.parts
    return share_of(total(amounts for _, amounts in parts), room_of(life))[0]
