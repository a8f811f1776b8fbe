"""The scoreboard's shell: what it asks of its processes, and what it makes of their answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import scoreboard
from benchmarks.figures import Result, listing, table
from benchmarks.scaler import backtest, rounds
from benchmarks.scoreboard import measure
from benchmarks.targets import TARGETS
from turbine.lab.scoreboard import traces_of
from turbine.lab.scoring import case, play


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    lines = [f"{minute},{600 if minute % 200 < 100 else 1_500}" for minute in range(300)]
    (tmp_path / "steps.csv").write_text("\n".join(["minute_index,rate", *lines]))
    return tmp_path


def test_days_of_the_benchmark_are_the_first(traces: Path) -> None:
    """The last third is for judging: who tries something out on few days must not see it."""
    lines = "\n".join(f"{minute},{minute}" for minute in range(1_500))
    (traces / "steps.csv").write_text(lines)
    [one] = traces_of([traces / "steps.csv"], 1, last=False)
    [whole, *_] = play({**one, "policy": "still"})
    assert whole["minutes"] == 1_440
    assert case(one).history == ()
    assert case(one).rates[0] == 0


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two policies, two scenarios and three jobs: what is left is no other code."""
    names = ("dependency", "step")
    kept = {name: scoreboard.SCENARIOS[name] for name in names}
    monkeypatch.setattr(scoreboard, "SCENARIOS", kept)
    monkeypatch.setattr(scoreboard, "POLICIES", ("turbine", "reactive", "still"))
    monkeypatch.setattr(scoreboard, "QUICK_JOBS", 3)
    monkeypatch.setattr(scoreboard, "BACKLOG", "dependency")


@pytest.mark.usefixtures("few")
def test_figures_are_of_all_parts_and_named_as_their_targets(traces: Path) -> None:
    result = measure(quick=True, traces=traces)
    assert result.figures.keys() >= {one.key for one in TARGETS if one.benchmark == "scoreboard"}
    assert result.figures["traces"] == 1
    assert {"traces_dominated_last_third", "cost_over_optimum_first_two_thirds"} <= (
        result.figures.keys()
    )
    assert {(one["case"], one["policy"], one["part"]) for one in result.rows} >= {
        ("steps", "turbine", "last third"), ("dependency", "still", "whole"),
        ("all", "reactive", "first two thirds"),
    }  # fmt: skip
    said = json.loads(result.to_json({}))
    assert len(said["rows"]) == len(result.rows) == (3 * 3 + 3) * 3
    assert "whole" in listing(result.rows)


@pytest.mark.usefixtures("few")
def test_without_traces_scenarios_run_and_it_says_so(tmp_path: Path) -> None:
    result = measure(quick=True, traces=tmp_path)
    assert result.figures["traces"] == 0
    assert "traces_dominated" not in result.figures
    assert f"no trace lies in {tmp_path}: only scenarios ran" in result.notes[0]
    assert "not measured" in table([result])


def test_a_listing_has_a_cell_for_each_name() -> None:
    told = listing([{"case": "a", "cost": 1.5}, {"case": "long", "cost": 20.0, "more": 3}])
    assert told.splitlines() == ["case  cost  more", "a      1.5", "long    20     3"]


def test_rows_stand_in_the_json_only_where_there_are_any() -> None:
    assert "rows" not in json.loads(Result("merge", {}, {}, []).to_json({}))
    assert json.loads(Result("merge", {}, {}, [], [{"a": 1.23456, "b": "x"}]).to_json({}))[
        "rows"
    ] == [{"a": 1.235, "b": "x"}]


def test_the_scalers_round_and_back_test_are_measured() -> None:
    told = rounds(40)
    assert told["round_s"] > 0
    assert told["kb_per_job"] >= 0
    assert backtest(1)["backtest_s"] > 0
