"""What a reader of one job's places makes of decisions that rest on places of other jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from components.runtime.kafka.intake import Message
from events.topics import JOURNAL, partition_of, place
from events.wire.codec import Read, headers_of
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from turbine.read.sources.log import Log
from turbine.read.state.replaying import Replay

PARTITIONS = 4
AT = partition_of("clicks", PARTITIONS)
ELSEWHERE = place(JOURNAL, (AT + 1) % PARTITIONS)


class AppendTimes:
    """All that is claimed could be known."""

    def possible(self, *_: object) -> bool:
        return True

    def close(self) -> None:
        """Nothing was opened."""


class Shelf:
    """A log with one job in one of its partitions."""

    name = "the shelf"

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages

    def counts(self) -> dict[str, int]:
        return {JOURNAL: PARTITIONS}

    def ends(self, places: list[str]) -> dict[str, int]:
        return {at: len(self.messages) if at == place(JOURNAL, AT) else 9 for at in places}

    def starts(self, places: list[str]) -> dict[str, int]:
        return dict.fromkeys(places, 0)

    def append_times(self) -> AppendTimes:
        return AppendTimes()

    def spans(
        self, spans: Mapping[str, tuple[int, int | None]], **_: object
    ) -> Iterator[list[Message]]:
        for at, (first, end) in spans.items():
            if at == place(JOURNAL, AT):
                yield self.messages[first:end]


def message_of(read: Read) -> Message:
    """As it lies there, resting on what another job's place has."""
    record = replace(read.record, evidence={ELSEWHERE: 7})
    headers: Any = list(headers_of(record, JOURNAL))
    return Message(JOURNAL, AT, read.offset, NOW, b"clicks", record.value, headers)


def shelf() -> Any:
    """Two decisions about the job: it is made, and then has other tasks."""
    journal = Journal()
    journal.propose(CLICKS)
    journal.propose({"tasks": 4})
    return Shelf([message_of(one.read) for one in journal.decisions])


def test_a_decision_that_rests_on_other_jobs_is_not_held_back() -> None:
    """As of the auto scaler, once its tier's room was shared out among all jobs."""
    job = Log(source=shelf()).job("clicks")
    assert job is not None
    assert job.layers[0].version == 2


def test_nor_is_it_where_the_history_of_one_job_is_played() -> None:
    replay = Replay(Log(source=shelf()), "clicks")
    assert [one.stands for one in replay.happenings()] == [True, True]
