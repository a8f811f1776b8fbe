"""`scoreboard`: what is played by default, how policies are told apart, and each bad input."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import BASELINES, POLICIES
from components.runtime.process.local import LocalFailed
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.lab import scoreboard
from turbine.lab.backtest import BadBackTest, case_of_trace
from turbine.lab.plant import scoreboard as plant
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.scoreboard import ScoreRow
from turbine.lab.scoreboard import (
    PLAYED,
    answered,
    case_names,
    figures_of,
    questions,
    rows_of,
    scenarios_of,
    standings,
    traces_of,
    what,
)
from turbine.lab.scoring import answer, bound, play, weather

RATES = [600.0] * 60 + [2_400.0] * 30 + [600.0] * 60
"""Events of each minute: two and a half hours, with four times as many for half an hour."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "minute_index,rate\n" + "".join(f"{at},{rate:g}\n" for at, rate in enumerate(RATES))
    Path("a.csv").write_text(text)
    Path("kept").mkdir()
    Path("kept/site.csv.gz").write_bytes(gzip.compress(text.encode()))
    Path("kept/other.csv").write_text(text.replace("2400", "900"))
    Path("empty").mkdir()


TWO = ("--policy", "turbine", "--policy", "reactive")
QUICK = (*TWO, "--no-optimum")


def shown(*arguments: str) -> dict[str, Any]:
    ended = run("scoreboard", *arguments, "--json")
    assert ended.code == Code.OK, ended.err
    found: dict[str, Any] = json.loads(ended.out, parse_constant=pytest.fail)
    return found


def cases(found: dict[str, Any]) -> set[str]:
    return {one["case"] for one in found["rows"]} - {"all"}


def row(policy: str, *, violation_s: float = 0.0, cost: float = 1.0, case: str = "a") -> ScoreRow:
    score = plant.Score(violation_s, 0, 0, 0, cost, 0, 0, 0, 0, 1)
    return ScoreRow("trace", case, policy, "whole", 1_000, score)


# --- what is played


def test_what_is_named_is_played() -> None:
    assert cases(shown("--trace", "a.csv", *QUICK)) == {"a"}
    assert cases(shown("--scenario", "step", *QUICK)) == {"step"}
    assert cases(shown("--trace", "a.csv", "--scenario", "step", *QUICK)) == {"a", "step"}
    named = ("--trace", "site", "--trace", "other", "--traces", "kept")
    assert cases(shown(*named, *QUICK)) == {"site", "other"}


def test_a_directory_is_played_whole_with_or_without_scenarios() -> None:
    alone = shown("--traces", "kept", "--scenario", "none", *QUICK)
    assert cases(alone) == {"site", "other"}
    assert cases(shown("--traces", "kept", "--scenario", "step", *QUICK)) == (
        {"site", "other", "step"}
    )
    assert alone["figures"]["traces"] == 2
    sums = [one for one in alone["rows"] if one["case"] == "all" and one["part"] == "whole"]
    for one in sums:
        mine = [row for row in alone["rows"] if row["case"] != "all" and row["part"] == "whole"
                and row["policy"] == one["policy"]]  # fmt: skip
        assert one["cost"] == pytest.approx(sum(row["cost"] for row in mine), rel=1e-3)


def test_it_says_how_it_is_made_again_and_not_where_files_lie() -> None:
    made = shown("--traces", "kept", "--trace", "site.csv.gz", *QUICK)["made"]
    assert made["command"] == (
        "turbine scoreboard --traces DIR --trace site.csv.gz --policy turbine --policy reactive"
        " --part all --no-optimum -o json"
    )
    content = Path("kept/site.csv.gz").read_bytes()
    assert made["traces"] == [{"trace": "site", "sha256": hashlib.sha256(content).hexdigest()}]
    assert (made["policies"], made["scenarios"]) == (["turbine", "reactive"], [])
    assert shown("--scenario", "step", *QUICK)["made"]["scenarios"] == ["step"]


def test_without_a_trace_all_scenarios_are_played_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[Any]()

    def keep(given: Sequence[Any], _: Any) -> list[Any]:
        asked.extend(given)
        return [[] for _ in given]

    monkeypatch.setattr("turbine.cli.scoreboard.answered", keep)
    ended = run("scoreboard")
    assert (
        "no trace is named, so scenarios alone are played; --traces DIR adds all of DIR\n"
        in ended.err
    )
    played = [(one["case"], one["policy"]) for one in asked if one["do"] == "play"]
    assert played == [(case, policy) for case in SCENARIOS for policy in PLAYED]
    assert [one["case"] for one in asked if one["do"] == "bound"] == list(SCENARIOS)
    assert set(PLAYED) == {"turbine", *BASELINES, "still"} == {*POLICIES, "still"}


