"""From a published config to tasks that run, on a real broker, with workers that are killed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from benchmarks.installation import Installation, install
from benchmarks.sync import serve_all
from events.records import TaskSpecsPublished
from projections.syncs import PAUSED, RUNNING, Sync
from tests.integration.processes import until
from turbine.log import Log
from turbine.publish import Accepted, Publisher

pytestmark = [pytest.mark.broker, pytest.mark.slow]

JOBS = tuple(f"job-{n}" for n in range(8))
CONFIG = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": 8}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    with install(partitions=4) as found:
        found.serve("publisher")
        serve_all(found)
        yield found


def row(site: Installation, job: str) -> Sync:
    return Log(site.settings).syncs(job=job)[job]


def state(site: Installation, job: str) -> str:
    running = row(site, job).running
    return "" if running is None else running.state


def runs(site: Installation, job: str, **wanted: object) -> bool:
    """Does the job run with these fields?"""
    running = row(site, job).running
    if running is None or running.state != RUNNING:
        return False
    config = json.loads(running.config_json)
    return all(config.get(name) == value for name, value in wanted.items())


def ask(site: Installation, **config: object) -> None:
    """The same change of all jobs."""
    with Publisher(site.settings) as publisher:
        for job in JOBS:
            verdict = publisher.change(job, CONFIG | config, create=True)
            assert isinstance(verdict, Accepted), verdict


def test_jobs_come_to_run_and_follow_their_configs(site: Installation) -> None:
    ask(site)
    until(lambda: all(runs(site, job, tasks=2) for job in JOBS), "all run", 60)
    ask(site, priority=7)
    until(lambda: all(runs(site, job, priority=7) for job in JOBS), "all copied", 60)


@pytest.mark.parametrize("victim", ["worker-0", "worker-1"])
def test_who_is_killed_amid_plans_goes_on_from_the_log(site: Installation, victim: str) -> None:
    tasks = 3 if victim == "worker-0" else 4
    ask(site, tasks=tasks)
    site.processes[victim].kill()
    until(lambda: all(runs(site, job, tasks=tasks) for job in JOBS), "all reshaped", 90)


def test_an_operator_pauses_and_resumes_a_job(site: Installation) -> None:
    with Publisher(site.settings) as publisher:
        assert isinstance(publisher.pause(JOBS[0], reason="look at it"), Accepted)
        until(lambda: state(site, JOBS[0]) == PAUSED, "it stands still", 60)
        assert isinstance(publisher.resume(JOBS[0], reason="seen"), Accepted)
    until(lambda: runs(site, JOBS[0]), "it runs again", 60)


def test_who_comes_late_has_every_list_from_the_journal_alone(site: Installation) -> None:
    """No other record is decoded, and no list is older than what runs."""
    lists: dict[str, list[TaskSpecsPublished]] = {}
    for said in Log(site.settings).decisions(kinds=frozenset({"TaskSpecsPublished"})):
        body = said.read.record.body
        if said.stands and isinstance(body, TaskSpecsPublished):
            before = lists.get(body.job, []) if body.part > 1 else []
            lists[body.job] = [*before, body]
    for job in JOBS:
        running = row(site, job).running
        assert running is not None
        parts = lists[job]
        assert (parts[-1].part, parts[-1].generation) == (parts[-1].parts, running.generation)
        specs = [spec for part in parts for spec in part.specs]
        assert [spec.task for spec in specs] == list(range(running.tasks))
        shared = sorted(n for spec in specs for one in spec.inputs for n in one.partitions)
        assert shared == list(range(8))


def test_every_decision_comes_out_again(site: Installation) -> None:
    found = list(Log(site.settings).audit())
    assert {one.component for one in found} == {"job-service", "state-syncer", "task-service"}
    assert [one for one in found if one.verdict != "same"] == []
