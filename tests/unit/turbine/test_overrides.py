"""What is shown of a layer's ends: each of them, and until when each value holds."""

from __future__ import annotations

from pathlib import Path

from projections.jobs import End, LayerState
from tests.unit.turbine.decided import CLICKS, NOW
from tests.unit.turbine.lines import run
from tests.unit.turbine.test_comparing import Story
from turbine.read.answers.overrides import ends_of, until, until_by_path
from turbine.read.plain import plain

LAYER = LayerState(
    5,
    '{"policy":{"mode":"observe"},"priority":9,"tasks":5}',
    "ann",
    ends=(
        End(7, "1.a", "ann", '{"policy":{"mode":"observe"},"priority":9,"tasks":4}'),
        End(9, "1.b", "ben", '{"priority":9,"tasks":3}'),
    ),
)


def test_each_end_tells_what_it_changes() -> None:
    first, second = plain(ends_of(LAYER))
    tasks = {"path": "tasks", "before": 5, "after": 4}
    assert first == {
        "expires_ms": 7, "change_id": "1.a", "author": "ann", "other_ids": [],
        "differences": [tasks],
    }  # fmt: skip
    gone = {"path": "policy.mode", "before": "observe"}
    assert second["differences"] == [gone, {"path": "tasks", "before": 4, "after": 3}]


def test_a_value_holds_until_it_is_another_one_first() -> None:
    ends = until_by_path(LAYER)
    assert [until(ends, path) for path in ("tasks", "policy.mode", "priority")] == [7, 9, None]


def test_a_value_within_what_ends_as_a_whole_ends_with_it() -> None:
    layer = LayerState(1, '{"slo":{"lag_seconds":5}}', ends=(End(7, "1.a", "ann", '{"slo":null}'),))
    assert until(until_by_path(layer), "slo.lag_seconds") == 7


def test_a_described_job_lists_the_ends_that_lie_ahead(tmp_path: Path) -> None:
    story = Story()
    story.change(CLICKS)
    story.change({"priority": 9}, "oncall", author="bo", reason="r")
    story.change({"tasks": 8}, "oncall", author="cy", reason="r", expires_ms=NOW + 3_600_000)
    out = run("--log", story.write(tmp_path / "x.log.gz"), "describe", "job", "clicks").out
    head, row = next(part for part in out.split("\n\n") if part.startswith("ENDS")).splitlines()
    assert head.split() == ["ENDS", "OF", "BY", "THEN", "CHANGE"]
    assert "oncall" in row
    assert "cy" in row
    assert "- tasks: 8" in row
