"""`diff`: what differs between instants, jobs, layers, or what runs and what is expected."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from typer import Argument, Context

from events.topics import JOURNAL, LAYERS
from turbine.cli.options import At, JobName, LayerName, Shown, check_jobs, open_log
from turbine.cli.output import indented, show
from turbine.cli.reading import all_existing, existing_job, jobs_view, read_sync, running_config
from turbine.failures import Code, Failed
from turbine.read.answers.blame import Hands, hands_of
from turbine.read.answers.diff import (
    ChangedField,
    ChangedSubject,
    between_jobs,
    between_layers,
    by,
    changed,
    diff,
)
from turbine.read.differences import differences
from turbine.read.moments import given_moment, now_ms, parse_moment
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log, Standing
from turbine.read.state.instants import log_at, position_at
from turbine_client.errors import BadRequest

_VERSION = re.compile(r"(base|provisioner|scaler|oncall):([0-9]{1,15})")
_WAYS = (
    "say what to compare: --running, what runs with what is expected, or --from WHEN, what was"
    " expected then with what is expected now or at --to, or --layer with --with, or another job"
)


Other = Annotated[str | None, Argument(metavar="[OTHER]", help="A job to compare it with.")]


def diff_fleet(
    context: Context,
    *,
    from_: str | None = None,
    to: str | None = None,
    job: list[str] | None = None,
    exit_code: bool = False,
    output: Shown = "table",
) -> int:
    """Show what differs between two instants, or of one job.

    `turbine diff --from WHEN [--to WHEN]` compares jobs and tiers field by field, and says who made
    each of them another, in which layer and why.

    --from TIME|POSITION: As it was.
    --to TIME|POSITION: As it was; now by default.
    --job JOB: Of this job only; repeatable.
    --exit-code: End with 5 where there is a difference.
    """
    if context.invoked_subcommand is not None:
        if from_ or to or job:
            raise BadRequest("--from, --to and --job stand after `diff job`, or without it")
        return Code.OK
    if from_ is None:
        raise BadRequest(
            "say what to compare: `turbine diff --from WHEN [--to WHEN]` or `turbine diff job JOB`"
        )
    check_jobs(*job or ())
    first, last = given_moment(from_, "--from"), given_moment(to, "--to")
    log = open_log(context)
    before, after = jobs_view(log, first, "--from"), jobs_view(log, last, "--to")
    found = diff(log, before, after, job or ())
    all_existing(after, {*(job or ())}.difference(subject.name for subject in found), None)
    show(found, output, lambda: "\n".join(map(_text, found)) or "nothing differs")
    return Code.FINDINGS if found and exit_code else Code.OK


def _text(one: ChangedSubject) -> str:
    return f"{one.kind} {one.name}\n" + indented("\n".join(map(str, one.differences)))


def diff_job(
    context: Context,
    *,
    job: JobName,
    other: Other = None,
    running: bool = False,
    from_: str | None = None,
    to: str | None = None,
    layer: LayerName | None = None,
    with_: LayerName | None = None,
    exit_code: bool = False,
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show what differs between two configs of a job, or between two jobs.

    And of each field who made it so, in which layer and why. The config of a version, such as
    base:3, is what all layers added up to once it was accepted.

    --running: What runs against what is expected.
    --from WHEN: Expected then: base:3, 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40.
    --to WHEN: Expected then; now by default.
    --layer: What the layers up to this one add up to.
    --with: What those between make of it, up to this one.
    --exit-code: End with 5 where there is a difference.
    """
    layered = layer is not None or with_ is not None
    _check_ways([running, from_ is not None, other is not None, layered], to, at)
    check_jobs(job, other)
    if running:
        found, same = _running(context, job, at), "what runs is what is expected"
    elif from_ is not None:
        found, same = _instants(context, job, from_, to or "now"), "the same was expected"
    elif other is not None:
        found, same = _jobs(context, job, other, at), f"the same is expected of {other}"
    else:
        found, same = _layers(context, job, layer, with_, at), "these layers make no difference"
    show(found, output, lambda: "\n".join(map(str, found)) or f"{job}: {same}")
    return Code.FINDINGS if found and exit_code else Code.OK


def _check_ways(ways: list[bool], to: str | None, at: str | None) -> None:
    between = ways[1]  # instants
    if sum(ways) != 1 or (to is not None and not between):
        raise BadRequest(_WAYS)
    if between and at is not None:
        raise BadRequest("--from and --to say already of when; leave --at out")


def _running(context: Context, job: str, at: str | None) -> list[ChangedField]:
    sync = read_sync(context, job, at)
    log = log_at(open_log(context), given_moment(at))
    return changed(running_config(sync), json.loads(sync.expected_json), _hands(log, job))


def _instants(context: Context, job: str, from_: str, to: str) -> list[ChangedField]:
    log = open_log(context)
    before, decided = expected_at(log, job, from_, "--from")
    after, known = expected_at(log, job, to, "--to")
    first, last = hands_of(job, decided), hands_of(job, known)
    return [
        by(one, last.of_expected(one.path) or first.of_expected(one.path))
        for one in differences(before, after)
    ]


def _jobs(context: Context, job: str, other: str, at: str | None) -> list[ChangedField]:
    log = _log_then(context, at, job, other)
    return between_jobs(_hands(log, job), _hands(log, other))


def _layers(
    context: Context, job: str, layer: str | None, with_: str | None, at: str | None
) -> list[ChangedField]:
    if layer is None or with_ is None or LAYERS.index(layer) >= LAYERS.index(with_):
        raise BadRequest(
            f"--layer is the lower one and --with the higher, of {' < '.join(LAYERS)}; name both"
        )
    return between_layers(_hands(_log_then(context, at, job), job), layer, with_)


def _log_then(context: Context, at: str | None, *jobs: str) -> Log:
    """The log as it was, which has these jobs."""
    moment = given_moment(at)
    log = log_at(open_log(context), moment)
    for name in jobs:
        existing_job(log, name, at)
    return log


def _hands(log: Log, job: str) -> Hands:
    return hands_of(job, log.decisions(job=job))


def expected_at(log: Log, job: str, when: str, what: str) -> tuple[JsonObject, Sequence[Standing]]:
    """What the job's layers added up to at a version, a time or a position, and the decisions
    until then."""
    version = _VERSION.fullmatch(when.strip())
    if version is not None:
        decisions = log.decisions(job=job)
        decisions = decisions[: version_in(decisions, job, version[1], int(version[2]))]
        body: Any = decisions[-1].read.record.body
        # Of a deletion nothing is left.
        return json.loads(getattr(body, "expected_json", "{}")), decisions
    end = position_at(log, parse_moment(when, now_ms(), what), [JOURNAL], what)
    found = log.job(job, end=end)
    if found is None:
        raise Failed(Code.NOT_FOUND, f"{what}: there was no job {job} at {when}")
    return json.loads(found.expected_json), log.decisions(job=job, end=end)


def version_in(decisions: Sequence[Standing], job: str, layer: str, version: int) -> int:
    """How many of the decisions there are up to the one that made that version stand."""
    for count, one in enumerate(decisions, 1):
        body: Any = one.read.record.body if one.stands else None
        made = getattr(body, "versions", None)
        if body is None or made is None or made.to_plain()[layer] != version:
            continue
        if hasattr(body, "expected_json") and getattr(body, "layer", layer) == layer:
            return count
        if type(body).__name__ == "JobDeleted":
            return count
    raise Failed(
        Code.NOT_FOUND,
        f"{job} never had a version {version} of {layer}; `turbine describe job {job}` shows"
        " those that it has",
    )
