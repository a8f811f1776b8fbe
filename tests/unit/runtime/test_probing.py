"""A time is found in few looks, whatever cannot be read lies before, in and behind it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from components.runtime.kafka import append_times
from components.runtime.kafka.append_times import AppendTimes
from turbine_client import reading
from turbine_client.clients import place_of
from turbine_client.probing import ProbedOffset, Search, behind, first_since, probe
from turbine_client.settings import Settings

AT, BESIDE, OURS = "changes.base.v1/2", "operator.v1/0", "journal.v1/0"
Log = list[int | range | None]
"""What lies at each offset: its time, nothing (None), or the unread batch that it is of."""


def seen(log: Log, at: int) -> ProbedOffset | None:
    """The dumb twin of a client."""
    for offset in range(at, len(log)):
        one = log[offset]
        if isinstance(one, range):
            return ProbedOffset(one.start, None)
        if one is not None:
            return ProbedOffset(offset, one)
    return None


def run(search: Search, log: Log) -> tuple[int, int]:
    """What it finds, and in how many looks."""
    looks = 0
    try:
        offset = next(search)
        while True:
            looks += 1
            offset = search.send(seen(log, offset))
    except StopIteration as over:
        return over.value, looks


def naive(log: Log, at_ms: int) -> int:
    times = ((offset, one) for offset, one in enumerate(log) if isinstance(one, int))
    return next((offset for offset, one in times if one >= at_ms), len(log))


def spoilt(log: Log, *batches: range) -> Log:
    for batch in batches:
        for offset in batch:
            log[offset] = batch
    return log


LOGS: dict[str, Log] = {
    "empty": [],
    "one": [5],
    "gaps": [None, 5, None, None, 7, None],
    "nothing but gaps": [None] * 5,
    "spoilt alone": spoilt([None] * 5, range(2), range(2, 5)),
    "spoilt around": spoilt([*range(9)], range(2), range(4, 6), range(8, 9)),
    "many at once": [3] * 9 + [4] * 9,
}


@pytest.mark.parametrize("name", LOGS)
def test_each_time_is_found(name: str) -> None:
    log = LOGS[name]
    for at_ms in range(10):
        assert run(first_since(0, len(log), at_ms), log)[0] == naive(log, at_ms)


@pytest.mark.parametrize("seed", range(200))
def test_it_finds_what_its_dumb_twin_finds(seed: int) -> None:
    chance = random.Random(seed)
    log: Log = [*sorted(chance.randrange(30) for _ in range(chance.randrange(60)))]
    for offset in range(len(log)):
        log[offset] = None if chance.random() < 0.2 else log[offset]
    at = 0
    while at < len(log):
        end = min(len(log), at + chance.randrange(1, 6))
        if chance.random() < 0.3:
            spoilt(log, range(at, end))
        at = end
    for at_ms in range(31):
        assert run(first_since(0, len(log), at_ms), log)[0] == naive(log, at_ms)


def test_few_looks_are_enough() -> None:
    log: Log = [*range(1 << 16)]
    for at_ms in (1, 40_000, (1 << 16) - 1):
        assert run(first_since(0, len(log), at_ms), log)[1] <= 2 + 16
    for at_ms in (0, 1 << 16):
        assert run(first_since(0, len(log), at_ms), log)[1] <= 2
    # Of a batch that is left unread a few more; of so many in a row one each.
    assert run(first_since(0, len(log), 5), spoilt([*log], range(20_000, 50_000)))[1] <= 80
    bombs = spoilt([*log], *(range(at, at + 1) for at in range(30_000, 31_000)))
    assert run(first_since(0, len(log), 30_500), bombs)[1] <= 2_100


@pytest.mark.parametrize("length", [1, 2, 3, 400, 100_001])
@pytest.mark.parametrize("more", [0, 1, 7])
def test_a_batch_ends_where_its_answer_does(length: int, more: int) -> None:
    log = spoilt([None] * (length + more), range(length), range(length, length + more))
    end, looks = run(behind(0, 0, len(log)), log)
    assert end == length
    assert looks <= 2 * length.bit_length()


EOF = KafkaError(KafkaError._PARTITION_EOF)
BAD = KafkaError(KafkaError._BAD_COMPRESSION)
GONE = KafkaError(KafkaError._AUTO_OFFSET_RESET)


@dataclass(slots=True)
class Client:
    """Of places; it tells what lies next where each is assigned."""

    logs: Mapping[str, Log]
    deleted: int = 0
    at: dict[str, int] = field(default_factory=dict)
    silent: bool = False
    beside: list[Any] = field(default_factory=list)

    def assign(self, spots: list[TopicPartition]) -> None:
        self.at.clear()
        self.incremental_assign(spots)

    def incremental_assign(self, spots: list[TopicPartition]) -> None:
        self.at |= {place_of(one.topic, one.partition): one.offset for one in spots}

    def incremental_unassign(self, spots: list[TopicPartition]) -> None:
        for one in spots:
            del self.at[place_of(one.topic, one.partition)]

    def unassign(self) -> None:
        self.at.clear()

    def poll(self, _: float) -> Any:
        if self.silent:
            return None
        if self.beside:
            return self.beside.pop()
        at = next(reversed(self.at))
        if self.at[at] < self.deleted:
            return told(at, self.at[at], error=GONE)
        one = seen(self.logs[at], self.at[at])
        if one is None:
            return told(at, len(self.logs[at]), error=EOF)
        return told(at, one.offset, one.at_ms or 0, BAD if one.at_ms is None else None)

    def get_watermark_offsets(self, one: TopicPartition, timeout: float) -> tuple[int, int]:
        assert timeout > 0
        return 0, len(self.logs[place_of(one.topic, one.partition)])

    def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[Any]:
        """As the broker does it, which inflates what it has to look into."""
        assert timeout > 0
        return [self._offset(one) for one in asked]

    def _offset(self, one: TopicPartition) -> TopicPartition:
        at = place_of(one.topic, one.partition)
        log, ms = self.logs[at], one.offset
        if ms >= 0:
            assert at == OURS, f"the broker is asked for a time in {at}"
            found = naive(log, ms)
            ms = found if found < len(log) else -1
        else:
            ms = {-2: 0, -1: len(log)}[ms]
        return TopicPartition(one.topic, one.partition, ms)

    def list_topics(self, timeout: float) -> Any:
        assert timeout > 0
        topics = {
            name: SimpleNamespace(partitions=range(4))
            for name in ("turbine.changes.base.v1", "turbine.operator.v1", "turbine.journal.v1")
        }
        return SimpleNamespace(topics=topics)

    def close(self) -> None:
        """Left."""


def told(at: str, offset: int, at_ms: int = 0, error: KafkaError | None = None) -> Any:
    topic, _, partition = at.partition("/")
    said = {"topic": f"turbine.{topic}", "partition": int(partition), "offset": offset}
    said |= {"timestamp": (2, at_ms), "error": error}
    return SimpleNamespace(**{name: lambda one=one: one for name, one in said.items()})


LOG = LOGS["spoilt around"]


def test_places_are_looked_at_side_by_side_and_nothing_stays_assigned() -> None:
    coordinator = SimpleNamespace(
        error=lambda: KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED), topic=lambda: None
    )
    client: Any = Client({AT: LOG, BESIDE: [1, 2], OURS: []}, beside=[coordinator])
    searches = {at: first_since(0, len(log), 3) for at, log in client.logs.items()}
    assert probe(Settings(), client, searches) == {AT: 3, BESIDE: 2, OURS: 0}
    assert client.at == {}


def test_what_was_deleted_meanwhile_is_older() -> None:
    client: Any = Client({AT: [*range(100)]}, deleted=60)
    assert probe(Settings(), client, {AT: first_since(0, 100, 5)}) == {AT: 60}


def test_a_broker_that_is_silent_is_no_answer() -> None:
    client: Any = Client({AT: [1, 2]}, silent=True)
    with pytest.raises(KafkaException):
        probe(Settings(), client, {AT: first_since(0, 2, 5)})
    assert client.at == {}


def test_the_broker_is_asked_for_no_time_of_what_strangers_wrote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "consumer", lambda *_, **__: Client({AT: LOG, OURS: [2, 4, 6]}))
    assert reading.times_now(Settings(), [AT, OURS], 4) == {AT: 6, OURS: 1}
    assert reading.times_now(Settings(), [AT, OURS], 9) == {AT: 9, OURS: 3}


@pytest.mark.parametrize(
    ("offset", "by_ms", "known"),
    [
        (4, 3, True), (4, 2, False), (5, 3, True), (6, 3, True), (7, 3, False),
        (9, 7, True), (10, 7, None), (10, 6, False), (0, 0, True),
    ],
)  # fmt: skip
def test_what_an_author_could_have_read_is_asked_of_the_log(
    monkeypatch: pytest.MonkeyPatch, offset: int, by_ms: int, known: bool | None
) -> None:
    """What cannot be read has no time, and is no reason to void who has passed it by."""
    monkeypatch.setattr(append_times, "consumer", lambda *_, **__: Client({AT: LOG}))
    assert AppendTimes(Settings()).possible(AT, offset, by_ms) is known
