"""The program that verifies logs by the contract alone: a log that it takes, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.runtime.intake import Message
from components.task_manager.voice import fact
from events.codec import SDK, Headers, Record, encode, headers_of
from events.identity import decision_id
from events.records import (
    Body,
    ClockTicked,
    ConfigChangeProposed,
    ContainerHeartbeat,
    JobConfigChanged,
    LayerVersions,
    SyncCommitted,
)
from events.topics import partition_of
from tests.foreign.verifying import judged

P, KEY, AT_MS = 4, "clicks", 1_763_476_000_000
LAYER = '{"a":{"b.c":0.5},"tasks":4}'
ASKED = ConfigChangeProposed("1763476060000.a", KEY, "ann", None, LAYER)
VERSIONS = LayerVersions(1, 0, 0, 0)
CHANGED = JobConfigChanged(KEY, "base", ASKED.change_id, 1, VERSIONS, LAYER, LAYER, "ann")
COMMITTED = SyncCommitted(KEY, "p", "simple", VERSIONS, 0, LAYER, "running", 4)

Log = list[Message]
Spoil = Callable[[Log], None]


def lies(topic: str, record: Record, offset: int = 0, at_ms: int = AT_MS) -> Message:
    partition = partition_of(record.key, P)
    key, headers = record.key.encode(), headers_of(record, topic)
    return Message(topic, partition, offset, at_ms, key, record.value, headers)


def decided(body: Body, parent: str, cause: str, evidence: dict[str, int]) -> Record:
    kind, value = type(body).__name__, encode(body)
    name = decision_id(parent, KEY, kind, value)
    return Record(KEY, name, kind, value, body, parent, evidence, AT_MS, "x/1", "x", cause=cause)


def log() -> Log:
    """A request, two decisions after it, their copies, a heartbeat and a tick."""
    home = partition_of(KEY, P)
    asked = Record(KEY, ASKED.change_id, "ConfigChangeProposed", encode(ASKED), ASKED, source=SDK)
    one = decided(CHANGED, "root", ASKED.change_id, {f"changes.base.v1/{home}": 1})
    two = decided(COMMITTED, one.id, one.id, {f"journal.v1/{home}": 1})
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
    ]


def found(messages: Log, folder: Path) -> dict[str, Any]:
    return judged(messages, P, folder)


def test_a_log_that_is_as_the_contract_says(tmp_path: Path) -> None:
    assert found(log(), tmp_path) == {
        "records": 7,
        "chains": 1,
        "decisions": 2,
        "void": 0,
        "violations": [],
    }


def test_a_loser_and_who_knew_too_much_are_void(tmp_path: Path) -> None:
    messages, home = log(), partition_of(KEY, P)
    rival = replace(CHANGED, author="bob")
    last = dict(messages[2].headers or ())["ce_id"]
    assert last is not None
    loser = decided(rival, "root", ASKED.change_id, {})
    liar = decided(rival, last.decode(), ASKED.change_id, {f"changes.base.v1/{home}": 2})
    messages += [lies("journal.v1", one, at) for at, one in enumerate((loser, liar), 2)]
    said = found(messages, tmp_path)
    assert (said["decisions"], said["void"], said["violations"]) == (4, 2, [])


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
