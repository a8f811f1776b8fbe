"""The component on a job that is played: it decides what the back-test of its policy decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import pytest

from components.auto_scaler.core.policies.turbine.policy import Turbine
from events.generated.records import Body, ScalingDecided, ScalingReverted, ScalingVerified
from events.topics import LOADS
from projections.scaling.actions import (
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import Minute, Part
from tests.unit.auto_scaler.desk import MINUTE_MS, Desk, load_of
from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import Case, back_test
from turbine.lab.plant.cases import SCENARIOS, USUAL
from turbine.lab.plant.plant import Plant


class Played(NamedTuple):
    """What was decided in which minute, and the job's threads in each."""

    said: list[tuple[int, Body]]
    threads: list[int]
    lag_s: list[float]

    def of(self, kind: type[Body], action: str = "") -> list[tuple[int, Body]]:
        return [
            (minute, body)
            for minute, body in self.said
            if isinstance(body, kind) and action in {"", getattr(body, "action", "")}
        ]


def play(case: Case) -> Played:
    """Each minute the tasks report, the scaler looks, and what it asks for is in effect a minute
    later, as in a back-test."""
    job, desk = case.job, Desk()
    config = {
        "tasks": job.tasks,
        "threads_per_task": job.threads,
        "resources": {"cpu_cores": job.cpu_cores, "memory_mb": job.memory_mb},
        "inputs": [{"topic": "clicks", "partitions": job.partitions}],
        "limits": {"tasks": job.tasks_max, "privileged": True},
        "slo": {"lag_seconds": job.slo_s},
    }
    desk.runs(**config)
    desk.now_ms = 0
    size = JobSize(job.tasks, job.threads, job.cpu_cores, job.memory_mb)
    plant = Plant(case.nature, size, Streams(case.seed).fork("plant"))
    played, numbers = Played([], [], []), count(1)
    for minute, rate in enumerate(case.rates):
        if desk.owed():
            desk.carry_out()
            assert desk.row.size is not None
            plant.resize(desk.row.size)
        desk.now_ms = (minute + 1) * MINUTE_MS
        told = plant.step(rate)
        for body in _reports(told, plant.size, desk.specs, next(numbers)):
            desk.tell(LOADS, body)
        played.said.extend((minute, body) for body in desk.decide())
        played.threads.append(plant.size.tasks * plant.size.threads)
        played.lag_s.append(plant.lag_s)
    return played


def _reports(told: Minute | None, size: JobSize, specs: int, number: int) -> Iterator[Body]:
    """Tasks that do not run say nothing; their windows begin when they do."""
    if told is None or told.down_s >= 60:
        return
    up = 1 - told.down_s / 60
    whole = Part(0, told.rate, told.busy, told.lag, told.lag_s, told.memory_mb)
    for one in told.parts or (whole,):
        lag_s = told.lag_s if one.task == 0 else min(one.lag_s or 0.0, told.lag_s or 0.0)
        yield load_of(
            one.task,
            tasks=size.tasks,
            count=number,
            specs=specs,
            window_ms=round(MINUTE_MS * up),
            threads=size.threads,
            records_in_per_s=one.rate / up,
            lag_records=None if one.lag is None else round(one.lag),
            lag_ms=None if lag_s is None else round(lag_s * 1000),
            busy_share=one.busy,
            memory_bytes=None if one.memory_mb is None else round(one.memory_mb * 2**20),
            oom=told.oom,
        )


@pytest.mark.parametrize("name", ["step", "ramp", "spike", "diurnal"])
def test_it_grows_when_and_as_its_policy_does_in_back_tests(name: str) -> None:
    """Of the first growth, minute and size: what follows depends on how a restart is measured."""
    case = replace(SCENARIOS[name](), history=())
    run, played = back_test(case, Turbine.made({})), play(case)
    first = next(one for one in run.actions if one.verdict.action == SCALE_UP)
    minute, body = played.of(ScalingDecided, SCALE_UP)[0]
    assert isinstance(body, ScalingDecided)
    assert abs(minute - first.minute) <= 5, "but for the job's turn to be made smaller"
    assert first.verdict.size is not None
    wanted = first.verdict.size.tasks * first.verdict.size.threads
    assert abs(played.threads[minute + 1] - wanted) <= max(2, wanted // 8)


def test_a_load_that_triples_is_met_verified_and_held() -> None:
    played = play(replace(SCENARIOS["step"](), history=()))
    assert max(played.lag_s[-120:]) < 90
    ups = [minute for minute, _ in played.of(ScalingDecided, SCALE_UP) if minute >= 360]
    assert ups[0] <= 362
    closed = [minute for minute, _ in played.of(ScalingVerified) if minute > ups[0]]
    assert closed
    assert played.of(ScalingReverted) == []


@pytest.mark.parametrize("name", ["dependency", "hot-key", "slow-node"])
def test_what_more_tasks_do_not_mend_gets_none(name: str) -> None:
    case = SCENARIOS[name]()
    first = min(fault.first for fault in case.nature.faults)
    last = max(fault.last for fault in case.nature.faults)
    ups = [at for at, _ in play(case).of(ScalingDecided, SCALE_UP) if first + 12 < at < last]
    assert ups == []


def test_each_change_is_explained_and_closed() -> None:
    played = play(replace(SCENARIOS["ramp"](), rates=[USUAL] * 60 + [2 * USUAL] * 60))
    asked = [body for _, body in played.of(ScalingDecided) if isinstance(body, ScalingDecided)]
    ends = {getattr(body, "change_id", None) for _, body in played.said} - {None}
    assert asked
    for body in asked:
        assert body.change_id in ends
        assert "minute" in json.loads(body.evidence_json)
