"""`apply`, `publish change` and `delete job`: asks, and tells the verdict of each job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from typer import Context, Option

from events.generated.records import JobDeleteRequested
from turbine.cli.applying import How, run
from turbine.cli.documents import LayerWish, check_paths, parse_assignments, read_wishes
from turbine.cli.options import (
    Author,
    DryRun,
    Expected,
    Expires,
    JobName,
    Layer,
    Name,
    Reason,
    Shown,
    Wait,
    Yes,
    author_or_user,
    check_change_id,
    check_job,
    check_meant,
    chosen,
    open_log,
    patience,
)
from turbine.cli.plans import (
    ChangeTerms,
    PlannedChange,
    await_verdicts,
    dry_id,
    row_of,
    show_verdicts,
    trial_rows,
    try_asking,
)
from turbine.read.answers.decision import verdict_on
from turbine.read.answers.outcomes import outcome_of
from turbine.read.moments import now_ms, parse_span
from turbine_client.errors import BadRequest
from turbine_client.publish import Accepted, Publisher, verdict_of

VERDICT_S, RUNS_S = 30.0, 300.0


def apply(
    context: Context,
    *,
    file: str,
    layer: Layer = "base",
    dry_run: DryRun = False,
    create_topics: bool = False,
    reason: Reason = "",
    expected_version: Expected = None,
    expires: Expires = None,
    author: Author = None,
    wait: bool = False,
    timeout: Annotated[float | None, Option(parser=patience)] = None,
    output: Shown = "table",
) -> int:
    """Make jobs what a file says.

    A document is `job: NAME` with all that the layer shall hold, or `job:`, `set:` and `clear:`
    to change a part of it. All that is wrong with the configs is told at once, and nothing is sent.

    -f, --file FILE: YAML; - is standard input.
    --create-topics: Make the topics that jobs name and are not there.
    --wait: Until each job runs as the file says; see --timeout.
    --timeout SPAN: For the verdicts, by default 30s; with --wait for it all, by default 5m.
    """
    patience_s = timeout or (RUNS_S if wait else VERDICT_S)
    verdict_s = timeout or VERDICT_S
    wishes = read_wishes(file)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=verdict_s)
    offline = chosen(context).log is not None
    how = How(patience_s, wait, dry_run, create_topics, offline, output)
    return run(open_log(context), wishes, terms, how)


def change(
    context: Context,
    *,
    job: JobName,
    set_: list[str] | None = None,
    clear: list[str] | None = None,
    create: bool = False,
    layer: Layer = "base",
    dry_run: DryRun = False,
    reason: Reason = "",
    expires: Expires = None,
    expected_version: Expected = None,
    change_id: str | None = None,
    author: Author = None,
    wait: Wait = VERDICT_S,
    no_wait: bool = False,
    output: Shown = "table",
) -> int:
    """Ask for a change of one layer of a job, and wait for the verdict.

    A job that is not there is made with --create alone; `turbine apply` makes one from a file.

    --set KEY=JSON: Dotted key and JSON value; repeatable.
    --clear KEY: Dotted key to remove; repeatable.
    --create: A job that is not there is to be made.
    --change-id: Of a change that was sent before: it counts once.
    --no-wait: Only print the change's id.
    """
    wish = _wish_of(job, set_ or (), clear or ())
    if change_id is not None:
        change_id = check_change_id(context, change_id)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=wait)
    plan = PlannedChange(wish, wish.set, wish.clear, expected_version, create=create)
    if dry_run:
        log = open_log(context)
        known = log.job(job)
        rows = trial_rows([plan], {} if known is None else {job: known}, terms, log)
        return show_verdicts(rows, output, dry_run=True)
    return _send_change(context, plan, terms, change_id, no_wait=no_wait, output=output)


def _send_change(
    context: Context,
    plan: PlannedChange,
    terms: ChangeTerms,
    change_id: str | None,
    *,
    no_wait: bool,
    output: str,
) -> int:
    settings, job = chosen(context).connected(), plan.wish.job
    told = None if change_id is None else verdict_on(open_log(context), job, change_id)
    if told is not None:
        return show_verdicts([row_of(verdict_of(outcome_of(told.read)))], output)

    with Publisher(settings, author=terms.author) as publisher:
        pending = terms.propose(publisher, plan, change_id)
        if no_wait and not pending.answered:
            row = {"job": job, "verdict": "sent", "change_id": pending.change_id}
            return show_verdicts([row], output)
        rows = await_verdicts(publisher, [pending], terms.wait_s)
    return show_verdicts(rows, output)


def delete(
    context: Context,
    *,
    name: Name,
    reason: str,
    yes: Yes = False,
    dry_run: DryRun = False,
    author: Author = None,
    wait: Wait = VERDICT_S,
    output: Shown = "table",
) -> int:
    """Delete a job. At a terminal it is asked whether that is meant; elsewhere --yes says so.

    Its versions are kept: a job that is created anew under its name goes on from them.

    --reason: Why it is deleted.
    """
    check_job(name)
    who = author_or_user(author)
    if dry_run:
        asked = JobDeleteRequested(dry_id(now_ms()), name, author=who, reason=reason)
        row = try_asking(open_log(context), asked, "deletion", output)
        return show_verdicts([row], output, dry_run=True)
    check_meant(f"delete the job {name} and end its tasks", yes)
    settings = chosen(context).connected()

    with Publisher(settings, author=who) as publisher:
        verdict = publisher.delete(name, reason=reason, wait_s=wait)
    row = row_of(verdict)
    if isinstance(verdict, Accepted):
        row["verdict"] = "deleted"
    return show_verdicts([row], output)


def _wish_of(job: str, assignments: Iterable[str], clear: Iterable[str]) -> LayerWish:
    sets, clears = parse_assignments(assignments), check_paths(clear, "--clear")
    if not sets and not clears:
        raise BadRequest("the change is empty; say what with --set KEY=JSON or --clear KEY")
    return LayerWish(check_job(job), "the command line", sets, clears)


def _terms(
    layer: str,
    author: str | None,
    reason: str,
    expires: str | None,
    *,
    expected: int | None,
    wait_s: float,
) -> ChangeTerms:
    expires_ms = None if expires is None else now_ms() + parse_span(expires, "--expires")
    return ChangeTerms(layer, author_or_user(author), reason, expires_ms, expected, wait_s)
