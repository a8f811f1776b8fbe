"""`backtest`: what is played and told, the score by parts, and a word for each bad input."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import POLICIES, policy_of
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
)
from events.generated.records import Constraint
from projections.scaling.actions import JobSize
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.lab.backtest import (
    action_row,
    case_of_trace,
    per_second,
    picture_of,
    play,
    settings_of,
    size_text,
)
from turbine.lab.plant.backtest import Action, BacktestRun, back_test
from turbine.lab.plant.cases import SCENARIOS, spike
from turbine.lab.plot import LANES

RATES = [600.0] * 300 + [2_400.0] * 120 + [600.0] * 180
"""Events of each minute: ten hours, with four times as many for two of them."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "minute_index,rate\n" + "".join(f"{at},{rate:g}\n" for at, rate in enumerate(RATES))
    Path("a.csv").write_text(text)
    Path("kept").mkdir()
    Path("kept/site.csv.gz").write_bytes(gzip.compress(text.encode()))
    Path("empty").mkdir()


def shown(*arguments: str) -> dict[str, Any]:
    ended = run("backtest", *arguments, "-o", "json")
    assert ended.code == Code.OK, ended.err
    found: dict[str, Any] = json.loads(ended.out, parse_constant=pytest.fail)
    return found


# --- what is played


def test_the_job_of_a_trace_carries_its_peak() -> None:
    case = case_of_trace(Path("a.csv"))
    carried = case.nature.capacity(case.job.tasks, case.job.threads)
    assert [one / carried for one in case.rates] == pytest.approx([one / 2_400 for one in RATES])
    assert (case.job.name, list(case.history)) == ("a", [])


def test_a_name_is_looked_up_and_may_be_packed() -> None:
    by_file, by_name = (
        shown("--trace", *names, "--policy", "turbine")
        for names in (("a.csv",), ("site", "--traces", "kept"))
    )
    assert by_file["scores"] == by_name["scores"]
    assert by_name["scores"] == shown(
        "--trace", "site.csv.gz", "--traces", "kept", "--policy", "turbine"
    )["scores"]  # fmt: skip


def test_the_last_days_are_played_and_those_before_are_history() -> None:
    Path("b.csv").write_text("".join(f"{at},{at % 7}\n" for at in range(2 * 1440 + 5)))
    case = case_of_trace(Path("b.csv"), 1)
    whole = case_of_trace(Path("b.csv"))
    assert len(case.rates) == 1440
    assert [*case.history, *case.rates] == list(whole.rates)
    assert case.nature == whole.nature, "the job is the same, whatever is played of the trace"
    found = shown("--trace", "b.csv", "--days", "2", "--policy", "reactive")
    assert (found["minutes"], found["history_minutes"]) == (2880, 5)


def test_minutes_that_are_missing_lie_on_a_line() -> None:
    assert per_second([(5, 60.0), (6, 120.0), (9, 300.0)], "x") == [1, 2, 3, 4, 5]


def test_a_setting_takes_effect() -> None:
    usual = shown("--trace", "a.csv", "--policy", "reactive")
    wild = shown("--trace", "a.csv", "--policy", "reactive", "--set", "step_up=3")
    assert wild["policy"] == {
        "name": "reactive",
        "version": POLICIES["reactive"].version,
        "settings": {**usual["policy"]["settings"], "step_up": 3.0},
    }
    assert usual["scores"] != wild["scores"]


def test_the_seed_is_what_chance_comes_from() -> None:
    first, again, other = (
        shown("--scenario", "spike", "--policy", "turbine", "--seed", seed) for seed in "112"
    )
    assert first == again
    assert first["scores"]["whole"]["lag_seconds"] != other["scores"]["whole"]["lag_seconds"]


# --- what is told


