"""`tier create`, `drain container` and `undrain container`: what operators ask of a tier."""

from __future__ import annotations

import json
import time  # noqa: TID251 - a person's patience is real time
from typing import Annotated

from typer import Context, Option

from components.shard_manager.core.planning import balance_ms
from events.generated.records import DrainRequested, TierDefined, UndrainRequested
from events.job_config.strict_json import shorten
from projections.fleet import TierFleet
from projections.settings import trouble_in
from projections.shards import REGIONS_MAX
from turbine.cli.containers import existing_tier, known_container
from turbine.cli.documents import parse_assignments
from turbine.cli.options import Author, DryRun, Name, Shown, Tier, author_or_user, open_log
from turbine.cli.output import show, tell
from turbine.cli.reading import LOOK_S, looks
from turbine.failures import Code, Failed
from turbine.ops.tiers import ask, define, definition_of, new_id, same_tier
from turbine.read.answers.tiers import Container
from turbine.read.moments import parse_span, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine.read.state.shards import UNPLANNED, why_left
from turbine_client.errors import BadRequest
from turbine_client.identity import is_job_id

SHARDS_MAX = 2**20
LOCAL = "default"
"""The tier whose shard manager is served where no other is named, as by `turbine up`."""
READ_S = 30.0
"""For the log to show what was written into it."""
TOLD = 4


# --- tier create


def create_tier(
    context: Context,
    name: Name,
    *,
    shards: Annotated[int, Option(min=1, max=SHARDS_MAX)],
    region: list[str] | None = None,
    set_: list[str] | None = None,
    dry_run: DryRun = False,
    output: Shown = "table",
) -> int:
    """Create a tier: containers and shards that are balanced together.

    The number of its shards stands for ever, as a task's shard is told from it.

    --shards N: Of each set of regions, for ever.
    --region: Repeatable; at most four.
    --set KEY=JSON: A setting, such as band=100; repeatable.
    """
    _check_label("a tier", name)
    regions = _regions(region or [])
    settings = _settings(parse_assignments(set_ or []))
    log = open_log(context)
    found, created = _defined(log, name, shards, regions, settings, dry_run=dry_run)
    _show(found, output, created=created, dry_run=dry_run)
    if created and not dry_run and name != LOCAL:
        tell(f"its shards are placed by `turbine serve shard-manager --tier {name}`")
    return Code.OK


def _defined(
    log: Log,
    name: str,
    shards: int,
    regions: tuple[str, ...],
    settings: JsonObject,
    *,
    dry_run: bool,
) -> tuple[TierDefined, bool]:
    """What the tier is, and whether it was made for this; Failed where it is another."""
    found = before = definition_of(log.chain(name))
    if found is None and dry_run:
        found = TierDefined(name, shards, regions, json.dumps(settings))
    if found is None:
        found = define(log, name, shards, regions, settings)
    if found is None:
        raise Failed(
            Code.FAILED,
            f"tier {name} was written and does not stand; `turbine log tail --topic tiers` shows"
            " what was said before it",
        )
    if not same_tier(found, TierDefined(name, shards, regions, json.dumps(settings))):
        raise Failed(
            Code.FAILED,
            f"tier {name} exists otherwise: {_said(found)}; the number of a tier's shards never"
            " changes, so name another tier",
        )
    return found, before is None


def _regions(named: list[str]) -> tuple[str, ...]:
    for one in named:
        _check_label("--region", one)
        if named.count(one) > 1:
            raise BadRequest(f"--region {one} is named twice; once is enough")
    if len(named) > REGIONS_MAX:
        raise BadRequest(
            f"{len(named)} regions are too many for one tier; name at most {REGIONS_MAX}, as each"
            " doubles the number of shards"
        )
    return tuple(named)


def _settings(settings: JsonObject) -> JsonObject:
    trouble = trouble_in(json.dumps(settings))
    if trouble:
        raise BadRequest(f"--set: {trouble}")
    return settings


def _check_label(what: str, text: str) -> None:
    if not is_job_id(text) or len(text) > 64:
        raise BadRequest(
            f"{what}: {shorten(text)} cannot be used; it is a name of up to 64 of a-z, 0-9, '.',"
            " '_', '-' between letters or digits"
        )


def _show(found: TierDefined, output: str, *, created: bool, dry_run: bool) -> None:
    made = "would be created" if dry_run else "is created"
    row = {
        "tier": found.tier,
        "shards": found.shards,
        "regions": list(found.regions),
        "settings": json.loads(found.settings_json),
        "created": created,
    }
    how = made if created else "exists already"
    show(row, output, lambda: f"tier {found.tier} {how}: {_said(found)}")


def _said(found: TierDefined) -> str:
    regions = f"regions {', '.join(found.regions)}" if found.regions else "one region"
    settings = json.loads(found.settings_json or "{}")
    told = ", ".join(f"{key}={value}" for key, value in sorted(settings.items()))
    shards = f"{found.shards} shards" + (" of each set of regions" if found.regions[1:] else "")
    return f"{shards}, {regions}, {told or 'usual settings'}"


