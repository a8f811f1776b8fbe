"""A producer of transactions that gets on where its broker or its own machine was away.

Of two of its troubles librdkafka 2.16 does not get rid by itself: both were measured with a broker
killed under transactions, and a process frozen amid one.
"""

from __future__ import annotations

import time  # noqa: TID251 - a call's time-out is real time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException, Producer

from turbine_client.clients import producer
from turbine_client.settings import Settings

STILL_S = 1.0
"""By so much no call outlasts its time-out, unless the process had not the time to heed it."""


def transactional(settings: Settings, name: str, broker_ms: int, **more: object) -> Producer:
    """Whoever has the name next fences this one; the broker gives up what is open for so long."""
    return producer(
        settings,
        **{
            "transactional.id": name,
            "transaction.timeout.ms": broker_ms,
            # The broker answers "still committing the last one" for some milliseconds after each
            # commit; the default wait of 100 ms would be most of our latency.
            "retry.backoff.ms": 5,
            # When all brokers were away, a client forgets them and begins at the bootstrap again.
            # Of a coordinator that is so forgotten an answer is waited for without an end
            # (confluentinc/librdkafka#5511): after a restart of the broker most transactions hung.
            "metadata.recovery.strategy": "none",
            **more,
        },
    )


def _at_once() -> None:
    pass


def in_time(
    call: Callable[..., Any],
    *arguments: Any,
    seconds: float,
    before_again: Callable[[], None] = _at_once,
) -> Any:
    """A step of a transaction, with its time-out; once more where the process stood still for it.

    The clock goes on for a process that is stopped: as it wakes, its call is over without having
    had the time. A step that timed out goes on where it was when it is called again.
    """
    while True:
        since = time.monotonic()
        try:
            return call(*arguments, seconds)
        except KafkaException as error:
            still = time.monotonic() - since > seconds + STILL_S
            if not (still and error.args[0].retriable()):
                raise
            before_again()
