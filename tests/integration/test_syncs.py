"""From a published config to tasks that run, on a real broker, with workers that are killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.installation import Installation, install
from benchmarks.sync import serve_all
from events.generated.records import SyncCommitted, TaskSpecsPublished
from events.topics import CHANGES, OPERATOR, TIERS
from infra.waiting import until
from projections.syncs import PAUSED, RUNNING, Sync
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.read.sources.log import Log
from turbine_client.clients import counts_of
from turbine_client.publish import Accepted, Publisher

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


def test_jobs_that_are_created_again_at_once_are_committed_once_their_tasks_run(
    site: Installation,
) -> None:
    """Before their tasks were told to stop, amid it, or after it: what a commit names stands."""
    some = JOBS[1:6]
    with Publisher(site.settings) as publisher:
        for job in some:
            assert isinstance(publisher.delete(job, reason="by mistake"), Accepted)
            verdict = publisher.change(job, CONFIG | {"tasks": 4, "priority": 5}, create=True)
            assert isinstance(verdict, Accepted), verdict
    until(lambda: all(runs(site, job, priority=5) for job in some), "all run again", 60)
    for job in some:
        listed, told = 0, list[tuple[int, int]]()
        for said in Log(site.settings).decisions(job=job):
            match said.read.record.body:
                case TaskSpecsPublished() as body if said.stands and body.part == body.parts:
                    listed = body.generation if body.tasks else 0
                case SyncCommitted(state="running") as body if said.stands:
                    told.append((body.generation, listed))
        assert len(told) > 1
        assert all(generation == stands for generation, stands in told), (job, told)


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


JOB_FILE = """\
job: waited-for
operator: examples.counts:count
inputs: [{topic: not-there-yet, partitions: 2}]
package: {name: counts, version: "1.0.0"}
checkpoint: {root: /checkpoints}
tasks: %d
"""


def test_apply_makes_the_topic_waits_and_knows_afterwards_how_long_it_takes(
    site: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", site.settings.bootstrap)
    monkeypatch.setenv("TURBINE_PARTITIONS", str(site.settings.partitions))
    file = tmp_path / "job.yaml"
    file.write_text(JOB_FILE % 2)
    first = run("apply", "-f", "job.yaml", "--create-topics", "--wait")
    assert (first.code, first.out.count("accepted as version 1")) == (Code.OK, 1), first
    assert "topic not-there-yet is created, with 2 partitions\n" in first.err
    assert first.err.endswith("waited-for: runs as is expected of it\n")
    assert runs(site, "waited-for", tasks=2)
    rows = json.loads(run("get", "tasks", "waited-for", "-o", "json").out)
    assert [one["state"] for one in rows] == ["running", "running"]
    file.write_text(JOB_FILE % 1)
    assert run("apply", "-f", "job.yaml", "--wait").code == Code.OK
    file.write_text(JOB_FILE % 2)
    tried = run("apply", "-f", "job.yaml", "--dry-run")
    [restart] = [line for line in tried.out.splitlines() if " stops, " in line]
    assert restart.startswith("  1 task stops, 2 tasks start; about ")
    assert restart.endswith(" s, as the last time of this job")


def test_a_dry_run_writes_nothing_to_a_broker(
    site: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", site.settings.bootstrap)
    monkeypatch.setenv("TURBINE_PARTITIONS", str(site.settings.partitions))
    (tmp_path / "job.yaml").write_text(JOB_FILE % 4)
    job, topics = JOBS[0], [OPERATOR, TIERS, *CHANGES.values()]
    log = Log(site.settings)
    before = log.ends(log.places(topics))
    for line in (
        "apply -f job.yaml --create-topics",
        f"publish {job} --set tasks=3",
        f"delete {job} --reason x",
        f"scale {job} --tasks 3 --for 2h --reason x",
        f"rollback {job} --to 1",
        f"pause {job} --reason x",
        f"reset {job} --to earliest --reason x",
        "tier create west --shards 4",
        "topics create made-by-nobody",
        "topics apply",
    ):
        ended = run(*line.split(), "--dry-run")
        assert ended.code == Code.OK, (line, ended)
    assert log.ends(log.places(topics)) == before
    assert "made-by-nobody" not in counts_of(site.settings)
