"""What operators ask of one job, and the verdict: `pause`, `reset job`, `scale` and the like."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from typer import Context, Option

from events.generated.records import (
    JobConfigChanged,
    JobDeleted,
    OffsetResetRequested,
    OverrideExpired,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
)
from events.job_config.reset import EARLIEST, LATEST, goal_of
from events.topics import LAYERS
from projections.jobs import Job
from projections.jobs import LayerState as Held
from turbine.cli.documents import LayerWish
from turbine.cli.options import (
    Author,
    DryRun,
    Expires,
    JobName,
    Layer,
    Shown,
    Wait,
    author_or_user,
    check_job,
    chosen,
    open_log,
)
from turbine.cli.output import tell
from turbine.cli.plans import (
    ChangeTerms,
    PlannedChange,
    asked_row,
    dry_id,
    row_of,
    show_verdicts,
    trial_rows,
    try_asking,
)
from turbine.cli.reading import existing_job
from turbine.failures import Code, Failed, named
from turbine.read.answers.dry_run import Request
from turbine.read.differences import change_through, differences
from turbine.read.moments import now_ms, parse_moment, parse_span, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log, Standing
from turbine_client.errors import BadRequest
from turbine_client.publish import Accepted, Publisher
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
                change_id=dry_id(now_ms()),
                job=self.job,
                to=self.to,
                author=author,
                reason=self.reason,
            )
        kinds = {"pause": PauseRequested, "resume": ResumeRequested, "release": ReleaseRequested}
        kind: Any = kinds[self.verb]
        request: Request = kind(dry_id(now_ms()), self.job, author=author, reason=self.reason)
        return request


def _asking(verb: str, about: str) -> Callable[..., int]:
    """The command that asks for what the verb says."""

    def command(
        context: Context,
        *,
        job: JobName,
        reason: str,
        author: Author = None,
        dry_run: DryRun = False,
        wait: Wait = 30.0,
        output: Shown = "table",
    ) -> int:
        asked = JobRequest(verb, job, reason, author)
        return _ask(context, asked, dry_run=dry_run, wait_s=wait, output=output)

    command.__doc__ = f"{about}\n\n--reason: Why; whoever looks at the job reads it."
    return command


def _done(state: str) -> str:
    return f"Ends when it is planned; `turbine wait JOB --for={state}` waits until it is done."


pause = _asking("pause", f"Stop all tasks of a job and keep it so.\n\n{_done('paused')}")
resume = _asking("resume", f"Let a paused job run again.\n\n{_done('running')}")
release = _asking("release", "Let a quarantined job be tried again.")


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


def scale(
    context: Context,
    *,
    job: JobName,
    tasks: Annotated[int, Option(min=1)],
    reason: str,
    for_: str | None = None,
    until_cleared: bool = False,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Run a job with so many tasks for a while, whatever the auto scaler thinks.

    An oncall change: it wins over all other layers, and expires by itself.

    --tasks N: How many.
    --reason: Why it is overridden.
    --for SPAN: Taken back after it, such as 2h.
    --until-cleared: Holds until somebody clears it.
    """
    check_job(job)
    if (for_ is None) is not until_cleared:
        raise BadRequest("say how long with --for SPAN, such as --for 2h, or with --until-cleared")
    expires_ms = None if for_ is None else now_ms() + parse_span(for_, "--for")
    who = author_or_user(author)
    log = open_log(context)
    layer = layer_of(existing_job(log, job), "oncall")
    terms = ChangeTerms("oncall", who, reason, expires_ms, layer.version, wait)
    wish = LayerWish(job, "the command line", {"tasks": tasks})
    plan = _plan(wish, wish.set, (), layer.version)
    return _send(log, terms, plan, {}, output, dry_run=dry_run)


def rollback(
    context: Context,
    *,
    job: JobName,
    to: Annotated[int, Option(min=0)],
    layer: Layer = "base",
    reason: str = "",
    expires: Expires = None,
    author: Author = None,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    output: Shown = "table",
) -> int:
    """Make a layer what it was at a version, by a new change.

    It ends with the last temporary change of the layer, if one holds, or as --expires says.

    --to VERSION: Of that layer.
    --reason: Why; by default what is done.
    """
    check_job(job)
    given_ms = None if expires is None else now_ms() + parse_span(expires, "--expires")
    who, log = author_or_user(author), open_log(context)
    held = layer_of(existing_job(log, job), layer)
    wanted = layer_at(log.decisions(job=job), job, layer, to, held.version)
    layers = [json.loads(one) for one in held.configs_json]
    set_, clear = change_through(layers, wanted)
    if not set_ and not clear and given_ms is None:
        row = {"job": job, "layer": layer, "verdict": "unchanged", "version": held.version}
        return show_verdicts([row], output)
    # What was set for a while must not last because the layer went back to it.
    ends_ms, why = given_ms or held.ended_ms, reason or f"rollback to version {to} of {layer}"
    terms = ChangeTerms(layer, who, why, ends_ms, held.version, wait)
    plan = _plan(LayerWish(job, "the command line", set_, tuple(clear)), set_, clear, held.version)
    shown = {"differences": plain(differences(layers[0], wanted))}
    return _send(log, terms, plan, shown, output, dry_run=dry_run)


def layer_at(
    decisions: Iterable[Standing], job: str, layer: str, version: int, newest: int
) -> JsonObject:
    """What the layer held at a version, by the decision that made it."""
    if version == 0 and layer != "base":
        return {}  # nobody had wanted anything yet
    for one in decisions:
        body = one.read.record.body if one.stands else None
        match body:
            case JobConfigChanged() if (body.layer, body.version) == (layer, version):
                held: JsonObject = json.loads(body.layer_json)
                return held
            case OverrideExpired() if (body.layer, body.version) == (layer, version):
                left: JsonObject = json.loads(body.layer_json or "{}")
                return left
            case JobDeleted() if body.versions.to_plain()[layer] == version:
                raise BadRequest(
                    f"version {version} of {layer} is the deletion of {job};"
                    f" name one before it, or use `turbine delete {job} --reason R`"
                )
    if 0 < version <= newest:
        raise Failed(
            Code.FAILED,
            f"version {version} of {layer} of {job} cannot be read by this build;"
            " roll back with the one that decided it",
        )
    there = f"it has 1 to {newest}" if newest else "nobody changed it yet"
    raise Failed(Code.NOT_FOUND, f"{job} never had a version {version} of {layer}; {there}")


def layer_of(job: Job, layer: str) -> Held:
    """One layer of the job."""
    return job.layers[LAYERS.index(layer)]


def _plan(wish: Any, set_: JsonObject, clear: Iterable[str], version: int) -> PlannedChange:
    # What a deleted job was at a version is what it is made again by: whoever names it means it.
    return PlannedChange(wish, set_, tuple(clear), version, create=True)


def _send(
    log: Log,
    terms: ChangeTerms,
    plan: PlannedChange,
    shown: JsonObject,
    output: str,
    *,
    dry_run: bool,
) -> int:
    if dry_run:
        job = existing_job(log, plan.wish.job)
        rows = trial_rows([plan], {job.name: job}, terms, log)
        return show_verdicts(rows, output, dry_run=True)
    with Publisher(log.settings, author=terms.author) as publisher:
        verdict = publisher.verdict(terms.propose(publisher, plan), terms.wait_s)
    if not isinstance(verdict, Accepted):
        shown = {}
    elif terms.expires_ms is not None and output == "table":
        tell(f"the change is taken back at {show_time(terms.expires_ms)}")
    return show_verdicts([row_of(verdict) | shown], output)
