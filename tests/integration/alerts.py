"""Alerts as the publisher would say them, for those who follow them."""

from __future__ import annotations

from components.runtime.clients import producer
from components.runtime.emitter import Emitter
from components.runtime.settings import Settings
from events.codec import Record, encode
from events.records import AlertCleared, AlertRaised
from events.topics import ALERTS, partition_of
from tests.conftest import PARTITIONS


def say_alert(settings: Settings, body: AlertRaised | AlertCleared) -> str:
    """Says it; its id."""
    kind = type(body).__name__
    record = Record(body.subject, f"{kind}-of-{body.subject}", kind, encode(body), body)
    emitter = Emitter(producer(settings), settings.prefix)
    emitter.say(ALERTS, partition_of(body.subject, PARTITIONS), record)
    emitter.settle()
    return record.id
