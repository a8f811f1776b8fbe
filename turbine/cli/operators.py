"""`pause`, `resume`, `release` and `reset job`: what operators ask of one job, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from typer import Context

from events.generated.records import (
    OffsetResetRequested,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
)
from events.job_config.reset import EARLIEST, LATEST, goal_of
from turbine.cli.options import (
    Author,
    DryRun,
    JobName,
    Shown,
    Wait,
    author_or_user,
    check_job,
    chosen,
    open_log,
)
from turbine.cli.plans import dry_id
from turbine.cli.trials import try_asking
from turbine.cli.verdicts import asked_row, show_verdicts
from turbine.failures import named
from turbine.read.answers.trial import Request
from turbine.read.moments import now_ms, parse_moment
from turbine_client.errors import BadRequest
from turbine_client.publish import Publisher
from turbine_client.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What an operator asks of one job."""

    verb: str
    job: str
    reason: str
    author: str | None
    to: str | None = None  # of a reset

    def request(self, author: str) -> Request:
        """The record that would be sent."""
        if self.to is not None:
            return OffsetResetRequested(
                change_id=dry_id(), job=self.job, to=self.to, author=author, reason=self.reason
            )
        kinds = {"pause": PauseRequested, "resume": ResumeRequested, "release": ReleaseRequested}
        kind: Any = kinds[self.verb]
        request: Request = kind(dry_id(), self.job, author=author, reason=self.reason)
        return request


def pause(
    context: Context,
    *,
    job: JobName,
    reason: str,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Stop all tasks of a job and keep it so.

    Ends when it is planned; `turbine wait JOB --for=paused` waits until it is done.

    --reason: Why; whoever looks at the job reads it.
    """
    asked = JobRequest("pause", job, reason, author)
    return _ask(context, asked, dry_run=dry_run, wait_s=wait, output=output)


def resume(
    context: Context,
    *,
    job: JobName,
    reason: str,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Let a paused job run again.

    Ends when it is planned; `turbine wait JOB --for=running` waits until it is done.

    --reason: Why; whoever looks at the job reads it.
    """
    asked = JobRequest("resume", job, reason, author)
    return _ask(context, asked, dry_run=dry_run, wait_s=wait, output=output)


def release(
    context: Context,
    *,
    job: JobName,
    reason: str,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Let a quarantined job be tried again.

    --reason: Why; whoever looks at the job reads it.
    """
    asked = JobRequest("release", job, reason, author)
    return _ask(context, asked, dry_run=dry_run, wait_s=wait, output=output)


def reset(
    context: Context,
    *,
    job: JobName,
    to: str,
    reason: str,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Have a job read its inputs from elsewhere.

    Its tasks stop, and start there; of a paused job they start there when it is resumed. State from
    before is left behind, and output that was written stays.

    Ends when it is planned; `turbine wait JOB --for=running` waits until it is done.

    --to PLACE: earliest, latest, a time, a span ago, or offsets as JSON by topic and partition.
    --reason: Why; whoever looks at the job reads it.
    """
    asked = JobRequest("reset", job, reason, author, goal_text(to))
    return _ask(context, asked, dry_run=dry_run, wait_s=wait, output=output)


def goal_text(to: str) -> str:
    """What the option says, as requests have it; times are by the clock of this machine."""
    plain = to.strip()
    if plain in (EARLIEST, LATEST) or plain.isdigit() or plain.startswith("{"):
        with named("--to"):
            goal_of(plain)
        return plain
    moment = parse_moment(plain, now_ms(), "--to")
    if isinstance(moment, int):
        return str(moment)
    raise BadRequest(
        "--to: a position is of Turbine's own log; write earliest, latest, a time, or offsets such"
        ' as {"orders":{"0":42}}'
    )


def _ask(context: Context, asked: JobRequest, *, dry_run: bool, wait_s: float, output: str) -> int:
    check_job(asked.job)
    who = author_or_user(asked.author)
    if dry_run:
        row = try_asking(open_log(context), asked.request(who), asked.verb, output)
        return show_verdicts([row], output, dry_run=True)
    settings = chosen(context).connected()

    more = {} if asked.to is None else {"to": asked.to}
    with Publisher(settings, author=who) as publisher:
        ask = getattr(publisher, asked.verb)
        verdict: Verdict = ask(asked.job, reason=asked.reason, wait_s=wait_s, **more)
    return show_verdicts([asked_row(verdict, asked.verb, table=output == "table")], output)
