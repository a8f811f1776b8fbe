"""An alert about a logic: on its own chain, once, and nobody else decides about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.auditor.decide import ALERT, CAUSE_MOST, Alarm, alert_of, component_of, key_of_logic
from components.job_service.decide import component as job_service
from components.publisher.decide import publish
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.component import Component, places_of
from components.runtime.core.step import KeyState, Stepper
from events.generated.records import Body, ConfigChangeProposed
from events.topics import ALERTS, JOURNAL, partition_of
from events.wire.codec import Read, Record, encode, headers_of, read_message
from turbine.read.logics import AUDITED
from turbine_client.identity import is_job_id

KEY = key_of_logic(job_service.logic)
MINUTE_MS = 60_000


def finding(sentence: str = "byte 7 of it differs: author is 'a', again it is 'b'") -> AuditFinding:
    body = ConfigChangeProposed("1.x", "orders", "a", set_json="{}")
    record = Record(
        "orders", "an-id", "JobConfigChanged", encode(body), body, logic="job-service/1"
    )
    return AuditFinding(
        "differs", Read("journal.v1/0", JOURNAL, 5, 0, record), "job-service", sentence
    )


def owner_of(found: dict[str, AuditFinding]) -> Stepper[Alarm]:
    component = component_of(found)
    held = {KEY: KeyState(Alarm(KEY))}
    return Stepper(component, [f"{JOURNAL}/0"], lambda *_: True, held=held)


def said() -> Record:
    [(topic, record)] = owner_of({KEY: finding()}).would_emit(KEY, 1_000)
    assert topic == JOURNAL
    return record


def through_the_log(record: Record) -> Read:
    """As it comes out of the journal of one partition."""
    headers: Any = headers_of(record, JOURNAL)
    return read_message(JOURNAL, 0, 0, 2_000, record.key.encode(), record.value, headers, 1)


def test_the_alert_names_the_place_the_byte_and_the_remedy() -> None:
    alert = alert_of(finding())
    assert (alert.subject, alert.alert, alert.severity) == ("job-service", ALERT, "critical")
    assert alert.cause.startswith("JobConfigChanged at journal.v1/0:5 does not come out again")
    assert alert.runbook == "docs/runbooks/audit-differs.md"
    assert json.loads(alert.details_json)["position"] == "journal.v1/0:5"
    long = alert_of(finding("x" * 100_000))
    assert len(long.cause) < CAUSE_MOST + 200


def test_it_is_said_once_and_two_auditors_say_it_under_one_id() -> None:
    first = said()
    assert first.id == said().id
    owner = owner_of({KEY: finding("another difference")})
    owner.read(through_the_log(first))
    assert owner.would_emit(KEY, 3_000) == []
    assert owner_of({}).would_emit(KEY, 1_000) == []


def test_no_job_is_called_so_and_the_world_is_told() -> None:
    assert not is_job_id(KEY)
    assert partition_of(KEY, 16) == partition_of(KEY, 16)
    told = publish(through_the_log(said()))
    assert told is not None
    assert (told[0], told[1].key) == (ALERTS, KEY)


@pytest.mark.parametrize("family", AUDITED, ids=lambda family: family[0].name)
def test_nobody_decides_anything_because_of_it(family: tuple[Component[Any], ...]) -> None:
    component = family[0]
    if JOURNAL not in component.inputs:
        return
    owner: Stepper[Any] = Stepper(component, places_of(component, [0]), lambda *_: True)
    owner.read(through_the_log(said()))
    spoken: list[tuple[str, Record]] = []
    for minute in range(1, 60):
        owner.tick("clock.v1/0", minute, minute * MINUTE_MS)
        spoken += owner.flush()
    assert spoken == []
    bodies: list[Body] = []
    for held in owner.held.values():
        bodies += component.decide(held.row, 10**12) if held.row is not None else ()
    assert bodies == []
