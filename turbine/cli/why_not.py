"""`why-not`: what stood against an action, and the least that would have had to be otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import At, Shown, check_job, open_log
from turbine.cli.scaled import silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turbine.log import Log, Standing

Row = dict[str, Any]


def why_not(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="JOB")],
    *,
    action: Annotated[
        str, typer.Option("--action", metavar="ACTION", help="Such as scale-up or scale-down.")
    ],
    at: At = None,
    output: Shown = "table",
) -> int:
    """Say why the auto scaler did not do something about a job, and what would have made it.

    What stood against it, and when, the newest first. Then the last verdict is asked about again:
    the policy looks at what it looked at then, with one input or one setting changed, and the
    nearest changes are told with which it comes to the action.
    """
    from events.topics import JOURNAL
    from turbine.cli.jobs import existing
    from turbine.cli.moments import given_moment, position_at
    from turbine.cli.output import show_value, write
    from turbine.scaled import SHOWN, scaling_of, words_of
    from turbine.scaled import why_not as reasons_of

    check_job(name)
    _check_action(action)
    moment = given_moment(at)
    log = open_log(context)
    end = None if moment is None else position_at(log, moment, [JOURNAL])
    job = existing(log.job(name, end=end), name, at)
    decisions = log.decisions(job=name, end=end)
    words = words_of(decisions)
    row = {"job": name, "alive": job.alive, "action": action, **scaling_of(job, decisions)}
    row["reasons"] = reasons_of(words, action)[:SHOWN]
    row["asked"] = asked_again(log, words, action)
    if output == "table":
        write(_text(row))
    else:
        show_value(row, output)
    return Code.OK


def _check_action(action: str) -> None:
    from events.strict_json import shorten
    from turbine.scaled import ACTIONS

    if action not in ACTIONS:
        raise Failed(
            Code.USAGE,
            f"--action: there is no action {shorten(action)}; use one of {', '.join(ACTIONS)}",
        )


def asked_again(log: Log, words: Sequence[Standing], action: str) -> Row | None:
    """The last verdict asked again, as JSON; None where there is none."""
    from turbine.flips import flips
    from turbine.knobs import knobs_of
    from turbine.looks import comes_to, hindered, last_verdict, rebuild

    word = last_verdict(words)
    if word is None:
        return None
    read = word.read
    row: Row = {
        "word": read.record.id,
        "kind": read.record.kind,
        "position": f"{read.place}:{read.offset}",
        "at_ms": read.at_ms,
        "rebuilt": False,
    }
    found = rebuild(log, word)
    if found is None:
        return row
    already = comes_to(found.look, action)
    return row | {
        "rebuilt": True,
        "same": found.same,
        "policy": found.look.facts.policy,
        "verdict": found.verdict.action,
        "explanation": found.verdict.explanation,
        "already": already,
        "hindered": hindered(found.look, action) if already else "",
        "tried": sum(1 for _ in knobs_of(found.look)),
        "flips": [] if already else [one.to_plain() for one in flips(found.look, action)],
    }


# --- told


def _text(row: Row) -> str:
    from turbine.cli.moments import show_time
    from turbine.cli.output import Column, table_text

    head = f"{row['job']}: policy {row['policy']}, mode {row['mode']}"
    if not row["reasons"]:
        return f"{head}\n{silence(row)}"
    newest = row["reasons"][0]
    verdict = "it was taken" if newest["taken"] else f"no {row['action']}"
    columns = [
        Column("WHEN", lambda one: show_time(one["at_ms"])),
        Column("WHY", lambda one: one["text"]),
        Column("UNTIL", lambda one: show_time(one["until_ms"])),
        Column("ID", lambda one: one["id"]),
    ]
    answer = f"{verdict}, {show_time(newest['at_ms'])}: {newest['text']}"
    parts = [head, answer, "", table_text(row["reasons"], columns)]
    return "\n".join([*parts, *_flips(row["asked"], row["action"])])


def _flips(asked: Row | None, action: str) -> list[str]:
    """What would have made it, the nearest first."""
    from turbine.cli.moments import show_time
    from turbine.scaled import SHOWN

    if asked is None:
        return []
    head = f"the last verdict, {show_time(asked['at_ms'])} ({asked['position']})"
    if not asked["rebuilt"]:
        return ["", f"{head}: the log does not tell any more what it was made on"]
    lines = ["", f"{head}: {asked['verdict']}, {asked['explanation']}"]
    if not asked["same"]:
        lines.append("this build comes to another word on the same evidence; what follows is its")
    if asked["already"]:
        still = f"; what stood against it: {asked['hindered']}" if asked["hindered"] else ""
        return [*lines, f"the policy came to {action} itself{still}"]
    if not asked["flips"]:
        none = f"no single change of its {asked['tried']} inputs and settings makes it {action}"
        return [*lines, none]
    lines += [f"  {one['text']}" for one in asked["flips"][:SHOWN]]
    hidden = len(asked["flips"]) - SHOWN
    return [*lines, *([f"  and {hidden} more; -o json has all"] if hidden > 0 else [])]
