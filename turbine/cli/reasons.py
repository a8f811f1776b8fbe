"""`why`: on which evidence something was decided, what had been asked, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated
from uuid import UUID

from typer import Argument, Context

from events.job_config.strict_json import printable
from turbine.cli.capacity import why_shard
from turbine.cli.columns import cut, known
from turbine.cli.options import At, Shown, Tier, open_log
from turbine.cli.output import cell_text, facts, show, some
from turbine.cli.reading import names_in
from turbine.cli.scaling_report import text_of, why_job
from turbine.failures import Code, Failed
from turbine.read.answers.decision import Explanation, OpenRequest, RequestLine, decision
from turbine.read.answers.evidence import Node
from turbine.read.moments import given_moment, now_ms, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine.read.state.instants import log_at
from turbine_client.creating import perhaps
from turbine_client.errors import BadRequest
from turbine_client.identity import is_job_id, valid_until_ms

UNSAID = ("tier", "moves_json", "measures_json", "traceparent")
"""Fields of a decision about a tier that its head says, or that are for programs."""
WISHES = ("DrainRequested", "UndrainRequested")
"""What operators ask for and nobody answers: it holds from where it is read."""


def why(
    context: Context,
    words: Annotated[
        list[str],
        Argument(
            metavar="ID | JOB | shard N",
            help="Of a decision or of a change that was asked, or its first six characters; a job;"
            " or a shard by number.",
        ),
    ],
    *,
    tier: Tier = "default",
    at: At = None,
    all_: bool = False,
    output: Shown = "table",
) -> int:
    """Say why something was decided, why a job has its size, or why a shard is where it is.

    The evidence of a decision, the request it answers, the difference it made, and what came of it.
    Of a job its policy and the scaler's last decisions. Of a shard the last decision about it, and
    how each container is judged for it now (--tier, --all).

    --all: Of a shard: every container, not the best ones.
    """
    match words:
        case ["shard", number]:
            return why_shard(context, number, tier, at, output, every=all_)
        case [name] if name != "shard" and not all_:
            return _why_named(context, name, at, output)
        case [_] if all_:
            raise BadRequest("--all is for `turbine why shard N`")
        case _:
            raise BadRequest(
                "say of what: `turbine why ID`, `turbine why JOB` or `turbine why shard N`, one at"
                " a time"
            )


def _is_id(name: str) -> bool:
    """Is it what ids look like? A job may be called so, but nobody would find its records then."""
    try:
        UUID(name)
    except ValueError:
        return bool(valid_until_ms(name))
    return True


def _why_named(context: Context, name: str, at: str | None, output: str) -> int:
    moment = given_moment(at)
    log = log_at(open_log(context), moment)
    # A job's partition is read sooner than all of the journal.
    may_be_job = is_job_id(name) and not _is_id(name)
    code = why_job(log, name, output) if may_be_job else None
    return _why_decided(log, name, output) if code is None else code


def _why_decided(log: Log, name: str, output: str) -> int:
    answer = decision(log, name)
    if answer is None:
        raise Failed(Code.NOT_FOUND, _unknown(name, log))
    show(answer, output, lambda: _text(answer))
    open_yet = isinstance(answer, OpenRequest) and answer.request.kind not in WISHES
    return Code.TIMEOUT if open_yet else Code.OK


def _unknown(name: str, log: Log) -> str:
    where = "`turbine log tail -o wide` shows ids"
    if _is_id(name):
        return f"no decision and no request has the id {name}; {where}"
    meant = perhaps(name, names_in(log))
    return (
        f"no decision and no request has the id {name}, and no job the name{meant}; {where},"
        " `turbine get jobs` names"
    )


def _text(answer: Explanation | OpenRequest) -> str:
    if isinstance(answer, OpenRequest):
        return f"{answer.void or _no_verdict(answer.request)}\n\n{_request_text(answer.request)}"
    return "\n\n".join([_decision_text(answer), *_said(answer), tree_text(answer.tree)])


def _said(answer: Explanation) -> Iterator[str]:
    """What it says, what was asked, and what it changed."""
    body = answer.body or {}
    if answer.tier is not None:
        told = {key: value for key, value in body.items() if key not in UNSAID}
        pairs = [(key.replace("_", " "), value) for key, value in told.items() if value is not None]
        yield from [facts(pairs)] if pairs else []
        return
    if answer.scaling is not None:
        yield text_of(answer)
        return
    refused = answer.kind == "JobConfigRejected"
    if refused:
        names = {"rejected": "reason", "path": "path", "because": "explanation"}
        yield facts((name, body[field]) for name, field in names.items())
    if answer.request is not None:
        yield _request_text(answer.request)
    if answer.stands and not refused:
        yield _difference_text(answer)


def _decision_text(answer: Explanation) -> str:
    evidence = [f"{place}:{offset}" for place, offset in answer.evidence.items()]
    root = "none: it is the first" if answer.tier else "none: it is the first about this job"
    return facts(
        [
            ("decision", answer.id),
            ("kind", answer.kind),
            ("says", answer.summary),
            ("tier", answer.tier) if answer.tier else ("job", answer.job),
            ("stands", _standing(answer)),
            ("position", f"{answer.position}, at {show_time(answer.at_ms)}"),
            ("parent", root if answer.parent == "root" else answer.parent),
            ("decided by", ", logic ".join(filter(None, (answer.source, answer.logic)))),
            ("at the tick", show_time(answer.tick_ms)),
            *(("evidence" if at == 0 else "", one) for at, one in enumerate(evidence)),
        ]
    )


def _standing(answer: Explanation) -> str:
    if answer.stands:
        return "yes"
    if answer.instead:
        return f"no, void: on its parent stands {answer.instead}"
    about = "tier" if answer.tier else "job"
    return f"no, void: its parent is not the last standing decision about the {about}"


def _request_text(request: RequestLine) -> str:
    body: JsonObject = request.body
    set_json, expires_ms = body.get("set_json"), body.get("expires_ms")
    return facts(
        [
            ("request", request.change_id),
            ("kind", request.kind),
            ("position", f"{request.position}, at {show_time(request.at_ms)}"),
            ("author", request.author),
            ("reason", request.reason),
            *some("set", set_json if set_json != "{}" else None),
            *some("clear", ", ".join(body.get("clear") or ())),
            *some("expires", expires_ms and show_time(expires_ms)),
        ]
    )


def _difference_text(answer: Explanation) -> str:
    if not answer.differences:
        return "difference: none in what is expected of the job"
    lines = [f"  {found}" for found in answer.differences]
    return "\n".join(["difference", *lines])


def _no_verdict(request: RequestLine) -> str:
    if request.kind in WISHES:
        look = f"`turbine describe container {request.job}` shows it"
        return f"needs no verdict: it holds since then; {look}"
    until = request.valid_until_ms
    who = "shard manager" if request.kind == "PlacementApplyRequested" else "job service"
    if until < now_ms():
        return (
            f"no verdict: it was valid until {show_time(until)}. Either it came too late or with"
            f" too many others and is void, or the {who} does not run."
        )
    return f"no verdict yet: it is valid until {show_time(until)}; is the {who} running?"


LEAVES = 6
"""Records of one minute that are shown; the JSON has all."""
VALUE_CHARS = 160


def tree_text(root: Node) -> str:
    """A line for each node."""
    lines = (before + _line(node) for before, node in lines_of(_folded(root)))
    return "\n".join(["EVIDENCE", *lines])


def lines_of(node: Node) -> Iterator[tuple[str, Node]]:
    """Each with the branches that lead to it, the root first."""
    yield "", node
    yield from _below(node, "")


def _below(node: Node, before: str) -> Iterator[tuple[str, Node]]:
    for at, one in enumerate(node.nodes):
        last = at == len(node.nodes) - 1
        yield f"{before}{'└─ ' if last else '├─ '}", one
        yield from _below(one, before + ("   " if last else "│  "))


def _folded(node: Node) -> Node:
    """Many leaves of one kind become one line, with all their positions but the middle ones."""
    nodes = tuple(_folded(one) for one in node.nodes)
    bare = all(not one.nodes and one.value is None for one in nodes)
    if not bare or not nodes:
        return replace(node, nodes=nodes)
    at = [position for one in nodes for position in one.positions]
    shown = at if len(at) <= LEAVES else [*at[:3], f"… {len(at) - LEAVES} more …", *at[-3:]]
    return replace(node, positions=(*node.positions, *shown), nodes=())


def _line(node: Node) -> str:
    text = node.name
    if node.value is not None:
        text += f": {_value(node.value)}"
    if node.positions:
        text += f"   [{', '.join(node.positions)}]"
    return printable(text)


def _value(value: object) -> str:
    if not isinstance(value, dict):
        return cut(cell_text(known("", value, VALUE_CHARS)), VALUE_CHARS)
    told = {name: one for name, one in value.items() if one not in (None, "")}
    parts = [f"{name} {cell_text(known(name, one, VALUE_CHARS))}" for name, one in told.items()]
    return cut(", ".join(parts), VALUE_CHARS)
