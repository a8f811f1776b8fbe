"""How figures are told: to programs as one line of JSON, to people as a table with targets."""

import json
import os

import pytest

from benchmarks.figures import Result, describe_machine, peak_mb, rounded, share, spread, table
from benchmarks.installation import cpu_of
from benchmarks.targets import TARGETS, Target

RESULT = Result("merge", {"merges_per_s": 2_500.123, "extra": 3}, {"naive_per_s": 0.5}, ["a note"])


@pytest.mark.parametrize(
    ("values", "at", "expected"),
    [
        ([1.0], 0.5, 1.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        (range(100), 0.99, 99),
        (range(1000), 0.99, 990),
        (range(10), 1.0, 9),
    ],
)
def test_a_share_is_a_value_that_was_measured(
    values: list[float], at: float, expected: float
) -> None:
    assert share(values, at) == expected


def test_nothing_measured_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(ValueError, match=r"^no values were measured"):
        share([], 0.5)


def test_a_spread_has_median_tails_and_worst() -> None:
    values = [float(number) for number in range(100)]
    assert spread("echo", values) == {
        "echo_ms_p50": 50.0,
        "echo_ms_p95": 95.0,
        "echo_ms_p99": 99.0,
        "echo_ms_max": 99.0,
    }


@pytest.mark.parametrize(("value", "expected"), [(1234567, 1234567), (1.23456, 1.235), (0.0, 0.0)])
def test_four_digits_count_and_whole_numbers_stay_whole(value: float, expected: float) -> None:
    assert rounded(value) == expected
    assert type(rounded(value)) is type(value)


def test_json_is_one_line_with_all_there_is() -> None:
    line = RESULT.to_json({"cores": 2})
    assert "\n" not in line
    assert json.loads(line) == {
        "benchmark": "merge",
        "figures": {"merges_per_s": 2500, "extra": 3},
        "peers": {"naive_per_s": 0.5},
        "machine": {"cores": 2},
        "notes": ["a note"],
    }


def test_a_machine_is_described() -> None:
    found = describe_machine(0.25)
    assert found.keys() == {
        "cores",
        "cpu",
        "memory_mb",
        "python",
        "kafka",
        "load_before",
        "load_after",
    }
    assert found["cores"] == os.cpu_count()
    assert found["load_before"] == 0.25
    assert found["kafka"].count(".") == 2


def test_a_process_is_measured() -> None:
    kept = bytearray(32 * 2**20)
    assert peak_mb() > len(kept) / 2**20
    assert (cpu_of(os.getpid()) or 0) > 0
    assert cpu_of(2**22 + 1) is None


def row(result: Result, key: str) -> str:
    (line,) = [line for line in table([result]).splitlines() if f"  {key}" in line]
    return " ".join(line.split())


def test_a_table_tells_figure_target_and_goal() -> None:
    assert row(RESULT, "merges_per_s") == "merge merges_per_s (1/s) 2,500 ≥ 2,000 ≥ 10,000 target"
    assert row(RESULT, "extra") == "merge extra 3"
    assert row(RESULT, "peer: naive_per_s") == "merge peer: naive_per_s 0.5"


def test_a_figure_that_is_missing_shows() -> None:
    assert row(RESULT, "ratio_to_naive") == "merge ratio_to_naive not measured ≥ 1 not measured"


@pytest.mark.parametrize(
    ("target", "value", "expected"),
    [
        (Target("b", "k", "", 10, 5), 5, "goal"),
        (Target("b", "k", "", 10, 5), 10, "target"),
        (Target("b", "k", "", 10, 5), 10.1, "missed"),
        (Target("b", "k", "", 10, 20, more_is_better=True), 20, "goal"),
        (Target("b", "k", "", 10, 20, more_is_better=True), 10, "target"),
        (Target("b", "k", "", 10, 20, more_is_better=True), 9.9, "missed"),
        (Target("b", "k", "", None, 1), 2, ""),
        (Target("b", "k", ""), 2, ""),
        (Target("b", "k", "", 10, 5), None, "not measured"),
    ],
)
def test_both_sides_of_every_bound(target: Target, value: float | None, expected: str) -> None:
    assert target.verdict(value) == expected


def test_no_figure_has_two_targets() -> None:
    keys = [(one.benchmark, one.key) for one in TARGETS]
    assert len(keys) == len(set(keys))
