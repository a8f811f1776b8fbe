"""The peer of a worker: one topic in, another out, and no work in between.

As a process it echoes until it is ended. It reads and writes with the clients of the components,
and like them it writes all of a poll and then awaits the acknowledgements once. What it cannot do
faster, nothing on these clients can that reads a record before it writes one.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from events.topics import BY_SHORT, CHANGES_BASE, USUAL_PREFIX, Topic, full_name
from turbine_client.clients import (
    consumer,
    producer,
)
from turbine_client.settings import Settings

POLL_MOST = 2_000


def topic(name: str) -> Topic:
    """A topic of the echo's, made like the ingress topics."""
    return replace(BY_SHORT[CHANGES_BASE], name=full_name(USUAL_PREFIX, name), short=name)


ECHO_IN, ECHO_OUT = topic("echo-in.v1"), topic("echo-out.v1")


def read_all(settings: Settings, name: str, partitions: int) -> Consumer:
    """A consumer of all partitions, from their beginning."""
    client = consumer(settings)
    client.assign([TopicPartition(name, p, 0) for p in range(partitions)])
    return client


def batch(client: Consumer, timeout_s: float) -> list[Any]:
    """What is there; waits for the first message only."""
    first = client.poll(timeout_s)
    found: list[Any] = [] if first is None else [first, *client.consume(POLL_MOST, 0)]
    for message in found:
        assert message.error() is None, message.error().str()
    return found


def main(bootstrap: str, partitions: int) -> None:
    settings = Settings(bootstrap=bootstrap)
    source, sink = read_all(settings, ECHO_IN.name, partitions), producer(settings)
    while True:
        found = batch(source, 1.0)
        for message in found:
            sink.produce(
                ECHO_OUT.name,
                value=message.value(),
                key=message.key(),
                headers=message.headers(),
                partition=message.partition(),
            )
            sink.poll(0)
        if found:
            assert sink.flush(60) == 0, "the broker did not take the echo in a minute"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
