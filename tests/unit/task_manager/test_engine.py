"""The process engine as a child: its words, its end, and what becomes of what it was told."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.task_manager.engine import EngineProcess
from components.task_manager.place import hold
from tasks.core.protocol import REFUSED, Ended, Event, Left, RunLoads, WorkOrder
from tasks.deadline import Deadline
from tests.unit.task_manager.test_small_parts import work
from turbine_client.settings import Settings

MODULE = "tasks.process_engine.engine"
NOBODY = Settings(bootstrap="127.0.0.1:1", prefix="staging")


class Child:
    """An engine, and all that it has said."""

    def __init__(self, directory: Path) -> None:
        self.place = hold(directory, "c1")
        self.deadline = Deadline.create(self.place.deadline)
        self.engine = EngineProcess(MODULE, NOBODY, self.place, self.deadline)
        self.events: list[Event] = []

    def until(self, holds: Callable[[], object], what: str) -> None:
        limit = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < limit, what
            self.events += self.engine.hear()
            time.sleep(0.005)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    child = Child(tmp_path)
    yield child
    child.engine.end()
    os.close(child.place.lock)


def unfit(run: int, **more: object) -> WorkOrder:
    """A task that no process engine runs: what becomes of it needs no broker."""
    return work()._replace(run=run, **{"guarantee": "files", **more})


def test_what_it_cannot_run_is_refused_in_a_sentence(child: Child) -> None:
    child.engine.start(unfit(1))
    child.engine.start(unfit(2, guarantee="exactly_once", argv=("--fail-after", "x")))
    child.until(lambda: len(child.events) == 2, "both end")
    ended = sorted(one for one in child.events if isinstance(one, Ended))
    assert [(one.run, one.how, one.cause) for one in ended] == [
        (1, REFUSED, "refused"),
        (2, REFUSED, "refused"),
    ]
    assert "writes no files; use a topic" in ended[0].explanation
    assert "--fail-after is followed by a whole number" in ended[1].explanation


def test_it_is_handed_the_prefix_and_reads_no_log_of_it(child: Child) -> None:
    child.engine.start(work()._replace(run=3, inputs=(("staging.journal.v1", (0,)),)))
    child.until(lambda: child.events, "it ends")
    [ended] = child.events
    assert isinstance(ended, Ended)
    assert (ended.how, ended.cause) == (REFUSED, "reserved-topic")
    assert ended.explanation.endswith('name one that does not begin with "staging."')


def test_a_task_waits_for_the_lease_and_is_killed_when_told(child: Child) -> None:
    """The lease does not hold, so it has not spoken to anybody."""
    child.engine.start(work()._replace(run=5))
    child.engine.ask_loads()
    child.until(lambda: child.events, "it answers")
    [loads] = child.events
    assert isinstance(loads, RunLoads)
    assert list(loads.runs) == [5]
    assert loads.runs[5]["records_in"] == 0
    assert (loads.runs[5]["lag_records"], loads.runs[5]["checkpoint_age_ms"]) == (None, None)
    assert loads.partitions[5] == (Left("clicks", 0, read=0), Left("clicks", 1, read=0))
    assert (loads.runs[5]["memory_bytes"] or 0) > 0
    child.engine.kill(5)
    child.until(lambda: len(child.events) == 2, "it ends")
    ended = child.events[1]
    assert isinstance(ended, Ended)
    assert (ended.how, ended.cause) == ("failed", "killed")
    assert "signal 9" in ended.explanation


def test_orders_about_what_has_ended_are_nobodys(child: Child) -> None:
    child.engine.stop(9)
    child.engine.kill(9)
    child.engine.start(unfit(1))
    child.until(lambda: child.events, "it goes on")


def test_its_end_is_seen_and_nothing_of_it_is_left(child: Child) -> None:
    child.until(lambda: child.engine.ready, "it is ready")
    assert child.engine.ended() is None
    assert child.deadline.groups == [child.engine.pid]
    os.kill(child.engine.pid, signal.SIGKILL)
    child.until(child.engine.ended, "its end is seen")
    assert child.engine.ended() == "it ended by signal 9"
    child.engine.start(unfit(1))  # nobody hears it, and nobody is hurt
    child.engine.end()
    assert child.deadline.groups == []
    with pytest.raises(ProcessLookupError):
        os.killpg(child.engine.pid, 0)


def test_nobody_waits_for_an_engine_that_does_not_read(child: Child) -> None:
    child.until(lambda: child.engine.ready, "it is ready")
    os.kill(child.engine.pid, signal.SIGSTOP)
    for run in range(60):
        child.engine.start(unfit(run, checkpoint="/c" * 2_000))  # more than a pipe takes
    os.kill(child.engine.pid, signal.SIGCONT)
    child.until(lambda: len(child.events) == 60, "all were heard")


def test_it_goes_when_its_supervisor_closes_the_pipe(child: Child) -> None:
    child.until(lambda: child.engine.ready, "it is ready")
    child.engine._child.stdin.close()  # type: ignore[union-attr]  # it has one
    child.until(child.engine.ended, "it ends")
    assert child.engine.ended() == "it ended with code 0"
