"""Views of a log that goes on: what is decided is told, and a broker that is away ends nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.runtime.core.store import Restored
from components.runtime.kafka.intake import Message
from events.topics import JOURNAL
from events.wire.codec import SKIPPED
from infra.waiting import until, within
from tests.conftest import Fleet
from tests.unit.turbine.lines import run
from turbine.read.sources.log import Log, journal_view
from turbine.read.state import framed
from turbine.read.state import live as module
from turbine.read.state.decisions import DecisionFilter
from turbine.read.state.fold_start import JOBS
from turbine.read.state.framed import FramedLog, rows_before
from turbine.read.state.live import LiveLog
from turbine.read.state.looking import look_up
from turbine_client.publish import Accepted, Publisher
from turbine_client.reading import Follower, LogUnreadable

pytestmark = pytest.mark.broker

WAIT_S = within(60.0)
CONFIG = {
    "operator": "views.views:run",
    "inputs": [{"topic": "views"}],
    "package": {"name": "views", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
}


def changed(fleet: Fleet, job: str, config: dict[str, object]) -> int:
    """The change's offset in the job's partition."""
    with Publisher(fleet.settings, author="views") as publisher:
        verdict = publisher.change(job, config, create=True, wait_s=WAIT_S)
    assert isinstance(verdict, Accepted), verdict
    found = Log(fleet.settings).decisions(job=job)[-1].read
    return found.offset


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "views"


def test_what_is_decided_is_told_and_the_past_stays_as_it_was(
    fleet: Fleet, directory: Path
) -> None:
    live = LiveLog(fleet.settings, directory)
    try:
        assert live.ready(WAIT_S)
        before = live.view()
        changed(fleet, "views-live", CONFIG)
        until(lambda: "views-live" in live.view().jobs, "it is told")
        view = live.wait(before.at, WAIT_S)
        assert view is not None
        log = Log(fleet.settings)
        job = log.job("views-live")
        until(lambda: live.view().jobs["views-live"].job == job, "it is told")
        assert "views-live" not in live.at(before.at).jobs
        spots, _ = live.decisions.page(DecisionFilter(job="views-live"), 10)
        decisions = look_up(log, spots)
        assert [one.read.record.kind for one in decisions] == ["JobConfigChanged"]
        assert decisions[0].read.record.body not in (None, SKIPPED)
        assert decisions == log.decisions(job="views-live")
        found = live.decisions.find(decisions[0].read.record.id)
        assert found is not None
        assert found.key == "views-live"
        until(lambda: live.progress().behind is not None, "it is told")
        assert live.progress().trouble == ""
    finally:
        live.close()


def test_who_starts_again_goes_on_from_what_was_kept(fleet: Fleet, directory: Path) -> None:
    first = LiveLog(fleet.settings, directory)
    try:
        assert first.ready(WAIT_S)
    finally:
        first.close()
    kept = first.view()
    changed(fleet, "views-again", CONFIG)
    again = LiveLog(fleet.settings, directory)
    try:
        assert again.cache.frames, "it was not thrown away"
        until(lambda: "views-again" in again.view().jobs, "it is told")
        assert set(again.at(kept.at).jobs) == set(kept.jobs)
        assert again.view().jobs["views-again"].job == Log(fleet.settings).job("views-again")
    finally:
        again.close()


def test_commands_about_the_past_begin_from_frames_and_say_the_same(
    fleet: Fleet, tmp_path: Path
) -> None:
    settings = replace(fleet.settings, directory=tmp_path)
    live = LiveLog(settings)
    changed(fleet, "views-past", CONFIG)
    until(lambda: "views-past" in live.view().jobs, "it is told")
    live.close()
    changed(fleet, "views-past", {"tasks": 2})
    end = Log(settings).ends(Log(settings).places([JOURNAL]))
    kept = rows_before(Log(settings), JOBS, journal_view, end, worth=0)
    assert "views-past" in kept.held
    plain = Log(settings).jobs(end=end)
    assert plain["views-past"].versions.base == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(framed.rows_before, "__defaults__", (0,))
        assert FramedLog(settings).jobs(end=end) == plain
    (tmp_path / "views" / "rows").write_bytes(b"")
    assert rows_before(Log(settings), JOBS, journal_view, end, worth=0) == Restored()


@pytest.mark.parametrize(
    "line",
    ["get syncs", "get syncs --job views-line", "get tasks", "describe job views-line", "get lag"],
)
def test_a_command_says_the_same_from_a_frame(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("TURBINE_DIRECTORY", str(tmp_path))
    live = LiveLog(replace(fleet.settings, directory=tmp_path))
    changed(fleet, "views-line", CONFIG)
    until(lambda: "views-line" in live.view().jobs, "it is told")
    live.close()
    changed(fleet, "views-line", {"tasks": 2})
    then = datetime.fromtimestamp(time.time(), UTC).isoformat()  # all of the above lies before
    begun = list[bool]()

    nearest = framed._frame

    @contextmanager
    def looked_for(log: Log, end: Mapping[str, int], topics: Any, _: int) -> Iterator[Any]:
        with nearest(log, end, topics, 0) as found:  # whatever it is worth
            begun.append(found is not None)
            yield found

    words = ["--bootstrap", fleet.settings.bootstrap, *line.split(), "--at", then, "-o", "json"]
    plain = run(*words)
    monkeypatch.setattr(framed, "_frame", looked_for)
    assert run(*words) == plain
    assert begun == [True] * len(begun)
    assert begun
    assert "views-line" in plain.out


def test_a_broker_that_is_away_is_told_of_and_waited_for(
    fleet: Fleet, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(Follower):
        def poll(self, timeout_s: float, most: int = 1) -> list[Message]:
            raise LogUnreadable("the broker is away")

    monkeypatch.setattr(module, "Follower", Away)
    live = LiveLog(fleet.settings, directory)
    try:
        assert live.ready(WAIT_S)
        until(lambda: live.progress().trouble == "the broker is away", "it is told")
        assert live.progress().since_ms > 0
        assert live.view().jobs, "what was read so far is still told"
        changed(fleet, "views-away", CONFIG)
        monkeypatch.undo()
        until(lambda: "views-away" in live.view().jobs, "it is told")
        until(lambda: live.progress().trouble == "", "it is told")
    finally:
        live.close()
