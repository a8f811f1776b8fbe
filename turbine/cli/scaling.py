"""`scale` and `rollback job`: changes of one layer that are worked out from the job as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from typer import Context, Option

from events.generated.records import JobConfigChanged, JobDeleted, OverrideExpired
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
    open_log,
)
from turbine.cli.output import tell
from turbine.cli.plans import ChangeTerms, PlannedChange
from turbine.cli.reading import existing_job
from turbine.cli.trials import trial_rows
from turbine.cli.verdicts import row_of, show_verdicts
from turbine.failures import Code, Failed
from turbine.read.differences import change_through, differences
from turbine.read.moments import now_ms, parse_span, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log, Standing
from turbine_client.errors import BadRequest
from turbine_client.publish import Accepted, Publisher


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
    layer = layer_of(_existing(log, job), "oncall")
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
    held = layer_of(_existing(log, job), layer)
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
    shown = {"differences": [one.to_plain() for one in differences(layers[0], wanted)]}
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


def _existing(log: Log, name: str) -> Job:
    return existing_job(log, name)


def _plan(wish: Any, set_: JsonObject, clear: Iterable[str], version: int) -> PlannedChange:
    # What a deleted job was at a version is what it is made again by: whoever names it means it.
    return PlannedChange(wish, set_, tuple(clear), version, create=True)


def _try(log: Log, terms: ChangeTerms, plan: PlannedChange, output: str) -> int:
    job = _existing(log, plan.wish.job)
    rows = trial_rows([plan], {job.name: job}, terms, log)
    return show_verdicts(rows, output, dry_run=True)


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
        return _try(log, terms, plan, output)

    with Publisher(log.settings, author=terms.author) as publisher:
        verdict = publisher.verdict(terms.propose(publisher, plan), terms.wait_s)
    if not isinstance(verdict, Accepted):
        shown = {}
    elif terms.expires_ms is not None and output == "table":
        tell(f"the change is taken back at {show_time(terms.expires_ms)}")
    return show_verdicts([row_of(verdict) | shown], output)
