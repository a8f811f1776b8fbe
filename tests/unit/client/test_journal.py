"""What an author reads of the log by headers: what stands, what lives, what is crowded out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import (
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    SyncStepDone,
    TierDefined,
)
from events.topics import CHANGES_BASE, JOURNAL, TIERS, partition_of
from events.wire.codec import Record, encode, headers_of
from projections.ingress import KNOWN, VALID_MS, Ingress, admit
from turbine_client import journal, known_jobs
from turbine_client.crowding import UNCOUNTED, crowded_out
from turbine_client.identity import ROOT, SKEW_MS, change_id
from turbine_client.journal import Journal
from turbine_client.known_jobs import in_journal, never_answered
from turbine_client.messages import Message
from turbine_client.settings import Settings
from turbine_client.verdicts import Accepted, Rejected

AT_MS = 1_800_000_000_000
PARTITIONS = 4
CHANGE = change_id(AT_MS + 1000, "a")


class Shelf:
    """Stands in for a broker: messages by place, each with the next offset."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Message]] = {}
        self.there: dict[str, int] = {}  # what of a place had been appended in time
        self.read: list[str] = []

    def put(self, topic: str, record: Record, at_ms: int = AT_MS, count: int = PARTITIONS) -> str:
        partition = partition_of(record.key, count)
        place = f"{topic}/{partition}"
        told = self.messages.setdefault(place, [])
        headers: list[tuple[str, bytes | None]] = list(headers_of(record, topic))
        message = Message(
            topic, partition, len(told), at_ms, record.key.encode(), record.value, headers
        )
        told.append(message)
        return place

    def read_span(
        self, _: Settings, spans: Mapping[str, tuple[int, int | None]]
    ) -> Iterator[list[Message]]:
        for place, (first, _end) in spans.items():
            self.read.append(place)
            yield self.messages.get(place, [])[first:]

    def times_now(self, _: Settings, places: Any, at_ms: int) -> dict[str, int]:
        return {place: self.there.get(place, 0) for place in places}


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    found = Shelf()
    counts = {JOURNAL: PARTITIONS, CHANGES_BASE: PARTITIONS, TIERS: 1}
    monkeypatch.setattr(journal, "partitions_of", lambda _: counts)
    monkeypatch.setattr(journal, "read_span", found.read_span)
    monkeypatch.setattr(journal, "times_now", found.times_now)
    return found


def changed(
    name: str, parent: str, *, job: str = "clicks", cause: str = CHANGE, **more: Any
) -> Record:
    body = JobConfigChanged(
        job=job,
        layer="base",
        change_id=cause,
        version=1,
        versions=LayerVersions(1, 0, 0, 0),
        layer_json="{}",
        expected_json="{}",
        author="ana",
    )
    more = {"source": "job-service", "logic": "1", "tick_ms": 1} | more
    value = encode(body)
    return Record(job, name, "JobConfigChanged", value, body, parent=parent, cause=cause, **more)


def test_the_first_child_of_a_parent_stands_and_answers(shelf: Shelf) -> None:
    shelf.put(JOURNAL, changed("other", ROOT, job="orders", cause=""))
    place = shelf.put(JOURNAL, changed("first", ROOT, cause=""))
    shelf.put(JOURNAL, changed("void", ROOT))
    assert in_journal(Settings(), CHANGE, "clicks") is None, "another one stands on its parent"
    shelf.put(JOURNAL, changed("answer", "first"))
    assert shelf.read == [place], "and no other place was read"
    said = in_journal(Settings(), CHANGE, "clicks")
    assert isinstance(said, Accepted)
    assert (said.decision_id, said.position) == (
        "answer",
        f"{place}:{len(shelf.messages[place]) - 1}",
    )
    assert in_journal(Settings(), CHANGE) == said
    assert in_journal(Settings(), "1.nobody") is None
    assert len(set(shelf.read)) == PARTITIONS


def test_what_this_client_cannot_read_moves_the_chain_all_the_same(shelf: Shelf) -> None:
    step = SyncStepDone("clicks", "plan", 0, "stop")
    record = Record("clicks", "step", "SyncStepDone", encode(step), step, parent=ROOT, logic="1")
    shelf.put(JOURNAL, record)
    shelf.put(JOURNAL, changed("answer", "step"))
    assert isinstance(in_journal(Settings(), CHANGE, "clicks"), Accepted)


