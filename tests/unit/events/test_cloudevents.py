"""Every record is a CloudEvent of version 1.0, and what is reported has few bytes of headers."""

from __future__ import annotations

import pytest

from components.task_manager.fact_writer import fact
from events.generated.records import (
    Body,
    ClockTicked,
    ContainerHeartbeat,
    ContainerStarted,
    Generation,
)
from events.topics import CONTAINERS, LOADS, TASKS, TOPICS
from events.wire.codec import Record, encode, headers_of
from tests.unit.events.messages import ASKED, INGRESS, JOB, NEWEST, decided, read
from tests.unit.runtime.test_following import some
from turbine_client.identity import fact_id

BYTES_MOST = 120
REQUIRED = {"ce_specversion", "ce_id", "ce_source", "ce_type"}
NAME = "container-0123"
BOTH = Generation(1, 1)


def size_of(headers: list[tuple[str, bytes]]) -> int:
    """As the log has them: each with a byte or two for the lengths of name and value."""
    return sum(len(name) + len(value) + 2 for name, value in headers)


def beat(number: int) -> ContainerHeartbeat:
    return ContainerHeartbeat(NAME, 3, number, 0, "serving", 0, "")


@pytest.mark.parametrize(
    ("topic", "key", "body"),
    [
        (CONTAINERS, NAME, beat(7)),
        (CONTAINERS, NAME, ContainerStarted(NAME, 3, "default", "local", ())),
        (CONTAINERS, NAME, some("ShardLoadsReported", container=NAME)),
        (LOADS, JOB, some("TaskLoadReported", job=JOB, generation=BOTH)),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Body) else "",
)
def test_a_report_is_a_cloud_event_of_few_bytes(topic: str, key: str, body: Body) -> None:
    headers = headers_of(fact(key, body, {}), topic)
    assert {name for name, _ in headers} == REQUIRED
    assert all(value for _, value in headers)
    assert size_of(headers) < BYTES_MOST


def test_a_tick_is_one_as_well() -> None:
    body = ClockTicked(1_763_476_000)
    tick = Record("clock", "tick-1763476000", "ClockTicked", encode(body), body, source="clock")
    headers = headers_of(tick, "clock.v1")
    assert dict(headers)["ce_type"] == b"turbine.ClockTicked"
    assert ({name for name, _ in headers}, size_of(headers) < BYTES_MOST) == (REQUIRED, True)


def test_a_report_that_rests_on_something_names_it() -> None:
    started = some("TaskStarted", job=JOB, generation=BOTH)
    headers = headers_of(fact(JOB, started, {"journal.v1/3": 40}), TASKS)
    assert dict(headers)["ce_evidence"] == b"journal.v1/3:40"
    found = read(TASKS, encode(started), headers).record
    assert found.evidence == {"journal.v1/3": 40}
    assert found.id == dict(headers)["ce_id"].decode()


def test_the_id_of_a_report_is_of_all_that_it_says() -> None:
    def name(key: str, body: Body, evidence: dict[str, int]) -> bytes:
        return dict(headers_of(fact(key, body, evidence), CONTAINERS))["ce_id"]

    one = name(NAME, beat(1), {})
    assert one == name(NAME, beat(1), {}), "said again it is the same"
    others = [name(NAME, beat(2), {}), name("c-2", beat(1), {}), name(NAME, beat(1), {"x/0": 1})]
    assert len({one, *others}) == 4
    assert len(one) == 16
    assert fact_id("k", "TaskStarted", b"", "") != fact_id("k", "TaskStopped", b"", "")


def test_what_was_decided_has_all_of_them_wherever_it_lies() -> None:
    body = some("ContainerFailedOver", container=NAME)
    full = decided(body, key=NAME, parent="", cause="d-0")
    headers = dict(headers_of(full, CONTAINERS))
    assert headers["ce_dataschema"] == NEWEST["ContainerFailedOver"].urn.encode()
    assert headers["ce_causationid"] == b"d-0"
    assert headers.keys() >= REQUIRED | {"ce_tick", "ce_logic", "ce_subject", "content-type"}


def test_older_reports_without_an_id_or_a_source_are_read_as_before() -> None:
    found = read(CONTAINERS, encode(beat(1)), [("ce_type", b"ContainerHeartbeat")], NAME.encode())
    assert (found.record.id, found.record.source) == (f"{found.place}@41", "")
    bare = read("clock.v1", encode(ClockTicked(1)), [("ce_type", b"ClockTicked")], b"clock", 0)
    assert bare.record.kind == "ClockTicked"


def test_what_our_own_hands_ask_for_names_them() -> None:
    from events.wire.codec import SDK

    record = Record(JOB, ASKED.change_id, "ConfigChangeProposed", encode(ASKED), ASKED, source=SDK)
    assert dict(headers_of(record, INGRESS)).keys() >= REQUIRED
    assert all(topic.records or topic.kind in {"dead-letters", "rows"} for topic in TOPICS)
