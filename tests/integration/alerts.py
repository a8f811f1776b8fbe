"""Alerts as the publisher would say them, for those who follow them."""

from __future__ import annotations

from components.runtime.kafka.emitter import Emitter
from events.generated.records import AlertCleared, AlertRaised
from events.topics import ALERTS, partition_of
from events.wire.codec import Record, encode
from tests.conftest import PARTITIONS
from turbine_client.clients import producer
from turbine_client.settings import Settings


def say_alert(settings: Settings, body: AlertRaised | AlertCleared) -> str:
    """Says it; its id."""
    kind = type(body).__name__
    record = Record(body.subject, f"{kind}-of-{body.subject}", kind, encode(body), body)
    emitter = Emitter(producer(settings), settings.prefix)
    emitter.say(ALERTS, partition_of(body.subject, PARTITIONS), record)
    emitter.settle()
    return record.id
