"""Which jobs stop when nothing else helps, and when they come back (Turbine V-F). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from components.capacity_manager.core.levels import Levels, levels_of, over, share_of, told_over
from components.capacity_manager.core.sharing import LIMITS_MOST, limit_of, no_limit, rank
from events.generated.records import JobLimit, JobsPreempted, JobsRestored
from projections.capacity import SHORT, Capacity, Demand
from projections.resource_sums import NOTHING, Amounts, minus, plus, share, told


def stop_jobs(row: Capacity, now_ms: int) -> Iterator[JobsPreempted]:
    """Those of the lowest priority, as few as free enough; never a privileged one."""
    due_ms = stop_ms(row)
    if due_ms is None or now_ms < due_ms:
        return
    levels = levels_of(row, now_ms)
    if levels.state != SHORT:
        return
    chosen = _chosen(row, over(levels.reserved, levels.usable))[:LIMITS_MOST]
    if not chosen:
        return
    freed = NOTHING
    for _, demand in chosen:
        freed = plus(freed, demand.asked)
    below = 1 + max(demand.priority for _, demand in chosen)
    yield JobsPreempted(
        tier=row.tier,
        jobs=tuple(job for job, _ in chosen),
        priority_below=below,
        explanation=f"tier {row.tier} is short and has nothing to borrow: {told_over(levels)};"
        f" jobs below priority {below} that are not privileged stop until there is room",
        freed=told(freed),
    )


def stop_ms(row: Capacity) -> int | None:
    """When jobs are to be stopped; None where nothing calls for it. What the last step does is
    waited for, and so are containers that were lent, and the lender's next word after them."""
    if row.short_ms is None or not row.sharing.preempt:
        return None
    sharing = row.sharing
    due_ms = [row.short_ms + sharing.short_ms]
    due_ms += [row.stepped_ms + sharing.step_ms] if row.stepped_ms else []
    due_ms += [
        loan.since_ms + sharing.step_ms + sharing.pause_ms
        for loan in row.loans.values()
        if loan.borrower == row.tier
    ]
    return max(due_ms)


def _chosen(row: Capacity, missing: Amounts) -> list[tuple[str, Demand]]:
    """The lowest priorities first, of these the largest; whoever turns out not to be needed, from
    the most important one on, is spared."""
    known = [
        (job, demand)
        for job, demand in row.jobs.items()
        if not demand.privileged
        and job not in row.preempted
        and any(a and missing[at] for at, a in enumerate(demand.asked))
    ]

    def order(one: tuple[str, Demand]) -> tuple[int, int, str]:
        job, demand = one
        return demand.priority, -share_of(demand.asked, missing)[0], job

    taken, left = list[tuple[str, Demand]](), missing
    for one in sorted(known, key=order):
        if not _enough(left):
            taken.append(one)
            left = minus(left, one[1].asked)
    for one in sorted(taken, key=order, reverse=True):
        without = plus(left, one[1].asked)
        if _enough(without):
            taken.remove(one)
            left = without
    return taken


def _enough(left: Amounts) -> bool:
    return all(amount <= 0 for amount in left)


def bring_back(row: Capacity, now_ms: int) -> Iterator[JobsRestored]:
    """Those that were stopped, the important ones first, as far as there is room below the bar at
    which a tier is tight; and at once whoever the tier has nothing more to do with."""
    gone = sorted(job for job in row.preempted if job not in row.jobs)[:LIMITS_MOST]
    if gone:
        limits = tuple(no_limit(job, None) for job in gone)
        why = "they are deleted, or another tier's"
        yield JobsRestored(row.tier, limits, why)
        return
    if not row.preempted or now_ms < row.stepped_ms + row.sharing.step_ms:
        return
    levels = levels_of(row, now_ms)
    limits, taken = _returning(row, levels)
    if limits and levels.state != SHORT:
        yield JobsRestored(
            tier=row.tier,
            limits=limits,
            explanation=f"there is room for {len(limits)} of the {len(row.preempted)} jobs that"
            " were stopped, the important ones first",
            taken=told(taken),
        )


def _returning(row: Capacity, levels: Levels) -> tuple[tuple[JobLimit, ...], Amounts]:
    """One that does not fit holds back those behind it: else a large one would never come back."""
    room, taken = minus(share(levels.usable, row.sharing.tight), levels.load), NOTHING
    found = list[JobLimit]()
    for job in sorted(row.preempted, key=lambda one: rank(one, row.jobs.get(one))):
        demand = row.jobs[job]
        need = demand.whole if demand.paused else NOTHING
        short = any(a > room[at] for at, a in enumerate(need) if a and levels.usable[at])
        if short or len(found) == LIMITS_MOST:
            break
        room, taken = minus(room, need), plus(taken, need)
        found.append(limit_of(job, demand, demand.tasks, None))
    return tuple(found), taken
