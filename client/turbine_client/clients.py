"""Kafka clients with the settings that were measured to matter, and the user's own on top.

What goes wrong with a client is an exception with one sentence here: where we asked, what the
broker said, and what to do. librdkafka itself would try a wrong password for ever, in silence.
"""

from __future__ import annotations

import socket
import time  # noqa: TID251 - patience with a broker is real time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from turbine_client.errors import BrokerUnreachable, LoginRefused
from turbine_client.settings import BadSettings, Settings
from turbine_client.topics import REQUEST_BYTES, REQUEST_TOPICS, place, short_of

C = TypeVar("C")

PACKED: Mapping[str, object] = {"compression.type": "zstd", "linger.ms": 5}
"""For a producer of kept rows, which we alone read. What a Faust worker reads is packed by nobody:
its client has no codec but gzip, and who says little at once has little to pack."""
MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message of any topic: kept rows and dead letters."""
INFLATED_BYTES = 32 * 1024 * 1024
"""What comes out of one batch at most, where the codec lets the client stop (zstd): a message of
20 kB can hold gigabytes. Where the batch does not tell its size, the client tries threefold ones,
and stops between a third of this and this."""
SIPPING = {
    "fetch.message.max.bytes": REQUEST_BYTES,
    "fetch.max.bytes": REQUEST_BYTES,
    "message.max.bytes": REQUEST_BYTES,
    "queued.max.messages.kbytes": 16_384,
}
"""For who reads what strangers write. Of gzip a batch inflates a thousandfold, whatever is set: so
one is fetched at a time, and none is larger than its topic takes."""
METADATA_S = 5.0
BUSY_S = 30.0
"""For a broker that lets us connect: it is there, and its machine may stand still for a while."""
DENIED = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
"""What the broker answers to somebody whom it knows and does not allow to do it."""
ABSENT = frozenset(
    {
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)
"""What a client answers when the broker answers and has no such topic or partition."""
_REFUSED_LOGIN = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})


def _common(settings: Settings) -> dict[str, Any]:
    return {
        "bootstrap.servers": settings.bootstrap,
        "log_level": 2,  # a broker that is down would log 80 lines a second
        "retry.backoff.ms": 50,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 500,
        "broker.address.family": "v4" if settings.bootstrap.startswith("127.") else "any",
        "error_cb": _login_watch(settings),
    }


def _login_watch(settings: Settings) -> Callable[[KafkaError], None]:
    """A refused login shows in this callback alone: calls only time out, and deliveries too.

    What a callback raises comes out of the call that polls. Once: `close` polls as well, and must
    not fail because the client that it closes has failed.
    """
    told = False

    def watch(error: KafkaError) -> None:
        nonlocal told
        if error.code() in _REFUSED_LOGIN and not told:
            told = True
            raise LoginRefused(
                f"the broker at {settings.bootstrap} refuses the login ({error.str()}); correct"
                " security.protocol, sasl.* and ssl.* of the [kafka] settings"
            )

    return watch


def _made(make: Callable[[dict[str, Any]], C], options: dict[str, Any]) -> C:
    try:
        return make(options)
    except KafkaException as error:
        raise BadSettings(
            f"the [kafka] settings do not work together with ours: {error.args[0].str()}; correct"
            " or remove that key"
        ) from None


def producer(settings: Settings, **more: object) -> Producer:
    """An idempotent producer that does not linger: one change is one round trip."""
    return _made(
        Producer,
        _common(settings)
        | {
            "linger.ms": 0,
            "acks": "all",
            "enable.idempotence": True,
            # Foreign clients hash with murmur2; librdkafka's own default is CRC32.
            "partitioner": "murmur2_random",
            # A topic of requests takes no larger batch.
            "batch.size": REQUEST_BYTES * 2 // 3,
            "message.max.bytes": MESSAGE_BYTES,
            "delivery.timeout.ms": 60_000,
        }
        | dict(settings.kafka)
        | more,
    )


def consumer(settings: Settings, **more: object) -> Consumer:
    """A consumer that is assigned by hand, and never jumps: out of range is an error."""
    return _made(
        Consumer,
        _common(settings)
        | {
            "group.id": settings.group("readers"),
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_uncommitted",
            "enable.partition.eof": False,
            "check.crcs": True,  # as aiokafka does: what is spoilt is spoilt for both
            "fetch.wait.max.ms": 100,
            "fetch.message.max.bytes": MESSAGE_BYTES,
            "fetch.max.bytes": INFLATED_BYTES // 2,
            "receive.message.max.bytes": INFLATED_BYTES,
            "queued.max.messages.kbytes": 65_536,
        }
        | dict(settings.kafka)
        | more,
    )


def admin(settings: Settings) -> AdminClient:
    """A client for topics, groups and offsets."""
    return _made(AdminClient, _common(settings) | dict(settings.kafka))


def partitions_of(settings: Settings) -> dict[str, int]:
    """Short name to number of partitions, of each topic that the broker has and ours are named
    like."""
    ours = settings.topic("")
    return {
        name.removeprefix(ours): count
        for name, count in counts_of(settings).items()
        if name.startswith(ours)
    }


def cluster_of(settings: Settings) -> str:
    """The cluster's own id: another one's log may have the same positions."""
    return str(_metadata(settings).cluster_id)


def counts_of(settings: Settings) -> dict[str, int]:
    """Full name to number of partitions, of every topic that the broker has and shows.

    All are asked for at once: a broker may create a topic because somebody asks for it by name.
    """
    return {
        name: len(topic.partitions)
        for name, topic in _metadata(settings).topics.items()
        if topic.error is None
    }


def _metadata(settings: Settings) -> Any:
    client = admin(settings)
    limit = time.monotonic() + METADATA_S
    while True:
        try:
            # In short turns: a login that is refused is known after the first of them.
            return client.list_topics(timeout=2)
        except KafkaException as error:
            client.poll(0)
            now = time.monotonic()
            if now > limit + BUSY_S or (now > limit and knock(settings)):
                raise unreachable(settings, error.args[0]) from None


LOCAL_CLUSTER = "Turbine-"
"""How the id of a cluster begins that a local broker of ours is: each belongs to one directory."""


def knock(settings: Settings, wait_s: float = 2.0) -> str:
    """Why nothing listens at the bootstrap; "" where something does.

    A client tries for ten seconds before it gives up, as a broker may be just starting. A person
    who has started none wants to read so at once.
    """
    why = ""
    for broker in settings.bootstrap.split(","):
        host, _, port = broker.rpartition(":") if _has_port(broker) else (broker, "", "9092")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=wait_s).close()
        except OSError as error:
            why = why or (error.strerror or str(error))
        else:
            return ""
    return why


def _has_port(broker: str) -> bool:
    return broker.rpartition(":")[2].isdigit() and not broker.endswith("]")


def refresh(client: Consumer) -> None:
    """Looks anew at what topics there are. While its broker is away the client takes partitions
    for unknown, and goes on to do so when the broker is back, until somebody asks for all."""
    with suppress(KafkaException):  # whoever called asks again, and has a deadline
        client.list_topics(timeout=2)


def unreachable(settings: Settings, error: KafkaError) -> BrokerUnreachable:
    """The sentence for a broker that does not answer, or not as we need it."""
    if error.code() in DENIED:
        user = settings.kafka.get("sasl.username", "")
        who = f"the user {user}" if user else "a user without a name"
        return BrokerUnreachable(
            f"the broker at {settings.bootstrap} does not allow it to {who} ({error.str()});"
            " give the user the rights of its component"
        )
    # A client whose broker has gone away says the same of what it knew.
    gone = knock(settings) if error.code() in ABSENT else error.str()
    if not gone:
        return BrokerUnreachable(
            f"the broker at {settings.bootstrap} has not the topic or partition that was asked"
            f" for ({error.str()}); see `turbine topics plan`"
        )
    return BrokerUnreachable(
        f"no broker answers at {settings.bootstrap} ({gone}); start one with"
        " `turbine broker start`, or set TURBINE_BOOTSTRAP"
    )


def of_strangers(places: Iterable[str]) -> bool:
    """Whether one of these places takes requests from anybody."""
    return any(at.partition("/")[0] in REQUEST_TOPICS for at in places)


def spot(settings: Settings, place: str, offset: int = -1) -> TopicPartition:
    """A place, and an offset in it, as the client names them."""
    short, _, partition = place.partition("/")
    return TopicPartition(settings.topic(short), int(partition), offset)


def place_of(topic: str, partition: int) -> str:
    """The place of a topic's full name and a partition."""
    return place(short_of(topic), partition)
