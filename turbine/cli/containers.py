"""`get containers|shards|moves` and `describe container`: where shards are, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from typer import Context, Option

from events.topics import CONTAINERS, OPERATOR, TIERS
from projections.fleet import TierFleet
from turbine.cli.columns import amount, columns, part, percent, span
from turbine.cli.options import At, Listed, Name, Names, Shown, Tier
from turbine.cli.output import Column, facts, show, show_rows, table_text, tell
from turbine.cli.reading import open_until
from turbine.failures import Code, Failed
from turbine.read.answers.move_history import MoveHistory, fail_overs_of, moves_of, timed, windows
from turbine.read.answers.moves import move_line
from turbine.read.answers.placement_preview import compared
from turbine.read.answers.tiers import Container, Shard, container, containers, shards
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log, Standing
from turbine_client.creating import perhaps

MOVES_SHOWN = 20
MOVES_OF_ONE = 10
FRESH_MS = 15_000
"""A silence that is no news: a heartbeat comes every 5 s."""
SHORT = {
    "cpu_cores": "CPU",
    "memory_bytes": "MEMORY",
    "disk_bytes": "DISK",
    "network_bytes_per_s": "NETWORK",
}


# --- what is read


@dataclass(frozen=True, slots=True)
class TierReading:
    """A tier, and the end of the log to which it was read."""

    log: Log
    row: TierFleet
    end: dict[str, int] | None  # None: the end now

    @property
    def chain(self) -> list[Standing]:
        """The decisions about the tier."""
        return self.log.chain(self.row.tier, end=self.end)


def look(context: Context, tier: str, at: str | None) -> TierReading:
    """A tier as it stands there."""
    log, end = open_until(context, at, (TIERS, CONTAINERS, OPERATOR))
    return TierReading(log, existing_tier(log.fleet(tier, end=end), tier, at), end)


def existing_tier(row: TierFleet | None, tier: str, at: str | None = None) -> TierFleet:
    """The row, where it is a tier's."""
    if row is None or not row.defined:
        when = f" at {at}" if at else ""
        raise Failed(
            Code.NOT_FOUND,
            f"there is no tier {tier}{when}; `turbine tier create {tier} --shards N` makes one",
        )
    return row


def known_container(row: TierFleet, name: str) -> Container:
    """The container; Failed where nobody has heard of it."""
    life = row.lives.get(name)
    if life is None or life.tier != row.tier:
        names = [one for one, known in row.lives.items() if known.tier == row.tier]
        raise Failed(
            Code.NOT_FOUND,
            f"tier {row.tier} has no container {name}{perhaps(name, names)};"
            " `turbine get containers --gone` lists all that ever were",
        )
    return container(row, life)


def moves_in(
    looked: TierReading,
    chain: list[Standing],
    pick: Callable[[MoveHistory], bool],
    *,
    last: int | None = None,
) -> list[MoveHistory]:
    """The moves that are wanted, with what containers said of them."""
    found = [move for move in moves_of(chain) if pick(move)]
    found = found if last is None else found[-last:]
    kinds = frozenset({"ShardDropped", "ShardAdded"})
    spoken = looked.log.spoken(windows(found, looked.row), kinds, end=looked.end)
    return timed(found, looked.row, spoken)


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
    row = look(context, tier, at).row
    for name in names or ():
        known_container(row, name)
    rows = containers(row, gone=gone or bool(names))
    rows = [one for one in rows if not names or one.container in names]
    none = f"no container of tier {tier} lives; `python -m turbine.ops.container NAME` starts one"
    show_rows(rows, output, container_columns(), name="container", none=none)
    return tell_alerts(row, output) if rows else Code.OK


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
    row = look(context, tier, at).row
    if container is not None:
        known_container(row, container)
    rows = shards(row, container=container, moving=moving)
    what, where = "moves" if moving else "is held", f"on {container}" if container else ""
    none = f"no shard {what} {where or f'in tier {tier}'}"
    show_rows(rows, output, shard_columns(), name="shard", none=none)
    return tell_alerts(row, output) if rows else Code.OK


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
    moves = moves_in(looked, looked.chain, lambda one: plan in (None, one.plan), last=last)
    rows = [plain(move_line(tier, move)) for move in moves]
    whose = f"plan {plan}" if plan else f"tier {tier}"
    none = f"no shard of {whose} was moved; `turbine placement show PLAN` shows a plan"
    return show_rows(rows, output, move_columns(), name="shard", none=none)


def tell_alerts(row: TierFleet, output: str) -> Code:
    """Tells people what stands against the tier, beside any list of it."""
    if output not in ("table", "wide"):
        return Code.OK
    if row.brake is not None and not row.brake.released:
        tell(
            "mass-failure: so many containers are silent at once that none is failed over; if"
            f" they are gone, `turbine placement apply {row.brake.plan_id} --reason R`"
        )
    if row.unplaced:
        shard, why = min(row.unplaced.items())
        count = f"{'at least ' if row.more_unplaced else ''}{len(row.unplaced)} shards"
        tell(f"shards-unplaced: {count} have no container; shard {shard}: {why}")
    return Code.OK


