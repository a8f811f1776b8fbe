"""What the log tells of syncs: of all topics that tell it, in causal order, up to a position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from events.generated.records import (
    Body,
    Generation,
    JobConfigChanged,
    LayerVersions,
    PauseRequested,
    SyncCommitted,
    TaskStarted,
)
from events.topics import JOURNAL, OPERATOR, TASKS, place
from events.wire.codec import Read, Record, encode
from tests.unit.turbine.decided import NOW
from turbine.read.sources.source import BrokerSource
from turbine.read.state.framed import FramedLog
from turbine.read.state.running import Sightings
from turbine_client.identity import change_id, decision_id
from turbine_client.settings import Settings


class Anything:
    """Stands in for what a broker knows of when offsets came to be."""

    def __init__(self, _: Settings) -> None:
        self.closed = False

    def possible(self, *_: object) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.runtime.kafka.origin.AppendTimes", Anything)


ASKED = change_id(NOW + 60_000, "p")


class Told(FramedLog):
    """A log in memory: the journal is read first, as a slow topic of facts may make it."""

    def __init__(self, topics: Iterable[str] = (JOURNAL, TASKS, OPERATOR)) -> None:
        self.source = BrokerSource(Settings())
        self.counts = dict.fromkeys(topics, 1)
        self.lines: dict[str, list[Read]] = {JOURNAL: [], TASKS: [], OPERATOR: []}
        self.last = "root"

    def tell(self, topic: str, body: Body, name: str = "", evidence: tuple[str, ...] = ()) -> None:
        value, kind, line = encode(body), type(body).__name__, self.lines[topic]
        parent = self.last if topic == JOURNAL else ""
        record = Record(
            "clicks",
            decision_id(parent, "clicks", kind, value) if parent else name,
            kind,
            value,
            body,
            parent=parent,
            evidence={place(one, 0): len(self.lines[one]) for one in evidence},
            cause=getattr(body, "change_id", None) or "",
        )
        self.last = record.id if parent else self.last
        line.append(Read(place(topic, 0), topic, len(line), NOW, record))

    def read(self, topics: Iterable[str], *, end: Any = None, **_: Any) -> Iterator[Read]:
        for topic in sorted(topics, key=list(self.lines).index):
            yield from self.lines[topic][: None if end is None else end.get(place(topic, 0), 0)]


def paused(log: Told) -> Told:
    """A job that runs, as its task says, and that an operator pauses."""
    one = LayerVersions(1, 0, 0, 0)
    log.tell(JOURNAL, JobConfigChanged("clicks", "base", "9.a", 1, one, "{}", "{}", "ana", ""))
    log.tell(TASKS, TaskStarted("clicks", 0, Generation(2, 1), "c1", 1), "t0")
    commit = SyncCommitted("clicks", "p", "complex", one, 2, "{}", "running", 1)
    log.tell(JOURNAL, commit, evidence=(TASKS,))
    log.tell(OPERATOR, PauseRequested(ASKED, "clicks", "ana", "x"), ASKED)
    commit = SyncCommitted("clicks", "q", "complex", one, 4, "{}", "paused", 1, ASKED, held=True)
    log.tell(JOURNAL, commit, evidence=(OPERATOR,))
    return log


def test_decisions_are_read_with_what_they_rest_on() -> None:
    sightings = Sightings()
    sync = paused(Told()).syncs(observer=sightings)["clicks"]
    assert sync.running is not None
    assert (sync.running.state, sync.held) == ("paused", True)
    assert sightings.seen("clicks", 0, sync.tasks[0]) == ("c1", 1, NOW)


def test_a_position_names_what_is_read() -> None:
    end = {place(JOURNAL, 0): 2, place(TASKS, 0): 1}
    sync = paused(Told()).syncs(end=end)["clicks"]
    assert sync.running is not None
    assert (sync.running.state, sync.held, list(sync.tasks)) == ("running", False, [0])


def test_a_topic_that_no_position_names_or_that_is_not_there_is_not_waited_for() -> None:
    for log, end in ((paused(Told()), {place(JOURNAL, 0): 2}), (paused(Told([JOURNAL])), None)):
        sync = log.syncs(job="clicks", end=end)["clicks"]
        assert sync.running is not None
        assert list(sync.tasks) == []
