"""A run from its start to its end, on stand-ins for Spark and for the broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark_streaming import run, sink
from spark_streaming.batch_stream import BatchStream
from spark_streaming.run import RunPlace, SparkRun
from tests.unit.spark_streaming.test_sink import SPOT, FakeRows, FakeSeat


class Taken(FakeSeat):
    """A seat of a task that reads one partition, or none."""

    def __init__(self, begins: dict[Any, int]) -> None:
        super().__init__()
        self._begins, self.left = begins, False

    def take(self) -> None:
        self.position = dict(self._begins)

    def resets(self, _: object) -> set[str]:
        return set()

    def close(self) -> None:
        self.left = True


class Rows(FakeRows):
    """What a query reads, the query itself, and who looks at it while it runs."""

    isActive = True  # noqa: N815 - as Spark calls it

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__()
        self.awaitTermination, self.intervals = look, list[str]()
        context = SimpleNamespace(setLocalProperty=lambda *_: None)
        self.sparkSession = SimpleNamespace(sparkContext=context)
        self.writeStream, self._jsq = self, SimpleNamespace(recentProgress=list)

    def trigger(self, *, processingTime: str) -> Rows:  # noqa: N803 - as Spark calls it
        self.intervals.append(processingTime)
        return self

    def foreachBatch(self, _: object) -> Rows:  # noqa: N802 - as Spark calls it
        return self

    queryName = foreachBatch  # noqa: N815 - as Spark calls it

    def option(self, *_: object) -> Rows:
        return self

    def start(self) -> Rows:
        return self

    def stop(self) -> None: ...


class Stage:
    """One run, with a clock that is turned by hand."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, scratch: Path, begins: dict[Any, int] | None = None
    ) -> None:
        self.now_s, self.look = 10.0, lambda: None
        self.rows, self.seat = Rows(self._look), Taken({SPOT: 5} if begins is None else {})
        self.ended: list[BaseException | None] = []
        self.place = RunPlace(None, {}, scratch)  # type: ignore[arg-type]  # nothing is planned
        clock = SimpleNamespace(monotonic=lambda: self.now_s)
        monkeypatch.setattr(run, "time", clock)
        monkeypatch.setattr(sink, "time", clock)
        monkeypatch.setattr(run, "is_stateful", lambda _: False)
        monkeypatch.setattr(SparkRun, "_plan", lambda *_: self.rows)
        monkeypatch.setattr(BatchStream, "offsets", lambda _, batch: {SPOT: 10 * batch})

    def _look(self) -> None:
        self.look()

    def run(self, config: str = "{}", task: int = 1) -> SparkRun:
        work: Any = SimpleNamespace(
            run=3, name=f"orders/{task}", config_json=config, inputs=(("clicks", (0,)),),
            guarantee="exactly_once",
        )  # fmt: skip
        return SparkRun(work, self.place, lambda *_: self.seat)

    def live(self, one: SparkRun, started: Callable[..., None] = lambda *_: None) -> None:
        one.live(started, lambda _, failure: self.ended.append(failure))


def test_the_newest_commit_says_how_old_the_position_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage = Stage(monkeypatch, tmp_path)
    one, ages = stage.run(), list[int | None]()

    def look() -> None:
        stage.now_s = 17.0
        ages.append(one.checkpoint_age_ms())  # of its claim
        [line] = one._known()
        assert line.sink is not None
        line.sink(stage.rows, 2)  # type: ignore[arg-type]  # stands in for them
        stage.now_s = 20.0
        ages.append(one.checkpoint_age_ms())

    stage.look = look
    assert one.checkpoint_age_ms() is None
    stage.live(one, lambda _, begins: ages.append(begins[SPOT]))
    assert ages == [5, 7_000, 3_000]
    assert (stage.ended, stage.seat.left, one.position) == ([None], True, {SPOT: 20})


def test_who_reads_nothing_holds_its_name_until_it_is_told_to_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage = Stage(monkeypatch, tmp_path, begins={})
    one = stage.run()
    stage.live(one, lambda *_: one.stop())
    assert (stage.ended, stage.seat.left, one.checkpoint_age_ms()) == ([None], True, None)


def test_an_interval_is_a_little_longer_than_is_said_and_a_tasks_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage = Stage(monkeypatch, tmp_path)
    for task in (*range(40), *range(40)):
        stage.live(stage.run('{"schedule":{"batch_interval_ms":1000}}', task))
    found = [int(one.partition(" ")[0]) for one in stage.rows.intervals]
    assert found[:40] == found[40:]
    assert len(set(found)) > 20
    assert (min(found) >= 1_000, max(found) < 1_500) == (True, True)
    stage.live(stage.run('{"schedule":{"batch_interval_ms":1}}'))
    assert stage.rows.intervals[-1] == "1 milliseconds"


def test_what_a_query_ended_by_is_told_unless_it_was_told_to_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage, broke = Stage(monkeypatch, tmp_path), RuntimeError("it broke")

    def look() -> None:
        raise broke

    stage.look = look
    stage.live(stage.run())
    one = stage.run()
    stage.live(one, lambda *_: one.stop())
    assert stage.ended == [broke, None]
