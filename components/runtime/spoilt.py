"""What stands for a batch that the client does not inflate: it is too much, or no such codec's.

The client tells where such a batch begins and tries it again and again, so whoever reads on has to
be led behind it. Where it ends the client does not tell: it is probed for.
"""

from __future__ import annotations

from typing import Any

import structlog
from confluent_kafka import KafkaException

from components.runtime.clients import consumer, place_of, spot, unreachable
from components.runtime.intake import SPOILT_BATCH, Message
from components.runtime.probing import ASK_S, PROBING, behind, probe
from components.runtime.settings import Settings

log = structlog.get_logger(__name__)


def stand_in(settings: Settings, message: Any) -> Message:
    """At the batch's last offset, for all of it: what comes next lies behind that."""
    topic, partition, first = message.topic(), message.partition(), message.offset()
    at = place_of(topic, partition)
    client = consumer(settings, **PROBING)
    try:
        last = client.get_watermark_offsets(spot(settings, at), timeout=ASK_S)[1]
        end = probe(settings, client, {at: behind(first, first, last)})[at]
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()
    log.warning("a batch is left unread", at=at, first=first, end=end, why=message.error().str())
    return Message(at.partition("/")[0], partition, end - 1, 0, None, None, None, SPOILT_BATCH)