def test_days_are_as_those_of_a_back_test() -> None:
    Path("b.csv").write_text("".join(f"{at},{at % 7}\n" for at in range(2 * 1440 + 5)))
    line = ("--trace", "b.csv", "--policy", "turbine", "--days", "1")
    [whole, *_] = shown(*line, "--no-optimum")["rows"]
    ended = run("backtest", *line, "--json")
    score = json.loads(ended.out)["scores"]["whole"]
    assert {name: whole[name] for name in score if name in whole} == {
        name: value for name, value in score.items() if name in whole
    }
    assert (whole["minutes"], whole["part"]) == (1_440, "whole")
    assert case_of_trace(Path("b.csv"), 1).history


def test_progress_is_told_and_is_no_data() -> None:
    ended = run("scoreboard", "--trace", "a.csv", *QUICK, "-o", "json")
    assert sorted(line.partition(": ")[2] for line in ended.err.splitlines()) == [
        "a under reactive", "a under turbine",
    ]  # fmt: skip
    assert {line.partition(": ")[0] for line in ended.err.splitlines()} == {"1 of 2", "2 of 2"}
    json.loads(ended.out)


def test_each_run_may_be_drawn() -> None:
    shown("--trace", "a.csv", "--scenario", "step", *QUICK, "--plots", "drawn/here")
    assert {path.name for path in Path("drawn/here").iterdir()} == {
        "a-turbine.svg", "a-reactive.svg", "step-turbine.svg", "step-reactive.svg",
    }  # fmt: skip
    assert "a under reactive" in Path("drawn/here/a-reactive.svg").read_text()


# --- what is told


def test_the_table_has_each_part_of_each_policy_and_how_the_first_stands() -> None:
    ended = run("scoreboard", "--trace", "a.csv", *TWO)
    lines = [line.split("   ") for line in ended.out.splitlines()]
    heads = [line[0].strip() for line in lines]
    assert heads.count("a") == 2 * 3 + 3, "rows of two policies, and how one stands"
    assert "turbine against the others" in ended.out
    assert {"cost_over_optimum", "traces_dominated_last_third"} <= {one.strip() for one in heads}


def test_a_part_alone_may_be_shown() -> None:
    found = shown("--trace", "a.csv", *QUICK, "--part", "last")
    assert {one["part"] for one in found["rows"]} == {"last third"}
    assert {one["part"] for one in found["standings"]} == {"last third"}


def test_who_is_alone_has_nobody_to_stand_against() -> None:
    ended = run("scoreboard", "--trace", "a.csv", "--policy", "turbine", "--no-optimum")
    assert "against" not in ended.out


def test_the_least_cost_is_of_each_case_and_part_or_not_asked_for() -> None:
    rows = shown("--trace", "a.csv", *TWO)["rows"]
    for one in rows:
        if one["case"] == "a":
            assert one["over_least"] == pytest.approx(one["cost"] / one["least_cost"], rel=1e-3)
    assert len({one["least_cost"] for one in rows if one["case"] == "a"}) == 3
    assert not any("least_cost" in one for one in shown("--trace", "a.csv", *QUICK)["rows"])


def test_standings_name_the_better_and_the_worse_and_leave_out_who_does_nothing() -> None:
    found = [
        row("turbine", violation_s=60, cost=2.0),
        row("keda", violation_s=120, cost=3.0),
        row("flink", violation_s=0, cost=1.0),
        row("still", violation_s=0, cost=0.1),
    ]
    [one] = standings(found, "turbine")
    assert (one.better_than, one.not_better_than) == (("keda",), ("flink",))
    assert one.worst_in == ()
    [last] = standings(found, "keda")
    assert last.worst_in == ("violation_s", "cpu_hours", "cost")
    [idle] = standings(found, "still")
    assert set(idle.better_than) == {"turbine", "keda", "flink"}
    figures = figures_of(found, "turbine")
    assert (figures["traces"], figures["traces_dominated"], figures["columns_worst"]) == (1, 0, 0)


# --- processes


def asked(**more: Any) -> dict[str, Any]:
    [one] = traces_of([Path("a.csv")], last=True)
    return {**one, **more}


def test_processes_answer_as_the_routines_do_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turbine.lab.scoreboard.os.cpu_count", lambda: 2)
    given = [
        asked(do="bound"),
        asked(do="play", policy="turbine"),
        {"do": "weather", "policy": "still", "job": 3},
        asked(do="play", policy="still"),
    ]
    expected = [bound(given[0]), play(given[1]), weather(given[2]), play(given[3])]
    heard = list[tuple[str, int, int]]()
    found = answered(given, lambda one, done, count: heard.append((what(one), done, count)))
    assert found == json.loads(json.dumps(expected))
    assert [(done, count) for _, done, count in heard] == [(at, 4) for at in (1, 2, 3, 4)]
    assert {name for name, _, _ in heard} == {
        "the least cost of a", "a under turbine", "weather 3", "a under still",
    }  # fmt: skip
    assert answered([]) == []


def test_a_process_that_ends_is_one_sentence() -> None:
    given = questions(scenarios_of(["step"]), ["turbine"], bounds=False)
    dies = (sys.executable, "-c", "import sys; sys.stdin.readline(); sys.exit(7)")
    with pytest.raises(LocalFailed, match="the process that was at step under turbine ended with"):
        answered(given, command=dies)


