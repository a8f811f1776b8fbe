"""What more tasks do not mend: it is shared anew, or a person is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    PartitionLag,
    ScalingDecided,
    ScalingDeclined,
    ScalingVerified,
)
from projections.scaling.row import OWN_ALERTS
from tests.contracts.test_form import ROOT
from tests.unit.auto_scaler.desk import Desk, split

SLOW: dict[str, Any] = {
    "busy_share": lambda task: 1.0 if task == 1 else 0.5,
    "records_in_per_s": lambda task: 200.0 if task == 1 else 1_000.0,
    "lag_records": lambda task: 90_000 if task == 1 else 0,
    "lag_ms": lambda task: 88_000 if task == 1 else 0,
}
"""Of one task that is slow."""


def declines(desk: Desk) -> list[ScalingDeclined]:
    return [one for one in desk.said if isinstance(one, ScalingDeclined)]


def test_a_slow_task_is_told_with_the_command_that_moves_it() -> None:
    desk = Desk().runs()
    desk.minutes(9, 4_000.0, busy_share=0.85)
    desk.said.clear()
    desk.minutes(1, 4_000.0, **SLOW)
    said, alert = declines(desk)[-1], desk.last(AlertRaised)
    assert (said.action, said.reason, said.diagnosis) == ("move", "by-hand", "straggler")
    assert "orders/1 on c1" in said.explanation
    assert "`turbine drain container c1 --reason straggler`" in said.explanation
    assert (alert.alert, alert.runbook) == ("straggler", "docs/runbooks/straggler.md")
    done = desk.row.done
    assert (done.mended_ms, done.acted_ms, done.other_ms) == (None, None, desk.now_ms)
    desk.said.clear()
    desk.minutes(2, 4_000.0, **SLOW)
    assert desk.kinds() == [], "the same is told once"
    desk.minutes(15, 4_000.0, busy_share=0.5)
    assert desk.last(AlertCleared).alert == "straggler"
    assert desk.row.alerts == frozenset()


def test_an_alert_is_over_when_an_operator_pauses_the_job() -> None:
    desk = Desk().runs()
    desk.minutes(9, 4_000.0, busy_share=0.85)
    desk.minutes(1, 4_000.0, **SLOW)
    assert desk.row.alerts == {"straggler"}
    desk.commit("paused")
    desk.decide()
    assert desk.row.alerts == frozenset()


def skewed(came: dict[int, float]) -> dict[str, Any]:
    """Task 0 is late, for what comes to its partitions."""
    return {
        "busy_share": lambda task: 1.0 if task == 0 else 0.4,
        "records_in_per_s": lambda task: 2_000.0 if task == 0 else 800.0,
        "lag_records": lambda task: 170_000 if task == 0 else 0,
        "lag_ms": lambda task: 85_000 if task == 0 else 0,
        "partitions": lambda task: split(task, 4, came),
    }


def test_where_one_task_gets_more_its_partitions_are_shared_anew() -> None:
    desk = Desk().runs()
    desk.minutes(9, 4_000.0, busy_share=0.85)
    came = {at: 500.0 if at % 4 == 0 else 200.0 for at in range(16)} | {0: 900.0}
    desk.minutes(1, 4_000.0, **skewed(came))
    asked = desk.last(ScalingDecided)
    assert (asked.action, asked.diagnosis, asked.final_tasks) == ("rebalance", "skew", 4)
    shared = json.loads(asked.set_json)["assignment"]
    assert sorted(place for task in shared for place in task) == sorted(
        f"clicks/{at}" for at in range(16)
    )
    loads = [sum(came[int(place.rpartition("/")[2])] for place in task) for task in shared]
    assert max(loads) < 1.2 * sum(loads) / 4
    assert "busiest task" in asked.explanation
    desk.carry_out()
    assert desk.row.change is not None
    [verified, *_] = desk.decide()
    assert isinstance(verified, ScalingVerified)
    assert "assignment" in desk.row.config.scaler


def test_an_assignment_goes_with_the_number_of_tasks_that_it_was_made_for() -> None:
    desk = Desk().runs(threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.wants("scaler", assignment=[["clicks/0"], ["clicks/1"], ["clicks/2"], ["clicks/3"]])
    desk.commit()
    assert desk.grows().clear == ("assignment",)


@pytest.mark.parametrize(
    ("came", "reason"),
    [
        ({}, "rates-unknown"),
        (dict.fromkeys(range(8), 100.0), "rates-unknown"),
        ({at: 4_000.0 if at == 0 else 10.0 for at in range(16)}, "no-better-sharing"),
    ],
)
def test_where_no_sharing_mends_it_a_person_is_told(came: dict[int, float], reason: str) -> None:
    desk = Desk().runs()
    desk.minutes(9, 4_000.0, busy_share=0.85)
    desk.said.clear()
    desk.minutes(1, 4_000.0, **skewed(came))
    said, alert = declines(desk)[-1], desk.last(AlertRaised)
    assert (said.action, said.reason, said.diagnosis) == ("rebalance", reason, "skew")
    assert alert.alert == "hot-partition"
    assert said.explanation in alert.cause
    assert desk.owed() == []


def test_a_partition_of_which_nothing_is_read_wakes_a_person_and_gets_no_tasks() -> None:
    desk = Desk().runs()
    desk.minutes(9, 4_000.0, busy_share=0.85)
    desk.said.clear()
    lags = {0: PartitionLag("clicks", 0, 60_000, None, 400_000, 0.0)}
    desk.minutes(
        3,
        4_000.0,
        busy_share=0.85,
        lag_records=lambda task: 60_000 if task == 0 else 0,
        lag_ms=lambda task: 400_000 if task == 0 else 0,
        partitions=lambda task: (lags[task],) if task in lags else (),
    )
    said, alert = declines(desk)[-1], desk.last(AlertRaised)
    assert (said.action, said.reason, said.diagnosis) == ("alert",) + ("stuck-partition",) * 2
    assert (alert.alert, alert.severity) == ("stuck-partition", "critical")
    assert desk.owed() == []


def test_every_alert_has_a_page() -> None:
    for name in OWN_ALERTS:
        assert (ROOT / f"docs/runbooks/{name}.md").is_file()
