"""What a container says of its life, and when: beats, its start until it is heard, all of it again
each hour of its tier."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from immutables import Map

from components.task_manager.agents import TaskManager
from components.task_manager.core.due import Due
from events.generated.records import (
    Body,
    ContainerReassigned,
    ContainerStarted,
    Generation,
    ShardAdded,
    ShardDropped,
    TierDefined,
)
from events.topics import CONTAINERS, TASKS
from events.wire.codec import Read, Record, encode
from projections import hold
from projections.hold import ContainerHold, DesiredShard, Tenancy
from projections.timing import Timing
from tests.unit.runtime.test_following import some
from tests.unit.task_manager.scenes import Scene

HOUR_MS = Timing().again_ms


class Desk:
    """A life whose words are written down, with what it has read."""

    def __init__(self, settings: str = "{}") -> None:
        self.said: list[str] = []
        self.facts: list[Body] = []
        self.kept: list[tuple[int, Tenancy | None]] = []  # for the next life
        self.row = ContainerHold("c1", 1)
        self.scene = Scene()
        pulse = SimpleNamespace(
            drop_failures=lambda: None,
            start=lambda epoch: self.said.append(f"start {epoch}"),
            keep=lambda epoch, told: self.kept.append((epoch, told)),
            belong=lambda told: self.said.append(f"{told.tier} by {told.number}"),
            beat=lambda *_: self.said.append("beat"),
        )
        known = SimpleNamespace(
            hold=self.row, catalogue=self.scene.catalogue, tier="default", vector=lambda _: {}
        )
        reader = SimpleNamespace(caught_up=True, seen=lambda _: 0)
        voice = SimpleNamespace(say=lambda *words: self.facts.append(words[2]))
        self.one: Any = object.__new__(TaskManager)  # without processes and without a broker
        self.one._pulse, self.one._known, self.one._host = pulse, known, self.scene.host
        self.one._reader, self.one._voice, self.one._due = reader, voice, Due(0)
        self.one.epoch, self.one._state, self.one._told = 1, "frozen", False
        self.hears(TierDefined("default", 4, (), settings))

    def hears(self, body: Body) -> None:
        record = Record("c1", "", type(body).__name__, encode(body), body)
        self.row = hold.fold(self.row, Read("containers.v1/0", "containers.v1", 0, 5, record))
        self.one._known.hold = self.row

    def at(self, now_ms: int) -> list[str]:
        """What it says of its life then."""
        self.said.clear()
        self.one._beat(now_ms)
        return list(self.said)


def heard(settings: str = "{}") -> Desk:
    desk = Desk(settings)
    assert desk.at(0) == ["start 1", "beat"]
    assert desk.at(6_000) == ["start 1", "beat"], "it may have got lost"
    desk.hears(ContainerStarted("c1", 1, "default", "local", ()))
    assert desk.at(12_000) == ["beat"]
    return desk


def test_it_says_each_hour_that_it_lives() -> None:
    desk = heard()
    assert desk.at(HOUR_MS - 1) == ["beat"]
    assert desk.at(HOUR_MS + 5_000) == ["start 1", "beat"]
    assert desk.at(HOUR_MS + 10_000) == ["beat"]
    assert desk.at(2 * HOUR_MS + 5_000) == ["start 1", "beat"]


def test_it_keeps_each_hour_what_the_next_life_begins_with() -> None:
    """It says how far the partition of lives was read: from there the next one reads on."""
    desk = heard()
    before = len(desk.kept)
    desk.hears(ContainerReassigned("c1", "rich", 3, "d", "why"))
    desk.at(HOUR_MS + 5_000)
    assert desk.kept[before:] == [(1, Tenancy(3, "rich", "d", "why"))]


def test_the_hour_is_the_tiers() -> None:
    desk = heard('{"time_per_mille":100}')
    assert desk.at(HOUR_MS // 10 - 1) == ["beat"]
    assert desk.at(HOUR_MS // 10 + 500) == ["start 1", "beat"]


def test_it_says_again_which_tier_has_it_and_what_it_gave_up() -> None:
    desk = heard()
    desk.hears(ContainerReassigned("c1", "rich", 3, "d", "why"))
    desk.scene.wishes = Map({2: DesiredShard(5, False)})
    [dropped] = desk.scene.settle()
    assert desk.at(HOUR_MS + 5_000) == ["start 1", "rich by 3", "beat"]
    assert desk.facts == [dropped]
    assert isinstance(dropped, ShardDropped)


def test_what_it_says_of_tasks_and_shards_names_what_it_rests_on() -> None:
    desk, said = heard(), list[Any]()
    desk.one._voice = SimpleNamespace(say=lambda *words: said.append(words))
    desk.one._reader = SimpleNamespace(seen=lambda _: 7)
    desk.one._known.vector = lambda job: {"journal.v1/3": 40} if job == "clicks" else {}
    started = some("TaskStarted", job="clicks", generation=Generation(1, 1))
    added = ShardAdded("c1", 1, "default", 2, 5)
    desk.one._say([started, added])
    assert said == [
        (TASKS, "clicks", started, {"journal.v1/3": 40}),
        (CONTAINERS, "c1", added, {"tiers.v1/0": 7}),
    ]
