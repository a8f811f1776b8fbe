"""Two installations on one cluster: neither sees the other, and both decide alike."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from components.runtime.kafka.groups import groups_of
from events.topics import TOPICS
from tests.integration.changes import SMALLEST, new_id
from tests.integration.processes import WAIT_S, Fleet, SharedBroker, fleet_at
from turbine.read.sources.log import Log
from turbine_client.clients import counts_of
from turbine_client.publish import Accepted, Publisher

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def fleets(
    broker: SharedBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Fleet, Fleet]]:
    """Staging and production: a clock, a job service and a publisher of each."""
    blue, green = (tmp_path_factory.mktemp(name) for name in ("staging", "production"))
    with fleet_at(broker, blue, "blue") as staging, fleet_at(broker, green, "green_2") as live:
        for fleet in (staging, live):
            fleet.start("clock")
            fleet.publisher()
            fleet.worker("w0")
        yield staging, live


def command(fleet: Fleet, *words: str) -> Any:
    """What a command of that installation says, as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "turbine", *words, "-o", "json"],
        cwd=fleet.directory,
        env=fleet.environment,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wish(fleet: Fleet, job: str, tasks: int, name: str) -> Accepted:
    with Publisher(fleet.settings, author="ana") as ana:
        verdict = ana.change(
            job, {**SMALLEST, "tasks": tasks}, create=True, change_id=name, wait_s=WAIT_S
        )
    assert isinstance(verdict, Accepted), verdict
    return verdict


def test_two_installations_on_one_broker_do_not_see_each_other(
    fleets: tuple[Fleet, Fleet], broker: SharedBroker
) -> None:
    staging, live = fleets
    first = new_id()
    wish(staging, "clicks", 2, first)
    wish(staging, "tried", 1, new_id())
    wish(live, "clicks", 3, first)
    assert {row["job"] for row in command(staging, "get", "jobs")} == {"clicks", "tried"}
    assert {row["job"] for row in command(live, "get", "jobs")} == {"clicks"}
    told = [command(one, "describe", "job", "clicks")["expected"]["tasks"] for one in fleets]
    assert told == [2, 3]
    names = set(counts_of(staging.settings))
    for fleet in fleets:
        assert {f"{fleet.prefix}.{one.short}" for one in TOPICS} <= names
        # Of a group the command that gives positions up would take its members.
        assert groups_of(fleet.settings, "job-service") == (f"{fleet.prefix}-job-service",)


def test_the_same_wishes_have_the_same_ids_under_every_prefix(
    fleets: tuple[Fleet, Fleet],
) -> None:
    """And each log is audited to the end, with nothing that differs."""
    decided, same = [], new_id()
    for fleet in fleets:
        wish(fleet, "same", 4, same)
        [one] = [
            one.read.record
            for one in Log(fleet.settings).decisions()
            if one.stands and one.read.record.key == "same"
        ]
        decided.append((one.id, one.parent, one.value, one.cause, sorted(one.evidence)))
        audited = command(fleet, "audit")
        assert sum(row["same"] for row in audited["components"]) > 0, audited
        assert not audited["differences"], audited["differences"]
    assert decided[0] == decided[1]
    assert all(not at.startswith(("blue", "green", "turbine")) for at in decided[0][4])
