"""A local broker was killed amid a commit: what its group has committed can be read afterwards."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from threading import Thread

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from components.runtime.kafka.transactions import transactional
from infra.kafka.broker import Broker
from infra.waiting import until, within
from tests.integration.conftest import StartFresh
from turbine_client import reading
from turbine_client.clients import consumer
from turbine_client.settings import Settings

pytestmark = pytest.mark.broker

WAIT_S, CALL_S = within(30.0), 1.0
COMMITS = 20
GROUP, TRANSACTION_MS = "one", 60_000
AT = TopicPartition("in", 0)


@pytest.mark.parametrize("crashes", [1, pytest.param(5, marks=pytest.mark.chaos)])
def test_what_is_committed_can_be_read_after_a_crash_amid_a_commit(
    fresh_broker: StartFresh, monkeypatch: pytest.MonkeyPatch, crashes: int
) -> None:
    """Where the former life ends as the commit is taken up, Kafka leaves it open for ever."""
    monkeypatch.setattr(reading, "PATIENCE_S", WAIT_S)
    broker = fresh_broker()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(AT.topic, 1)])[AT.topic].result()
    for _ in range(crashes):
        committing = Committing(broker)
        committing.start()
        until(lambda: committing.committed > COMMITS, "some are committed")  # noqa: B023 - now
        broker.kill()
        broker.start_again()
        settings = Settings(bootstrap=broker.bootstrap)
        # From here on what was under way has ended.
        transactional(settings, GROUP, TRANSACTION_MS).init_transactions(WAIT_S)
        [found] = reading.group_offsets(
            settings, GROUP, [AT], **{"isolation.level": "read_committed"}
        )
        assert found.error is None
        assert found.offset > 0


class Committing(Thread):
    """Offsets, in one transaction after the other, until a successor fences it."""

    def __init__(self, broker: Broker) -> None:
        # Of a broker that is away librdkafka may wait for an answer without an end.
        super().__init__(daemon=True)
        settings = Settings(bootstrap=broker.bootstrap)
        self._producer = transactional(settings, GROUP, TRANSACTION_MS)
        self._group = consumer(settings, **{"group.id": GROUP})
        self._producer.init_transactions(WAIT_S)
        self.committed = 0

    def run(self) -> None:
        with suppress(KafkaException):
            for offset in count(1):
                self._producer.begin_transaction()
                spot = TopicPartition(AT.topic, AT.partition, offset)
                metadata = self._group.consumer_group_metadata()
                self._producer.send_offsets_to_transaction([spot], metadata, CALL_S)
                self._producer.commit_transaction(CALL_S)
                self.committed += 1
