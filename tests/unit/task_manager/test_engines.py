"""Several engines as one: who is told what, and what becomes of a task with its own process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from components.task_manager.core.hosting import ENGINE_DIED
from components.task_manager.engines import Engines
from tasks.core.protocol import (
    FAILED,
    STOPPED,
    Ended,
    Event,
    Left,
    RunLoads,
    Started,
    WorkOrder,
)
from tasks.deadline import GROUPS_MOST
from tests.unit.task_manager.test_small_parts import work

ALONE = json.dumps({"isolation": "process"})


@dataclass(slots=True)
class Told:
    """An engine that remembers, and says what it is given."""

    of: WorkOrder | None
    orders: list[tuple[str, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ready: bool = True
    over: str | None = None
    gone: bool = False

    def start(self, work: WorkOrder) -> None:
        self.orders.append(("start", work.run))

    def stop(self, run: int) -> None:
        self.orders.append(("stop", run))

    def kill(self, run: int) -> None:
        self.orders.append(("kill", run))

    def ask_loads(self) -> None:
        self.orders.append(("loads", 0))

    def hear(self) -> list[Event]:
        found, self.events = self.events, []
        return found

    def ended(self) -> str | None:
        return self.over

    def end(self) -> None:
        self.gone = True


class Scene:
    """All engines that were ever made."""

    def __init__(self) -> None:
        self.made: list[Told] = []
        self.engines = Engines(self._make)
        self.engines.begin()

    def _make(self, work: WorkOrder | None) -> Told:
        self.made.append(Told(work))
        return self.made[-1]

    def start(self, run: int, config: str = "") -> None:
        self.engines.start(work()._replace(run=run, config_json=config))


def both() -> Scene:
    """One task that shares, and one that does not."""
    scene = Scene()
    scene.start(1)
    scene.start(2, ALONE)
    return scene


def test_a_task_has_a_process_of_its_own_where_it_asks_for_one() -> None:
    scene = both()
    shared, own = scene.made
    scene.engines.stop(1)
    scene.engines.stop(2)
    assert shared.orders == [("start", 1), ("stop", 1)]
    assert own.orders == [("start", 2), ("stop", 2)]
    assert own.of is not None
    assert own.of.run == 2


def test_its_process_goes_with_it() -> None:
    scene = both()
    shared, own = scene.made
    own.events = [Started(2, ()), Ended(2, STOPPED)]
    assert scene.engines.hear() == [Started(2, ()), Ended(2, STOPPED)]
    assert (own.gone, shared.gone) == (True, False)
    scene.engines.stop(2)
    assert own.orders == [("start", 2)], "it is nobody's any more"


def test_its_end_is_told_as_the_tasks_and_of_no_other() -> None:
    scene = both()
    _, own = scene.made
    own.over = "it ended by signal 9"
    assert scene.engines.hear() == [
        Ended(2, FAILED, ENGINE_DIED, "its engine: it ended by signal 9")
    ]
    assert own.gone
    assert scene.engines.ended() is None
    assert scene.engines.hear() == []


def test_to_kill_it_is_to_end_its_process() -> None:
    scene = both()
    shared, own = scene.made
    scene.engines.kill(1)
    scene.engines.kill(2)
    assert shared.orders[-1] == ("kill", 1)
    assert own.gone
    assert scene.engines.hear() == [Ended(2, FAILED, "killed", "its process was killed")]


def test_loads_of_all_are_one_answer() -> None:
    """Who has not answered by the next question is not waited for."""
    scene = both()
    shared, own = scene.made
    left = (Left("clicks", 0, 3),)
    scene.engines.ask_loads()
    shared.events = [RunLoads({1: {"records_in": 5}}, {1: left})]
    assert scene.engines.hear() == []
    own.events = [RunLoads({2: {"records_in": 7}})]
    assert scene.engines.hear() == [
        RunLoads({1: {"records_in": 5}, 2: {"records_in": 7}}, {1: left})
    ]
    scene.engines.ask_loads()
    shared.events = [RunLoads({1: {"records_in": 6}})]
    assert scene.engines.hear() == []
    scene.engines.ask_loads()
    assert scene.engines.hear() == [RunLoads({1: {"records_in": 6}})]


def test_who_ends_is_not_waited_for() -> None:
    scene = both()
    shared, own = scene.made
    scene.engines.ask_loads()
    shared.events = [RunLoads({1: {}})]
    own.over = "it ended with code 1"
    ended, loads = scene.engines.hear()
    assert isinstance(ended, Ended)
    assert loads == RunLoads({1: {}})


def test_there_are_so_many_at_most() -> None:
    scene = Scene()
    for run in range(1, GROUPS_MOST + 1):
        scene.start(run, ALONE)
    assert len(scene.made) == GROUPS_MOST
    [ended] = scene.engines.hear()
    assert isinstance(ended, Ended)
    assert (ended.run, ended.cause) == (GROUPS_MOST, "no-process-left")
    assert ended.explanation.startswith("the container has 63 tasks with a process of their own")


def test_the_shared_one_ends_and_begins_anew_beside_the_others() -> None:
    scene = both()
    shared, own = scene.made
    shared.over = "it ended by signal 9"
    assert scene.engines.ended() == "it ended by signal 9"
    scene.engines.end_shared()
    assert (shared.gone, own.gone) == (True, False)
    assert (scene.engines.live, scene.engines.ready, scene.engines.alone) == (False, False, {2})
    for order in (scene.engines.stop, scene.engines.kill):
        order(1)  # its task is gone with it
    scene.engines.begin()
    assert scene.engines.ready
    scene.start(3)
    assert scene.made[-1].orders == [("start", 3)]


def test_all_end_together() -> None:
    scene = both()
    scene.engines.end()
    assert all(one.gone for one in scene.made)
