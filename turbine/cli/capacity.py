"""`get tiers`: what each tier holds, what is left of it and lent, and who waits or is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from typer import Context

from events.topics import TIERS
from turbine.cli.columns import amount, columns, percent
from turbine.cli.hosted import SHORT
from turbine.cli.options import At, Listed, open_log
from turbine.cli.output import Column, show_rows, tell
from turbine.failures import Code
from turbine.read.answers.capacity import tiers_in
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.state.instants import position_at


def get_tiers(context: Context, *, at: At = None, output: Listed = "table") -> int:
    """List the tiers: how they stand, what is left in them, what is lent, who waits.

    A tier is told once its capacity manager runs; what it tells is at most half an hour old.
    """
    moment = given_moment(at)
    log = open_log(context)
    end = None if moment is None else position_at(log, moment, [TIERS])
    rows = plain(tiers_in(log, end=end))
    if output not in ("table", "wide"):
        show_rows(rows, output, [], name="tier")
        return Code.OK
    if not rows:
        tell("there is no tier; `turbine tier create NAME --shards N` makes one")
        return Code.OK
    show_rows(list(_lines(rows)), output, _columns())
    for row in rows:
        if row["state"] is None:
            name = row["tier"]
            tell(
                f"tier {name}: nothing tells what it holds; `turbine serve capacity-manager"
                f" --tier {name}` does"
            )
        if row["preempted"]:
            tell(f"tier {row['tier']}: stopped for others: {', '.join(row['preempted'])}")
    return Code.OK


def _lines(rows: list[JsonObject]) -> Iterator[JsonObject]:
    """A line for each resource; what is said of the tier as a whole stands in the first."""
    for row in rows:
        names = [name for name in SHORT if name in row["resources"]]
        for number, name in enumerate(names or [None]):
            use = row["resources"].get(name, {})
            yield {"first": number == 0, "resource": name, "use": use, **row}


def _with_share(row: JsonObject, name: str) -> str:
    """So much of a resource, and of all that there is."""
    share = row["use"].get(f"{name}_share")
    text = amount(row["resource"], row["use"].get(name))
    return text if share is None else f"{text} ({percent(share)})"


def _columns() -> list[Column]:
    def whole(cell: Callable[[JsonObject], object]) -> Callable[[JsonObject], object]:
        return lambda row: cell(row) if row["first"] else ""

    def of(name: str) -> Callable[[JsonObject], object]:
        return lambda row: amount(row["resource"], row["use"].get(name))

    def held(name: str) -> Callable[[JsonObject], object]:
        # No container says how much it holds of it: that is unknown, and not full.
        return lambda row: of(name)(row) if row["use"].get("capacity") else ""

    def lent(row: JsonObject) -> str:
        if row["use"].get("borrowed"):
            return f"has {amount(row['resource'], row['use']['borrowed'])}"
        return amount(row["resource"], row["use"].get("lent") or None)

    return columns(
        "TIER, STATE, CONTAINERS, JOBS, WAITING, STOPPED, *LIMITED, RESOURCE, CAPACITY,"
        " RESERVED, USED, LEFT, LACKING, LENT, *SHARDS, *REGIONS, SAID",
        {
            "TIER": whole(lambda row: row["tier"]),
            "STATE": whole(lambda row: row["state"]),
            "CONTAINERS": whole(lambda row: row["containers"]),
            "JOBS": whole(lambda row: row["jobs"]),
            "WAITING": whole(lambda row: row["jobs_waiting"]),
            "STOPPED": whole(lambda row: len(row["preempted"])),
            "LIMITED": whole(lambda row: len(row["limits"])),
            "RESOURCE": lambda row: SHORT.get(row["resource"], ""),
            "CAPACITY": held("capacity"),
            "RESERVED": lambda row: _with_share(row, "reserved"),
            "USED": lambda row: _with_share(row, "used"),
            "LEFT": held("left"),
            "LACKING": lambda row: amount(row["resource"], row["use"].get("lacking") or None),
            "LENT": lent,
            "SHARDS": whole(lambda row: row["shards"]),
            "REGIONS": whole(lambda row: ", ".join(row["regions"])),
            "SAID": whole(lambda row: show_time(row["reported_ms"])),
        },
    )
