"""A publisher on a broker of fakes: what one transaction has, and where the next one goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from components.publisher import agents
from components.publisher.agents import OutcomePublisher
from components.runtime.core.ground import Ground
from components.runtime.core.step import ROOT
from components.runtime.core.store import Restored
from components.runtime.faust.rows import Opened
from components.runtime.kafka.intake import Message
from events.generated.records import AlertRaised, Body, JobDeleted, LayerVersions
from events.topics import ALERTS, JOURNAL, OUTCOMES, TIERS, partition_of, place
from events.wire.codec import Record, encode, headers_of
from turbine_client.identity import decision_id
from turbine_client.settings import Settings

PARTITIONS = 4
TIER = "default/capacity"
SHORT = AlertRaised("default", "tier-short", "critical", "too little", "docs/runbooks/x.md")


def gone(job: str) -> JobDeleted:
    return JobDeleted(job, "1.x", LayerVersions(1, 0, 0, 0), "ana", "over")


class Desk:
    """The log and the broker."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: dict[str, list[Message]] = {}
        self.last: dict[tuple[str, str], str] = {}
        self.committed: dict[str, int] = {}
        self.seen: dict[int, dict[str, int]] = {}
        self.told: list[tuple[str, int, str]] = []
        self._under_way: list[tuple[str, int, str]] = []
        self._offsets: dict[str, int] = {}
        self._at: dict[str, int] = {}
        for name, fake in {
            "partitions_for": lambda *_: PARTITIONS,
            "transactional": lambda *_, **__: self,
            "Emitter": lambda *_, **__: self,
            "consumer": lambda *_, **__: self,
            "AppendTimes": lambda _: self,
            "KeptRows": lambda *_, **__: self,
            "Surveyor": lambda _: self,
            "TopicWatch": lambda *_, **__: self,
            "Follower": self._follower,
            "committed_now": lambda *_, **__: self._positions(),
            "ends_now": lambda _, places: dict.fromkeys(places, 0),
            "read_span": self._read_span,
        }.items():
            monkeypatch.setattr(agents, name, fake)

    build = "build"

    def says(self, topic: str, key: str, body: Body) -> str:
        """A decision that stands; its id."""
        partition = 0 if topic == TIERS else partition_of(key, PARTITIONS)
        parent, value = self.last.get((topic, key), ROOT), encode(body)
        name = decision_id(parent, key, type(body).__name__, value)
        record = Record(key, name, type(body).__name__, value, body, parent, source="it")
        lines = self.log.setdefault(place(topic, partition), [])
        headers: Any = headers_of(record, topic)
        lines.append(Message(topic, partition, len(lines), 5_000, key.encode(), value, headers))
        self.last[topic, key] = name
        return name

    # --- as the ground, as rows and as a reader

    def wait(self, places: Iterable[str]) -> Ground:
        return Ground(ends={at: len(self.log.get(at, [])) for at in places})

    def stand(self, *_: object) -> None: ...

    def claim(self, partitions: range) -> range:
        return partitions

    def open(self, claims: range) -> dict[int, Opened[None]]:
        return {p: Opened(0, Restored(seen=dict(self.seen.get(p, {})))) for p in claims}

    def write(self, partition: int, entry: Any) -> None: ...

    def possible(self, *_: object) -> bool:
        return True

    def _positions(self) -> dict[str, int]:
        places = [place(JOURNAL, p) for p in range(PARTITIONS)] + [place(TIERS, 0)]
        return {at: self.committed.get(at, 0) for at in places}

    def _read_span(self, _: object, spans: Mapping[str, Any]) -> Iterator[list[Message]]:
        for at, (first, end) in spans.items():
            yield self.log.get(at, [])[first:end]

    def _follower(self, _: object, start: Mapping[str, int]) -> Desk:
        self._at = dict(start)
        return self

    def poll(self, *_: object) -> list[Message]:
        found = []
        for at in sorted(self._at):
            found += self.log.get(at, [])[self._at[at] :]
            self._at[at] = max(self._at[at], len(self.log.get(at, [])))
        return found

    # --- as a producer of transactions

    def init_transactions(self, *_: object) -> None: ...

    def settle(self) -> None: ...

    def consumer_group_metadata(self) -> None: ...

    def begin_transaction(self) -> None:
        self._under_way, self._offsets = [], {}

    def say(self, topic: str, partition: int, record: Record) -> None:
        self._under_way.append((topic, partition, record.id))

    def send_offsets_to_transaction(self, spots: Any, *_: object) -> None:
        for one in spots:
            self._offsets[f"{one.topic.removeprefix('turbine.')}/{one.partition}"] = one.offset

    def commit_transaction(self, *_: object) -> None:
        self.told += self._under_way
        self.committed |= self._offsets


def test_tiers_and_journal_are_told_and_their_positions_are_one_transactions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(monkeypatch)
    one = OutcomePublisher(Settings())
    alert, job = desk.says(TIERS, TIER, SHORT), desk.says(JOURNAL, "clicks", gone("clicks"))
    one.turn()
    assert sorted(desk.told) == [
        (ALERTS, partition_of(TIER, PARTITIONS), alert),
        (OUTCOMES, partition_of("clicks", PARTITIONS), job),
    ]
    assert desk.committed["tiers.v1/0"] == 1
    assert desk.committed[place(JOURNAL, partition_of("clicks", PARTITIONS))] == 1


def test_the_next_one_goes_on_where_it_was_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And knows what stands by what lies before, which it tells to nobody."""
    desk = Desk(monkeypatch)
    desk.says(TIERS, TIER, SHORT)
    OutcomePublisher(Settings()).turn()
    told = list(desk.told)
    second = desk.says(TIERS, TIER, SHORT)
    OutcomePublisher(Settings()).turn()
    assert desk.told == [*told, (ALERTS, partition_of(TIER, PARTITIONS), second)]
    assert desk.committed["tiers.v1/0"] == 2


def test_where_the_groups_positions_are_gone_the_rows_tell_what_was_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(monkeypatch)
    desk.says(TIERS, TIER, SHORT)
    desk.seen[0] = {"tiers.v1/0": 1}
    OutcomePublisher(Settings()).turn()
    assert desk.told == []
