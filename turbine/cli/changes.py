"""`apply`, `publish change` and `delete job`: asks, and tells the verdict of each job."""

from __future__ import annotations

import json
import time  # noqa: TID251 - patience with a verdict is real time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed, code_of_rejection
from turbine.cli.options import (
    Author,
    Expected,
    Expires,
    Layer,
    Reason,
    Shown,
    Wait,
    author_or_user,
    check_change_id,
    check_job,
    chosen,
)

if TYPE_CHECKING:
    from events.records import ConfigChangeProposed
    from projections.jobs import Job
    from turbine.cli.documents import Wish
    from turbine.publish import Pending, Publisher, Verdict

Row = dict[str, Any]

File = Annotated[
    str, typer.Option("-f", "--file", metavar="FILE", help="YAML; - is standard input.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show the verdict and what would differ.")
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
            expected_version=plan.expected_version,
            reason=self.reason,
            expires_ms=self.expires_ms,
            change_id=change_id,
            valid_s=min(max(VALID_S_LEAST, self.wait_s), VALID_S_MOST),
        )

    def asked(self, plan: Plan, now_ms: int) -> ConfigChangeProposed:
        """What would be sent, under an id that is as long as a real one."""
        from events.identity import change_id
        from events.records import ConfigChangeProposed

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
    reason: Reason = "",
    expected_version: Expected = None,
    expires: Expires = None,
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Make jobs what a file says.

    A document is `job: NAME` with all that the layer shall hold, or `job:`, `set:` and `clear:`
    to change a part of it.
    """
    from turbine.cli.documents import read_wishes
    from turbine.cli.partitions import ask_partitions

    wishes = read_wishes(file)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=wait)
    settings = chosen(context).connected()
    wishes = ask_partitions(wishes, layer, settings)
    jobs = _jobs(context, wishes, needed=dry_run or any(wish.whole for wish in wishes))
    plans = [plan_of(wish, jobs.get(wish.job), terms) for wish in wishes]
    from turbine.publish import Publisher

    _check_sizes(plans, terms)
    if dry_run:
        return _show_trials(plans, jobs, terms, output)
    rows = [_unchanged(plan, terms) for plan in plans if plan.unchanged]
    due = [plan for plan in plans if not plan.unchanged]
    if due:
        with Publisher(settings, author=terms.author) as publisher:
            pending = [terms.propose(publisher, plan) for plan in due]
            rows += _await(publisher, pending, wait)
    order = {wish.job: at for at, wish in enumerate(wishes)}
    return show_verdicts(sorted(rows, key=lambda row: order[row["job"]]), output)


def change(
    context: typer.Context,
    *,
    job: Annotated[str, typer.Argument(metavar="JOB")],
    set_: Sets = None,
    clear: Clears = None,
    layer: Layer = "base",
    reason: Reason = "",
    expires: Expires = None,
    expected_version: Expected = None,
    change_id: ChangeId = None,
    author: Author = None,
    wait: Wait = 30.0,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Only print the change's id.")] = False,
    output: Shown = "table",
) -> int:
    """Ask for a change of one layer of a job, and wait for the verdict."""
    wish = _wish_of(job, set_ or (), clear or ())
    if change_id is not None:
        check_change_id(change_id)
    terms = _terms(layer, author, reason, expires, expected=expected_version, wait_s=wait)
    plan = Plan(wish, wish.set, wish.clear, expected_version)
    settings = chosen(context).connected()
    from turbine.publish import Publisher

    if change_id is not None:
        known = _known_verdict(context, job, change_id)
        if known is not None:
            return show_verdicts([known], output)
    with Publisher(settings, author=terms.author) as publisher:
        pending = terms.propose(publisher, plan, change_id)
        if no_wait and not pending.refused:
            row = {"job": job, "verdict": "sent", "change_id": pending.change_id}
            return show_verdicts([row], output)
        rows = _await(publisher, [pending], wait)
    return show_verdicts(rows, output)


def delete(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    reason: Annotated[str, typer.Option("--reason", help="Why it is deleted.")],
    author: Author = None,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Delete a job.

    Its versions are kept: a job that is created anew under its name goes on from them.
    """
    check_job(name)
    who = author_or_user(author)
    settings = chosen(context).connected()
    from turbine.publish import Accepted, Publisher

    with Publisher(settings, author=who) as publisher:
        verdict = publisher.delete(name, reason=reason, wait_s=wait)
    row = _row(verdict)
    if isinstance(verdict, Accepted):
        row["verdict"] = "deleted"
    return show_verdicts([row], output)


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
    from turbine.cli.moments import now_ms, parse_span

    expires_ms = None if expires is None else now_ms() + parse_span(expires, "--expires")
    return Terms(layer, author_or_user(author), reason, expires_ms, expected, wait_s)


# --- what a file asks


def _jobs(context: typer.Context, wishes: Sequence[Wish], *, needed: bool) -> dict[str, Job]:
    """The jobs as they are now, where it matters."""
    from turbine.cli.options import open_log

    if not needed:
        return {}
    log = open_log(context)
    if len(wishes) > 1:
        return log.jobs()
    job = log.job(wishes[0].job)
    return {} if job is None else {job.name: job}


