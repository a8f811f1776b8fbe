"""What is known of a job: total, never forgotten, the same from the journal alone, and bounded."""

from __future__ import annotations

import json

import pytest

from components.job_service.core.overrides import ENDS_BYTES, ENDS_MOST
from components.job_service.decide import EXPECTED_BYTES, LAYER_BYTES, component
from components.runtime.core.step import KeyState
from components.runtime.core.store import dump_held
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    OverrideEnd,
    OverrideExpired,
    SyncStepDone,
)
from events.topics import CHANGES, JOURNAL, LOADS, OPERATOR, rows_topic
from events.wire.codec import SKIPPED, VALUE_BYTES_MAX, Read, Record, encode
from projections.ingress import KNOWN, WHOLE_BYTES
from projections.jobs import BASE, FOLDED_KINDS, End, Job, LayerState, apply, dump, fold, load
from projections.kept_state import StatefulJob
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk
from turbine_client.identity import CHANGE_ID_LENGTH_MAX, valid_until_ms


def read(topic: str, body: Body | None, *, name: str = "n", at_ms: int = NOW_MS) -> Read:
    kind = "" if body is None else type(body).__name__
    record = Record("orders", name, kind, b"", body)
    return Read(f"{topic}/0", topic, 0, at_ms, record)


def change(layer: str = "base", **said: object) -> JobConfigChanged:
    fields: dict[str, object] = {
        "job": "orders",
        "layer": layer,
        "change_id": "2000000.a",
        "version": 1,
        "versions": LayerVersions(1, 0, 0, 0),
        "layer_json": '{"tasks":2}',
        "expected_json": '{"tasks":2}',
        "author": "ann",
    }
    return JobConfigChanged(**(fields | said))  # type: ignore[arg-type]  # fields by their names


def test_the_first_word_about_a_job_makes_its_row() -> None:
    job = fold(None, read(JOURNAL, SyncStepDone("orders", "p", 1, "stop")))
    assert job == Job("orders")


@pytest.mark.parametrize("body", [None, SKIPPED, SyncStepDone("orders", "p", 1, "stop")])
def test_what_does_not_concern_the_config_changes_nothing(body: Body | None) -> None:
    job = Desk().job
    assert fold(job, read(JOURNAL, body)) == job


def test_a_wish_on_a_topic_that_is_no_door_counts_nowhere() -> None:
    body = ConfigChangeProposed("2000000.a", "orders", "ann")
    assert fold(None, read(LOADS, body, name="2000000.a")) == Job("orders")


def test_each_topic_is_a_door_of_its_own() -> None:
    body = ConfigChangeProposed("1060000.a", "orders", "ann")
    for at, topic in enumerate((*CHANGES.values(), OPERATOR)):
        job = fold(None, read(topic, body, name="1060000.a"))
        assert [len(door.waiting) for door in job.ingress] == [int(at == n) for n in range(5)]


def test_the_id_of_the_record_is_the_request_s() -> None:
    """The codec takes it from the body; here a reader of another make may differ."""
    body = ConfigChangeProposed("1060000.a", "orders", "ann")
    job = fold(None, read(CHANGES["base"], body, name="1060000.b"))
    assert job.ingress[BASE].waiting[0].id == "1060000.b"


def test_an_accepted_change_is_its_layer() -> None:
    told = OverrideEnd(7, "2000000.a", "ann", "{}")
    job = apply(Job("orders"), change(reason="why", expires_ms=7, ends=(told,)))
    end = End(7, "2000000.a", "ann", "{}")
    assert job.layers[BASE] == LayerState(1, '{"tasks":2}', "ann", "why", "2000000.a", (end,))
    assert job.expected_json == '{"tasks":2}'
    assert job.alive


def test_a_change_that_tells_no_ends_ends_with_all_of_its_layer() -> None:
    """So it was, when a layer had one end: that of its last change."""
    job = apply(Job("orders"), change("oncall", expires_ms=7))
    assert job.layers[3].ends == (End(7, "2000000.a", "ann", "{}"),)
    assert apply(job, change("oncall", version=2)).layers[3].ends == ()


def test_only_a_base_change_makes_a_job_live() -> None:
    assert not apply(Job("orders"), change("oncall")).alive


@pytest.mark.parametrize(
    "body",
    [
        change("unknown"),
        JobConfigRejected("orders", "attic", "2000000.a", "invalid", "?", version=0),
        OverrideExpired("orders", "unknown", 1, LayerVersions(0, 0, 0, 1), "{}", 7),
    ],
)
def test_layers_of_another_build_change_nothing(body: Body) -> None:
    job = Desk().job
    assert apply(job, body) == job


def test_a_verdict_answers_the_request_of_its_own_door_only() -> None:
    desk = Desk()
    name = f"{NOW_MS + 5}.same"
    for layer in ("base", "oncall"):
        desk.put(layer, name=name)
    job = apply(desk.job, JobConfigRejected("orders", "oncall", name, "invalid", "?", version=0))
    assert [len(door.waiting) for door in job.ingress] == [1, 0, 0, 0, 0]


