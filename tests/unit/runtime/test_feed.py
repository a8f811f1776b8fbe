"""A feed of many records: what is not taken is told once, and a full queue takes no more."""

from __future__ import annotations

import pytest

from components.runtime.kafka.feed import BATCHING, NotTaken, TopicFeed
from turbine.failures import Code, code_of
from turbine_client.settings import Settings

NOWHERE = Settings(bootstrap="127.0.0.1:1")


def drain(feed: TopicFeed) -> None:
    while feed.waiting:
        feed.turn(1)


def test_a_record_that_is_not_taken_is_a_sentence() -> None:
    """Of a client that gives up at once, on a broker that is not there."""
    feed = TopicFeed(NOWHERE, "clicks", **{"delivery.timeout.ms": 20})
    assert feed.offer("k", "v")
    with pytest.raises(NotTaken, match=r"does not take records for topic clicks \(") as lost:
        drain(feed)
    assert code_of(lost.value) is Code.FAILED
    with pytest.raises(NotTaken):
        feed.settle(0)


def test_a_queue_that_is_full_takes_nothing() -> None:
    feed = TopicFeed(NOWHERE, "clicks")
    room = BATCHING["queue.buffering.max.messages"]
    offered = 0
    while feed.offer("k", "v"):
        offered += 1
    assert offered == room
    assert feed.settle(0) >= offered
