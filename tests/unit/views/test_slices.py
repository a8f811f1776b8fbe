"""The log in the order of its times: whole, in slices that are bounded, none before the last."""

from __future__ import annotations

import pytest

from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import FEW, RECORD_BYTES, SIP_BYTES, small_fetches
from events.topics import BY_SHORT, place
from turbine.read.sources.held import HeldSource
from turbine.read.sources.log import Log
from turbine.read.sources.slices import in_time

PLACES = [place("journal.v1", partition) for partition in range(3)]


def log_of(times: list[list[int]]) -> Log:
    """Of each partition the append times of its records."""
    messages = [
        Message("journal.v1", partition, offset, at_ms, b"k", b"v", None)
        for partition, some in enumerate(times)
        for offset, at_ms in enumerate(some)
    ]
    return Log(source=HeldSource(messages, dict.fromkeys(BY_SHORT, 3)))


def slices(log: Log, most: int, start: int = 0) -> list[list[Message]]:
    end = log.source.ends(PLACES)
    return [*in_time(log, dict.fromkeys(PLACES, start), end, most)]


@pytest.mark.parametrize("most", [1, 7, 50, 299, 300, 1000])
def test_slices_are_whole_bounded_and_in_order(most: int) -> None:
    log = log_of([[1_000 * at + 7 * part for at in range(100)] for part in range(3)])
    found = slices(log, most)
    assert max(len(one) for one in found) <= most
    every = [message for one in found for message in one]
    assert len({(one.place, one.offset) for one in every}) == len(every) == 300
    times = [one.at_ms for one in every]
    assert times == sorted(times)


def test_so_many_at_one_instant_are_one_slice() -> None:
    log = log_of([[5] * 40, [5] * 40, [9]])
    assert [len(one) for one in slices(log, 10)] == [80, 1]


def test_uneven_times_and_a_start_in_the_middle() -> None:
    log = log_of([[1, 2, 3], list(range(1_000_000, 1_000_060)), [10**12]])
    found = slices(log, 20, start=1)
    assert sum(map(len, found)) == 2 + 59
    assert max(map(len, found)) <= 20


def test_records_of_a_place_stay_in_their_order_whatever_their_times_say() -> None:
    log = log_of([[9, 3, 4], [5], []])
    (one,) = slices(log, 100)
    assert [(m.place, m.offset) for m in one] == [
        ("journal.v1/1", 0),
        ("journal.v1/0", 0),
        ("journal.v1/0", 1),
        ("journal.v1/0", 2),
    ]


def test_nothing_is_nothing() -> None:
    assert slices(log_of([[], [], []]), 10) == []


def test_few_records_are_fetched_in_sips_and_many_as_they_come() -> None:
    few = small_fetches({"journal.v1/0": (0, FEW - 1)})
    assert few["fetch.message.max.bytes"] == RECORD_BYTES * (FEW - 1)
    assert (
        small_fetches({"journal.v1/0": (0, FEW)})
        == small_fetches({"journal.v1/0": (0, None)})
        == {}
    )
    assert small_fetches({"journal.v1/0": (5, 6)})["fetch.message.max.bytes"] == SIP_BYTES
