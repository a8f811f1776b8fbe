"""The topics that jobs read: makes one, and asks where they end and how far groups have come.

They are not ours and stand in no table, so they go by their full names. What the broker does not
tell is absent from an answer, and never 0.
"""

from __future__ import annotations

import time  # noqa: TID251 - patience with a broker is real time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    NewTopic,
    OffsetSpec,
)

from components.runtime.kafka.topics import TopicsError
from turbine_client.clients import (
    ABSENT,
    admin,
    unreachable,
)
from turbine_client.reading import group_offsets
from turbine_client.settings import Settings

At = tuple[str, int]
"""A topic's full name and a partition."""

ASK_S = 15.0
"""For one question, while the broker elects a leader."""
CREATE_S = 60.0
PAUSE_S = 0.05
AT_ONCE = 8
"""Groups that are asked about at the same time: each takes connections and threads of a client."""

NOT_LED = ABSENT | {
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
    # Who asks and who leads do not know of the same election yet: seen where a topic is new.
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError._NOENT,  # the client's own word where none of the partitions has a leader
}
"""What is answered about a partition that is not there, or that nobody leads at the moment."""


def create_topic(settings: Settings, name: str, partitions: int) -> bool:
    """Makes a topic, and returns when its leaders serve; False where somebody else just made it.

    Metadata names leaders a moment before they serve, and what is written to one in that moment
    can be acknowledged and be lost.
    """
    client = admin(settings)
    wanted = NewTopic(name, num_partitions=partitions, replication_factor=settings.replication)
    [asked] = client.create_topics(
        [wanted], operation_timeout=CREATE_S, request_timeout=CREATE_S
    ).values()
    try:
        asked.result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise TopicsError(
                f"the broker at {settings.bootstrap} does not create topic {name}"
                f" ({error.args[0].str()}); have somebody create it who may, or correct"
                " `replication` in the settings"
            ) from None
        return False
    limit_s = time.monotonic() + CREATE_S
    spots = [(name, number) for number in range(partitions)]
    while len(_ends(settings, client, spots)) < partitions:
        if time.monotonic() > limit_s:
            raise TopicsError(
                f"topic {name} has partitions without a leader after {CREATE_S:g} s; see that all"
                " brokers of the cluster run"
            )
        time.sleep(PAUSE_S)
    return True


def ends_of(settings: Settings, spots: Iterable[At]) -> dict[At, int]:
    """The next offset that a read-committed reader will come to, of each partition that is there.

    Asking by name may make a broker create a topic: ask of those alone that `counts_of` shows.
    """
    return _ends(settings, admin(settings), sorted(set(spots)))


def _ends(settings: Settings, client: AdminClient, spots: Sequence[At]) -> dict[At, int]:
    if not spots:
        return {}
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # theirs
    asked = client.list_offsets(
        {TopicPartition(*spot): latest for spot in spots},
        isolation_level=IsolationLevel.READ_COMMITTED,
        request_timeout=ASK_S,
    )
    found: dict[At, int] = {}
    for spot, answer in asked.items():
        try:
            found[spot.topic, spot.partition] = answer.result().offset
        except KafkaException as error:
            if error.args[0].code() not in NOT_LED:
                client.poll(0)  # a refused login is raised here
                raise unreachable(settings, error.args[0]) from None
    return found


def committed_of(settings: Settings, asked: Mapping[str, Iterable[At]]) -> dict[str, dict[At, int]]:
    """What each group has committed of its partitions.

    By a consumer for each group, which does not join it: an admin client that asks dies of what a
    broker answers that no longer leads the group, or not yet (librdkafka 2.16, in its C code).
    """
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = threads.map(lambda one: _committed(settings, *one), asked.items())
        return dict(zip(asked, answers, strict=True))


def _committed(settings: Settings, group: str, spots: Iterable[At]) -> dict[At, int]:
    wanted = [TopicPartition(*spot) for spot in spots]
    if not wanted:
        return {}
    # Where nothing is committed the offset is below 0.
    told = (one for one in group_offsets(settings, group, wanted) if one.offset >= 0)
    return {(one.topic, one.partition): one.offset for one in told}
