"""`placement plan`, `apply` and `show`: what would move, to have it moved, and how far it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

from typer import Argument, Context, Option

from events.generated.records import PlacementApplyRequested, PlacementRejected
from events.job_config.strict_json import printable
from events.topics import TIERS
from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.plans import read_request, write_moves
from turbine.cli.columns import listed, part
from turbine.cli.containers import (
    existing_tier,
    list_text,
    look,
    move_columns,
    moves_in,
    tell_alerts,
)
from turbine.cli.options import At, Author, DryRun, Shown, Tier, Wait, author_or_user, open_log
from turbine.cli.output import Column, facts, show, table_text
from turbine.failures import Code, Failed
from turbine.ops.tiers import Answer, answer_to, ask, new_id
from turbine.read.answers.ids import LEAST
from turbine.read.answers.move_history import plans_of
from turbine.read.answers.moves import plan_line
from turbine.read.answers.placement_preview import draft_of, draft_to_plain
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine_client.errors import BadRequest
from turbine_client.publish import TooLarge

PlanId = Annotated[str, Argument(metavar="PLAN")]


STALE = ("world-moved", "unknown-plan")
MOVES_SHOWN = 40
REASONS_SHOWN = 12


# --- plan


def plan_placement(
    context: Context,
    *,
    tier: Tier = "default",
    moves: Annotated[int | None, Option(min=1)] = None,
    dry_run: bool = True,
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show what the shard manager would move now, and why.

    Nothing is sent. `turbine placement apply PLAN` has it carried out, if the world is the same.

    --moves N: At most about so many; what nobody holds is not counted.
    --dry-run: As always: nothing is sent by this command.
    """
    del dry_run
    row = look(context, tier, at).row
    told = draft_to_plain(row, draft_of(row, moves))
    show(told, output, lambda: _plan_text(told, moves))
    return tell_alerts(row, output)


def _plan_text(row: JsonObject, most: int | None) -> str:
    count = len(row["moves"])
    head: list[tuple[str, object]] = [
        ("plan", row["plan"] or "none is needed"),
        ("says", row["explanation"]),
        ("moves", f"{count} of {row['shards']} shards, over {row['containers']} containers"),
    ]
    if row["unplaced"]:
        head.append(("unplaced", f"{row['unplaced']} shards fit nowhere"))
    parts = [facts(head)]
    spread = [{"resource": name} | both for name, both in row["spread"].items()]
    parts += [table_text(spread, _spread_columns())] if spread else []
    parts += [*_out_parts(row), *_unplaced_parts(row)]
    if count:
        parts.append(listed(row["moves"][:MOVES_SHOWN], "SHARD, FROM, TO, REASON") + _more(count))
        further = f" --moves {most}" if most is not None else ""
        parts.append(
            f"to have it done: turbine placement apply '{row['plan']}'{further} --reason R"
        )
    return "\n\n".join(parts)


def _more(count: int) -> str:
    return f"\n… and {count - MOVES_SHOWN} more; -o json has all" if count > MOVES_SHOWN else ""


def _spread_columns() -> list[Column]:
    def cell(when: str, which: str) -> Callable[[JsonObject], str]:
        return lambda one: f"{one[when][which] / 1000:.2f}"

    return [
        Column("OF THE MEAN", lambda one: one["resource"]),
        Column("FULLEST NOW", cell("before", "fullest")),
        Column("THEN", cell("after", "fullest")),
        Column("EMPTIEST NOW", cell("before", "emptiest")),
        Column("THEN", cell("after", "emptiest")),
    ]


CAUSES = {
    "budget": "the plan may not have more moves",
    "immovable": "none of its shards may move now: they moved a while ago, or are moving",
    "one_shard": "one of its shards is larger than what it should have",
    "stuck": "no move and no exchange helps it without harm to another",
}
"""Why a container stays out of band, in words."""


