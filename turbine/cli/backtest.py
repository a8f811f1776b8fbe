"""`backtest`: what a scaling policy would have done about a load, what it cost, and each reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from projections.scaling.actions import JobSize
from turbine.cli.columns import listed
from turbine.cli.documents import parse_assignments
from turbine.cli.files import writing
from turbine.cli.options import Shown
from turbine.cli.output import Column, facts, show, table_text, tell
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
from turbine.lab.plot import draw, moment
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest

DAYS_MAX = 3_650
ACTIONS_MAX = 1_000_000


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
    check_plot(plot)
    chosen = chosen_policy(policy, parse_assignments(set_ or ()))
    case = replace(_case(trace, traces, scenario, days), seed=seed)
    played = play(case, chosen, with_optimum=optimum)
    row = {"trace": trace, "scenario": scenario, **to_plain(played, chosen, actions)}
    if plot is not None:
        _draw(played, f"{trace or scenario} under {policy}", plot)
    return show(row, "json" if json_ else output, lambda: _text(row))


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
    parts = [_scores(row["scores"])]
    parts += [facts(_optimum(row["optimum"]))] if row["optimum"] is not None else []
    parts += [_actions(row["actions"])] if row["actions"] else []
    hidden = row["actions_taken"] - len(row["actions"])
    if hidden:
        tell(f"{hidden} earlier actions are not shown; --actions {row['actions_taken']} shows all")
    return "\n\n".join(parts)


def _scores(scores: dict[str, JsonObject]) -> str:
    """A line for each field, beside each other the whole and its parts."""
    rows = [
        {"score": name, **{part: one[name] for part, one in scores.items()}}
        for name in scores["whole"]
    ]

    def column(part: str) -> Column:
        return Column(part.replace("_", " ").upper(), lambda row: _number(row[part]))

    columns = [Column("SCORE", lambda row: row["score"]), *(column(part) for part in scores)]
    return table_text(rows, columns)


def _optimum(best: JsonObject) -> list[tuple[str, object]]:
    ratio = best["cost_ratio"]
    return [
        ("least cost", _number(best["cost"])),
        ("this run", None if ratio is None else f"{ratio:.4g} times that"),
        ("least violation_s", _number(best["violation_s"])),
    ]


def _number(value: float) -> str:
    """Hundredths are enough for people; the JSON has all of it."""
    return f"{round(value, 2):,.15g}"


def _actions(actions: list[JsonObject]) -> str:
    return listed(
        actions,
        "MINUTE, AT, ACTION, SIZE, SYMPTOM, CAUSE=diagnosis, EXPLANATION",
        {
            "AT": lambda row: moment(row["minute"]),
            "SIZE": lambda row: size_text(JobSize(**row["before"]), JobSize(**row["after"])),
        },
    )
