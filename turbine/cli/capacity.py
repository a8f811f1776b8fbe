"""`get tiers` and `why shard N`: what tiers hold and lend, and where a shard is and why there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from typer import Context

from events.topics import TIERS
from projections.fleet import TierFleet
from turbine.cli.columns import amount, columns, percent
from turbine.cli.containers import SHORT, look
from turbine.cli.options import At, Listed
from turbine.cli.output import Column, facts, show, show_rows, table_text, tell, write
from turbine.cli.reading import open_until
from turbine.failures import Code, Failed
from turbine.read.answers import tiers
from turbine.read.answers.capacity import tiers_in
from turbine.read.answers.journal import line_of
from turbine.read.answers.move_history import moves_of, timed
from turbine.read.answers.moves import move_line
from turbine.read.answers.placement_preview import judged
from turbine.read.answers.tiers import Tier, Use
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Standing
from turbine_client.errors import BadRequest


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


SHOWN = 5
VERDICTS = {"home": "it is here", "region": "not in its regions", "draining": "is being emptied"}
REFUSALS = {
    "dead": "dead",
    "draining": "being emptied",
    "region": "in a region where it may not be",
    "ceiling": "without enough free",
}


# --- a shard


def why_shard(
    context: Context, number: str, tier: str, at: str | None, output: str, *, every: bool
) -> int:
    """Says why a shard is where it is, and how each container is judged for it."""
    if not number.isdecimal():
        raise BadRequest(f"{number} is no shard's number; they are numbered from 0")
    looked = look(context, tier, at)
    row, chain, shard = looked.row, looked.chain, int(number)
    if shard >= row.shards:
        raise Failed(
            Code.NOT_FOUND, f"tier {tier} has no shard {shard}; it has 0 to {row.shards - 1}"
        )
    found = plain(tiers.shard(row, shard)) | {
        "move": _last_move(row, chain, shard),
        "decision": _last_decision(chain, shard),
        "judged": judged(row, shard),
        "placement": row.placing.mode,
    }
    return show(found, output, lambda: _shard_text(found, every=every))


def _last_move(row: TierFleet, chain: list[Standing], shard: int) -> JsonObject | None:
    moves = [move for move in moves_of(chain) if move.shard == shard]
    # How long it took is for `get moves`: whether it came about is in the row.
    last = timed(moves[-1:], row, ())
    return plain(move_line(row.tier, last[0])) if last else None


def _last_decision(chain: list[Standing], shard: int) -> JsonObject | None:
    about = [
        one for one in chain if one.stands and getattr(one.read.record.body, "shard", -1) == shard
    ]
    if not about:
        return None
    record = about[-1].read.record
    line: JsonObject = plain(line_of(about[-1]))
    return line | {"evidence": dict(sorted(record.evidence.items()))}


def _shard_text(row: JsonObject, *, every: bool) -> str:
    move, decision = row["move"], row["decision"]
    pairs: list[tuple[str, object]] = [
        ("shard", f"{row['shard']} of tier {row['tier']}"),
        ("where", _where(row)),
        ("since", show_time(row["since_ms"])),
        ("generation", row["generation"]),
        ("regions", ", ".join(row["regions"]) or "any"),
    ]
    if move is not None:
        plan = f", plan {move['plan']}" if move["plan"] else ""
        pairs += [
            ("because", move["reason"]),
            ("moved", f"{move['from'] or 'nowhere'} -> {move['to']}, {move['stage']}{plan}"),
        ]
    if decision is not None:
        pairs += [
            ("decided", f"{decision['kind']} {decision['id']}"),
            ("which says", decision["summary"]),
            ("at", f"{decision['position']}, {show_time(decision['at_ms'])}"),
            ("evidence", f"{len(decision['evidence'])} places; `turbine why {decision['id']}`"),
        ]
    return facts(pairs) + "\n\n" + _judged_text(row, every=every)


def _where(row: JsonObject) -> str:
    if row["unplaced"]:
        return f"nowhere: {row['unplaced']}"
    if row["container"] is None:
        return "nowhere: no plan has placed it yet"
    to = f", then it goes to {row['to']}" if row["to"] else ""
    return f"{row['container']}, {row['stage']}{to}"


def _judged_text(row: JsonObject, *, every: bool) -> str:
    judged = row["judged"]
    if not judged:
        return "no container lives"
    could = [one for one in judged if one["verdict"] in ("home", "possible")]
    homes = sum(one["verdict"] == "home" for one in could)
    shown = judged if every else could[: SHOWN + homes]
    parts = [table_text(shown, _judged_columns(judged))] if shown else []
    if not every:
        parts += _left_out(judged, len(could) - len(shown))
    if row["placement"] != "measured":
        parts.append("this tier places by a hash of the number: loads and ranks do not count")
    return "\n".join(parts)


def _judged_columns(judged: list[JsonObject]) -> list[Column]:
    def ratio(resource: str) -> Callable[[JsonObject], str]:
        return lambda one: f"{one['of_mean'][resource]:.2f}"

    return [
        *columns("CONTAINER, VERDICT, RANK", {"VERDICT": _verdict}),
        *(Column(f"{SHORT.get(name, name)} WITH IT", ratio(name)) for name in judged[0]["of_mean"]),
        Column("IN BAND", lambda one: one["in_band"]),
    ]


def _verdict(one: JsonObject) -> str:
    if one["verdict"] == "ceiling":
        return f"not enough free {one['resource']}"
    return VERDICTS.get(one["verdict"], str(one["verdict"]))


def _left_out(judged: list[JsonObject], more: int) -> list[str]:
    told = [f"{more} more possible"] if more > 0 else []
    counts = Counter(
        (one["verdict"], one["resource"]) for one in judged if one["verdict"] in REFUSALS
    )
    for (verdict, resource), count in counts.most_common():
        what = f" {resource}" if verdict == "ceiling" else ""
        told.append(f"{count} {REFUSALS[verdict]}{what}")
    return [f"not shown: {', '.join(told)}; --all lists them"] if told else []
