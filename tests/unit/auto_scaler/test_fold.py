"""What the auto scaler's row keeps of each topic, how large it may become, and how it is kept."""

from __future__ import annotations

import json
from array import array
from typing import Any

import pytest

from components.auto_scaler.core.evaluation import looked, profile_of
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.core.verdict import deed_of
from components.auto_scaler.decide import component
from components.runtime.core.step import KeyState
from components.runtime.core.store import dump_held
from events.generated.records import (
    AlertRaised,
    CapacityGranted,
    PartitionLag,
    ProfileSlot,
    ScalingDecided,
    SyncFailed,
    WorkloadProfiled,
)
from events.job_config.strict_json import canonical_json
from events.topics import GRANTS, JOURNAL, LOADS, MIB, PROFILES
from projections.scaling.actions import JobSize
from projections.scaling.apply import RESTARTS_MOST, apply
from projections.scaling.decision_memory import (
    Done,
    done_after,
)
from projections.scaling.facts import change_to, differing, facts_of, keys_of, without
from projections.scaling.fold import SLOTS_MOST, TEXT_CHARS
from projections.scaling.model import JobModel
from projections.scaling.rounds import TASKS_MOST
from projections.scaling.row import OpenProposal, ScalingRow
from projections.scaling.row_json import dump, load
from projections.scaling.seen import DAY_MS, UNKNOWN, JobFacts
from tests.unit.auto_scaler.desk import SMALLEST, Desk, load_of

ROW_BYTES = 4 * MIB
"""Of the largest row; a kept row is one message of 8 MiB at most."""


# --- configs


def facts(**config: Any) -> Any:
    return facts_of(canonical_json(SMALLEST | config))


def test_a_config_tells_size_limits_and_policy() -> None:
    found = facts(policy={"mode": "observe", "settings": {"margin": 1.5}, "interval_ms": 5_000})
    assert found.size == JobSize(4, 1, 0.25, 256)
    assert (found.slo_s, found.tasks_max, found.memory_least) == (90.0, 32, 1)
    assert (found.policy, found.mode, found.interval_ms) == ("turbine", "observe", 5_000)
    assert json.loads(found.settings_json) == {"margin": 1.5}
    assert found.partitions == 16
    assert facts(inputs=[{"topic": "clicks"}]).partitions is None
    wide = [{"topic": "clicks", "partitions": 16}, {"topic": "views", "partitions": 40}]
    assert facts(inputs=wide).partitions == 40


def test_a_config_that_this_build_cannot_read_is_none() -> None:
    assert facts(tasks=-1) is None
    assert facts_of("{}") is None


@pytest.mark.parametrize(
    ("layer", "keys"),
    [
        ({}, set()),
        ({"tasks": 4}, {"tasks"}),
        ({"tasks": None}, {"tasks"}),
        ({"resources": {"cpu_cores": 1}}, {"resources.cpu_cores"}),
        ({"resources": None}, {"resources.cpu_cores", "resources.memory_mb"}),
        ({"priority": 3, "paused": True}, {"paused"}),
        ({"assignment": []}, {"assignment"}),
    ],
)
def test_which_keys_a_layer_sets(layer: dict[str, Any], keys: set[str]) -> None:
    assert keys_of(json.dumps(layer)) == keys


def test_a_change_says_only_what_differs() -> None:
    have, wanted = JobSize(4, 1, 0.25, 256), JobSize(4, 2, 0.5, 256)
    assert change_to(wanted, have) == {"threads_per_task": 2, "resources": {"cpu_cores": 0.5}}
    assert differing(wanted, have) == {"threads_per_task", "resources.cpu_cores"}
    assert without(wanted, have, frozenset({"threads_per_task"})) == JobSize(4, 1, 0.5, 256)
    assert change_to(have, have) == {}


# --- facts


