"""What clients are made with, and the sentence about each that cannot work."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_of
from turbine_client import clients
from turbine_client.clients import (
    ABSENT,
    DENIED,
    admin,
    consumer,
    counts_of,
    place_of,
    producer,
    spot,
    unreachable,
)
from turbine_client.errors import BrokerUnreachable, LoginRefused
from turbine_client.settings import BadSettings, Settings

NOBODY = Settings(bootstrap="127.0.0.1:1", kafka={"sasl.username": "alice"})


def watch(settings: Settings = NOBODY) -> Callable[[KafkaError], None]:
    found: Callable[[KafkaError], None] = clients._common(settings)["error_cb"]
    return found


@pytest.mark.parametrize("code", [KafkaError._AUTHENTICATION, KafkaError._SSL])
def test_a_refused_login_is_raised_once(code: int) -> None:
    """And not again: closing the client polls it, too."""
    told = watch()
    with pytest.raises(LoginRefused, match=r"at 127\.0\.0\.1:1 refuses the login \(bad password\)"):
        told(KafkaError(code, "bad password"))
    told(KafkaError(code, "bad password"))


def test_each_client_is_watched_by_itself() -> None:
    for told in (watch(), watch()):
        with pytest.raises(LoginRefused):
            told(KafkaError(KafkaError._AUTHENTICATION, "bad password"))


@pytest.mark.parametrize("code", [KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT])
def test_a_broker_that_is_away_is_waited_for(code: int) -> None:
    watch()(KafkaError(code, "away"))


@pytest.mark.parametrize("make", [producer, consumer, admin])
@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("sasl.pasword", "x", 'No such configuration property: "sasl.pasword"'),
        ("security.protocol", "TLS", 'Invalid value "TLS"'),
        (
            "socket.timeout.ms",
            "soon",
            'Invalid value for configuration property "socket.timeout.ms"',
        ),
    ],
)
def test_a_key_that_cannot_be_used_is_told(
    make: Callable[[Settings], Any], key: str, value: str, told: str
) -> None:
    with pytest.raises(BadSettings) as refused:
        make(Settings(kafka={key: value}))
    assert str(refused.value).startswith("the [kafka] settings do not work together with ours: ")
    assert told in str(refused.value)


def test_no_broker_is_a_sentence() -> None:
    with pytest.raises(BrokerUnreachable) as nobody:
        partitions_of(NOBODY)
    assert str(nobody.value).startswith("no broker answers at 127.0.0.1:1 (")
    assert str(nobody.value).endswith("`turbine broker start`, or set TURBINE_BOOTSTRAP")


class Slow:
    """A broker that answers after so many questions."""

    def __init__(self, silent: int) -> None:
        self.silent = silent

    def list_topics(self, *, timeout: float) -> Cluster:
        assert timeout > 0
        self.silent -= 1
        if self.silent >= 0:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "silent"))
        return Cluster(clicks=8)

    def poll(self, _: float) -> None:
        """No login is refused."""


def test_a_broker_that_lets_us_connect_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its machine may stand still for longer than a wrong address is worth."""
    monkeypatch.setattr(clients, "METADATA_S", 0.0)
    monkeypatch.setattr(clients, "admin", lambda _: slow)
    monkeypatch.setattr(clients, "knock", lambda _: "")
    slow = Slow(3)
    assert counts_of(NOBODY) == {"clicks": 8}
    slow = Slow(3)
    monkeypatch.setattr(clients, "knock", lambda _: "Connection refused")
    with pytest.raises(BrokerUnreachable, match=r"no broker answers at 127\.0\.0\.1:1 \(silent\)"):
        counts_of(NOBODY)
    monkeypatch.setattr(clients, "knock", lambda _: "")
    monkeypatch.setattr(clients, "BUSY_S", 0.0)
    slow = Slow(3)
    with pytest.raises(BrokerUnreachable, match="no broker answers"):
        counts_of(NOBODY)


class Cluster:
    """Stands in for a broker's answer about its topics; asked for one of them, it would make it."""

    def __init__(self, **counts: int | None) -> None:
        self.topics = {name.replace("__", "."): _Topic(count) for name, count in counts.items()}

    def list_topics(self, *, timeout: float) -> Cluster:
        assert timeout > 0
        return self


class _Topic:
    def __init__(self, count: int | None) -> None:
        self.partitions = dict.fromkeys(range(count or 0))
        self.error = KafkaError(KafkaError._UNKNOWN_TOPIC) if count is None else None


def test_topics_are_counted_whosever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(
        clicks=8, turbine__journal__v1=4, turbine__mine=2, broken=None, other__journal__v1=5
    )
    monkeypatch.setattr(clients, "admin", lambda _: cluster)
    assert counts_of(NOBODY) == {
        "clicks": 8,
        "turbine.journal.v1": 4,
        "turbine.mine": 2,
        "other.journal.v1": 5,
    }
    assert partitions_of(NOBODY) == {"journal.v1": 4}
    assert partitions_of(NOBODY, {"clock.v1": None}) == {}
    assert partitions_of(replace(NOBODY, prefix="other")) == {"journal.v1": 5}


@pytest.mark.parametrize("code", sorted(DENIED))
def test_who_is_not_allowed_to_is_named(code: int) -> None:
    told = str(unreachable(NOBODY, KafkaError(code, "denied")))
    assert "does not allow it to the user alice (denied)" in told
    told = str(unreachable(Settings(), KafkaError(code, "denied")))
    assert "does not allow it to a user without a name (denied)" in told


@pytest.mark.parametrize("code", sorted(ABSENT))
def test_a_topic_that_is_not_there_is_not_taken_for_a_broker_that_is_not(code: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        settings = Settings(bootstrap=f"127.0.0.1:{door.getsockname()[1]}")
        told = str(unreachable(settings, KafkaError(code, "unknown")))
    assert "has not the topic or partition" in told
    assert told.endswith("see `turbine topics plan`")


@pytest.mark.parametrize("code", sorted(ABSENT))
def test_a_broker_that_went_away_is_not_one_without_the_topic(code: int) -> None:
    """Of what it knew a client says that it is unknown, once its broker is gone."""
    told = str(unreachable(NOBODY, KafkaError(code, "unknown")))
    assert told.startswith("no broker answers at 127.0.0.1:1 (Connection refused); ")


def test_a_place_and_its_name_lead_to_each_other() -> None:
    at = spot(Settings(prefix="staging"), "journal.v1/3", 40)
    assert (at.topic, at.partition, at.offset) == ("staging.journal.v1", 3, 40)
    assert place_of(at.topic, at.partition) == "journal.v1/3"


def test_a_broker_that_does_not_answer_is_no_answer() -> None:
    """Taken for one, it would void a decision for this reader alone."""
    append_times = AppendTimes(NOBODY, patience_s=0.2)
    with pytest.raises(BrokerUnreachable, match="no broker answers"):
        append_times.possible("journal.v1/3", 40, 1_763_476_000_000)
    append_times.close()