# --- columns


def list_text(rows: list[Any], columns: list[Column]) -> str:
    """A list within something larger: without what only a wide one has room for."""
    return table_text(rows, [column for column in columns if not column.wide])


def container_columns() -> list[Column]:
    """The columns of a list of containers."""

    def share(resource: str) -> Callable[[Container], object]:
        return lambda one: percent(one.load[resource].share) if resource in one.load else ""

    return columns(
        "CONTAINER, STATE, SHARDS, MOVING=moving:some, TASKS, CPU, MEMORY, *DISK,"
        " *NETWORK, SILENT, REGION, *EPOCH, SINCE=since_ms:time",
        {
            "STATE": said_state,
            **{title: share(resource) for resource, title in SHORT.items()},
            "SILENT": lambda one: span(one.silence_ms, FRESH_MS),
        },
    )


def shard_columns() -> list[Column]:
    """The columns of a list of shards."""

    def load(resource: str) -> Callable[[Shard], object]:
        return lambda one: amount(resource, (one.load or {}).get(resource))

    return columns(
        "SHARD, CONTAINER, STAGE, GENERATION, TASKS, CPU, MEMORY, *DISK, *NETWORK,"
        " *JOB, REGIONS, SINCE=since_ms:time",
        {
            "STAGE": _stage,
            **{title: load(resource) for resource, title in SHORT.items()},
            "REGIONS": lambda one: ", ".join(one.regions) or "any",
        },
    )


def move_columns() -> list[Column]:
    """The columns of a list of moves."""
    return columns(
        "ASKED=asked_ms?:time, SHARD, FROM, TO, STAGE, TOOK=took_ms?:span, PLAN,"
        " REASON, *DECISION=decision?"
    )


def said_state(one: Container) -> str:
    """The state, and who wants it so."""
    if one.drain is None:
        return one.state
    why = f": {one.drain.reason}" if one.drain.reason else ""
    word = "" if one.state in ("draining", "drained") else ", to be drained"
    return f"{one.state}{word} by {one.drain.author}{why}"


def _stage(one: Shard) -> str:
    """How far it is, where to, and why it is nowhere."""
    text = f"{one.stage} (to {one.to})" if one.to else one.stage
    return f"{text}: {one.unplaced}" if one.unplaced else text


# --- one container


def describe_container(
    context: Context, name: Name, *, tier: Tier = "default", at: At = None, output: Shown = "table"
) -> int:
    """Show one container: its state, loads and windows, shards, last moves and fail-overs."""
    looked = look(context, tier, at)
    row, chain = looked.row, looked.chain
    found, holds = known_container(row, name), shards(row, container=name)
    moves = moves_in(looked, chain, lambda one: name in (one.origin, one.to), last=MOVES_OF_ONE)
    more: JsonObject = {
        "balance": compared(row).get(name, []),
        "fail_overs": fail_overs_of(chain, row, name),
        "last_moves": [plain(move_line(tier, move)) for move in moves],
    }
    document = {**plain(found), **more, "holds": plain(holds)}
    return show(document, output, lambda: _description(found, holds, more))


def _description(found: Container, holds: list[Shard], more: JsonObject) -> str:
    head = facts(
        [
            ("container", found.container),
            ("state", said_state(found)),
            ("tier", f"{found.tier}, region {found.region or '-'}"),
            ("epoch", f"{found.epoch}, since {show_time(found.since_ms)}"),
            ("silent for", span(found.silence_ms)),
            ("shards", f"{found.shards}, of which {found.moving} on their way"),
            ("tasks", found.tasks),
        ]
    )
    resources = _resources(plain(found)["load"], more["balance"])
    parts = [head, *([table_text(resources, _resource_columns())] if resources else [])]
    parts += part(more["fail_overs"], "FAIL-OVER=at_ms:time, EPOCH, OUTCOME, WHY")
    parts += [list_text(more["last_moves"], move_columns())] if more["last_moves"] else []
    parts += [list_text(holds, shard_columns())] if holds else []
    return "\n\n".join(parts)


def _resources(load: Mapping[str, JsonObject], balance: list[JsonObject]) -> list[JsonObject]:
    """What is used of what there is, and how that compares with the tier's mean."""
    compared = {one["resource"]: one for one in balance}
    names = [name for name in SHORT if name in load or name in compared]
    return [{"resource": name} | load.get(name, {}) | compared.get(name, {}) for name in names]


def _resource_columns() -> list[Column]:
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
            "WINDOW": lambda one: f"{one['low']:.2f} to {one['high']:.2f}" if "low" in one else "",
            "BAND": judged,
        },
    )
