"""`apply`, `publish change` and `delete job`: asks, and tells the verdict of each job."""

from __future__ import annotations

import json
import time  # noqa: TID251 - patience with a verdict is real time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.options import (
    Author,
    DryRun,
    Expected,
    Expires,
    Layer,
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
from turbine.failures import Code, Failed

if TYPE_CHECKING:
    from events.generated.records import ConfigChangeProposed
    from projections.jobs import Job
    from turbine.cli.documents import Wish
    from turbine.read.sources.log import Log
    from turbine_client.publish import Pending, Publisher

Row = dict[str, Any]

File = Annotated[
    str, typer.Option("-f", "--file", metavar="FILE", help="YAML; - is standard input.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=JSON", help="Dotted key and JSON value; repeatable."),
]
Clears = Annotated[
    list[str] | None,
    typer.Option("--clear", metavar="KEY", help="Dotted key to remove; repeatable."),
]
ChangeId = Annotated[
    str | None,
    typer.Option("--change-id", help="Of a change that was sent before: it counts once."),
]
Create = Annotated[bool, typer.Option("--create", help="A job that is not there is to be made.")]
CreateTopics = Annotated[
    bool, typer.Option("--create-topics", help="Make the topics that jobs name and are not there.")
]
Until = Annotated[
    bool, typer.Option("--wait", help="Until each job runs as the file says; see --timeout.")
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SPAN",
        parser=patience,
        help="For the verdicts, by default 30s; with --wait for it all, by default 5m.",
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Only print the change's id.")]

VERDICT_S, RUNS_S = 30.0, 300.0
VALID_S_LEAST, VALID_S_MOST = 60.0, 600.0
"""How long a change may wait to be decided: as long as its author waits, within the log's bound."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent for one job; None: the layer is what is wished already."""

    wish: Wish
    set: dict[str, Any]
    clear: tuple[str, ...]
    expected_version: int | None
    unchanged: bool = False
    create: bool = False  # a job that is not there is to be made


@dataclass(frozen=True, slots=True)
class Terms:
    """What is said of all jobs of one command."""

    layer: str
    author: str
    reason: str
    expires_ms: int | None
    expected_version: int | None
    wait_s: float

    def propose(self, publisher: Publisher, plan: Plan, change_id: str | None = None) -> Pending:
        """Sends the change."""
        return publisher.propose(
            plan.wish.job,
            plan.set,
            plan.clear,
            layer=self.layer,
            create=plan.create,
            expected_version=plan.expected_version,
            reason=self.reason,
            expires_ms=self.expires_ms,
            change_id=change_id,
            valid_s=min(max(VALID_S_LEAST, self.wait_s), VALID_S_MOST),
        )

    def asked(self, plan: Plan, now_ms: int) -> ConfigChangeProposed:
        """What would be sent, under an id that is as long as a real one."""
        from events.generated.records import ConfigChangeProposed
        from turbine_client.identity import change_id

        return ConfigChangeProposed(
            change_id=change_id(now_ms + int(VALID_S_LEAST * 1000), "dry-run".zfill(32)),
            job=plan.wish.job,
            author=self.author,
            expected_version=plan.expected_version,
            set_json=json.dumps(plan.set, ensure_ascii=False),
            clear=plan.clear,
            reason=self.reason,
            expires_ms=self.expires_ms,
        )


def apply(
    context: typer.Context,
    *,
    file: File,
    layer: Layer = "base",
    dry_run: DryRun = False,
    create_topics: CreateTopics = False,
    reason: Reason = "",
    expected_version: Expected = None,
    expires: Expires = None,
    author: Author = None,
    wait: Until = False,
    timeout: Patience = None,
    output: Shown = "table",
) -> int:
    """Make jobs what a file says.

    A document is `job: NAME` with all that the layer shall hold, or `job:`, `set:` and `clear:`
    to change a part of it. All that is wrong with the configs is told at once, and nothing is sent.
    """
    from turbine.cli.applying import How, run
    from turbine.cli.documents import read_wishes

    patience_s = timeout or (RUNS_S if wait else VERDICT_S)
    verdict_s = timeout or VERDICT_S
    wishes = read_wishes(file)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=verdict_s)
    offline = chosen(context).log is not None
    how = How(patience_s, wait, dry_run, create_topics, offline, output)
    return run(open_log(context), wishes, terms, how)


def change(
    context: typer.Context,
    *,
    job: Annotated[str, typer.Argument(metavar="JOB")],
    set_: Sets = None,
    clear: Clears = None,
    create: Create = False,
    layer: Layer = "base",
    dry_run: DryRun = False,
    reason: Reason = "",
    expires: Expires = None,
    expected_version: Expected = None,
    change_id: ChangeId = None,
    author: Author = None,
    wait: Wait = VERDICT_S,
    no_wait: NoWait = False,
    output: Shown = "table",
) -> int:
    """Ask for a change of one layer of a job, and wait for the verdict.

    A job that is not there is made with --create alone; `turbine apply` makes one from a file.
    """
    wish = _wish_of(job, set_ or (), clear or ())
    if change_id is not None:
        change_id = check_change_id(context, change_id)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=wait)
    plan = Plan(wish, wish.set, wish.clear, expected_version, create=create)
    if dry_run:
        return _try_change(open_log(context), plan, terms, output)
    return _send_change(context, plan, terms, change_id, no_wait=no_wait, output=output)


def _try_change(log: Log, plan: Plan, terms: Terms, output: str) -> int:
    from turbine.cli.trials import trial_rows
    from turbine.cli.verdicts import show_verdicts

    known = log.job(plan.wish.job)
    rows = trial_rows([plan], {} if known is None else {known.name: known}, terms, log)
    return show_verdicts(rows, output, dry_run=True)


