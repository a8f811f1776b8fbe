"""`get lag`: how a job stands, as lists of jobs have it."""

from __future__ import annotations

import pytest
from immutables import Map

from projections.syncs import Quarantine
from tests.unit.turbine.lines import run
from tests.unit.turbine.test_lag import FakeLog, told


def test_a_job_in_quarantine_is_told_as_lists_of_jobs_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = FakeLog().serve(monkeypatch)
    held = Quarantine(log.fleet.row.versions, "start", "task-failed", "its tasks failed")
    log.fleet.row = log.fleet.row._replace(quarantine=held, running=None, listed=None, tasks=Map())
    [row] = told()
    assert (row["state"], row["tasks"], row["running"]) == ("quarantined", 2, 0)
    assert run("get", "lag").out.splitlines()[1].split()[:3] == ["orders", "quarantined", "0/2"]


def test_deleted_jobs_are_left_out_unless_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    log = FakeLog().serve(monkeypatch)
    row = log.fleet.row
    assert row.running is not None
    gone = row._replace(name="gone", alive=False, running=row.running._replace(state="deleted"))
    log.others["gone"] = gone._replace(listed=None)
    assert [row["job"] for row in told()] == ["orders"]
    assert [row["state"] for row in told("gone")] == ["deleted"]