def profiled(to_ms: int, *slots: ProfileSlot, slot_ms: int = DAY_MS // 4) -> WorkloadProfiled:
    return WorkloadProfiled("orders", 0, to_ms, slot_ms, slots)


def test_the_newest_profile_counts_and_what_it_does_not_say_is_unknown() -> None:
    desk = Desk()
    assert profile_of(desk.row.days) == UNKNOWN
    desk.tell(PROFILES, profiled(20, ProfileSlot(1, 3, 10.0, 20.0, 0.0, 0.0)))
    desk.tell(PROFILES, profiled(10, ProfileSlot(1, 9, 99.0, 99.0, 0.0, 0.0)))
    found = profile_of(desk.row.days)
    assert (found.slot_ms, found.days) == (DAY_MS // 4, 3)
    assert found.mean == (None, 10.0, None, None)
    assert found.peak == (None, 20.0, None, None)


@pytest.mark.parametrize("slot_ms", [0, -5, 7, DAY_MS // SLOTS_MOST // 2])
def test_a_profile_that_no_row_can_hold_is_none(slot_ms: int) -> None:
    desk = Desk()
    desk.tell(PROFILES, profiled(20, slot_ms=slot_ms))
    assert desk.row == ScalingRow("orders")


def test_slots_that_there_are_not_are_passed_over() -> None:
    desk = Desk()
    wild = ProfileSlot(9, 1, 1.0, 1.0, 0.0, 0.0), ProfileSlot(-1, 1, 1.0, 1.0, 0.0, 0.0)
    desk.tell(PROFILES, profiled(20, *wild))
    assert profile_of(desk.row.days).mean == (None,) * 4


def test_the_last_word_of_the_capacity_manager_holds() -> None:
    desk = Desk()
    desk.preempts("stop")
    assert desk.row.grant.stop
    desk.grants(7)
    assert (desk.row.grant.stop, desk.row.grant.tasks_max) == (False, 7)
    desk.preempts("shrink", 3)
    assert (desk.row.grant.shrink, desk.row.grant.tasks_max) == (True, 3)
    desk.grants(None)
    assert (desk.row.grant.shrink, desk.row.grant.tasks_max) == (False, None)


# --- records of others


def test_what_does_not_concern_it_changes_nothing() -> None:
    desk = Desk().runs()
    before = desk.row
    desk.tell(JOURNAL, AlertRaised("orders", "tasks-failing", "critical", "", ""))
    request = {"job": "orders", "signature": "", "versions": before.config.versions, "step": 0}
    refused = SyncFailed(
        **request, plan_id="", name="", cause="", explanation="", failures=0, change_id="9.x"
    )
    desk.tell(JOURNAL, refused)
    assert desk.row == before


def test_of_changes_only_the_last_instants_are_kept() -> None:
    desk = Desk().runs()
    for _ in range(RESTARTS_MOST + 3):
        desk.now_ms += 1
        desk.tell(JOURNAL, decision(desk))
        desk.row = desk.row._replace(owed=())
    assert desk.row.restarts == tuple(range(desk.now_ms - RESTARTS_MOST + 1, desk.now_ms + 1))


def decision(desk: Desk) -> ScalingDecided:
    return ScalingDecided(
        "orders", f"{desk.now_ms}.x", 0, '{"tasks":5}', "lag", "under-capacity", 5, 5
    )


def test_a_record_is_remembered_as_the_verdict_that_it_was() -> None:
    """So what back-tests try is what runs."""
    desk = Desk().runs()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    desk.minute(4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    row, config = desk.row, desk.row.config.facts
    assert config is not None
    verdict = looked(row, config, desk.now_ms).verdict
    assert verdict.action == "scale-up"
    wanted = done_after(row.done, deed_of(verdict), config.size, desk.now_ms)
    desk.decide()
    assert desk.row.done == wanted
    assert wanted.open is not None
    job = JobFacts("orders", 4, partitions=16)
    known = row.learnt.known._replace(done=Done())
    after, again = Turbine.made({}).decide(known, job, UNKNOWN, desk.now_ms)
    assert (after.done, again) == (wanted, verdict)


# --- keeping


def full() -> Desk:
    desk = Desk().runs(policy={"settings": {"margin": 1.3}})
    desk.tell(PROFILES, profiled(20, ProfileSlot(1, 3, 10.0, 20.0, 0.0, 0.0)))
    desk.grants(9)
    desk.grows()
    desk.tell(LOADS, load_of(0, tasks=9, count=1, specs=9, partitions=(PartitionLag("a", 1),)))
    return desk


@pytest.mark.parametrize("row", [ScalingRow("orders"), full().row], ids=["empty", "full"])
def test_a_row_is_kept_as_it_is(row: ScalingRow) -> None:
    kept = json.loads(json.dumps(dump(row)))
    assert load(kept) == row
    assert dump(load(kept)) == dump(row)


def test_a_lag_without_end_is_kept() -> None:
    row = ScalingRow("orders")
    known = JobModel(lags_s=(1.0, float("inf")), lows=((5, float("inf")),))
    row = row._replace(learnt=row.learnt._replace(known=known))
    assert load(json.loads(json.dumps(dump(row)))) == row


def test_the_row_of_a_usual_job_is_small() -> None:
    desk = Desk().runs()
    came = tuple(PartitionLag("clicks", at, 0, None, 0, 100.0) for at in range(4))
    desk.minutes(300, 4_000.0, busy_share=0.85, partitions=lambda _: came)
    assert len(kept(desk.row)) < 24_000


def kept(row: ScalingRow) -> bytes:
    return dump_held(component, KeyState(row=row))


def test_the_largest_row_is_bounded() -> None:
    """More of anything than there can be, and names as long as they may be."""
    desk = Desk().runs()
    name = "\U0001f600" * 400
    for task in range(TASKS_MOST + 100):
        lags = tuple(PartitionLag("c" * 249, at, 2**62, 0, 2**62, 1e9 / 3) for at in range(1))
        body = load_of(
            task,
            tasks=100_000,
            count=2**50,
            container=name,
            partitions=lags,
            records_in_per_s=1e9 / 3,
            bytes_in_per_s=1e9 / 7,
            lag_records=2**62,
            lag_ms=2**62,
            busy_share=1 / 3,
            memory_bytes=2**50,
        )
        desk.tell(LOADS, body)
    assert len(desk.row.learnt.rounds.heard) == TASKS_MOST
    slots = tuple(ProfileSlot(at, 9, 1 / 3, 1 / 7, 0.0, 0.0) for at in range(SLOTS_MOST))
    desk.tell(PROFILES, profiled(20, *slots, slot_ms=DAY_MS // SLOTS_MOST))
    desk.tell(GRANTS, CapacityGranted("orders", "g" * 9_999, "t", (), "x" * 99_999, 1))
    assert len(desk.row.grant.explanation) == TEXT_CHARS
    assert len(kept(desk.row)) < ROW_BYTES


def test_packed_numbers_are_exact() -> None:
    row = ScalingRow("orders")
    numbers = tuple(1 / (at + 3) for at in range(50))
    known = row.learnt.known._replace(arrived=numbers)
    row = row._replace(learnt=row.learnt._replace(known=known))
    assert load(dump(row)).learnt.known.arrived == numbers
    assert array("d", numbers).itemsize == 8


def test_looking_ahead_is_what_folding_comes_to() -> None:
    desk = Desk().runs()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    before = desk.row
    ahead = apply(before, decision(desk), desk.now_ms)
    desk.tell(JOURNAL, decision(desk))
    assert desk.row == ahead
    assert isinstance(ahead.change, OpenProposal)
    assert ahead.change.decided_ms == desk.now_ms
