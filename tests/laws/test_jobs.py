"""Laws of a job's row and of what is decided on it: total, lasting, and told the same by all."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.job_service.decide import decide, wake_ms
from events.generated.records import (
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    OverrideExpired,
)
from events.job_config.config import Invalid, validate_config
from events.job_config.merge import merge_layers
from events.job_config.strict_json import canonical_json
from events.topics import JOURNAL, LAYERS
from events.wire.codec import Read, Record, encode
from projections.jobs import Job, apply, dump, fold, load
from tests.kit.examples import at_most
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk

wishes = st.one_of(
    st.just(SMALLEST),
    st.dictionaries(
        st.sampled_from(["tasks", "priority", "resources", "limits", "slo", "policy", "nonsense"]),
        st.sampled_from(
            [1, 4, 33, -1, None, "ten", {"tasks": 2}, {"memory_mb": 512}, {"cpu_cores": None}, {}]
        ),
        max_size=3,
    ),
    st.sampled_from(["{", "[]", "", '{"tasks":1,"tasks":2}', '{"tasks":NaN}']),
)
paths = st.sampled_from(["tasks", "resources", "resources.memory_mb", "no.such", "", "a\\b"])
acts: st.SearchStrategy[Any] = st.one_of(
    st.tuples(
        st.sampled_from(LAYERS),
        st.fixed_dictionaries(
            {
                "set_": wishes,
                "clear": st.lists(paths, max_size=2),
                "expected_version": st.none() | st.integers(-1, 3),
                "reason": st.sampled_from(["", "because"]),
                "expires_ms": st.none() | st.sampled_from([NOW_MS - 1, NOW_MS + 50_000]),
            }
        ),
    ),
    st.just(("delete", {})),
    st.just(("wait", {})),
    st.just(("decide", {})),
)
lives = st.lists(acts, max_size=14)
"""What people ask for, time that passes, and moments at which the job service looks."""


def live(acted: list[tuple[str, dict[str, Any]]], *, decide_all: bool = True) -> Desk:
    """A job that went through all of it."""
    desk = Desk(alive=False)
    for act, said in acted:
        match act:
            case "delete":
                desk.put_deletion()
            case "wait":
                desk.now_ms += 30_000
            case "decide":
                desk.decide()
            case _:
                desk.put(act, **said)
    if decide_all:
        desk.decide()
    return desk


def of_journal(body: Body) -> Read:
    record = Record("orders", "?", type(body).__name__, encode(body), body, parent="?")
    return Read(f"{JOURNAL}/0", JOURNAL, 0, NOW_MS, record)


@settings(deadline=None)
@given(lives)
def test_each_request_has_one_verdict_and_nothing_is_said_twice(
    acted: list[tuple[str, dict[str, Any]]],
) -> None:
    desk = live(acted, decide_all=False)
    waiting = sum(len(door.waiting) for door in desk.job.ingress)
    said = desk.decide()
    verdicts = [body for body in said if not isinstance(body, OverrideExpired)]
    assert len(verdicts) == waiting
    assert all(not door.waiting for door in desk.job.ingress)
    assert desk.decide() == []


@settings(deadline=None)
@given(lives)
def test_the_same_row_says_the_same_bytes(acted: list[tuple[str, dict[str, Any]]]) -> None:
    job = live(acted, decide_all=False).job
    kept = load(json.loads(json.dumps(dump(job))))
    assert kept == job
    said = [encode(body) for body in decide(job, NOW_MS)]
    assert [encode(body) for body in decide(kept, NOW_MS)] == said


@settings(deadline=None)
@given(lives, st.integers(0, 20))
def test_an_answer_that_is_cut_anywhere_goes_on_where_it_was_cut(
    acted: list[tuple[str, dict[str, Any]]], cut: int
) -> None:
    """At most so many at once: the rest follows once the first of it is read back."""
    job = live(acted, decide_all=False).job
    said = list(decide(job, NOW_MS))
    for body in said[:cut]:
        job = fold(job, of_journal(body))
    assert list(decide(job, NOW_MS)) == said[cut:]


@settings(deadline=None)
@given(lives)
def test_versions_have_no_gap_and_all_of_them_are_told(
    acted: list[tuple[str, dict[str, Any]]],
) -> None:
    job = live(acted, decide_all=False).job
    for body in decide(job, NOW_MS):
        before, job = job, apply(job, body)
        steps = [
            after.version - layer.version
            for layer, after in zip(before.layers, job.layers, strict=True)
        ]
        match body:
            case JobConfigChanged() | OverrideExpired():
                assert steps == [int(layer == body.layer) for layer in LAYERS]
                assert body.versions == job.versions
            case JobDeleted():
                assert steps == [1, 1, 1, 1]
                assert body.versions == job.versions
            case JobConfigRejected():
                assert steps == [0, 0, 0, 0]


@settings(deadline=None)
@given(lives)
def test_what_is_expected_is_what_the_layers_add_up_to_and_it_is_sound(
    acted: list[tuple[str, dict[str, Any]]],
) -> None:
    """Whatever was asked for, and whatever has expired since."""
    job = live(acted).job
    merged = merge_layers([json.loads(layer.config_json) for layer in job.layers])
    assert job.expected_json == canonical_json(merged)
    assert not job.alive or not isinstance(validate_config(merged), Invalid)
    assert job.alive or merged == {}


@settings(max_examples=at_most(50), deadline=None)
@given(lives)
def test_nothing_that_expires_is_left_and_the_next_look_is_later(
    acted: list[tuple[str, dict[str, Any]]],
) -> None:
    desk = live(acted)
    while (at_ms := wake_ms(desk.job, desk.now_ms)) is not None:
        assert at_ms > desk.now_ms
        desk.now_ms = at_ms
        assert any(isinstance(body, OverrideExpired) for body in desk.decide())
    assert all(
        layer.expires_ms is None or layer.expires_ms > desk.now_ms for layer in desk.job.layers
    )


@settings(deadline=None)
@given(lives)
def test_a_reader_of_the_journal_alone_has_the_same_config(
    acted: list[tuple[str, dict[str, Any]]],
) -> None:
    full = live(acted, decide_all=False).job
    alone = Job(full.name, alive=full.alive, layers=full.layers, expected_json=full.expected_json)
    for body in decide(full, NOW_MS):
        full, alone = fold(full, of_journal(body)), fold(alone, of_journal(body))
    assert (alone.alive, alone.layers, alone.expected_json) == (
        full.alive,
        full.layers,
        full.expected_json,
    )