def test_a_decision_that_knew_the_future_answers_nobody(shelf: Shelf) -> None:
    ahead = changed("ahead", ROOT, tick_ms=AT_MS + SKEW_MS + 1)
    place = shelf.put(JOURNAL, ahead)
    shelf.put(JOURNAL, changed("itself", ROOT, evidence={place: 9}))
    assert in_journal(Settings(), CHANGE, "clicks") is None
    known = f"{CHANGES_BASE}/1"
    shelf.put(JOURNAL, changed("answer", ROOT, tick_ms=AT_MS, evidence={known: 3}))
    assert in_journal(Settings(), CHANGE, "clicks") is None, "not there in time"
    shelf.there[known] = 3
    assert isinstance(in_journal(Settings(), CHANGE, "clicks"), Accepted)


def test_a_decision_on_a_place_that_is_not_there_answers_nobody(shelf: Shelf) -> None:
    shelf.there[f"{JOURNAL}/9"] = 9
    shelf.put(JOURNAL, changed("answer", ROOT, evidence={f"{JOURNAL}/9": 1}))
    assert in_journal(Settings(), CHANGE, "clicks") is None


def test_a_refusal_is_read_as_it_is_said(shelf: Shelf) -> None:
    body = JobConfigRejected("clicks", "base", CHANGE, "stale", "too late", 3, "tasks")
    shelf.put(
        JOURNAL,
        Record("clicks", "no", "JobConfigRejected", encode(body), body, parent=ROOT, cause=CHANGE),
    )
    said = in_journal(Settings(), CHANGE, "clicks")
    assert said == Rejected(CHANGE, "clicks", "stale", "too late", "tasks", 3)


def test_a_job_lives_until_it_is_deleted(shelf: Shelf) -> None:
    shelf.put(JOURNAL, changed("made", ROOT, job="orders"))
    shelf.put(JOURNAL, changed("made", ROOT))
    look = Journal(Settings())
    assert (look.living(), look.living("clicks")) == ({"clicks", "orders"}, {"clicks"})
    body = JobDeleted("clicks", CHANGE, LayerVersions(2, 0, 0, 0), "ana", "")
    shelf.put(JOURNAL, Record("clicks", "gone", "JobDeleted", encode(body), body, parent="made"))
    assert (look.living(), look.living("clicks")) == ({"orders"}, set())


def test_tiers_are_those_that_were_defined(shelf: Shelf) -> None:
    body = TierDefined("default", 4)
    record = Record("default/placement", "t", "TierDefined", encode(body), body, parent=ROOT)
    shelf.put(TIERS, record, count=1)
    assert Journal(Settings()).tiers() == {"default"}


def test_who_was_crowded_out_is_told_so(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [change_id(AT_MS + VALID_MS, f"{n:04}") for n in range(KNOWN + 1)]
    for name in names:
        body = ConfigChangeProposed(name, "clicks", "ana", None, "{}")
        shelf.put(CHANGES_BASE, Record("clicks", name, "ConfigChangeProposed", encode(body), body))
    assert never_answered(Settings(), names[-1], "clicks") == UNCOUNTED
    assert never_answered(Settings(), names[0], "clicks") == ""
    assert never_answered(Settings(), CHANGE, "clicks") == ""
    monkeypatch.setattr(known_jobs, "Journal", lambda _: (_ for _ in ()).throw(OSError("bug")))
    with pytest.raises(OSError, match="bug"):
        never_answered(Settings(), CHANGE, "clicks")


@given(
    st.lists(
        st.tuples(
            st.integers(0, 12),  # when it comes
            st.integers(-2, VALID_MS // 100 + 2),  # how long it is valid from the beginning
            st.integers(0, 3),  # its token
        ),
        max_size=30,
    ),
    st.integers(0, 29),
)
def test_crowding_is_what_the_fold_of_requests_makes_of_them(
    given_: list[tuple[int, int, int]], which: int
) -> None:
    """Beside the fold of whoever decides, with few that may be known."""
    requests = [
        (change_id(AT_MS + 100 * valid, str(token)), AT_MS + 40 * 100 * at)
        for at, valid, token in given_
    ]
    if not requests:
        return
    asked = requests[which % len(requests)][0]
    door, expected = Ingress(), None
    body = ConfigChangeProposed(asked, "clicks", "ana", None, "{}")
    for name, at_ms in requests:
        door, counts = admit(door, name, body, 0, at_ms)
        if name == asked and counts and any(one.id == name for one in door.live):
            expected = False
            break
    assert crowded_out(requests, asked) is expected
