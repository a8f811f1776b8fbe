"""When a tier's capacity is told, and what is told of it (Turbine V-F). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from components.capacity_manager.core.levels import Levels, levels_of
from events.generated.records import CapacityReported, ResourceUse
from projections.capacity import Capacity, TierReport
from projections.loads import RESOURCES
from projections.resource_sums import Amounts, most, spoken

STEP = 20
"""One part in so many of the capacity is a change worth telling."""


def report(row: Capacity, now_ms: int) -> Iterator[CapacityReported]:
    """At once where nothing was said yet; else what changed, and after a while what did not."""
    said, sharing = row.said, row.sharing
    if said is not None and now_ms < said.at_ms + sharing.pause_ms:
        return
    levels, waiting = levels_of(row, now_ms), sum(1 for _ in row.waiting())
    columns = (levels.capacity, row.reserved, row.used, row.away(lent=True), row.away(lent=False))
    if (
        said is None
        or now_ms >= said.at_ms + sharing.report_ms
        or (said.state, said.containers, said.waiting) != (levels.state, len(row.rooms), waiting)
        or _moved(said, columns)
    ):
        yield _told(row, levels, waiting, columns)


def _moved(said: TierReport, columns: tuple[Amounts, ...]) -> bool:
    """Of a resource that no container names, nothing is worth telling."""
    there = most(said.numbers[0], columns[0])
    return any(
        there[at] and now != before and abs(now - before) * STEP >= there[at]
        for then, column in zip(said.numbers, columns, strict=True)
        for at, (before, now) in enumerate(zip(then, column, strict=True))
    )


def _told(
    row: Capacity, levels: Levels, waiting: int, columns: tuple[Amounts, ...]
) -> CapacityReported:
    names = [at for at in range(len(RESOURCES)) if any(column[at] for column in columns)]
    capacity, reserved, used, lent, borrowed = columns
    return CapacityReported(
        tier=row.tier,
        containers=len(row.rooms),
        resources=tuple(
            ResourceUse(
                resource=RESOURCES[at],
                capacity=spoken(capacity[at], at),
                used=spoken(used[at], at),
                lent=spoken(lent[at], at),
                reserved=spoken(reserved[at], at),
                borrowed=spoken(borrowed[at], at),
                lacking=spoken(levels.lacking[at], at),
            )
            for at in names
        ),
        jobs_waiting=waiting,
        state=levels.state,
        jobs=sum(not one.paused for one in row.jobs.values()),
        jobs_preempted=len(row.preempted),
        containers_measured=sum(name in row.uses for name in row.rooms),
    )
