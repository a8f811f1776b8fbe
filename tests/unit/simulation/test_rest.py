"""Of jobs that are sized it is seen which is not at rest although nothing goes wrong any more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.auto_scaler.core.closing import due_ms
from components.runtime.core.step import KeyState
from projections.scaling.actions import JobSize
from simulation.liveness import at_rest
from simulation.traffic import PARTITIONS, PER_THREAD, JobTraffic
from simulation.world import NEWEST_BUILD, SimulatedWorld
from tests.unit.auto_scaler.desk import Desk
from turbine.lab.plant.job_model import Nature
from turbine.lab.plant.plant import Plant

SCALED = 5
JOB = "orders"
MUCH = 100.0
"""Records a second: more than eight threads read."""


def found(desk: Desk, rate: float | None = 0.0) -> list[str]:
    """What is told of a scaler that holds the row, while so much came in of late."""
    world = SimulatedWorld(SCALED)
    process = world.spawn("auto-scaler", NEWEST_BUILD)
    process.owner.held[JOB] = KeyState(desk.row)
    world.clock.run_until(desk.now_ms)
    if rate is not None:
        nature = Nature(PER_THREAD, PARTITIONS, base_mb=100.0)
        size = desk.row.size or JobSize(1, 1, 0.25, 256)
        plant = Plant(nature, size, world.streams.fork("plant"))
        for _ in range(60):
            plant.step(rate)
        world.traffic.flows[JOB] = JobTraffic(plant)
    return list(at_rest(process, world))


def well(**config: object) -> Desk:
    """A job of eight partitions that runs, and was looked at."""
    inputs = [{"topic": "clicks", "partitions": PARTITIONS}]
    desk = Desk().runs(**{"inputs": inputs, "tasks": 2, **config})
    desk.minutes(3, 10.0)
    return desk


def test_a_job_that_is_well_is_at_rest() -> None:
    assert found(well()) == []


def test_a_word_that_is_not_said_is_seen() -> None:
    desk = well()
    desk.minute(10.0, oom=True)
    [said] = found(desk)
    assert "auto-scaler orders has more to say: [ScalingDecided(" in said


def test_a_job_that_lags_for_ever_is_seen() -> None:
    [said] = found(well(), MUCH)
    assert "auto-scaler orders still lags " in said


def quarantined(desk: Desk) -> None:
    desk.row = desk.row._replace(running=desk.row.running._replace(quarantined=True))


def held(desk: Desk) -> None:
    """Somebody has paused it."""
    desk.commit("paused")


def overridden(desk: Desk) -> None:
    desk.wants("oncall", tasks=2)
    desk.commit()


def deleted(desk: Desk) -> None:
    desk.deleted()
    desk.commit("deleted")


@pytest.mark.parametrize("change", [quarantined, held, overridden, deleted])
def test_who_may_not_be_sized_may_lag(change: Callable[[Desk], None]) -> None:
    desk = well()
    change(desk)
    desk.decide()
    assert found(desk, MUCH) == []


@pytest.mark.parametrize("config", [{"policy": {"mode": "advise"}}, {"paused": True}])
def test_whom_nobody_is_to_size_may_lag(config: dict[str, object]) -> None:
    assert found(well(**config), MUCH) == []


def test_who_was_never_read_of_may_lag() -> None:
    assert found(well(), None) == []


@pytest.mark.parametrize(
    ("tasks", "limit", "cores", "excused"),
    [
        (8, 32, 0.8, False),
        (8, 32, 1.0, True),
        (7, 32, 1.0, False),
        (4, 4, 1.0, True),
        (5, 6, 1.0, False),
    ],
)
def test_who_has_all_that_it_may_have_may_lag(
    tasks: int, limit: int, cores: float, excused: bool
) -> None:
    """A task for each partition, or as many as are allowed, and no core more for any of them."""
    desk = well(tasks=tasks, limits={"tasks": limit}, resources={"cpu_cores": cores})
    assert (found(desk, MUCH) == []) == excused


def test_a_proposal_that_is_owed_is_seen() -> None:
    desk = Desk().runs()
    desk.grows()
    [said] = found(desk)
    assert said.startswith("auto-scaler orders has OpenProposal(")
    assert "and owes (OwedProposal(" in said

    deleted(desk)
    [said] = found(desk)
    assert said.startswith("auto-scaler orders has None open and owes (OwedProposal(")


def test_a_change_without_an_outcome_is_seen_where_the_job_runs() -> None:
    desk = Desk().runs()
    desk.grows()
    desk.carry_out()
    desk.decide()
    assert found(desk) == [], "it has its time"
    due = due_ms(desk.row)
    assert due is not None
    for at_ms, seen in ((due - 1, False), (due, True)):
        desk.now_ms = at_ms
        assert any(one.endswith(" open and owes ()") for one in found(desk)) == seen

    quarantined(desk)
    assert not any(one.endswith(" open and owes ()") for one in found(desk))


@pytest.mark.parametrize(("rate", "told"), [(0.0, True), (25.0, False)])
def test_an_alert_without_a_cause_is_seen(rate: float, told: bool) -> None:
    """One of a job that lags may be right."""
    desk = well()
    desk.row = desk.row._replace(alerts=frozenset({"straggler"}))
    said = [one for one in found(desk, rate) if "has alerts" in one]
    expected = ["auto-scaler orders has alerts, and nothing is wrong: ['straggler']"]
    assert said == (expected if told else [])
