"""`get containers|shards|moves` and `describe container`: where shards are, and where they go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Context, Option

from events.topics import CONTAINERS, OPERATOR, TIERS
from projections.fleet import TierFleet
from turbine.cli.columns import amount, columns, listed, span
from turbine.cli.hosted import (
    SHORT,
    container_columns,
    list_text,
    move_columns,
    said_state,
    shard_columns,
)
from turbine.cli.options import At, Listed, Names, Shown, Tier, open_log
from turbine.cli.output import Column, facts, show, show_rows, table_text, tell
from turbine.failures import Code, Failed
from turbine.read.answers.move_history import MoveHistory, fail_overs_of, moves_of, timed, windows
from turbine.read.answers.moves import move_line
from turbine.read.answers.placing import compared
from turbine.read.answers.tiers import container, containers, shards
from turbine.read.moments import Moment, given_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log, Standing
from turbine.read.state.instants import position_at
from turbine_client.creating import perhaps

MOVES_SHOWN = 20
MOVES_OF_ONE = 10


# --- what is read


@dataclass(frozen=True, slots=True)
class TierReading:
    """A tier, its chain, and the end of the log to which both were read."""

    log: Log
    row: TierFleet
    end: dict[str, int] | None  # None: the end now
    chain: list[Standing]


def look(context: Context, tier: str, at: str | None) -> TierReading:
    """A tier with its chain."""
    log, row, end = read_fleet(context, tier, at)
    return TierReading(log, row, end, log.chain(tier, end=end))


def read_fleet(
    context: Context, tier: str, at: str | None
) -> tuple[Log, TierFleet, dict[str, int] | None]:
    """The log, the tier as it stands there, and the end that was read to."""
    moment = given_moment(at)
    log = open_log(context)
    end = None if moment is None else end_at(log, moment)
    return log, existing_tier(log.fleet(tier, end=end), tier, at), end


def end_at(log: Log, moment: Moment) -> dict[str, int]:
    """The position vector of an instant, for what a tier is told by."""
    return position_at(log, moment, [TIERS, CONTAINERS, OPERATOR])


def existing_tier(row: TierFleet | None, tier: str, at: str | None = None) -> TierFleet:
    """The row, where it is a tier's."""
    if row is None or not row.defined:
        when = f" at {at}" if at else ""
        raise Failed(
            Code.NOT_FOUND,
            f"there is no tier {tier}{when}; `turbine tier create {tier} --shards N` makes one",
        )
    return row


def known_container(row: TierFleet, name: str) -> JsonObject:
    """The container as JSON; Failed where nobody has heard of it."""
    life = row.lives.get(name)
    if life is None or life.tier != row.tier:
        names = [one for one, known in row.lives.items() if known.tier == row.tier]
        raise Failed(
            Code.NOT_FOUND,
            f"tier {row.tier} has no container {name}{perhaps(name, names)};"
            " `turbine get containers --gone` lists all that ever were",
        )
    found: JsonObject = plain(container(row, life))
    return found


def moves_in(
    looked: TierReading, pick: Callable[[MoveHistory], bool], *, last: int | None = None
) -> list[MoveHistory]:
    """The moves that are wanted, with what containers said of them."""
    row = looked.row
    found = [move for move in moves_of(looked.chain) if pick(move)]
    found = found if last is None else found[-last:]
    kinds = frozenset({"ShardDropped", "ShardAdded"})
    spans = windows(found, row)
    return timed(found, row, looked.log.spoken(spans, kinds, end=looked.end))


# --- lists


