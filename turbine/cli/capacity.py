"""`get tiers`: what each tier holds, what is left of it and lent, and who waits or is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from typer import Context

from events.topics import TIERS
from turbine.cli.columns import amount, columns, percent
from turbine.cli.containers import SHORT
from turbine.cli.options import At, Listed
from turbine.cli.output import Column, show_rows, table_text, tell, write
from turbine.cli.reading import open_until
from turbine.failures import Code
from turbine.read.answers.capacity import tiers_in
from turbine.read.answers.tiers import Tier, Use
from turbine.read.moments import show_time


def get_tiers(context: Context, *, at: At = None, output: Listed = "table") -> int:
    """List the tiers: how they stand, what is left in them, what is lent, who waits.

    A tier is told once its capacity manager runs; what it tells is at most half an hour old.
    """
    log, end = open_until(context, at, [TIERS])
    rows = tiers_in(log, end=end)
    if not rows or output not in ("table", "wide"):
        none = "there is no tier; `turbine tier create NAME --shards N` makes one"
        return show_rows(rows, output, [], name="tier", none=none)
    write(table_text(_lines(rows), [one for one in _columns() if output == "wide" or not one.wide]))
    for row in rows:
        if row.state is None:
            tell(
                f"tier {row.tier}: nothing tells what it holds; `turbine serve capacity-manager"
                f" --tier {row.tier}` does"
            )
        if row.preempted:
            tell(f"tier {row.tier}: stopped for others: {', '.join(row.preempted)}")
    return Code.OK


@dataclass(frozen=True, slots=True)
class TierResource:
    """A line of the list: a tier and one of its resources, or none where it tells of none."""

    tier: Tier
    first: bool  # of the tier's lines: what is said of it as a whole stands there
    resource: str
    use: Use | None

    def amount(self, name: str) -> str:
        """So much of the resource."""
        return amount(self.resource, getattr(self.use, name, None))

    def share(self, name: str) -> str:
        """The same, and of all that there is."""
        share = getattr(self.use, f"{name}_share", None)
        return self.amount(name) if share is None else f"{self.amount(name)} ({percent(share)})"


def _lines(tiers: list[Tier]) -> Iterator[TierResource]:
    for tier in tiers:
        names = [name for name in SHORT if name in tier.resources]
        for number, name in enumerate(names or [""]):
            yield TierResource(tier, number == 0, name, tier.resources.get(name))


def _columns() -> list[Column]:
    def whole(cell: Callable[[Tier], object]) -> Callable[[TierResource], object]:
        return lambda row: cell(row.tier) if row.first else ""

    def held(name: str) -> Callable[[TierResource], object]:
        # No container says how much it holds of it: that is unknown, and not full.
        return lambda row: row.amount(name) if row.use and row.use.capacity else ""

    def some(name: str) -> Callable[[TierResource], str]:
        return lambda row: row.amount(name) if getattr(row.use, name, None) else ""

    def lent(row: TierResource) -> str:
        return f"has {borrowed}" if (borrowed := some("borrowed")(row)) else some("lent")(row)

    return columns(
        "TIER, STATE, CONTAINERS, JOBS, WAITING, STOPPED, *LIMITED, RESOURCE, CAPACITY,"
        " RESERVED, USED, LEFT, LACKING, LENT, *SHARDS, *REGIONS, SAID",
        {
            "TIER": whole(lambda tier: tier.tier),
            "STATE": whole(lambda tier: tier.state),
            "CONTAINERS": whole(lambda tier: tier.containers),
            "JOBS": whole(lambda tier: tier.jobs),
            "WAITING": whole(lambda tier: tier.jobs_waiting),
            "STOPPED": whole(lambda tier: len(tier.preempted)),
            "LIMITED": whole(lambda tier: len(tier.limits)),
            "RESOURCE": lambda row: SHORT.get(row.resource, ""),
            "CAPACITY": held("capacity"),
            "RESERVED": lambda row: row.share("reserved"),
            "USED": lambda row: row.share("used"),
            "LEFT": held("left"),
            "LACKING": some("lacking"),
            "LENT": lent,
            "SHARDS": whole(lambda tier: tier.shards),
            "REGIONS": whole(lambda tier: ", ".join(tier.regions)),
            "SAID": whole(lambda tier: show_time(tier.reported_ms)),
        },
    )
