"""One real broker for the whole session, and brokers of their own for tests that kill them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from infra.kafka.broker import Broker, start_broker
from infra.kafka.engine import broker_for_tests
from tests.integration.processes import SharedBroker


class StartFresh(Protocol):
    """Start a broker of one's own: `name` tells directories apart, `settings` replace ours."""

    def __call__(self, name: str = "broker", **settings: str) -> Broker: ...


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedBroker]:
    """Shared by all tests of the session: use topics of your own, and let it live."""
    bootstrap, stop = broker_for_tests(tmp_path_factory.mktemp("broker"))
    yield SharedBroker(bootstrap)
    stop()


@pytest.fixture
def fresh_broker(tmp_path: Path) -> Iterator[StartFresh]:
    """Starts brokers that this one test may stop, kill and start again.

    A setting's dots are written as underscores: `log_segment_bytes="1000000"`.
    """
    started: list[Broker] = []

    def start(name: str = "broker", **settings: str) -> Broker:
        extra = {key.replace("_", "."): value for key, value in settings.items()}
        started.append(start_broker(tmp_path / name, extra=extra))
        return started[-1]

    yield start
    for one in started:
        one.kill()
