"""`backtest` and `whatif`: what a scaling policy would have done about a load, and its score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from projections.scaling.actions import JobSize
from turbine.cli.columns import beside, first, listed, number, part
from turbine.cli.declaring import options
from turbine.cli.documents import parse_assignments
from turbine.cli.files import writing
from turbine.cli.options import Shown, check_jobs, open_log
from turbine.cli.output import facts, show, tell
from turbine.cli.reading import existing_job, names_in
from turbine.failures import Code, Failed
from turbine.lab.backtest import (
    PlayedCase,
    case_of_scenario,
    case_of_trace,
    chosen_policy,
    find_trace,
    picture_of,
    play,
    size_text,
    to_plain,
)
from turbine.lab.plant.backtest import Case
from turbine.lab.plot import draw, draw_beside, moment
from turbine.lab.span import stretch
from turbine.lab.whatif import what_if
from turbine.lab.whatif_answer import WhatIf
from turbine.lab.whatif_answer import picture_of as sides_of
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine_client.errors import BadRequest

DAYS_MAX = 3_650
ACTIONS_MAX = 1_000_000


@options(
    """
    --policy P: Turbine's own is turbine; others are peers.
    --trace FILE|NAME: Events: minute_index,rate per minute, .csv or .csv.gz.
    --scenario S: What goes wrong with a usual job.
    --traces DIR: Where a trace's NAME is looked up.
    --set KEY=JSON: A setting of the policy; repeatable.
    --seed N: The same one draws the same.
    --days N: The last of a trace; those before are the job's history.
    --optimum: Beside what a planner who knows the future needs; slow.
    --actions N: The last so many.
    --plot FILE.svg: Draws the run over time.
    --json: The same as -o json.
    """
)
def backtest(
    *,
    policy: str,
    trace: str | None = None,
    scenario: str | None = None,
    traces: Path | None = None,
    set_: list[str] | None = None,
    seed: int = 0,
    days: Annotated[int | None, Option(min=1, max=DAYS_MAX)] = None,
    optimum: bool = False,
    actions: Annotated[int, Option(min=0, max=ACTIONS_MAX)] = 20,
    plot: Path | None = None,
    output: Shown = "table",
    json_: bool = False,
) -> int:
    """Play a trace or a scenario under a scaling policy, and keep the score.

    No broker takes part: the job is a model of one that fits the load.
    """
    check_plot(plot)
    chosen = chosen_policy(policy, parse_assignments(set_ or ()))
    case = replace(_case(trace, traces, scenario, days), seed=seed)
    played = play(case, chosen, with_optimum=optimum)
    row = {"trace": trace, "scenario": scenario, **to_plain(played, chosen, actions)}
    if plot is not None:
        _draw(played, f"{trace or scenario} under {policy}", plot)
    form = "json" if json_ else output
    show(row, form, lambda: _text(row))
    taken = row["actions_taken"]
    if form == "table" and (hidden := taken - len(row["actions"])):
        tell(f"{hidden} earlier actions are not shown; --actions {taken} shows all")
    return Code.OK


# --- what is asked for


def _case(trace: str | None, traces: Path | None, scenario: str | None, days: int | None) -> Case:
    if trace is not None and scenario is not None:
        raise BadRequest("--trace and --scenario both say what is played; leave one of them out")
    if trace is not None:
        return case_of_trace(find_trace(trace, traces), days)
    if scenario is None:
        raise BadRequest("nothing is played; name a load with --trace or --scenario")
    for name, given in (("--traces", traces), ("--days", days)):
        if given is not None:
            raise BadRequest(f"{name} is of a trace; name one with --trace, or leave it out")
    return case_of_scenario(scenario)


def check_plot(path: Path | None) -> None:
    """Refuses what cannot be written, before a long run rather than after it."""
    if path is None:
        return
    if path.suffix != ".svg":
        raise BadRequest(f"--plot: {path} does not end with .svg, which it will be; name it so")
    if path.is_dir() or not path.parent.is_dir():
        what = "is a directory" if path.is_dir() else "lies in no directory that is there"
        raise BadRequest(f"--plot: {path} {what}; name a file to write")


def _draw(played: PlayedCase, title: str, path: Path) -> None:
    with writing(f"--plot: {path}"):
        path.write_text(draw(picture_of(played, title)), encoding="utf-8")
    tell(f"{path} shows the run")


# --- what is told


def _text(row: JsonObject) -> str:
    """The score and the last actions."""
    sides = {name.replace("_", " ").upper(): part for name, part in row["scores"].items()}
    parts = [beside("SCORE", sides, lambda value: number(float(value)))]
    if best := row["optimum"]:
        ratio = best["cost_ratio"]
        told = [
            ("least cost", number(float(best["cost"]))),
            ("this run", None if ratio is None else f"{ratio:.4g} times that"),
            ("least violation_s", number(float(best["violation_s"]))),
        ]
        parts.append(facts(told))
    titles = "MINUTE, AT, ACTION, SIZE, SYMPTOM, CAUSE=diagnosis, EXPLANATION"
    parts += part(
        row["actions"], titles, {"AT": lambda one: moment(one["minute"]), "SIZE": sizes_of}
    )
    return "\n\n".join(parts)


def sizes_of(action: JsonObject) -> str:
    """The size before an action and after it."""
    return size_text(JobSize(**action["before"]), JobSize(**action["after"]))


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
        _draw_sides(found, plot)
    rows = [one.to_plain() for one in found]
    # A job that was named alone is one object, not a list of one.
    shown = rows[0] if job is not None and len(job) == 1 else rows
    return show(shown, output, lambda: "\n\n".join(map(text_of, rows)))


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
    found: list[WhatIf] = []
    names = sorted(set(jobs)) if jobs else names_in(log)
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


def _draw_sides(found: list[WhatIf], path: Path) -> None:
    if len(found) != 1:
        raise BadRequest("--plot shows one job; name it with --job")
    with writing(f"--plot: {path}"):
        path.write_text(draw_beside(*sides_of(found[0])), encoding="utf-8")
    tell(f"{path} shows the runs")


# --- told


def text_of(row: JsonObject) -> str:
    """All that people are told of one job."""
    played = stretch(row["intervals"], row["interval_ms"])
    if row["intervals"] != row["minutes"]:
        played += f", {number(row['minutes'])} minutes"
    head = (
        f"{row['job']}: {played}, {show_time(row['from_ms'])} to"
        f" {show_time(row['to_ms'])}, SLO {row['slo_s']:g} s"
    )
    _, plant, other = row["sides"]
    titles = "REALLY", f"PLANT, {_policy(plant['policy'])}", f"WHAT IF: {_policy(other['policy'])}"
    sides = {title: side["figures"] for title, side in zip(titles, row["sides"], strict=True)}
    parts = [head, beside("FIGURE", sides, number), _honesty(row["honesty"]), _nature(row)]
    parts += [_decisions(other["decisions"])] if other["decisions"] else []
    return "\n\n".join([*parts, *(f"note: {one}" for one in row["notes"])])


def _policy(policy: JsonObject) -> str:
    said = ", ".join(f"{name} {value}" for name, value in policy["settings"].items())
    return f"{policy['name']} with {said}" if said else str(policy["name"])


def _honesty(found: JsonObject) -> str:
    """How far the plant is off."""
    verdict = "yes" if found["within_tolerance"] else "no: its answers are worth as little"
    tolerance = found["tolerance"]
    matched = (
        f"{found['matched']}; the same way {_share(found['direction'])}, to the same size"
        f" {_share(found['size'])}, off by {number(found['timing_minutes_median'])} min (median),"
        f" {number(found['timing_minutes_max'])} (most)"
    )
    lag = (
        f"{number(found['lag_off_s_median'])} s (median), {number(found['lag_off_s_p95'])} s (p95)"
    )
    return facts(
        [
            ("within tolerance", verdict),
            ("decisions", f"{found['real']} really, {found['played']} of the plant"),
            (f"matched within {number(tolerance['match_minutes'])} min", matched),
            ("agreement", f"{_share(found['agreement'])}, {tolerance['agreement']:.0%} are enough"),
            ("same size", f"{_share(found['same_size'])} of the time"),
            ("cost off by", f"{found['cost_off']:+.1%}"),
            ("lag off by", lag),
            ("late by the SLO", f"on one side alone {_share(found['late_off'])} of the time"),
        ]
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _nature(row: JsonObject) -> str:
    return listed(
        row["nature"],
        "THE JOB AS LEARNT=name, VALUE, FROM=source",
        {"VALUE": lambda one: number(one["value"]) if one["known"] else "unknown"},
    )


def _decisions(decisions: list[JsonObject]) -> str:
    return first(
        decisions,
        DECISIONS,
        "IT WOULD HAVE DECIDED=at_ms:time, ACTION, SIZE, BECAUSE=explanation",
        {"SIZE": sizes_of},
    )
