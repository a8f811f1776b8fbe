"""The program that verifies logs by the contract alone: a log that it takes, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.runtime.kafka.intake import Message
from components.task_manager.fact_writer import fact
from events.generated.records import (
    Body,
    ClockTicked,
    ConfigChangeProposed,
    ContainerHeartbeat,
    JobConfigChanged,
    LayerVersions,
    OverrideEnd,
    OverrideExpired,
    SyncCommitted,
    TierDefined,
)
from events.topics import partition_of
from events.wire.codec import SDK, Headers, Record, encode, headers_of
from tests.foreign.verifying import judged
from turbine_client.identity import decision_id

P, KEY, AT_MS = 4, "clicks", 1_763_476_000_000
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LAYER = '{"a":{"b.c":0.5},"tasks":4}'
ASKED = ConfigChangeProposed("1763476060000.a", KEY, "ann", None, LAYER)
VERSIONS = LayerVersions(1, 0, 0, 0)
CHANGED = JobConfigChanged(KEY, "base", ASKED.change_id, 1, VERSIONS, LAYER, LAYER, "ann")
OTHER = replace(ASKED, change_id="1763476060000.b", expires_ms=AT_MS + 60_000, reason="try")
PEAK = '{"tasks":8}'
BOTH = '{"a":{"b.c":0.5},"tasks":8}'
HIGHER = LayerVersions(1, 0, 0, 1)
ENDS = (OverrideEnd(AT_MS + 60_000, OTHER.change_id, "ann", "{}"),)
RAISED = JobConfigChanged(
    *(KEY, "oncall", OTHER.change_id, 1, HIGHER, PEAK, BOTH, "ann", "try", AT_MS + 60_000),
    ends=ENDS,
)
ENDED = OverrideExpired(
    *(KEY, "oncall", 2, LayerVersions(1, 0, 0, 2), LAYER, AT_MS + 60_000),
    *(OTHER.change_id, "{}"),
)
TIER = TierDefined("gold", 16, ("local",), "{}")
COMMITTED = SyncCommitted(KEY, "p", "simple", VERSIONS, 0, LAYER, "running", 4)

Log = list[Message]
Spoil = Callable[[Log], None]


def lies(topic: str, record: Record, offset: int = 0, at_ms: int = AT_MS) -> Message:
    partition = partition_of(record.key, P)
    key, headers = record.key.encode(), headers_of(record, topic)
    return Message(topic, partition, offset, at_ms, key, record.value, headers)


def decided(
    body: Body, parent: str, cause: str, evidence: dict[str, int], trace: str = ""
) -> Record:
    kind, value = type(body).__name__, encode(body)
    name = decision_id(parent, KEY, kind, value)
    return Record(KEY, name, kind, value, body, parent, evidence, AT_MS, "x/1", "x", trace, cause)


def defined() -> Record:
    """As a person makes a tier, who has read nothing."""
    key, value = "gold/placement", encode(TIER)
    name = decision_id("root", key, "TierDefined", value)
    return Record(key, name, "TierDefined", value, TIER, "root", source="operator")


def log() -> Log:
    """Requests, the decisions after them, copies, reports, a tier, and what is no event."""
    home = partition_of(KEY, P)
    asked = Record(KEY, ASKED.change_id, "ConfigChangeProposed", encode(ASKED), ASKED, source=SDK)
    asked = replace(asked, trace=TRACE)
    one = decided(CHANGED, "root", ASKED.change_id, {f"changes.base.v1/{home}": 1}, TRACE)
    two = decided(COMMITTED, one.id, one.id, {f"journal.v1/{home}": 1})
    other = Record(KEY, OTHER.change_id, "ConfigChangeProposed", encode(OTHER), OTHER, source=SDK)
    three = decided(RAISED, two.id, OTHER.change_id, {f"changes.oncall.v1/{home}": 1})
    four = decided(ENDED, three.id, three.id, {f"journal.v1/{home}": 3})
    beat = fact("c-1", ContainerHeartbeat("c-1", 3, 7, 0, "serving", 0, ""), {})
    body = ClockTicked(1)
    tick = Record("clock", "tick-1", "ClockTicked", encode(body), body, source="clock")
    return [
        lies("changes.base.v1", asked),
        lies("journal.v1", one),
        lies("journal.v1", two, 1),
        lies("outcomes.v1", one),
        lies("outcomes.v1", two, 2),  # between them lies the marker of a transaction
        lies("containers.v1", beat),
        lies("clock.v1", tick),
        lies("changes.oncall.v1", other),
        lies("journal.v1", three, 2),
        lies("journal.v1", four, 3),
        lies("tiers.v1", defined())._replace(partition=0),
        Message("containers.v1", 1, 0, AT_MS, b"clock", tick.value, headers_of(tick, "clock.v1")),
        Message("lives.v1", 0, 0, AT_MS, b"\0since", b"1763476000000", []),
    ]


def found(messages: Log, folder: Path) -> dict[str, Any]:
    return judged(messages, P, folder)


def test_a_log_that_is_as_the_contract_says(tmp_path: Path) -> None:
    assert found(log(), tmp_path) == {
        "records": 12,
        "chains": 2,
        "decisions": 5,
        "void": 0,
        "traced": 2,
        "violations": [],
    }


def test_a_loser_and_who_knew_too_much_are_void(tmp_path: Path) -> None:
    messages, home = log(), partition_of(KEY, P)
    rival = replace(CHANGED, author="bob")
    last = dict(messages[9].headers or ())["ce_id"]
    assert last is not None
    knew = {f"changes.base.v1/{home}": 1}
    loser = decided(rival, "root", ASKED.change_id, knew, TRACE)
    knew = {f"changes.base.v1/{home}": 2}
    liar = decided(rival, last.decode(), ASKED.change_id, knew, TRACE)
    messages += [lies("journal.v1", one, at) for at, one in enumerate((loser, liar), 4)]
    said = found(messages, tmp_path)
    assert (said["decisions"], said["void"], said["violations"]) == (7, 2, [])


def headed(at: int, name: str, value: bytes | None) -> Spoil:
    """Another value of a header, or the header left out."""

    def spoil(messages: Log) -> None:
        headers: Headers = messages[at].headers or ()
        rest = [
            (one, text if one != name or value is None else value)
            for one, text in headers
            if one != name or value is not None
        ]
        messages[at] = messages[at]._replace(headers=rest)

    return spoil


def added(at: int, name: str, value: bytes) -> Spoil:
    """A header more."""

    def spoil(messages: Log) -> None:
        messages[at] = messages[at]._replace(headers=[*(messages[at].headers or ()), (name, value)])

    return spoil


def moved(at: int, **said: Any) -> Spoil:
    def spoil(messages: Log) -> None:
        messages[at] = messages[at]._replace(**said)

    return spoil


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (headed(5, "ce_source", None), "no CloudEvent"),
        (headed(6, "ce_specversion", None), "no CloudEvent"),
        (headed(0, "ce_source", None), "no CloudEvent"),
        (headed(5, "ce_id", b"AAAAAAAAAAAAAAAA"), "by the contract"),
        (headed(1, "ce_id", b"d-1"), "by the contract"),
        (headed(1, "ce_causationid", None), "it answers no request"),
        (headed(2, "ce_causationid", b"d-0"), "which is not there"),
        (headed(2, "ce_parent", b"d-0"), "nobody said its parent"),
        (headed(5, "ce_type", b"turbine.ShardAdded"), "not framed as a record of its kind"),
        (moved(1, partition=(partition_of(KEY, P) + 1) % P), "its key belongs in partition"),
        (moved(4, value=encode(CHANGED)), "its copy says something else"),
        (moved(5, value=b"\0\0\0\0\0"), "not framed"),
        (headed(1, "ce_subject", b"\0turbine-x"), "ce_subject has a control character"),
        (headed(1, "ce_subject", "\ufdd0".encode()), "ce_subject has a control character"),
        (headed(1, "traceparent", b"garbage"), "its traceparent is none"),
        (headed(1, "traceparent", None), "not the trace context of its request"),
        (headed(0, "traceparent", b"garbage"), "not the trace context of its request"),
        (headed(6, "ce_id", b"tick-2"), "its id is tick-2, by the contract tick-1"),
        (moved(11, value=encode(ClockTicked(2))), "another event has its source and id"),
        (headed(1, "ce_tick", None), "it has no ce_tick"),
        (headed(10, "ce_parent", None), "it has no ce_parent"),
        (added(10, "ce_tick", b"1"), "the contract has no ce_tick on it"),
        (added(2, "traceparent", TRACE.encode()), "it answers no request and has a traceparent"),
        (
            headed(1, "ce_evidence", b"journal.v1/0:0,changes.base.v1/0:0"),
            "its evidence is not sorted",
        ),
        (added(12, "ce_id", b"x"), "it has headers, and is none of the contract"),
        (moved(8, value=encode(replace(RAISED, ends=ENDS * 2))), "two of its ends are one instant"),
        (
            moved(8, value=encode(replace(RAISED, ends=()))),
            "it is none of the ends that were told",
        ),
        (
            moved(1, value=encode(replace(CHANGED, layer_json='{"tasks": 4}'))),
            "its layer is not canonical",
        ),
        (
            moved(1, value=encode(replace(CHANGED, expected_json="{}"))),
            "the layers do not add up to that",
        ),
    ],
)
def test_what_is_not_as_it_says_is_found(spoil: Spoil, sentence: str, tmp_path: Path) -> None:
    messages = log()
    spoil(messages)
    assert any(sentence in one for one in found(messages, tmp_path)["violations"])
