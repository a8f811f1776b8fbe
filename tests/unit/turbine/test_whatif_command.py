"""The commands that ask a recorded log: `whatif`, `why-not` with what would have made it, `why`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recorded_job import Recorded
from events.generated.records import ScalingDecided
from tests.unit.turbine.lines import run
from tests.unit.turbine.recordings import JOB, reads_of, recorded, serve, words
from turbine.failures import Code
from turbine.read.answers.journal import body_of


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return serve(monkeypatch, recorded("spike", disturbed=True))


def told(*line: str) -> Any:
    ended = run(*line, "-o", "json")
    assert ended.code == Code.OK, ended.err
    return json.loads(ended.out)


# --- whatif


def test_three_runs_stand_beside_each_other(log: Recorded) -> None:
    del log
    ended = run("whatif", "--job", JOB, "--set", "margin=1.5")
    assert ended.code == Code.OK, ended.err
    head = next(line for line in ended.out.splitlines() if line.startswith("FIGURE"))
    assert head.split("   ")[0] == "FIGURE"
    assert "REALLY" in head
    assert "PLANT, turbine" in head
    assert "WHAT IF: turbine with margin 1.5" in head
    for name in ("core_hours", "lag_s_p99", "slo_violation_s", "restarts", "within tolerance"):
        assert name in ended.out
    assert "records_per_s_of_a_thread" in ended.out
    assert "IT WOULD HAVE DECIDED" in ended.out


def test_all_jobs_with_reports_are_asked_where_none_is_named(log: Recorded) -> None:
    del log
    rows = told("whatif", "--policy", "reactive")
    assert [row["job"] for row in rows] == [JOB]
    assert rows[0]["sides"][2]["policy"]["name"] == "reactive"


def test_a_picture_shows_the_three(log: Recorded, tmp_path: Path) -> None:
    del log
    path = tmp_path / "runs.svg"
    ended = run("whatif", "--job", JOB, "--set", "margin=1.5", "--plot", str(path))
    assert ended.code == Code.OK, ended.err
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<svg ")
    assert all(f">{name}<" in text for name in ("recorded", "replayed", "other"))


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ((), Code.USAGE, "nothing would be otherwise; name another policy with --policy or"),
        (("--policy", "magic"), Code.USAGE, "--policy: there is no policy 'magic'; use one of"),
        (("--set", "gain=1"), Code.USAGE, '--set "gain": policy turbine has no such setting'),
        (("--set", "margin=9"), Code.USAGE, "--set margin:"),
        (("--job", "views", "--policy", "keda"), Code.NOT_FOUND, "there is no job views"),
        (("--job", "VIEWS", "--policy", "keda"), Code.USAGE, '"VIEWS" is no job\'s name'),
        (
            ("--job", JOB, "--policy", "keda", "--from", "2030-01-01T00:00:00Z"),
            Code.USAGE,
            f"{JOB} has 0 minutes of reports to play between 2027-",
        ),
        (
            ("--policy", "keda", "--from", "journal.v1/0:3"),
            Code.USAGE,
            "--from: the input is played by time; name a time, not a position",
        ),
        (("--policy", "keda", "--plot", "runs.png"), Code.USAGE, "--plot: runs.png does not end"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    log: Recorded, line: tuple[str, ...], code: Code, sentence: str
) -> None:
    del log
    ended = run("whatif", *line)
    assert (ended.code, ended.sentence[: len(sentence)]) == (code, sentence)


def test_a_log_without_reports_has_nothing_to_play(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = [one for one in reads_of("spike", minutes=60) if one.topic != "loads.v1"]
    serve(monkeypatch, Recorded(quiet))
    ended = run("whatif", "--policy", "keda")
    assert ended.code == Code.NOT_FOUND
    assert f"left out: {JOB} has no loads in the log" in ended.err
    named = run("whatif", "--policy", "keda", "--job", JOB)
    assert (named.code, named.sentence[:32]) == (Code.USAGE, f"{JOB} has no loads in the log: ")


# --- why-not


def test_why_not_tells_the_nearest_change_that_would_have_made_it(log: Recorded) -> None:
    row = told("why-not", JOB, "--action", "scale-up")
    asked = row["asked"]
    assert asked["rebuilt"]
    assert asked["same"]
    assert asked["counterfactuals"]
    found = run("why-not", JOB, "--action", "scale-up").out
    assert f"  {asked['counterfactuals'][0]['text']}" in found
    assert asked["counterfactuals"][0]["text"].startswith("it would have scaled up ")
    assert f"({asked['position']})" in found
    assert log.reads


def test_why_not_says_so_where_nothing_single_makes_it(log: Recorded) -> None:
    del log
    row = told("why-not", JOB, "--action", "revert")
    assert row["asked"]["counterfactuals"] == []
    tried = row["asked"]["tried"]
    none = f"no single change of its {tried} inputs and settings makes it revert"
    assert none in run("why-not", JOB, "--action", "revert").out


def test_why_not_as_it_was_then_asks_the_verdict_of_then(log: Recorded) -> None:
    ups = [one for one in words(log) if getattr(body_of(one), "action", "") == "scale-up"]
    at = ups[0].read
    row = told("why-not", JOB, "--action", "scale-up", "--at", f"journal.v1/0:{at.offset + 1}")
    assert row["asked"]["position"] == f"journal.v1/0:{at.offset}"
    assert row["asked"]["already"]
    text = run("why-not", JOB, "--action", "scale-up", "--at", f"journal.v1/0:{at.offset + 1}").out
    assert "the policy came to scale-up itself" in text
    before = told("why-not", JOB, "--action", "scale-up", "--at", f"journal.v1/0:{at.offset}")
    assert before["asked"]["at_ms"] <= at.at_ms
    assert not before["asked"]["already"]


def test_why_not_of_a_job_that_is_not_there_yet(log: Recorded) -> None:
    del log
    ended = run("why-not", JOB, "--action", "scale-up", "--at", "journal.v1/0:0")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence.startswith(f"there is no job {JOB} at journal.v1/0:0")


# --- why


def test_why_ends_with_the_tree_of_its_evidence(log: Recorded) -> None:
    decided = next(one for one in words(log) if isinstance(body_of(one), ScalingDecided))
    name = decided.read.record.id
    text = run("why", name).out
    assert "\nEVIDENCE\nScalingDecided   [journal.v1/0:" in text
    assert "├─ minute: at_ms " in text
    assert "[loads.v1/0:" in text
    tree = told("why", name)["tree"]
    assert tree["positions"] == [f"{decided.read.place}:{decided.read.offset}"]
    assert {node["name"] for node in tree["nodes"]} >= {"decided", "expected", "previous decision"}