# --- drain, undrain


def drain_container(
    context: Context,
    name: Name,
    *,
    reason: str,
    tier: Tier = "default",
    author: Author = None,
    dry_run: DryRun = False,
    wait: bool = False,
    timeout: Annotated[str, Option("--timeout", metavar="SPAN")] = "30m",
    output: Shown = "table",
) -> int:
    """Have a container give all its shards away, and get no new ones.

    It stays so until `turbine undrain NAME`. Its tasks go on until their shards move.

    --reason: Why; whoever looks at the container reads it.
    --wait: Until it holds nothing; see --timeout.
    """
    who, patience_s = author_or_user(author), parse_span(timeout, "--timeout") / 1000
    log = open_log(context)
    row = existing_tier(log.fleet(tier), tier)
    known = known_container(row, name)
    if dry_run:
        return _show_trial(known, f"would be drained of {_shards(known.shards)}", output)
    change = new_id()
    ask(log, name, DrainRequested(change, name, who, reason))
    row = _read_back(log, tier, name, change, drained=True)
    if wait:
        row = _empty(log, tier, name, timeout, patience_s)
    return _show_drain(row, name, output, change)


def undrain_container(
    context: Context,
    name: Name,
    *,
    reason: str,
    tier: Tier = "default",
    author: Author = None,
    dry_run: DryRun = False,
    output: Shown = "table",
) -> int:
    """Let a container that was drained get shards again.

    --reason: Why; whoever looks at the container reads it.
    """
    who = author_or_user(author)
    log = open_log(context)
    row = existing_tier(log.fleet(tier), tier)
    known = known_container(row, name)
    if dry_run:
        said = "would get shards again" if name in row.drains else "was not being drained"
        return _show_trial(known, said, output)
    change = None
    if name in row.drains:
        change = new_id()
        ask(log, name, UndrainRequested(change, name, who, reason))
        row = _read_back(log, tier, name, change, drained=False)
    return _show_drain(row, name, output, change)


def _read_back(log: Log, tier: str, name: str, change: str, *, drained: bool) -> TierFleet:
    """The tier once the wish counts; a wish of operators needs no verdict, only to be read."""
    for last in looks(time.monotonic() + READ_S, LOOK_S / 4):
        row = existing_tier(log.fleet(tier), tier)
        known = row.ingress.get(name)
        if known is not None and any(one.id == change for one in known.live):
            break
        if last:
            raise Failed(
                Code.TIMEOUT,
                f"{name}: the request {change} does not count: it came too late by the broker's"
                " clock, or with too many others; compare this machine's clock and ask again",
            )
    if (name in row.drains) != drained:
        raise Failed(
            Code.CONFLICT,
            f"{name}: another operator asked for the opposite at the same time; `turbine describe"
            f" container {name}` tells who",
        )
    return row


def _empty(log: Log, tier: str, name: str, timeout: str, patience_s: float) -> TierFleet:
    """Waits until the container holds nothing; tells how far it is, and what is left in the end."""
    told = -1
    for last in looks(time.monotonic() + patience_s):
        row = existing_tier(log.fleet(tier), tier)
        left = len(row.holdings.get(name, ()))
        if not left:
            break
        if name not in row.drains:
            raise Failed(Code.CONFLICT, f"{name} is not drained any more, with {left} shards left")
        if left != told:
            tell(f"{name}: {_shards(left)} left")
            told = left
        if last:
            raise Failed(
                Code.TIMEOUT, f"{name} is not empty after {timeout}: {what_is_left(row, name)}"
            )
    return row


def what_is_left(row: TierFleet, name: str) -> str:
    """The shards that a container still has, by what they wait for."""
    told = []
    for why, shards in sorted(why_left(row, name)["because"].items(), key=lambda one: -len(one[1])):
        numbers = ", ".join(map(str, shards[:TOLD])) + (", …" if len(shards) > TOLD else "")
        told.append(f"{_shards(len(shards))} ({numbers}): {why}")
        if why == UNPLANNED:
            told[-1] += (
                f" (the next is due at {show_time(balance_ms(row))}; `turbine placement plan` shows"
                " what can be had before)"
            )
    return "; ".join(told)


def _shards(count: int) -> str:
    return f"{count} shard{'' if count == 1 else 's'}"


def _show_drain(row: TierFleet, name: str, output: str, change: str | None) -> int:
    known, drained = known_container(row, name), name in row.drains
    if not drained:
        said = "gets shards again" if change else "was not being drained"
    elif known.shards:
        follow = f"`turbine get shards --container {name}` shows what is left"
        said = f"is drained of {_shards(known.shards)}; {follow}"
    else:
        said = "is drained and holds nothing"
    more = {"change_id": change, "left": why_left(row, name) if drained else None}
    return show({**plain(known), **more}, output, lambda: f"{name}: {said}")


def _show_trial(known: Container, said: str, output: str) -> int:
    return show({**plain(known), "would": said}, output, lambda: f"{known.container}: {said}")
