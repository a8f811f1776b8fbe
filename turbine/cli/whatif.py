"""`whatif`: a job's recorded input under another scaling policy, beside what really happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer import Context

from projections.scaling.actions import JobSize
from turbine.cli.backtest import check_plot
from turbine.cli.columns import listed
from turbine.cli.documents import parse_assignments
from turbine.cli.files import writing
from turbine.cli.options import Shown, check_jobs, open_log
from turbine.cli.output import Column, facts, show_value, table_text, tell, write
from turbine.cli.reading import existing_job
from turbine.failures import Code, Failed
from turbine.lab.backtest import size_text
from turbine.lab.plot import draw_beside
from turbine.lab.sides import WhatIf, picture_of
from turbine.lab.span import stretch
from turbine.lab.whatif import what_if
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine_client.errors import BadRequest

DECISIONS = 10
"""Of the other policy that people are shown, the first; the JSON has all."""


def whatif(
    context: Context,
    *,
    job: list[str] | None = None,
    policy: str | None = None,
    set_: list[str] | None = None,
    from_: str | None = None,
    to: str | None = None,
    plot: Path | None = None,
    output: Shown = "table",
) -> int:
    """Say what another scaling policy would have done with the input that a job really had.

    The recorded input drives a model of the job that is learnt from its log: once under the policy
    that ran, which tells how far the model is off, and once under the other one. Cost, lag,
    violations and restarts stand beside what really happened.

    --job JOB: Whose input; repeatable, by default every job's.
    --policy P: By default the job's own.
    --set KEY=JSON: A setting of the policy; repeatable.
    --from TIME: By default the first report.
    --to TIME: By default the last one.
    --plot FILE.svg: Draws one job's runs over time.
    """
    asked = _asked(policy, set_)
    check_plot(plot)
    span = _instant(from_, "--from"), _instant(to, "--to")
    check_jobs(*job or ())
    found = _answers(open_log(context), job, asked, span)
    if plot is not None:
        _draw(found, plot)
    _show([one.to_plain() for one in found], output, one=job is not None and len(job) == 1)
    return Code.OK


def _asked(policy: str | None, set_: list[str] | None) -> tuple[str | None, JsonObject]:
    settings = parse_assignments(set_ or ())
    if policy is None and not settings:
        raise BadRequest(
            "nothing would be otherwise; name another policy with --policy or a setting with --set"
        )
    return policy, settings


def _instant(text: str | None, what: str) -> int | None:
    moment = given_moment(text, what)
    if isinstance(moment, dict):
        raise BadRequest(f"{what}: the input is played by time; name a time, not a position")
    return moment


def _answers(
    log: Log,
    jobs: list[str] | None,
    asked: tuple[str | None, JsonObject],
    span: tuple[int | None, int | None],
) -> list[WhatIf]:
    """One of each job; of all jobs those that have something to play."""
    found = list[Any]()
    names = sorted(set(jobs)) if jobs else _alive(log)
    for name in names:
        if jobs:
            existing_job(log, name)
        try:
            found.append(what_if(log, name, *asked, *span))
        except BadRequest as bad:
            if jobs or str(bad).startswith("--"):
                raise
            tell(f"left out: {bad}")
    if not found:
        raise Failed(
            Code.NOT_FOUND,
            "no job has reports to play; `turbine get jobs` lists them, and a job has to have run",
        )
    return found


def _alive(log: Log) -> list[str]:
    return [name for name, job in log.jobs().items() if job.alive]


def _draw(found: list[WhatIf], path: Path) -> None:
    if len(found) != 1:
        raise BadRequest("--plot shows one job; name it with --job")
    with writing(f"--plot: {path}"):
        path.write_text(draw_beside(*picture_of(found[0])), encoding="utf-8")
    tell(f"{path} shows the runs")


# --- told


def _show(rows: list[JsonObject], output: str, *, one: bool) -> None:
    """A job that was named alone is one object, not a list of one."""
    if output != "table":
        show_value(rows[0] if one else rows, output)
        return
    for at, row in enumerate(rows):
        write(("\n" if at else "") + text_of(row))


def text_of(row: JsonObject) -> str:
    """All that people are told of one job."""
    played = stretch(row["intervals"], row["interval_ms"])
    if row["intervals"] != row["minutes"]:
        played += f", {_number(row['minutes'])} minutes"
    head = (
        f"{row['job']}: {played}, {show_time(row['from_ms'])} to"
        f" {show_time(row['to_ms'])}, SLO {row['slo_s']:g} s"
    )
    parts = [head, _figures(row), _honesty(row["honesty"]), _nature(row["nature"])]
    decisions = row["sides"][2]["decisions"]
    if decisions:
        parts.append(_decisions(decisions))
    return "\n\n".join([*parts, *(f"note: {one}" for one in row["notes"])])


def _figures(row: JsonObject) -> str:
    """A line for each figure, beside each other the three."""
    sides = row["sides"]
    titles = ["REALLY", "PLANT", f"WHAT IF: {_policy(sides[2]['policy'])}"]
    rows = [
        {"name": name, **{str(at): side["figures"][name] for at, side in enumerate(sides)}}
        for name in sides[0]["figures"]
    ]
    titles[1] += f", {_policy(sides[1]['policy'])}"

    def column(at: str, title: str) -> Column:
        return Column(title, lambda one: _number(one[at]))

    columns = [
        Column("FIGURE", lambda one: one["name"]),
        *(column(str(at), title) for at, title in enumerate(titles)),
    ]
    return table_text(rows, columns)


def _policy(policy: JsonObject) -> str:
    said = ", ".join(f"{name} {value}" for name, value in policy["settings"].items())
    return f"{policy['name']} with {said}" if said else str(policy["name"])


def _honesty(found: JsonObject) -> str:
    """How far the plant is off."""
    verdict = "yes" if found["within_tolerance"] else "no: its answers are worth as little"
    tolerance = found["tolerance"]
    matched = (
        f"{found['matched']}; the same way {_share(found['direction'])}, to the same size"
        f" {_share(found['size'])}, off by {_number(found['timing_minutes_median'])} min (median),"
        f" {_number(found['timing_minutes_max'])} (most)"
    )
    lag = (
        f"{_number(found['lag_off_s_median'])} s (median),"
        f" {_number(found['lag_off_s_p95'])} s (p95)"
    )
    return facts(
        [
            ("within tolerance", verdict),
            ("decisions", f"{found['real']} really, {found['played']} of the plant"),
            (f"matched within {_number(tolerance['match_minutes'])} min", matched),
            ("agreement", f"{_share(found['agreement'])}, {tolerance['agreement']:.0%} are enough"),
            ("same size", f"{_share(found['same_size'])} of the time"),
            ("cost off by", f"{found['cost_off']:+.1%}"),
            ("lag off by", lag),
            ("late by the SLO", f"on one side alone {_share(found['late_off'])} of the time"),
        ]
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _nature(told: list[JsonObject]) -> str:
    return listed(
        told,
        "THE JOB AS LEARNT=name, VALUE, FROM=source",
        {"VALUE": lambda one: _number(one["value"]) if one["known"] else "unknown"},
    )


def _decisions(decisions: list[JsonObject]) -> str:
    text = listed(
        decisions[:DECISIONS],
        "IT WOULD HAVE DECIDED=at_ms:time, ACTION, SIZE, BECAUSE=explanation",
        {"SIZE": lambda one: size_text(JobSize(**one["before"]), JobSize(**one["after"]))},
    )
    hidden = len(decisions) - DECISIONS
    return text + (f"\nand {hidden} more; -o json has all" if hidden > 0 else "")


def _number(value: object) -> object:
    return f"{round(value, 2):,.15g}" if isinstance(value, float) else value
