"""Kafka clients with the settings that were measured to matter, and the user's own on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from components.runtime.settings import Settings
from events.topics import BY_NAME, BY_SHORT, PREFIX

MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message of any topic: kept rows and dead letters."""


class BrokerUnreachable(ConnectionError):
    """No broker answered; the sentence says where we asked."""


def _common(settings: Settings) -> dict[str, Any]:
    return {
        "bootstrap.servers": settings.bootstrap,
        "log_level": 2,  # a broker that is down would log 80 lines a second
        "retry.backoff.ms": 50,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 500,
        "broker.address.family": "v4" if settings.bootstrap.startswith("127.") else "any",
    }


def producer(settings: Settings, **more: object) -> Producer:
    """An idempotent producer that does not linger: one change is one round trip."""
    return Producer(
        _common(settings)
        | {
            "linger.ms": 0,
            "acks": "all",
            "enable.idempotence": True,
            # Foreign clients hash with murmur2; librdkafka's own default is CRC32.
            "partitioner": "murmur2_random",
            "message.max.bytes": MESSAGE_BYTES,
            "delivery.timeout.ms": 60_000,
        }
        | dict(settings.kafka)
        | more
    )


def consumer(settings: Settings, **more: object) -> Consumer:
    """A consumer that is assigned by hand, and never jumps: out of range is an error."""
    return Consumer(
        _common(settings)
        | {
            "group.id": "turbine-readers",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_uncommitted",
            "enable.partition.eof": False,
            "fetch.wait.max.ms": 100,
            "fetch.message.max.bytes": MESSAGE_BYTES,
            "queued.max.messages.kbytes": 65_536,
        }
        | dict(settings.kafka)
        | more
    )


def admin(settings: Settings) -> AdminClient:
    """For topics and offsets."""
    return AdminClient(_common(settings) | dict(settings.kafka))


def partitions_of(settings: Settings, shorts: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Short name to number of partitions, of each of our topics that the broker has."""
    try:
        metadata = admin(settings).list_topics(timeout=10)
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    found = {
        name.removeprefix(PREFIX): len(topic.partitions)
        for name, topic in metadata.topics.items()
        if name in BY_NAME and topic.error is None
    }
    return {short: count for short, count in found.items() if shorts is None or short in shorts}


def unreachable(settings: Settings, error: KafkaError) -> BrokerUnreachable:
    """The sentence for a broker that does not answer."""
    return BrokerUnreachable(
        f"no broker answers at {settings.bootstrap} ({error.str()}); start one with"
        " `turbine broker start`, or set TURBINE_BOOTSTRAP"
    )


def spot(place: str, offset: int = -1) -> TopicPartition:
    """A place, and an offset in it, as the client names them."""
    short, _, partition = place.partition("/")
    name = BY_SHORT[short].name if short in BY_SHORT else PREFIX + short
    return TopicPartition(name, int(partition), offset)


def place_of(topic: str, partition: int) -> str:
    """The place of a topic's full name and a partition."""
    return f"{topic.removeprefix(PREFIX)}/{partition}"