def test_a_process_that_half_says_it_is_one_sentence() -> None:
    given = questions(scenarios_of(["step"]), ["turbine"], bounds=False)
    halts = (sys.executable, "-c", "import sys; sys.stdin.readline(); print('{', end='')")
    with pytest.raises(LocalFailed, match="step under turbine ended with code 0"):
        answered(given, command=halts)


def test_what_the_machine_refuses_is_a_sentence_of_the_command() -> None:
    Path("drawn").mkdir()
    Path("drawn/a-turbine.svg").mkdir()
    ended = run("scoreboard", "--trace", "a.csv", *QUICK, "--plots", "drawn")
    assert ended.code == Code.FAILED
    assert ended.err.splitlines()[-1] == (
        f"turbine: a under turbine: {Path.cwd() / 'drawn/a-turbine.svg'} cannot be written"
        " (Is a directory); name another directory"
    )


@pytest.mark.parametrize("last", [True, False])
def test_a_trace_that_is_gone_by_then_is_an_answer_too(last: bool) -> None:
    given = asked(do="play", policy="still", path="gone.csv", last=last)
    [(name, sentence)] = answer(given).items()
    assert (name, sentence.removeprefix("--trace: ")) == (
        "failed", "gone.csv cannot be read (No such file or directory); name another file",
    )  # fmt: skip


def test_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[Any]()
    start = scoreboard._start

    def keep(command: Sequence[str]) -> Any:
        started.append(start(command))
        return started[-1]

    monkeypatch.setattr(scoreboard, "_start", keep)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    given = questions(scenarios_of(["step"]), ["turbine", "still"], bounds=False)
    with pytest.raises(KeyboardInterrupt):
        answered(given, interrupt)
    assert started
    assert all(one.returncode is not None for one in started)
    for one in started:
        with pytest.raises(ProcessLookupError):
            os.kill(one.pid, 0)


def test_rows_have_the_least_of_their_part() -> None:
    given = questions([asked()], ["still"])
    found = rows_of(given, json.loads(json.dumps([bound(given[0]), play(given[1])])))
    assert [one.part for one in found] == list(scoreboard.PARTS)
    assert all(one.least is not None for one in found)


# --- names


def test_a_case_is_named_so_that_it_can_be_told_apart() -> None:
    files = [Path("x/a.csv"), Path("x/a.csv.gz"), Path("y/step.csv"), Path("y/b.2.csv.gz")]
    assert case_names(files) == ["a.csv", "a.csv.gz", "step.csv", "b.2"]
    with pytest.raises(BadBackTest, match=r"2 files are named a\.csv, and"):
        case_names([Path("x/a.csv"), Path("y/a.csv")])


# --- what is refused

REFUSED = [
    (
        "--policy nope",
        '--policy: there is no policy "nope"; use one of ' + ", ".join((*POLICIES, "still")),
    ),
    (
        "--scenario nope",
        f'--scenario: there is no "nope"; use one of {", ".join(SCENARIOS)}',
    ),
    ("--trace nope", "--trace: nope cannot be read (No such file or directory); name another file"),
    (
        "--trace nope --traces kept",
        '--trace: kept has no "nope"; use one of other.csv, site.csv.gz',
    ),
    ("--traces nope", "--traces: nope is no directory; name one that holds traces"),
    (
        "--traces empty",
        (
            "--traces: empty holds no .csv and no .csv.gz; name a directory that does, or leave the"
            " option out to play scenarios alone"
        ),
    ),
    ("--days 2", "--days is of traces; name some with --traces or --trace"),
    (
        "--trace a.csv --days 1",
        (
            "--days: a.csv has 150 minutes, and 1 days are 1,440; ask for fewer, or leave the"
            " option out"
        ),
    ),
    (
        "--scenario none",
        "--scenario none leaves nothing to be played; name traces with --traces or --trace",
    ),
    (
        "--scenario none --scenario step --trace a.csv",
        "--scenario none leaves others to be played; leave one of them out",
    ),
    (
        "--trace a.csv --trace kept/../a.csv",
        (
            "--trace: 2 files are named a.csv, and their rows could not be told apart; name one, or"
            " rename them"
        ),
    ),
    (
        "--trace a.csv --plots a.csv",
        "--plots: a.csv cannot be made (File exists); name another directory",
    ),
]


@pytest.mark.parametrize(("line", "sentence"), REFUSED)
def test_what_is_refused(line: str, sentence: str) -> None:
    ended = run("scoreboard", *line.split())
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert ended.sentence == sentence


def test_a_bad_line_is_told_before_anything_is_played() -> None:
    Path("kept/bad.csv").write_text("0,5\n1,x\n")
    ended = run("scoreboard", "--traces", "kept")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(
        '--trace: kept/bad.csv, line 2: "1,x" is no minute and its rate; write'
    )
