"""What stands for a batch that the client does not inflate: it is too much, or no such codec's.

The client tells where such a batch begins and tries it again and again, so whoever reads on has to
be led behind it. Where it ends the client does not tell: it is probed for.
"""

from __future__ import annotations

import logging
from typing import Any

from confluent_kafka import KafkaException

from turbine_client.clients import consumer, place_of, spot, unreachable
from turbine_client.messages import SPOILT_BATCH, Message
from turbine_client.probing import ASK_S, PROBING, behind, probe
from turbine_client.settings import Settings

log = logging.getLogger(__name__)


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
    log.warning(
        "a batch is left unread: %s from %d to %d (%s)", at, first, end, message.error().str()
    )
    return Message(at.partition("/")[0], partition, end - 1, 0, None, None, None, SPOILT_BATCH)
