"""The demo's story is told again and again, each time with jobs of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.auto_scaler.core.policies.turbine.words import gain_told
from events.generated.records import ScalingVerified
from projections.jobs import Job
from projections.scaling.actions import JobSize
from projections.scaling.decision_memory import Open
from turbine.failures import Code
from turbine.ops.fleet import log_of
from turbine.ops.generate import open_trace
from turbine.ops.traffic import BadTrace
from turbine.story.changes import assigned
from turbine.story.demo import fresh_number, main
from turbine.story.stage import NotAsTold, accepted, numbered, rejected
from turbine.story.tasks import USUAL, elsewhere, told, write_day
from turbine_client.publish import Accepted, Rejected, Unknown


def test_each_telling_has_jobs_of_its_own() -> None:
    assert fresh_number({}) == 1
    assert fresh_number({"orders": Job("orders")}) == 2
    assert fresh_number({name: Job(name) for name in ("visits", "clicks-2", "orders-3")}) == 4
    assert (numbered("clicks", 1), numbered("clicks", 4)) == ("clicks", "clicks-4")


def test_a_change_that_brought_little_is_not_told_by_how_little_is_enough() -> None:
    before = Open(1, JobSize(1, 1, 1.0, 512), 100.0, 200.0)
    brought = ScalingVerified("orders", "1.a", gain_told(before, 140.0, 0.1))
    assert told(brought) == (
        "ScalingVerified: kept, but it brought only 40 % of the gain that was expected:"
        " 140 records/s can be read, 100 records/s could be before, and 200 records/s were"
        " expected."
    )


def test_where_tasks_run_is_told_by_the_look_that_found_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A task may restart between two looks, and then nobody runs it."""
    looks = iter([{0: "c0", 1: "c1"}, {1: "c1"}, {0: "c2", 1: "c1"}])
    monkeypatch.setattr("turbine.story.tasks.homes", lambda *_: next(looks))
    held = [("clicks", 0), ("clicks", 1)]
    stage: Any = None
    assert [elsewhere(stage, held, "c0") for _ in range(3)] == [[], [], ["c1", "c2"]]


def test_a_day_without_a_recording_has_a_night_and_a_noon(tmp_path: Path) -> None:
    assert write_day(tmp_path / "day.csv", None).startswith("one with a night")
    rates = [rate / 60 for _, rate in open_trace(tmp_path / "day.csv")]
    assert len(rates) == 1440
    assert min(rates) == pytest.approx(0.2 * USUAL, rel=0.01)
    assert max(rates) == pytest.approx(USUAL, rel=0.01)
    assert 1.5 * rates.index(min(rates)) < rates.index(max(rates))


def test_of_a_recording_the_last_day_is_played(tmp_path: Path) -> None:
    trace = tmp_path / "site.csv"
    trace.write_text("".join(f"{at},{at}\n" for at in range(2_000)))
    assert write_day(tmp_path / "day.csv", trace) == "the last one of site.csv, a recording"
    assert [rate for _, rate in open_trace(tmp_path / "day.csv")] == list(range(560, 2_000))


def test_a_recording_that_cannot_be_played_is_told_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["start", "--trace", str(tmp_path / "none.csv")]) == Code.USAGE
    assert (
        "cannot be read (No such file or directory); name another file" in capsys.readouterr().err
    )
    with pytest.raises(BadTrace):
        open_trace(tmp_path)


ACCEPTED = Accepted("1.x", "clicks", "base", 1, "d", "outcomes.v1/0:0")
REJECTED = Rejected("1.x", "clicks", "stale", "so it is")
UNKNOWN = Unknown("1.x", "clicks", "no verdict")


def test_a_verdict_that_is_as_told() -> None:
    assert accepted(ACCEPTED, "x") is ACCEPTED
    assert rejected(REJECTED, "stale", "x") is REJECTED


@pytest.mark.parametrize("other", [REJECTED, UNKNOWN])
def test_what_should_have_been_accepted(other: Rejected | Unknown) -> None:
    with pytest.raises(NotAsTold, match="the change: "):
        accepted(other, "the change")


@pytest.mark.parametrize("other", [ACCEPTED, UNKNOWN, Rejected("1.x", "clicks", "invalid", "")])
def test_what_should_have_been_rejected(other: Accepted | Unknown | Rejected) -> None:
    with pytest.raises(NotAsTold, match="the change should be rejected as stale"):
        rejected(other, "stale", "the change")


def test_what_a_worker_was_assigned_last_stands_in_its_log(tmp_path: Path) -> None:
    assert assigned(tmp_path, "w") == []
    path = log_of(tmp_path, "w")
    path.parent.mkdir()
    path.write_text('not JSON assigned\n{"event": "other", "x": "assigned"}\n')
    assert assigned(tmp_path, "w") == []
    lines = [{"event": "assigned", "partitions": one} for one in ([0, 1], [1])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"event": "x"}\n')
    assert assigned(tmp_path, "w") == [1]
