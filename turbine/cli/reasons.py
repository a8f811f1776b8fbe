"""`why`: on which evidence something was decided, what had been asked, and what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import Shown, open_log

if TYPE_CHECKING:
    from turbine.why import Why

Row = dict[str, Any]


def why(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="Of a decision, or of the change that was asked.")
    ],
    output: Shown = "table",
) -> int:
    """Say why something was decided.

    The evidence of a decision, the request it answers, and the difference it made.
    """
    from turbine.cli.differences import differences
    from turbine.cli.output import show_value, write
    from turbine.why import explain

    found = explain(open_log(context), name)
    if found is None:
        raise Failed(
            Code.NOT_FOUND,
            f"no decision and no request has the id {name}; `turbine log tail -o wide` shows ids",
        )
    row = found.to_plain()
    if found.decision is not None:
        made = differences(found.before, found.after)
        row["differences"] = [one.to_plain() for one in made]
    if output == "table":
        write(_text(found, row))
    else:
        show_value(row, output)
    return Code.OK if found.decision is not None else Code.TIMEOUT


def _text(found: Why, row: Row) -> str:
    if found.decision is None:
        return _request_text(row["request"]) + "\n\n" + _no_verdict(row["request"])
    parts = [_decision_text(row)]
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
    from turbine.cli.differences import ABSENT, Difference

    if not differences:
        return "difference: none in what is expected of the job"
    lines = [
        f"  {Difference(one['path'], one.get('before', ABSENT), one.get('after', ABSENT))}"
        for one in differences
    ]
    return "\n".join(["difference", *lines])


def _no_verdict(request: Row) -> str:
    from turbine.cli.moments import now_ms, show_time

    until = request["valid_until_ms"]
    if until < now_ms():
        return (
            f"no verdict: it was valid until {show_time(until)}. Either it came too late or with"
            " too many others and is void, or the job service does not run."
        )
    return f"no verdict yet: it is valid until {show_time(until)}; is the job service running?"
