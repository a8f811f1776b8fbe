"""What stands for a batch that the client does not inflate: it is too much, or no such codec's.

The client tells where such a batch begins and tries it again and again, so whoever reads on has to
be led behind it. Where it ends the client does not tell: it is found by halves, since each offset
within it gives the same answer.
"""

from __future__ import annotations

from typing import Any

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException

from components.runtime.clients import SIPPING, consumer, place_of, spot, unreachable
from components.runtime.intake import SPOILT_BATCH, Message
from components.runtime.settings import Settings

ASK_S = 10.0
ASKING = {"enable.partition.eof": True, "fetch.error.backoff.ms": 0, **SIPPING}

log = structlog.get_logger(__name__)


def is_spoilt(error: KafkaError | None) -> bool:
    """Is it about a batch, and not about its place?"""
    return error is not None and error.code() == KafkaError._BAD_COMPRESSION


def stand_in(settings: Settings, message: Any) -> Message:
    """At the batch's last offset, for all of it: what comes next lies behind that."""
    topic, partition, first = message.topic(), message.partition(), message.offset()
    at = place_of(topic, partition)
    client = consumer(settings, **ASKING)
    try:
        end = _end_of(client, at, first)
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()
    log.warning("a batch is left unread", at=at, first=first, end=end, why=message.error().str())
    return Message(at.partition("/")[0], partition, end - 1, 0, None, None, None, SPOILT_BATCH)


def _end_of(client: Consumer, at: str, first: int) -> int:
    inside, beyond = first, client.get_watermark_offsets(spot(at), timeout=ASK_S)[1]
    while beyond - inside > 1:
        middle = (inside + beyond) // 2
        if _spoils(client, at, middle, first):
            inside = middle
        else:
            beyond = middle
    return beyond


def _spoils(client: Consumer, at: str, offset: int, first: int) -> bool:
    """Is what lies there of the batch that begins at `first`?"""
    client.assign([spot(at, offset)])
    message: Any = client.poll(ASK_S)
    if message is None:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
    return is_spoilt(message.error()) and message.offset() == first
