"""`python -m benchmarks` runs one benchmark or all, and says what it cannot do in a sentence."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import MODULES, _last_line, main
from benchmarks.targets import TARGETS


def test_every_target_has_a_benchmark_and_every_benchmark_a_target() -> None:
    assert {one.benchmark for one in TARGETS} == MODULES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_measured(name: str) -> None:
    assert callable(import_module(MODULES[name]).measure)


def test_the_last_line_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "--quick", "--json"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said.keys() == {"benchmark", "figures", "peers", "machine", "notes"}
    assert said["figures"].keys() >= {one.key for one in TARGETS if one.benchmark == "merge"}


def test_an_unknown_benchmark_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fast"])
    assert ended.value.code == 2
    assert "invalid choice: 'fast' (choose from 'verdicts'" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["merge --runs 3", "all --runs 3", "windows --runs 0"])
def test_only_what_is_repeated_has_runs(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert "error: --runs is a number above 0, of windows alone" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["merge --days 3", "all --days 3", "scoreboard --days 0"])
def test_only_what_is_played_has_days(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert (
        "error: --days is a number above 0, of scoreboard, whatif alone" in capsys.readouterr().err
    )


@pytest.mark.parametrize("line", ["merge --traces .", "scoreboard --traces nowhere"])
def test_traces_lie_in_a_directory(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert "error: --traces is a directory of CSV files" in capsys.readouterr().err


def test_a_trace_that_is_none_is_told_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("minute_index,rate\n0,1\n1,-5\n")
    assert main(["scoreboard", "--quick", "--traces", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "bad.csv, line 3: the rate -5 is below 0; correct it" in said
    assert "Traceback" not in said


def test_what_cannot_run_here_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["replay", "--quick"]) == 2
    said = capsys.readouterr().err
    assert "benchmarks: replay: There is no java on the PATH: install a JDK 17 or newer" in said
    assert "Traceback" not in said


def test_one_that_fails_among_several_is_told_and_passed_over(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert _last_line("replay", quick=True) is None
    assert "replay failed with code 2" in capfd.readouterr().err


def test_one_of_several_answers_in_its_own_process() -> None:
    line = _last_line("merge", quick=True)
    assert line is not None
    assert json.loads(line)["benchmark"] == "merge"
