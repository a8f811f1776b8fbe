"""`scoreboard`: scaling policies against each other, on traces and on what may go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option

from turbine.cli.backtest import DAYS_MAX
from turbine.cli.columns import columns, listed
from turbine.cli.output import facts, show_rows, show_value, tell, write
from turbine.failures import Code
from turbine.lab.backtest import find_trace
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.scoreboard import ScoreRow as Played
from turbine.lab.plant.scoreboard import to_plain
from turbine.lab.scoreboard import (
    PolicyStanding,
    Question,
    answered,
    check_policies,
    check_scenarios,
    check_traces,
    figures_of,
    files_in,
    questions,
    rows_of,
    scenarios_of,
    standings,
    totals,
    traces_of,
    what,
)
from turbine.lab.scoreboard_made import command_of, made_of
from turbine.read.moments import now_ms
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest

PARTS = {"whole": "whole", "first": "first two thirds", "last": "last third"}
NO_SCENARIO = "none"
TITLES = """CASE, PART, POLICY, *MINUTES?:figure, VIOLATION S?:figure, LAG SECONDS?:figure,
 LAG S P99?:figure, TASK HOURS?:figure, CPU HOURS?:figure, GB HOURS?:figure, RESCALES?:figure,
 WRONG WAYS?:figure, CONVERGE MIN=converge_minutes?:figure, EXPLAINED?:figure,
 FALSE OUTS=false_scale_outs?:figure, COST?:figure, *LEAST COST?:figure,
 *LEAST VIOLATION S?:figure, OF LEAST=over_least?:figure"""


def scoreboard(
    *,
    policy: list[str] | None = None,
    trace: list[str] | None = None,
    traces: Path | None = None,
    scenario: list[str] | None = None,
    days: Annotated[int | None, Option(min=1, max=DAYS_MAX)] = None,
    part: Literal["all", "whole", "first", "last"] = "all",
    no_optimum: bool = False,
    plots: Path | None = None,
    output: Literal["table", "wide", "json", "yaml"] = "table",
    json_: bool = False,
) -> int:
    """Play traces and scenarios under scaling policies, each with its defaults, and compare them.

    Where no trace is named, the scenarios alone are played. All cores are used; no broker takes
    part.

    --policy P: Repeatable; the first is held against the others.
    --trace FILE|NAME: Repeatable; by default all of --traces.
    --traces DIR: Traces, as .csv or .csv.gz.
    --scenario S: Repeatable; by default all; none for traces alone.
    --days N: The last of each trace; those before are the job's history.
    --part: Of the time: what is shown of it.
    --no-optimum: Without the least cost, which takes longest.
    --plots DIR: A picture of each run, as SVG.
    -o, --output: Form of the output.
    --json: The same as -o json.
    """
    cased = {"--traces": traces, "--trace": trace, "--scenario": scenario, "--policy": policy}
    typed: JsonObject = {**cased, "--days": days, "--part": part, "--no-optimum": no_optimum}
    policies = check_policies(policy or ())
    cases = _cases(trace or (), traces, scenario or (), days)
    asked = questions(cases, policies, bounds=not no_optimum)
    if plots is not None:
        _draw_into(plots, asked)
    found = rows_of(asked, answered(asked, _tell))
    wanted = found if part == "all" else [one for one in found if one.part == PARTS[part]]
    made = made_of(asked, policies, command_of(typed), now_ms())
    return show(wanted, policies[0], "json" if json_ else output, made)


# --- what is asked for


def _cases(
    named: Sequence[str], directory: Path | None, scenarios: Sequence[str], days: int | None
) -> list[Question]:
    files = _files(named, directory)
    if days is not None and not files:
        raise BadRequest("--days is of traces; name some with --traces or --trace")
    if NO_SCENARIO in scenarios:
        if len(scenarios) > 1 or not files:
            raise BadRequest(
                f"--scenario {NO_SCENARIO} leaves {'others' if files else 'nothing'} to be played;"
                f" {'leave one of them out' if files else 'name traces with --traces or --trace'}"
            )
        chosen: Sequence[str] = ()
    else:
        chosen = check_scenarios(scenarios) or (() if named else tuple(SCENARIOS))
    check_traces(files, days)
    if not files:
        tell("no trace is named, so scenarios alone are played; --traces DIR adds all of DIR")
    return [*traces_of(files, days, last=True), *scenarios_of(chosen)]


def _files(named: Sequence[str], directory: Path | None) -> list[Path]:
    if named:
        return [find_trace(name, directory) for name in dict.fromkeys(named)]
    if directory is None:
        return []
    if not directory.is_dir():
        raise BadRequest(f"--traces: {directory} is no directory; name one that holds traces")
    found = files_in(directory)
    if not found:
        raise BadRequest(
            f"--traces: {directory} holds no .csv and no .csv.gz; name a directory that does, or"
            " leave the option out to play scenarios alone"
        )
    return found


def _draw_into(directory: Path, asked: Sequence[Question]) -> None:
    """Names a picture for each run; the directory is made where it is not there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(
            f"--plots: {directory} cannot be made ({error.strerror}); name another directory"
        ) from None
    for one in asked:
        if one["do"] == "play":
            one["plot"] = str(directory.resolve() / f"{one['case']}-{one['policy']}.svg")


def _tell(asked: Question, done: int, count: int) -> None:
    tell(f"{done} of {count}: {what(asked)}")


# --- what is told


def show(found: Sequence[Played], own: str, output: str, made: JsonObject) -> int:
    """All rows, their sums over the traces, and how the first policy stands in each case."""
    stands = list(standings(found, own))
    row = {
        "made": made,
        "policy": own,
        "figures": figures_of(found, own),
        "standings": [one._asdict() for one in stands],
        "rows": [to_plain(one) for one in [*found, *totals(found)]],
    }
    if output in ("json", "yaml"):
        return show_value(_rounded(row), output)
    _write(row, stands, wide=output == "wide")
    return Code.OK


def _write(row: JsonObject, stands: Sequence[PolicyStanding], *, wide: bool) -> None:
    cells = {"CASE": lambda one: "all traces" if one["kind"] == "all" else one["case"]}
    show_rows(sorted(row["rows"], key=_place), "wide" if wide else "table", columns(TITLES, cells))
    if not any(one.better_than or one.not_better_than for one in stands):
        return  # it is alone
    write(f"\n{row['policy']} against the others")
    titles = "CASE, PART, BETTER THAN:names, NOT BETTER THAN:names, WORST IN:names"
    write(listed(sorted(row["standings"], key=_place), titles))
    write("\n" + facts((name, f"{value:.4g}") for name, value in row["figures"].items()))


def _place(row: JsonObject) -> tuple[int, str, int]:
    """Traces, their sums, scenarios; of a case the parts one after the other."""
    kinds = ("trace", "all", "scenario")
    return kinds.index(row["kind"]), row["case"], list(PARTS.values()).index(row["part"])


def _rounded(value: Any) -> Any:
    """Four decimals, as a back-test's."""
    match value:
        case float():
            return round(value, 4)
        case dict():
            return {name: _rounded(one) for name, one in value.items()}
        case list() | tuple():
            return [_rounded(one) for one in value]
        case _:
            return value