def _out_parts(row: JsonObject) -> list[str]:
    return part(
        row["out_of_band"],
        "OUT OF BAND=container, IN=resource, BY, AND STAYS SO BECAUSE",
        {
            "BY": lambda one: f"{one['beyond'] / 10:g} % of the mean",
            "AND STAYS SO BECAUSE": lambda one: CAUSES.get(one["cause"], one["cause"]),
        },
    )


def _unplaced_parts(row: JsonObject) -> list[str]:
    counts = Counter(one["why"] for one in row["unplaced_shards"])
    firsts = {one["why"]: one["shard"] for one in reversed(row["unplaced_shards"])}
    rows = [{"why": why, "count": n, "first": firsts[why]} for why, n in counts.most_common()]
    return part(rows[:REASONS_SHOWN], "UNPLACED=count, FIRST, BECAUSE=why")


# --- apply


def apply_placement(
    context: Context,
    plan: PlanId,
    *,
    reason: str,
    moves: Annotated[int | None, Option(min=1)] = None,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Have a plan carried out: one that was shown, or one that waits to be confirmed.

    A plan that was shown is made again first; where it comes out otherwise nothing is sent.

    --reason: Why; it stands beside the plan.
    --moves N: At most about so many; what nobody holds is not counted.
    """
    tier, shown = _tier_of(plan)
    who = author_or_user(author)
    log = open_log(context)
    row = existing_tier(log.fleet(tier), tier)
    plan = _whole_id(row, plan, moves) if shown else plan
    text = _moves_again(row, plan, moves) if shown else _held(row, plan)
    if dry_run:
        return _show_trial(plan, text, output)
    body = PlacementApplyRequested(new_id(), tier, plan, who, reason, moves_json=text)
    since = log.ends(log.places([TIERS]))
    _send(log, body)
    found = answer_to(log, tier, body.change_id, since, wait)
    if found is None:
        raise Failed(
            Code.TIMEOUT,
            f"no answer in {wait:g} s; is the shard manager running? The request may yet be"
            f" carried out: `turbine why {body.change_id}` asks again",
        )
    return _show_answer(*found, body, output)


def _tier_of(plan: str) -> tuple[str, bool]:
    """Whose plan it is, and whether it is one that was only shown."""
    for mark in ("!", "#"):
        tier, found, rest = plan.rpartition(mark)
        if found and tier and rest:
            return tier, mark == "!"
    raise BadRequest(
        f"{plan} is no plan's id; `turbine placement plan` shows one such as default!1f3a0c9e2b7d,"
        " and an alert that waits for you names one such as default#12"
    )


def _whole_id(row: TierFleet, plan: str, most: int | None) -> str:
    """The id of today's plan where it begins so, with six characters at least."""
    found = draft_of(row, most).plan_id
    enough = len(plan.rpartition("!")[2]) >= LEAST
    return found if enough and found.startswith(plan) else plan


def _show_trial(plan: str, moves_json: str, output: str) -> int:
    count = len(read_request(moves_json))
    moves = f"with its {count} moves" if count else "which says that what is silent is gone"
    row = {"verdict": "would be asked for", "plan": plan, "moves": count}
    return show(row, output, lambda: f"{plan}: would be asked for, {moves}")


def _moves_again(row: TierFleet, plan: str, most: int | None) -> str:
    """The moves of the plan, if it comes out as it was shown."""
    draft = draft_of(row, most)
    if not draft.moves:
        raise Failed(
            Code.CONFLICT, f"the world moved since {plan} was shown: there is nothing to move now"
        )
    if draft.plan_id != plan:
        further = f" --moves {most}" if most is not None else ""
        raise Failed(
            Code.CONFLICT,
            f"the world moved since {plan} was shown: the plan is {draft.plan_id} now, with"
            f" {len(draft.moves)} moves; look at it with `turbine placement plan{further}`",
        )
    return write_moves(draft.moves)


def _held(row: TierFleet, plan: str) -> str:
    """No moves, where the plan is the one that waits for a person."""
    if row.brake is None or row.brake.plan_id != plan:
        waits = f"; {row.brake.plan_id} does" if row.brake is not None else ", and none does"
        raise Failed(
            Code.CONFLICT,
            f"plan {plan} does not wait to be confirmed{waits};"
            f" `turbine placement show '{plan}'` tells how far it came",
        )
    if row.brake.released:
        raise Failed(Code.CONFLICT, f"plan {plan} was confirmed already; it is being carried out")
    return "{}"


def _send(log: Log, body: PlacementApplyRequested) -> None:
    try:
        ask(log, body.tier, body)
    except TooLarge:
        raise BadRequest(
            f"plan {body.plan_id} has more moves than one request can hold; make it smaller with"
            " `turbine placement plan --moves N`, and apply that"
        ) from None


def _show_answer(read: Read, answer: Answer, asked: PlacementApplyRequested, output: str) -> int:
    row = {
        "verdict": "rejected" if isinstance(answer, PlacementRejected) else "planned",
        "plan": asked.plan_id,
        "change_id": asked.change_id,
        "id": read.record.id,
        "position": f"{read.place}:{read.offset}",
        "body": answer.to_plain(),
    }
    show(row, output, lambda: answer_text(answer, asked.plan_id))
    if not isinstance(answer, PlacementRejected):
        return Code.OK
    return Code.CONFLICT if answer.reason in STALE else Code.FAILED


def answer_text(body: Answer, plan: str) -> str:
    """What the shard manager answered, for people."""
    if isinstance(body, PlacementRejected):
        return printable(f"{plan}: rejected, {body.reason}: {body.explanation}")
    if not body.moves:
        return printable(
            f"{plan}: confirmed: {body.explanation}; what was silent is failed over now,"
            " `turbine get containers` shows it"
        )
    return printable(
        f"{plan}: planned, {body.moves} moves: {body.explanation};"
        f" `turbine placement show '{body.plan_id}'` shows how far they are"
    )


# --- show


def show_placement(
    context: Context, plan: PlanId, *, at: At = None, output: Shown = "table"
) -> int:
    """Show a plan of the log, and how far its moves have come."""
    tier, shown = _tier_of(plan)
    looked = look(context, tier, at)
    chain = looked.chain
    plans = plans_of(chain)
    begin = [name for name in plans if shown and name.startswith(plan)]
    plan = begin[0] if len(begin) == 1 and len(plan.rpartition("!")[2]) >= LEAST else plan
    found = plans.get(plan)
    if found is None:
        remedy = (
            "it was shown to somebody and not applied; `turbine placement plan` shows today's"
            if shown
            else "`turbine get moves` names the plans of the last moves"
        )
        raise Failed(Code.NOT_FOUND, f"the log has no plan {plan}; {remedy}")
    moves = moves_in(looked, chain, lambda one: one.plan == plan)
    row = plain(plan_line(found, moves, looked.row))
    return show(row, output, lambda: _shown_text(row))


def _shown_text(row: JsonObject) -> str:
    stages = ", ".join(f"{count} {stage}" for stage, count in sorted(row["stages"].items()))
    total = len(row["moves"])
    head: list[tuple[str, object]] = [
        ("plan", row["plan"]),
        ("planned", f"{show_time(row['at_ms'])}, called for by {row['trigger']}"),
        ("says", row["explanation"]),
        ("moves", f"{total}: {stages}" if total else "none"),
        ("at", f"{row['position']}, decision {row['decision']}"),
    ]
    if row["held"]:
        head.insert(
            1, ("waits", f"for a person: turbine placement apply '{row['plan']}' --reason R")
        )
    if row["unplaced"]:
        head.append(("unplaced", f"{row['unplaced']} shards fit nowhere"))
    parts = [facts(head)]
    if total:
        parts.append(list_text(row["moves"][:MOVES_SHOWN], move_columns()) + _more(total))
    return "\n\n".join(parts)