def plan_of(wish: Wish, job: Job | None, terms: Terms) -> Plan:
    """A whole layer is turned into the least change, for the version that was seen: what another
    author did meanwhile is not overwritten unseen."""
    from events.topics import LAYERS
    from projections.jobs import Layer as Wanted
    from turbine.cli.differences import change_between

    if not wish.whole:
        return Plan(wish, wish.set, wish.clear, terms.expected_version)
    layer = Wanted() if job is None else job.layers[LAYERS.index(terms.layer)]
    set_, clear = change_between(json.loads(layer.config_json), wish.set)
    expected = layer.version if terms.expected_version is None else terms.expected_version
    same = not set_ and not clear and layer.expires_ms is None and terms.expires_ms is None
    exists = job is not None and job.alive
    return Plan(wish, set_, tuple(clear), expected, unchanged=same and exists)


def _check_sizes(plans: Iterable[Plan], terms: Terms) -> None:
    """Refuses what no message holds: all of it before the first is sent."""
    from turbine.cli.moments import now_ms
    from turbine.publish import encoded

    for plan in plans:
        encoded(plan.wish.job, terms.asked(plan, now_ms()))


def _unchanged(plan: Plan, terms: Terms) -> Row:
    return {
        "job": plan.wish.job,
        "layer": terms.layer,
        "verdict": "unchanged",
        "version": plan.expected_version,
    }


def _show_trials(plans: Sequence[Plan], jobs: dict[str, Job], terms: Terms, output: str) -> int:
    from events.records import JobConfigRejected
    from turbine.cli.differences import differences
    from turbine.cli.moments import now_ms
    from turbine.trial import try_change

    rows = []
    for plan in plans:
        now = now_ms()
        asked = terms.asked(plan, now)
        trial = try_change(jobs.get(plan.wish.job), terms.layer, asked, now)
        refused = isinstance(trial.verdict, JobConfigRejected)
        row = trial.verdict.to_plain()
        wanted = ("job", "reason", "path", "explanation") if refused else ("job", "version")
        rows.append(
            {name: row[name] for name in wanted}
            | {"verdict": "rejected" if refused else "accepted", "layer": terms.layer}
            | {"differences": [one.to_plain() for one in differences(trial.before, trial.after)]}
            | {"before": trial.before, "after": trial.after}
        )
    return show_verdicts(rows, output, dry_run=True)


# --- verdicts


def _await(publisher: Publisher, pending: Iterable[Pending], wait_s: float) -> list[Row]:
    """The verdict of each, all within one time."""
    from turbine.publish import Unheard, Unknown

    limit_s = time.monotonic() + wait_s
    rows = []
    for one in pending:
        try:
            verdict = publisher.verdict(one, max(0.0, limit_s - time.monotonic()))
            if isinstance(verdict, Unknown) and not one.refused:
                verdict = one.unanswered(wait_s)
        except Unheard as lost:  # what is known of the others is told all the same
            verdict = Unknown(one.change_id, one.job, str(lost))
        rows.append(_row(verdict))
    return rows


def _known_verdict(context: typer.Context, job: str, change_id: str) -> Row | None:
    from turbine.cli.options import open_log
    from turbine.publish import verdict_of
    from turbine.subscribe import Outcome
    from turbine.why import verdict_on

    found = verdict_on(open_log(context), job, change_id)
    return None if found is None else _row(verdict_of(Outcome.of(found.read)))


def _row(verdict: Verdict) -> Row:
    return {**asdict(verdict), "verdict": type(verdict).__name__.lower()}


def show_verdicts(rows: Sequence[Row], output: str, *, dry_run: bool = False) -> int:
    """Each job's verdict; the exit code is that of the failures if they agree on one."""
    from turbine.cli.output import show_value, write

    if output == "table":
        write("\n".join(_sentence(row, dry_run=dry_run) for row in rows))
    else:
        show_value(list(rows), output)
    codes = {_code(row) for row in rows} - {Code.OK}
    return (codes.pop() if len(codes) == 1 else Code.FAILED) if codes else Code.OK


def _code(row: Row) -> Code:
    match row["verdict"]:
        case "rejected":
            return code_of_rejection(row["reason"])
        case "unknown":
            return Code.TIMEOUT
        case _:
            return Code.OK


def _sentence(row: Row, *, dry_run: bool) -> str:
    from events.strict_json import printable

    job, would = row["job"], "would be " if dry_run else ""
    match row["verdict"]:
        case "accepted":
            text = f"{job}: {would}accepted as version {row['version']} of {row['layer']}"
        case "rejected":
            text = f"{job}: {would}rejected, {row['reason']}: {row['explanation']}"
        case "unknown":
            text = f"{job}: unknown: {row['explanation']}"
        case "unchanged":
            return f"{job}: unchanged, version {row['version']} of {row['layer']}"
        case verdict:
            text = f"{job}: {verdict}"
    if "change_id" in row and row["verdict"] != "unknown":
        text += f" (change {row['change_id']})"
    lines = [printable(text), *(f"  {_difference(one)}" for one in row.get("differences", ()))]
    if dry_run and row["verdict"] == "accepted" and len(lines) == 1:
        lines.append("  nothing would differ")
    return "\n".join(lines)


def _difference(plain: Row) -> str:
    from turbine.cli.differences import ABSENT, Difference

    return str(Difference(plain["path"], plain.get("before", ABSENT), plain.get("after", ABSENT)))