def test_the_parts_make_up_the_whole() -> None:
    """Cores and memory as well, although a task's threads change within the run."""
    found = shown("--trace", "a.csv", "--policy", "turbine")["scores"]
    assert list(found) == ["whole", "first_two_thirds", "last_third"]
    assert [(one["first_minute"], one["minutes"]) for one in found.values()] == [
        (0, 600), (0, 400), (400, 200),
    ]  # fmt: skip
    for name in ("violation_s", "task_hours", "cpu_hours", "gb_hours", "rescales", "cost"):
        parts = found["first_two_thirds"][name] + found["last_third"][name]
        assert parts == pytest.approx(found["whole"][name], abs=1e-3), name
    assert found["whole"]["cpu_hours"] != pytest.approx(found["whole"]["task_hours"] / 4)


def test_the_score_counts_what_the_plant_has_spent() -> None:
    case = spike()
    ran = back_test(case, policy_of("turbine", {}))
    whole = play(case, policy_of("turbine", {})).scores()["whole"][2]
    assert (whole.task_hours, whole.cpu_hours, whole.gb_hours) == pytest.approx(ran.spent)


def test_a_part_without_minutes_is_not_told() -> None:
    Path("one.csv").write_text("0,5\n")
    assert list(shown("--trace", "one.csv", "--policy", "ds2")["scores"]) == ["whole", "last_third"]


def test_what_comes_before_the_policy_is_not_scored() -> None:
    assert SCENARIOS["backlog"]().begin == 7200
    found = shown("--scenario", "backlog", "--policy", "turbine", "--actions", "0")["scores"]
    assert [(one["first_minute"], one["minutes"]) for one in found.values()] == [
        (7200, 10080), (7200, 6720), (13920, 3360),
    ]  # fmt: skip


def test_each_action_is_told_with_its_reason() -> None:
    found = shown("--trace", "a.csv", "--policy", "turbine")
    assert found["actions"]
    assert found["actions_taken"] == len(found["actions"])
    for one in found["actions"]:
        assert one["explanation"]
        assert one["symptom"]
        assert one["before"] != one["after"]
    chain = [(one["before"], one["after"]) for one in found["actions"]]
    assert all(after == before for (_, after), (before, _) in pairwise(chain))


def test_the_last_actions_are_shown_and_the_others_counted() -> None:
    arguments = ("backtest", "--trace", "a.csv", "--policy", "keda", "--actions")
    every = shown(*arguments[1:], "1000000")
    count = every["actions_taken"]
    assert count > 1
    assert shown(*arguments[1:], "1")["actions"] == every["actions"][-1:]
    assert shown(*arguments[1:], "0")["actions"] == []
    ended = run(*arguments, "1")
    assert ended.err == (
        f"{count - 1} earlier actions are not shown; --actions {count} shows all\n"
    )
    last = every["actions"][-1]
    assert last["explanation"] in ended.out
    assert str(last["minute"]) in ended.out


def test_the_table_has_every_score() -> None:
    ended = run("backtest", "--trace", "a.csv", "--policy", "turbine")
    whole = shown("--trace", "a.csv", "--policy", "turbine")["scores"]["whole"]
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines[0] == ["SCORE", "WHOLE", "FIRST", "TWO", "THIRDS", "LAST", "THIRD"]
    told = {line[0]: float(line[1].replace(",", "")) for line in lines[1 : 1 + len(whole)]}
    assert told == {name: round(value, 2) for name, value in whole.items()}


def test_the_optimum_is_the_least_that_it_would_have_cost() -> None:
    Path("short.csv").write_text("".join(f"{at},{60 + at}\n" for at in range(30)))
    line = ("--trace", "short.csv", "--policy", "turbine")
    assert shown(*line)["optimum"] is None
    found = shown(*line, "--optimum")
    best, cost = found["optimum"], found["scores"]["whole"]["cost"]
    assert 0 < best["cost"] <= cost
    assert best["cost_ratio"] == pytest.approx(cost / best["cost"], rel=1e-2)
    assert best["violation_s"] == 0
    assert f"least cost          {best['cost']:.2f}\n" in run("backtest", *line, "--optimum").out


