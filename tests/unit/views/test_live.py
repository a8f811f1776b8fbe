"""What is asked of a log that lies in memory: now, at any instant, over time; threads end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws.played import log_of
from turbine.read.sources.held import topics_of
from turbine.read.state.decisions import CLASSES, DecisionFilter
from turbine.read.state.live import LiveLog
from turbine.read.state.looking import look_up
from turbine.read.state.past import view_at

WAIT_S = 60.0


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveLog]:
    found = LiveLog(log=log_of(2), directory=tmp_path)
    assert found.ready(WAIT_S)
    yield found
    found.close()
    assert not [one for one in threading.enumerate() if one.name == "views"]


def test_all_of_it_is_told(live: LiveLog) -> None:
    log = live.log
    view = view_at(log, log.source.ends(log.places(topics_of(log))))
    now = live.view()
    assert (dict(now.jobs), now.alerts, now.at_ms) == (dict(view.jobs), view.alerts, view.at_ms)
    assert live.progress().trouble == ""
    assert live.progress().behind == 0
    assert live.wait({}, 0.0) is now
    assert live.wait(now.at, 0.0) is None


def test_an_instant_is_told_by_time_and_by_position(live: LiveLog) -> None:
    now = live.view()
    assert live.at(now.at_ms) is now
    assert live.at(now.at) is now
    before = live.at(now.at_ms - 60_000)
    assert before.at_ms <= now.at_ms - 60_000
    assert before.records < now.records
    assert live.at(before.at).digest == before.digest != now.digest


def test_the_decisions_are_what_the_log_says_with_what_stands(live: LiveLog) -> None:
    name = max(live.view().jobs.values(), key=lambda one: one.notes.decisions).job.name
    theirs = live.log.decisions(job=name)
    assert len(theirs) > 3
    first, rest = live.decisions.page(DecisionFilter(job=name), 2)
    others, end = live.decisions.page(DecisionFilter(job=name), 1_000, rest)
    assert look_up(live.log, [*first, *others][::-1]) == theirs
    assert end == ""
    spot = live.decisions.find(theirs[0].read.record.id)
    assert spot is not None
    assert spot.position == f"{theirs[0].read.place}:{theirs[0].read.offset}"
    assert all(not one.stands for one in live.decisions.page(DecisionFilter(void=True), 1_000)[0])
    told = live.decisions.markers(0, live.view().at_ms + 1, 3)
    every, _ = live.decisions.page(DecisionFilter(), 10_000)
    assert sum(sum(told[name]) for name in CLASSES) == len(every)


def test_a_series_covers_what_was_reported(live: LiveLog) -> None:
    view = live.view()
    end_ms = view.at_ms + 60_000
    tasks = {name: live.series(name, 0, end_ms, 1)["tasks"] for name in view.jobs}
    name = next(name for name, some in tasks.items() if some != [None])
    told = live.series(name, end_ms - 1_800_000, end_ms, 30)
    assert len(told["t_ms"]) == 30
    assert any(one is not None for one in told["rate_in"])
