"""`why`: on which evidence something was decided, what had been asked, and what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import At, Shown, Tier, open_log

if TYPE_CHECKING:
    from events.codec import Read
    from turbine.evidence import Node
    from turbine.log import Log, Standing
    from turbine.why import Why

Row = dict[str, Any]

WISHES = ("DrainRequested", "UndrainRequested")
"""What operators ask for and nobody answers: it holds from where it is read."""


def why(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="ID | JOB | shard N",
            help="Of a decision or of a change that was asked, or its first six characters; a job;"
            " or a shard by number.",
        ),
    ],
    *,
    tier: Tier = "default",
    at: At = None,
    every: Annotated[
        bool, typer.Option("--all", help="Of a shard: every container, not the best ones.")
    ] = False,
    output: Shown = "table",
) -> int:
    """Say why something was decided, why a job has its size, or why a shard is where it is.

    The evidence of a decision, the request it answers, the difference it made, and what came of it.
    Of a job its policy and the scaler's last decisions. Of a shard the last decision about it, and
    how each container is judged for it now (--tier, --all).
    """
    match words:
        case ["shard", number]:
            from turbine.cli.shards import why_shard

            return why_shard(context, number, tier, at, output, every=every)
        case [name] if name != "shard" and not every:
            return _why_named(context, name, at, output)
        case [_] if every:
            raise Failed(Code.USAGE, "--all is for `turbine why shard N`")
        case _:
            raise Failed(
                Code.USAGE,
                "say of what: `turbine why ID`, `turbine why JOB` or `turbine why shard N`, one at"
                " a time",
            )


def _is_id(name: str) -> bool:
    """Is it what ids look like? A job may be called so, but nobody would find its records then."""
    from uuid import UUID

    from events.identity import valid_until_ms

    try:
        UUID(name)
    except ValueError:
        return bool(valid_until_ms(name))
    return True


def _why_named(context: typer.Context, name: str, at: str | None, output: str) -> int:
    from events.identity import is_job_id
    from turbine.cli.moments import given_moment, log_at
    from turbine.cli.scaled import why_job
    from turbine.ids import full_id

    moment = given_moment(at)
    log = log_at(open_log(context), moment)
    # A job's partition is read sooner than all of the journal.
    may_be_job = is_job_id(name) and not _is_id(name)
    code = why_job(log, name, output) if may_be_job else None
    return _why_decided(log, full_id(log, name), output) if code is None else code


def _why_decided(log: Log, name: str, output: str) -> int:
    from turbine.cli.differences import differences
    from turbine.cli.output import show_value, write
    from turbine.cli.shards import why_decided
    from turbine.cli.tree import tree_text
    from turbine.why import explain, uncounted

    found = explain(log, name)
    if found is None or found.decision is None:
        # A tier's decisions are on a chain of their own; what operators ask of it lies with what
        # they ask of jobs.
        code = why_decided(log, name, output)
        if code is not None:
            return code
    if found is None:
        raise Failed(Code.NOT_FOUND, _unknown(name, log))
    row, tree = found.to_plain(), None
    if found.decision is not None:
        made = differences(found.before, found.after)
        row["differences"] = [one.to_plain() for one in made]
        row |= _scaling(log, found.decision)
        tree = _tree(log, found.decision, found.request)
        row["tree"] = tree.to_plain()
    elif void := uncounted(log, row["request"]["change_id"], row["request"]["job"]):
        row["void"] = void
    if output == "table":
        write(_text(found, row))
        if tree is not None:
            write("\n" + tree_text(tree))
    else:
        show_value(row, output)
    needs_none = found.decision is None and row["request"]["kind"] in WISHES
    return Code.OK if found.decision is not None or needs_none else Code.TIMEOUT


def _unknown(name: str, log: Log) -> str:
    from turbine.cli.jobs import names_in
    from turbine_client.creating import perhaps

    where = "`turbine log tail -o wide` shows ids"
    if _is_id(name):
        return f"no decision and no request has the id {name}; {where}"
    meant = perhaps(name, names_in(log))
    return (
        f"no decision and no request has the id {name}, and no job the name{meant}; {where},"
        " `turbine get jobs` names"
    )


def _scaling(log: Log, decision: Standing) -> Row:
    """What the auto scaler's own words were about and what became of it; of others nothing."""
    from turbine.scaled import KINDS, tale_of

    record = decision.read.record
    if record.kind not in KINDS or record.body is None:
        return {}
    return {"scaling": tale_of(log.decisions(job=record.key), decision)}