def get_containers(
    context: Context,
    names: Names = None,
    *,
    tier: Tier = "default",
    gone: bool = False,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List the containers, or those named: how they stand, what they hold, how full they are.

    --gone: Also those that are gone and hold nothing.
    """
    _, row, _ = read_fleet(context, tier, at)
    for name in names or ():
        known_container(row, name)
    rows = plain(containers(row, gone=gone or bool(names)))
    rows = [one for one in rows if not names or one["container"] in names]
    if not rows and output in ("table", "wide"):
        tell(
            f"no container of tier {tier} lives; `python -m turbine.ops.container NAME` starts one"
        )
        return Code.OK
    show_rows(rows, output, container_columns(), name="container")
    tell_alerts(row, output)
    return Code.OK


def get_shards(
    context: Context,
    *,
    tier: Tier = "default",
    container: str | None = None,
    moving: bool = False,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List the shards: who holds each, how far its move is, what it uses.

    --container NAME: That it holds or is to get.
    --moving: Only those about which something is to come.
    """
    _, row, _ = read_fleet(context, tier, at)
    if container is not None:
        known_container(row, container)
    rows = plain(shards(row, container=container, moving=moving))
    if not rows and output in ("table", "wide"):
        what = "moves" if moving else "is held"
        tell(f"no shard {what}" + (f" on {container}" if container else f" in tier {tier}"))
        return Code.OK
    show_rows(rows, output, shard_columns(), name="shard")
    tell_alerts(row, output)
    return Code.OK


def get_moves(
    context: Context,
    *,
    tier: Tier = "default",
    plan: str | None = None,
    last: Annotated[int, Option("--last", min=1, max=100_000, metavar="N")] = MOVES_SHOWN,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List the last moves of shards: from where to where, why, how far, how long.

    --plan PLAN: Of this plan only.
    """
    looked = look(context, tier, at)
    moves = moves_in(looked, lambda one: plan in (None, one.plan), last=last)
    if not moves and output in ("table", "wide"):
        whose = f"plan {plan}" if plan else f"tier {tier}"
        tell(f"no shard of {whose} was moved; `turbine placement show PLAN` shows a plan")
        return Code.OK
    rows = [plain(move_line(tier, move)) for move in moves]
    show_rows(rows, output, move_columns(), name="shard")
    return Code.OK


def tell_alerts(row: TierFleet, output: str) -> None:
    """What stands against the tier, beside any list of it."""
    if output not in ("table", "wide"):
        return
    if row.brake is not None and not row.brake.released:
        tell(
            "mass-failure: so many containers are silent at once that none is failed over; if"
            f" they are gone, `turbine placement apply {row.brake.plan_id} --reason R`"
        )
    if row.unplaced:
        shard, why = min(row.unplaced.items())
        more = "at least " if row.more_unplaced else ""
        tell(
            f"shards-unplaced: {more}{len(row.unplaced)} shards have no container; shard {shard}:"
            f" {why}"
        )


# --- one container


def describe_container(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME")],
    *,
    tier: Tier = "default",
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show one container: its state, loads and windows, shards, last moves and fail-overs."""
    looked = look(context, tier, at)
    row = looked.row
    found = known_container(row, name)
    moves = moves_in(looked, lambda one: name in (one.origin, one.to), last=MOVES_OF_ONE)
    found["balance"] = compared(row).get(name, [])
    found["fail_overs"] = fail_overs_of(looked.chain, row, name)
    found["last_moves"] = [plain(move_line(tier, move)) for move in moves]
    found["holds"] = plain(shards(row, container=name))
    show(found, output, lambda: _description(found))
    return Code.OK


def _description(row: JsonObject) -> str:
    parts = [
        facts(
            [
                ("container", row["container"]),
                ("state", said_state(row)),
                ("tier", f"{row['tier']}, region {row['region'] or '-'}"),
                ("epoch", f"{row['epoch']}, since {show_time(row['since_ms'])}"),
                ("silent for", span(row["silence_ms"])),
                ("shards", f"{row['shards']}, of which {row['moving']} on their way"),
                ("tasks", row["tasks"]),
            ]
        )
    ]
    rows = _resources(row)
    parts += [table_text(rows, _resource_columns())] if rows else []
    if row["fail_overs"]:
        parts.append(listed(row["fail_overs"], "FAIL-OVER=at_ms:time, EPOCH, OUTCOME, WHY"))
    parts += [list_text(row["last_moves"], move_columns())] if row["last_moves"] else []
    parts += [list_text(row["holds"], shard_columns())] if row["holds"] else []
    return "\n\n".join(parts)


def _resources(row: JsonObject) -> list[JsonObject]:
    """What is used of what there is, and how that compares with the tier's mean."""
    balance = {one["resource"]: one for one in row["balance"]}
    names = [name for name in SHORT if name in row["load"] or name in balance]
    return [
        {"resource": name} | row["load"].get(name, {}) | balance.get(name, {}) for name in names
    ]


def _resource_columns() -> list[Column]:
    def window(one: JsonObject) -> str:
        return f"{one['low']:.2f} to {one['high']:.2f}" if "low" in one else ""

    def judged(one: JsonObject) -> str:
        if "in_band" not in one:
            return ""
        if one["high"] <= 0:
            return "gets nothing" if not one["of_mean"] else "is being emptied"
        if one["in_band"]:
            return "in band"
        return "over" if one["of_mean"] > one["high"] else "under"

    return columns(
        "RESOURCE, USED, CAPACITY, SHARE=share?:percent, OF THE MEAN, WINDOW, BAND",
        {
            "USED": lambda one: amount(one["resource"], one.get("used")),
            "CAPACITY": lambda one: amount(one["resource"], one.get("capacity")),
            "OF THE MEAN": lambda one: f"{one['of_mean']:.2f}" if "of_mean" in one else "",
            "WINDOW": window,
            "BAND": judged,
        },
    )
