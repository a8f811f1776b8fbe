"""The trace context of an operator's request is passed on to its verdicts, and to nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from components.runtime.core.following import TRACES_MOST, dumped, note, trace_of
from components.runtime.core.step import KeyState, Stepper
from components.runtime.core.store import dump_held
from components.shard_manager.decide import component as shard_manager
from components.state_syncer.decide import component as state_syncer
from events.generated.records import (
    Body,
    PauseRequested,
    PlacementApplyRequested,
    PlacementRejected,
    ReleaseRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)
from events.topics import JOURNAL, OPERATOR, TIERS
from events.wire.codec import Read, Record, encode, headers_of
from tests.unit.events.messages import TRACE, read
from tests.unit.runtime.test_following import some

JOB, AT_MS = "orders", 1_763_476_000_000
ID = f"{AT_MS}.a1"


def asked(body: Any, key: str = JOB, *, header: str | None = TRACE) -> Read:
    headers = [("ce_type", f"turbine.{type(body).__name__}".encode())]
    headers += [] if header is None else [("traceparent", header.encode())]
    return read(OPERATOR, encode(body), headers, key.encode())


def stands(body: Body, topic: str = JOURNAL, cause: str = ID) -> Read:
    record = Record(JOB, "d", type(body).__name__, b"", body, "root", cause=cause)
    return Read(f"{topic}/0", topic, 0, AT_MS, record)


@pytest.mark.parametrize("header", [True, False], ids=["header", "value"])
def test_a_verdict_of_the_state_syncer_has_the_trace_of_its_request(header: bool) -> None:
    body = ReleaseRequested(ID, JOB, "ann", "try", None if header else TRACE)
    found = asked(body, header=TRACE if header else None)
    owner: Stepper[Any] = Stepper(state_syncer, [], lambda *_: True, held={JOB: KeyState()})
    owner.fold(owner.held[JOB], found)
    ((topic, verdict),) = owner.would_emit(JOB, found.at_ms)
    assert verdict.kind == "SyncFailed"
    assert dict(headers_of(verdict, topic))["traceparent"] == TRACE.encode()


def test_a_verdict_about_a_tier_has_the_trace_of_its_request() -> None:
    """Its key is the tier's name, and what is said of it is said under another."""
    body = PlacementApplyRequested(ID, "default", "p-1", "[]", "ann", "try")
    marks: dict[str, str] = {}
    note(marks, shard_manager, asked(body, "default"))
    refusal = PlacementRejected("default", ID, "p-1", "unknown-plan", "none")
    assert trace_of(refusal, ID, marks) == TRACE
    other = replace(body, tier="default-2", change_id=f"{AT_MS}.b")
    note(marks, shard_manager, asked(other, "default-2"))
    assert len(marks) == 1


def test_all_verdicts_on_a_request_have_it_and_then_it_is_forgotten() -> None:
    marks: dict[str, str] = {}
    note(marks, state_syncer, asked(PauseRequested(ID, JOB, "ann", "try")))
    note(marks, state_syncer, stands(some("SyncPlanned", change_id=ID)))
    done = some("SyncCommitted", change_id=ID)
    assert isinstance(done, SyncCommitted)
    assert trace_of(done, ID, marks) == TRACE
    note(marks, state_syncer, stands(done))
    assert trace_of(done, ID, marks) == ""


@pytest.mark.parametrize("kind", [SyncPlanned, SyncFailed])
def test_nothing_else_has_it(kind: type[Body]) -> None:
    marks: dict[str, str] = {}
    note(marks, state_syncer, asked(PauseRequested(ID, JOB, "ann", "try")))
    assert trace_of(some(kind.__name__), "another", marks) == ""


def test_the_first_of_an_id_counts_and_the_newest_requests_are_kept() -> None:
    marks: dict[str, str] = {}
    for number in range(TRACES_MOST + 1):
        body = PauseRequested(f"{AT_MS}.{number}", JOB, "ann", "try")
        note(marks, state_syncer, asked(body))
        note(marks, state_syncer, asked(body, header=TRACE.replace("00-4", "00-5")))
    assert len(marks) == TRACES_MOST
    assert set(marks.values()) == {TRACE}
    assert not any(f"{AT_MS}.0 " in name for name in marks)


def test_it_is_kept_with_the_row_in_the_order_in_which_it_was_asked() -> None:
    marks: dict[str, str] = {}
    for name in ("b", "a"):
        note(marks, state_syncer, asked(PauseRequested(f"{AT_MS}.{name}", JOB, "ann", "try")))
        note(marks, state_syncer, stands(some("SyncStepStarted"), cause=""))
    kept = json.loads(dump_held(state_syncer, KeyState(marks=marks)))["marks"]
    assert [name for name, _ in kept] == [f"{AT_MS}.b trace", f"{AT_MS}.a trace", "SyncStepStarted"]
    assert dict(dumped(marks)) == marks


def test_a_request_that_nobody_here_answers_is_passed_by() -> None:
    marks: dict[str, str] = {}
    note(marks, shard_manager, asked(PauseRequested(ID, JOB, "ann", "try")))
    assert not marks
    assert TIERS in shard_manager.inputs
