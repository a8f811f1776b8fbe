"""`diff job`: what runs against what is expected, or what was expected at two moments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import At, Shown, check_job, open_log
from turbine.cli.syncs import Name, read_syncs, running_config

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turbine.log import Log, Standing

_VERSION = re.compile(r"(base|provisioner|scaler|oncall):([0-9]{1,15})")
_HOW = "base:3, 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40"

Against = Annotated[bool, typer.Option("--running", help="What runs against what is expected.")]
From = Annotated[str | None, typer.Option("--from", metavar="WHEN", help=f"Expected then: {_HOW}.")]
To = Annotated[
    str | None, typer.Option("--to", metavar="WHEN", help="Expected then; now by default.")
]
Ends = Annotated[bool, typer.Option("--exit-code", help="End with 5 where there is a difference.")]


def diff_job(
    context: typer.Context,
    *,
    job: Name,
    running: Against = False,
    from_: From = None,
    to: To = None,
    exit_code: Ends = False,
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show what differs between what runs and what is expected, or between two configs of a job.

    The config of a version, such as base:3, is what all layers added up to once it was accepted.
    """
    from turbine.cli.differences import differences
    from turbine.cli.output import show_value, write

    if running == (from_ is not None) or (to is not None and from_ is None):
        raise Failed(
            Code.USAGE,
            "say what to compare: --running, what runs with what is expected, or --from WHEN,"
            " what was expected then with what is expected now or at --to",
        )
    check_job(job)
    if from_ is None:
        sync = read_syncs(context, job, at)[0][job]
        before, after = running_config(sync), json.loads(sync.expected_json)
    else:
        log = open_log(context)
        before = expected_at(log, job, from_, "--from")
        after = expected_at(log, job, to or "now", "--to")
    found = differences(before, after)
    if output == "table":
        same = "the same was expected" if from_ else "what runs is what is expected"
        write("\n".join(map(str, found)) or f"{job}: {same}")
    else:
        show_value([one.to_plain() for one in found], output)
    return Code.FINDINGS if found and exit_code else Code.OK


def expected_at(log: Log, job: str, when: str, what: str) -> dict[str, Any]:
    """What the job's layers added up to at a version, a time or a position."""
    from events.topics import JOURNAL
    from turbine.cli.moments import now_ms, parse_moment, position_at

    version = _VERSION.fullmatch(when.strip())
    if version is not None:
        return config_of(log.decisions(job=job), job, version[1], int(version[2]))
    end = position_at(log, parse_moment(when, now_ms(), what), [JOURNAL], what)
    found = log.job(job, end=end)
    if found is None:
        raise Failed(Code.NOT_FOUND, f"{what}: there was no job {job} at {when}")
    return dict(json.loads(found.expected_json))


def config_of(decisions: Iterable[Standing], job: str, layer: str, version: int) -> dict[str, Any]:
    """What all layers added up to once that version of one of them stood."""
    for one in decisions:
        body: Any = one.read.record.body if one.stands else None
        made = getattr(body, "versions", None)
        if body is None or made is None or made.to_plain()[layer] != version:
            continue
        if hasattr(body, "expected_json") and getattr(body, "layer", layer) == layer:
            return dict(json.loads(body.expected_json))
        if type(body).__name__ == "JobDeleted":
            return {}
    raise Failed(
        Code.NOT_FOUND,
        f"{job} never had a version {version} of {layer}; `turbine describe job {job}` shows"
        " those that it has",
    )