def _tree(log: Log, decision: Standing, request: Read | None) -> Node:
    """What it rests on, each leaf with its position."""
    from turbine.evidence import tree_of

    return tree_of(log, log.decisions(job=decision.read.record.key), decision, request)


def _text(found: Why, row: Row) -> str:
    if found.decision is None:
        return (
            (row.get("void") or _no_verdict(row["request"]))
            + "\n\n"
            + _request_text(row["request"])
        )
    parts = [_decision_text(row)]
    if "scaling" in row:
        from turbine.cli.scaled import text_of

        return "\n\n".join([*parts, text_of(row)])
    refusal = _refusal_text(row)
    if refusal:
        parts.append(refusal)
    if row["request"] is not None:
        parts.append(_request_text(row["request"]))
    if row["stands"] and not refusal:
        parts.append(_difference_text(row["differences"]))
    return "\n\n".join(parts)


def _decision_text(row: Row) -> str:
    from turbine.cli.moments import show_time
    from turbine.cli.output import facts

    evidence = [f"{place}:{offset}" for place, offset in row["evidence"].items()]
    first = row["parent"] == "root"
    return facts(
        [
            ("decision", row["id"]),
            ("kind", row["kind"]),
            ("says", row["summary"]),
            ("job", row["job"]),
            ("stands", _standing(row)),
            ("position", f"{row['position']}, at {show_time(row['at_ms'])}"),
            ("parent", "none: it is the first about this job" if first else row["parent"]),
            ("decided by", f"{row['source']}, logic {row['logic']}"),
            ("at the tick", show_time(row["tick_ms"])),
            *(("evidence" if at == 0 else "", one) for at, one in enumerate(evidence)),
        ]
    )


def _standing(row: Row) -> str:
    if row["stands"]:
        return "yes"
    if row["instead"]:
        return f"no, void: on its parent stands {row['instead']}"
    return "no, void: its parent is not the last standing decision about the job"


def _refusal_text(row: Row) -> str:
    from turbine.cli.output import facts

    body = row["body"] or {}
    if row["kind"] != "JobConfigRejected":
        return ""
    return facts(
        [("rejected", body["reason"]), ("path", body["path"]), ("because", body["explanation"])]
    )


def _request_text(request: Row) -> str:
    from turbine.cli.moments import show_time
    from turbine.cli.output import facts

    body = request["body"]
    return facts(
        [
            ("request", request["change_id"]),
            ("kind", request["kind"]),
            ("position", f"{request['position']}, at {show_time(request['at_ms'])}"),
            ("author", request["author"]),
            ("reason", request["reason"]),
            *([("set", body["set_json"])] if body.get("set_json") not in (None, "{}") else []),
            *([("clear", ", ".join(body["clear"]))] if body.get("clear") else []),
            *([("expires", show_time(body["expires_ms"]))] if body.get("expires_ms") else []),
        ]
    )


def _difference_text(differences: list[Row]) -> str:
    from turbine.cli.differences import Difference

    if not differences:
        return "difference: none in what is expected of the job"
    lines = [f"  {Difference.from_plain(one)}" for one in differences]
    return "\n".join(["difference", *lines])


def _no_verdict(request: Row) -> str:
    from turbine.cli.moments import now_ms, show_time

    if request["kind"] in WISHES:
        name = request["job"]
        return (
            f"needs no verdict: it holds since then; `turbine describe container {name}` shows it"
        )
    until = request["valid_until_ms"]
    who = "shard manager" if request["kind"] == "PlacementApplyRequested" else "job service"
    if until < now_ms():
        return (
            f"no verdict: it was valid until {show_time(until)}. Either it came too late or with"
            f" too many others and is void, or the {who} does not run."
        )
    return f"no verdict yet: it is valid until {show_time(until)}; is the {who} running?"