def test_what_has_no_end_is_null_in_json() -> None:
    size = JobSize(2, 1, 0.25, 512)
    limit = Constraint("most", float("inf"), 64.0)
    after, expects = size._replace(tasks=64), Expectation(5, float("inf"), 90.0)
    verdict = ScalingVerdict("scale-up", "lag", "load", "why", 64, after, (limit,), expects=expects)
    row = action_row(BacktestRun(90.0, [1.0], sizes=[size]), Action(0, 2, 64, verdict))
    assert row["constraints"] == [{"name": "most", "before": None, "after": 64.0, "note": ""}]
    assert row["expects"] == {"by_ms": 5, "rate": None, "lag_s": 90.0}
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_sizes_are_short_and_tell_what_changes() -> None:
    size = JobSize(10, 1, 0.25, 512)
    assert size_text(size, size) == "10x1"
    assert size_text(size, size._replace(tasks=3, threads=3)) == "10x1 -> 3x3"
    assert size_text(size, size._replace(memory_mb=768)) == "10x1 512 MiB -> 10x1 768 MiB"


# --- what is drawn


def test_a_plot_shows_the_run() -> None:
    line = ("--trace", "a.csv", "--policy", "turbine")
    ended = run("backtest", *line, "--plot", "run.svg")
    assert (ended.code, ended.err) == (Code.OK, "run.svg shows the run\n")
    text = Path("run.svg").read_text()
    assert "a.csv under turbine" in text
    assert f"600 minutes, {shown(*line)['actions_taken']} actions" in text