def _send_change(
    context: typer.Context,
    plan: Plan,
    terms: Terms,
    change_id: str | None,
    *,
    no_wait: bool,
    output: str,
) -> int:
    from turbine.cli.verdicts import show_verdicts

    settings, job = chosen(context).connected(), plan.wish.job
    told = None if change_id is None else _known_verdict(context, job, change_id)
    if told is not None:
        return show_verdicts([told], output)
    from turbine_client.publish import Publisher

    with Publisher(settings, author=terms.author) as publisher:
        pending = terms.propose(publisher, plan, change_id)
        if no_wait and not pending.answered:
            row = {"job": job, "verdict": "sent", "change_id": pending.change_id}
            return show_verdicts([row], output)
        rows = await_verdicts(publisher, [pending], terms.wait_s)
    return show_verdicts(rows, output)


def delete(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    reason: Annotated[str, typer.Option("--reason", help="Why it is deleted.")],
    yes: Yes = False,
    dry_run: DryRun = False,
    author: Author = None,
    wait: Wait = VERDICT_S,
    output: Shown = "table",
) -> int:
    """Delete a job. At a terminal it is asked whether that is meant; elsewhere --yes says so.

    Its versions are kept: a job that is created anew under its name goes on from them.
    """
    from turbine.cli.trials import try_asking
    from turbine.cli.verdicts import row_of, show_verdicts

    check_job(name)
    who = author_or_user(author)
    if dry_run:
        from events.generated.records import JobDeleteRequested

        asked = JobDeleteRequested(dry_id(), name, author=who, reason=reason)
        row = try_asking(open_log(context), asked, "deletion", output)
        return show_verdicts([row], output, dry_run=True)
    check_meant(f"delete the job {name} and end its tasks", yes)
    settings = chosen(context).connected()
    from turbine_client.publish import Accepted, Publisher

    with Publisher(settings, author=who) as publisher:
        verdict = publisher.delete(name, reason=reason, wait_s=wait)
    row = row_of(verdict)
    if isinstance(verdict, Accepted):
        row["verdict"] = "deleted"
    return show_verdicts([row], output)


def dry_id() -> str:
    """An id as long as a real one, of what is not sent."""
    from turbine.read.moments import now_ms
    from turbine_client.identity import change_id

    return change_id(now_ms() + int(VALID_S_LEAST * 1000), "dry-run".zfill(32))


def _wish_of(job: str, assignments: Iterable[str], clear: Iterable[str]) -> Wish:
    from turbine.cli.documents import Wish, check_paths, parse_assignments

    sets, clears = parse_assignments(assignments), check_paths(clear, "--clear")
    if not sets and not clears:
        raise Failed(Code.USAGE, "the change is empty; say what with --set KEY=JSON or --clear KEY")
    return Wish(check_job(job), "the command line", sets, clears)


def _terms(
    layer: str,
    author: str | None,
    reason: str,
    expires: str | None,
    *,
    expected: int | None,
    wait_s: float,
) -> Terms:
    from turbine.read.moments import now_ms, parse_span

    expires_ms = None if expires is None else now_ms() + parse_span(expires, "--expires")
    return Terms(layer, author_or_user(author), reason, expires_ms, expected, wait_s)


# --- what a file asks


def plan_of(wish: Wish, job: Job | None, terms: Terms) -> Plan:
    """A whole layer is turned into the least change, for the version that was seen: what another
    author did meanwhile is not overwritten unseen."""
    from events.topics import LAYERS
    from projections.jobs import Layer as Wanted
    from turbine.read.differences import change_through

    if not wish.whole:
        return Plan(wish, wish.set, wish.clear, terms.expected_version)
    layer = Wanted() if job is None else job.layers[LAYERS.index(terms.layer)]
    set_, clear = change_through([json.loads(one) for one in layer.configs_json], wish.set)
    expected = layer.version if terms.expected_version is None else terms.expected_version
    same = not set_ and not clear and layer.expires_ms is None and terms.expires_ms is None
    unchanged = same and job is not None and job.alive
    return Plan(wish, set_, tuple(clear), expected, unchanged, create=True)


def check_sizes(plans: Iterable[Plan], terms: Terms) -> None:
    """Refuses what no message holds: all of it before the first is sent."""
    from turbine.read.moments import now_ms
    from turbine_client.publish import encoded

    for plan in plans:
        encoded(plan.wish.job, terms.asked(plan, now_ms()))


def await_verdicts(publisher: Publisher, pending: Iterable[Pending], wait_s: float) -> list[Row]:
    """The verdict of each, all within one time."""
    from turbine.cli.verdicts import row_of
    from turbine_client.publish import Unheard, Unknown

    limit_s = time.monotonic() + wait_s
    rows = []
    for one in pending:
        try:
            left_s = max(0.0, limit_s - time.monotonic())
            verdict = publisher.verdict(one, left_s)
            if verdict == one.unanswered(left_s):
                verdict = one.unanswered(wait_s)
        except Unheard as lost:  # what is known of the others is told all the same
            verdict = Unknown(one.change_id, one.job, str(lost))
        rows.append(row_of(verdict))
    return rows


def _known_verdict(context: typer.Context, job: str, change_id: str) -> Row | None:
    from turbine.cli.verdicts import row_of
    from turbine.read.answers.decision import verdict_on
    from turbine.read.answers.outcomes import outcome_of
    from turbine_client.publish import verdict_of

    found = verdict_on(open_log(context), job, change_id)
    return None if found is None else row_of(verdict_of(outcome_of(found.read)))