def test_an_expiry_takes_back_its_change() -> None:
    desk = Desk()
    desk.ask("oncall", set_={"priority": 7}, reason="last")
    desk.ask("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 5)
    last = desk.job.layers[3].change_id
    versions = LayerVersions(1, 0, 0, 3)
    body = OverrideExpired(
        "orders", "oncall", 3, versions, "{}", NOW_MS + 5, last, '{"priority":7}'
    )
    job = apply(desk.job, body)
    assert job.layers[3] == LayerState(3, '{"priority":7}')
    assert apply(desk.job._replace(layers=(LayerState(),) * 4), body).layers[3] == job.layers[3]


def test_an_expiry_without_a_change_empties_the_layer_and_keeps_its_version() -> None:
    desk = Desk()
    desk.ask("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 5)
    body = OverrideExpired("orders", "oncall", 2, LayerVersions(1, 0, 0, 2), '{"t":1}', NOW_MS + 5)
    job = apply(desk.job, body)
    assert job.layers[3] == LayerState(2)
    assert job.expected_json == '{"t":1}'
    assert job.layers[:3] == desk.job.layers[:3]


def test_a_deleted_job_keeps_its_versions_and_what_it_knows_of_requests() -> None:
    desk = Desk()
    desk.put("scaler")
    body = JobDeleted("orders", "2000000.d", LayerVersions(5, 6, 7, 8), "ann", "done")
    job = apply(desk.job, body)
    assert job.layers == tuple(LayerState(version) for version in (5, 6, 7, 8))
    assert job.ingress == desk.job.ingress
    assert (job.alive, job.expected_json) == (False, "{}")


def test_a_reader_of_the_journal_alone_has_the_same_layers() -> None:
    desk, alone = Desk(alive=False), None
    desk.put("base", set_=SMALLEST)
    said = desk.decide()
    desk.put("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 5_000)
    desk.put("scaler", set_={"tasks": -1})
    said += desk.decide()
    desk.now_ms += 5_000
    said += desk.decide()
    desk.put_deletion()
    said += desk.decide()
    for body in said:
        alone = fold(alone, read(JOURNAL, body))
        full = desk.job._replace(ingress=alone.ingress)
    assert alone == full
    assert len(said) == 5


def test_what_is_kept_comes_back() -> None:
    desk = Desk()
    desk.ask("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 5_000, reason="ä \U0001f600 \x00")
    desk.put("scaler", set_={"tasks": 4}, clear=["tasks", "a\\.b"], expected_version=7)
    desk.put_deletion()
    kept = StatefulJob("{}", "a", "b", (7, True))
    for job in (desk.job, Job("orders"), Job("ä"), desk.job._replace(kept=kept)):
        assert load(json.loads(json.dumps(dump(job)))) == job


def test_the_kinds_that_are_folded_are_all_that_move_the_row() -> None:
    assert component.folds == FOLDED_KINDS


def test_a_row_fits_into_a_message_however_many_ask() -> None:
    """All layers full, every door flooded, the longest ids there are, and nobody answers."""
    end = End(2**53, "?" * 200, "\U0001f600" * 256, '"' * (ENDS_BYTES // ENDS_MOST))
    said = "\U0001f600" * 256, "\U0001f600" * 4_096, "?" * 200
    layer = LayerState(2**53, '"' * LAYER_BYTES, *said, ends=(end,) * ENDS_MOST)
    kept = StatefulJob('"' * EXPECTED_BYTES, "?" * 16, "?" * 16, (2**53, True))
    job = Job("o" * 128, layers=(layer,) * 4, expected_json='"' * EXPECTED_BYTES, kept=kept)
    for topic in (*CHANGES.values(), OPERATOR):
        for number in range(KNOWN + 1):
            name = longest(f"{NOW_MS + 60_000}.{number:04}")
            body = ConfigChangeProposed(name, "orders", "ann", reason="?" * 3_800)
            record = Record("orders", name, type(body).__name__, encode(body), body)
            job = fold(job, Read(f"{topic}/0", topic, number, NOW_MS, record))
    assert {len(door.live) for door in job.ingress} == {KNOWN}
    size = len(dump_held(component, KeyState(row=job)))
    assert size < int(rows_topic("job-service").config["max.message.bytes"])
    assert VALUE_BYTES_MAX <= WHOLE_BYTES, "one request of any size is kept whole"


def longest(head: str) -> str:
    """The id of most bytes that counts as one."""
    wide = [head.ljust(CHANGE_ID_LENGTH_MAX // part, "\U0001f600") for part in (1, 4)]
    names = [
        name for name in (*wide, head.ljust(CHANGE_ID_LENGTH_MAX, "a")) if valid_until_ms(name)
    ]
    return max(names, key=lambda name: len(name.encode()))
