"""`pause`, `resume`, `release` and `reset job`: what operators ask of one job, and the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import Author, Shown, Wait, author_or_user, check_job, chosen

if TYPE_CHECKING:
    from turbine.publish import Verdict

Job = Annotated[str, typer.Argument(metavar="JOB")]
Why = Annotated[str, typer.Option("--reason", help="Why; whoever looks at the job reads it.")]


def pause(
    context: typer.Context,
    *,
    job: Job,
    reason: Why,
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Stop all tasks of a job and keep it so.

    Ends when it is planned; `turbine wait job JOB --for=paused` waits until it is done.
    """
    return _ask(context, "pause", job, reason, author, wait_s=wait, output=output)


def resume(
    context: typer.Context,
    *,
    job: Job,
    reason: Why,
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Let a paused job run again.

    Ends when it is planned; `turbine wait job JOB --for=running` waits until it is done.
    """
    return _ask(context, "resume", job, reason, author, wait_s=wait, output=output)


def release(
    context: typer.Context,
    *,
    job: Job,
    reason: Why,
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Let a quarantined job be tried again."""
    return _ask(context, "release", job, reason, author, wait_s=wait, output=output)


def reset(
    context: typer.Context,
    *,
    job: Job,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PLACE",
            help="earliest, latest, a time, a span ago, or offsets as JSON by topic and partition.",
        ),
    ],
    reason: Why,
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Have a job read its inputs from elsewhere.

    Its tasks stop, and start there; of a paused job they start there when it is resumed. State from
    before is left behind, and output that was written stays.

    Ends when it is planned; `turbine wait job JOB --for=running` waits until it is done.
    """
    goal = goal_text(to)
    return _ask(context, "reset", job, reason, author, wait_s=wait, output=output, to=goal)


def goal_text(to: str) -> str:
    """What the option says, as requests have it; times are by the clock of this machine."""
    from events.reset import EARLIEST, LATEST, BadGoal, goal_of
    from turbine.cli.moments import now_ms, parse_moment

    plain = to.strip()
    if plain in (EARLIEST, LATEST) or plain.isdigit() or plain.startswith("{"):
        try:
            goal_of(plain)
        except BadGoal as bad:
            raise Failed(Code.USAGE, f"--to: {bad}") from None
        return plain
    moment = parse_moment(plain, now_ms(), "--to")
    if isinstance(moment, int):
        return str(moment)
    raise Failed(
        Code.USAGE,
        "--to: a position is of Turbine's own log; write earliest, latest, a time, or offsets such"
        ' as {"orders":{"0":42}}',
    )


def _ask(
    context: typer.Context,
    verb: str,
    job: str,
    reason: str,
    author: str | None,
    *,
    wait_s: float,
    output: str,
    **more: str,
) -> int:
    from turbine.cli.changes import show_verdicts

    check_job(job)
    who = author_or_user(author)
    settings = chosen(context).connected()
    from turbine.publish import Publisher

    with Publisher(settings, author=who) as publisher:
        verdict: Verdict = getattr(publisher, verb)(job, reason=reason, wait_s=wait_s, **more)
    return show_verdicts([row_of(verdict, verb, table=output == "table")], output)


def row_of(verdict: Verdict, verb: str, *, table: bool) -> dict[str, Any]:
    """The verdict as it is shown; people read what is planned or in effect."""
    from turbine.publish import Accepted

    row = {**asdict(verdict), "verdict": type(verdict).__name__.lower()}
    if not isinstance(verdict, Accepted):
        return row
    # No layer changed, so there is no version to tell.
    del row["layer"], row["version"]
    if table:
        effect = verdict.effect
        row["verdict"] = f"{verb} planned" if effect == "planned" else effect
    return row