def test_what_is_drawn_is_what_was_played() -> None:
    played = play(spike(), policy_of("turbine", {}))
    drawn, sizes = picture_of(played, "x"), played.run.sizes
    assert list(drawn.threads) == [one.tasks * one.threads for one in sizes]
    assert drawn.capacity[0] == pytest.approx(10 * 1_000), "10 tasks with 12 partitions each"
    assert [one.minute for one in drawn.marks] == [one.minute for one in played.run.actions]
    assert {one.lane for one in drawn.marks} <= set(LANES)
    assert (drawn.split, drawn.slo_s) == (2 * len(sizes) // 3, 90.0)


# --- what is refused

POLICY = "--policy turbine"
KNOWN = ", ".join(SCENARIOS)
REFUSED = [
    (POLICY, "nothing is played; name a load with --trace or --scenario"),
    (
        f"{POLICY} --trace a.csv --scenario step",
        "--trace and --scenario both say what is played; leave one of them out",
    ),
    (f"{POLICY} --scenario nope", f'--scenario: there is no "nope"; use one of {KNOWN}'),
    (
        f"{POLICY} --scenario step --days 2",
        "--days is of a trace; name one with --trace, or leave it out",
    ),
    (
        f"{POLICY} --scenario step --traces kept",
        "--traces is of a trace; name one with --trace, or leave it out",
    ),
    (
        f"{POLICY} --trace nope",
        "--trace: nope cannot be read (No such file or directory); name another file",
    ),
    (f"{POLICY} --trace kept", "--trace: kept cannot be read (Is a directory); name another file"),
    (
        f"{POLICY} --trace nope --traces kept",
        '--trace: kept has no "nope"; use one of site.csv.gz',
    ),
    (
        f"{POLICY} --trace nope --traces empty",
        '--trace: empty has no "nope"; it holds no .csv and no .csv.gz',
    ),
    (
        f"{POLICY} --trace a --traces nope",
        "--traces: nope is no directory; name one that holds traces",
    ),
    (
        f"{POLICY} --trace a.csv --days 1",
        (
            "--days: a.csv has 600 minutes, and 1 days are 1,440; ask for fewer, or leave the"
            " option out"
        ),
    ),
    (
        "--policy nope --trace a.csv",
        f"--policy: there is no policy 'nope'; use one of {', '.join(POLICIES)}",
    ),
    (
        "--policy ds2 --trace a.csv --set nope=1",
        '--set "nope": policy ds2 has no such setting; it has '
        + ", ".join(settings_of(policy_of("ds2", {}))),
    ),
    (
        "--policy reactive --trace a.csv --set step_up=[]",
        (
            "--set step_up: expected a number, found a list of 0 (policy reactive); by default it"
            " is 1.5"
        ),
    ),
    (
        "--policy reactive --trace a.csv --set step_up",
        '--set "step_up": write KEY=VALUE, such as --set tasks=4',
    ),
    (
        "--policy reactive --trace a.csv --set step_up=x",
        '--set step_up: "x" is not JSON; for text write \'step_up="x"\'',
    ),
    (
        f"{POLICY} --trace a.csv --plot a.png",
        "--plot: a.png does not end with .svg, which it will be; name it so",
    ),
    (
        f"{POLICY} --trace a.csv --plot nope/a.svg",
        "--plot: nope/a.svg lies in no directory that is there; name a file to write",
    ),
]


@pytest.mark.parametrize(("line", "sentence"), REFUSED)
def test_what_is_refused(line: str, sentence: str) -> None:
    ended = run("backtest", *line.split())
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert ended.sentence == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "t.csv holds no rates; write lines such as 0,120.5"),
        ("0,5\n1,x\n", 't.csv, line 2: "1,x" is no minute and its rate; write'),
        ("0,5\n0,5\n", "t.csv, line 2: minute 0 does not come after minute 0; put"),
        ("0,-1\n", "t.csv, line 1: the rate -1 is below 0; correct it"),
        (
            "0,2e12\n",
            "t.csv has 2e+12 events in a minute, and at most 1e+12 can be played; correct",
        ),
        (
            "0,1e-320\n1,1e-320\n",
            "t.csv has 9.99989e-321 events in its busiest minute, and at least 1e-09 can be",
        ),
        (
            "".join(f"{at},1e-9\n" for at in range(300)) + "300,5\n",
            "t.csv has minutes of more than a million times what its busy ones have; correct",
        ),
        ("0,1\n99999999,1\n", "t.csv goes from minute 0 to 99999999, and at most 5270400 minutes"),
    ],
)
def test_a_trace_that_cannot_be_played(text: str, sentence: str) -> None:
    Path("t.csv").write_text(text)
    ended = run("backtest", "--trace", "t.csv", "--policy", "turbine")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(f"--trace: {sentence}")


def test_both_sides_of_the_limits_of_a_trace() -> None:
    assert per_second([(0, 1e12)], "x") == [1e12 / 60]
    assert per_second([(0, 1e-9)], "x") == [1e-9 / 60]
    assert per_second([(0, 0.0)], "x") == [0.0]
    assert len(per_second([(3, 1.0), (5_270_402, 1.0)], "x")) == 5_270_400


def test_a_plot_that_cannot_be_written_is_told() -> None:
    Path("dir.svg").mkdir()
    ended = run("backtest", "--trace", "a.csv", "--policy", "turbine", "--plot", "dir.svg")
    assert ended.code == Code.USAGE
    assert ended.sentence == "--plot: dir.svg is a directory; name a file to write"
    Path("gone.svg").symlink_to("nowhere/file")
    ended = run("backtest", "--trace", "a.csv", "--policy", "turbine", "--plot", "gone.svg")
    assert ended.code == Code.FAILED
    assert ended.sentence == (
        "--plot: gone.svg cannot be written (No such file or directory); name another file"
    )


def test_a_policy_is_needed() -> None:
    ended = run("backtest", "--trace", "a.csv")
    assert ended.code == Code.USAGE
    assert ended.sentence == "Missing option '--policy'; see `turbine backtest --help`"
