"""`why JOB` begins with why it does not run, and lists say the same word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from immutables import Map

from events.generated.records import (
    Body,
    JobDeleted,
    JobQuarantined,
    LayerVersions,
    PauseRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStep,
    SyncStepStarted,
)
from events.job_config.strict_json import canonical_json
from events.topics import JOURNAL, OPERATOR, place
from events.wire.codec import Read, Record, encode
from projections.fleet import TierFleet
from projections.jobs import LayerState
from projections.reports import Report
from projections.syncs import Sync, apply
from tests.unit.shard_manager.fleets import Tale, placed
from tests.unit.turbine.lines import run
from tests.unit.turbine.watched import NOW, VERSIONS, Case, alert
from turbine.failures import Code
from turbine.read.answers.hindrance import hindrance
from turbine.read.answers.lines import line_of
from turbine.read.sources.log import Standing
from turbine.read.state.headline import Lived
from turbine.read.state.notes import Notes
from turbine.read.state.running import standing
from turbine.read.state.view import AlertView, JobView, View

NEWER = LayerVersions(2, 0, 0, 0)
MINUTE_MS = 60_000


@dataclass(slots=True)
class Desk:
    """A job that runs, and what is said of it from then on."""

    seen: JobView = field(default_factory=lambda: Case("clicks", 4).view())
    decisions: list[Standing] = field(default_factory=list)
    asked: dict[str, Read] = field(default_factory=dict)
    lives: dict[str, Lived] = field(default_factory=dict)
    tiers: Mapping[str, TierFleet] = field(default_factory=lambda: {"default": placed(1, 2).fleet})

    def say(self, body: Body) -> None:
        """A decision that stands, a minute after the one before."""
        number = len(self.decisions)
        record = Record("clicks", f"d{number}", type(body).__name__, encode(body), body, "p")
        at_ms = NOW + number * MINUTE_MS
        self.decisions.append(
            Standing(Read(place(JOURNAL, 0), JOURNAL, number, at_ms, record), True)
        )
        self.sync(apply(self._sync, body))

    def ask(self, body: PauseRequested) -> None:
        """A wish that an operator has."""
        record = Record("clicks", body.change_id, "PauseRequested", encode(body), body)
        self.asked[body.change_id] = Read(place(OPERATOR, 0), OPERATOR, 0, NOW, record)

    def sync(self, sync: Sync) -> None:
        """How it stands from now on."""
        self.seen = JobView(self.seen.job, sync, self.seen.notes, self.seen.reports)

    @property
    def _sync(self) -> Sync:
        assert self.seen.sync is not None
        return self.seen.sync

    @property
    def tasks_said(self) -> Mapping[int, Report]:
        """The last report of each."""
        return self._sync.tasks

    def tasks(self, **failed: Report) -> None:
        """Reports in place of those that there are, by `task_N`."""
        told = {int(name.removeprefix("task_")): one for name, one in failed.items()}
        self.sync(self._sync._replace(tasks=self._sync.tasks.update(told)))

    def layer(self, at: int, config: Mapping[str, Any], author: str, reason: str = "") -> None:
        """A layer that says so."""
        layers = list(self.seen.job.layers)
        layers[at] = LayerState(1, json.dumps(config), author, reason)
        job = self.seen.job._replace(layers=tuple(layers))
        sync = self._sync._replace(expected_json=canonical_json({"tasks": 4, **config}))
        self.seen = JobView(job, sync, self.seen.notes, self.seen.reports)

    def why(self) -> dict[str, Any]:
        """What keeps it from running."""
        told = line_of(self.seen, self.lives, NOW)
        return hindrance(
            self.seen.job, self.seen.sync, told, self.decisions, self.asked.get, tiers=self.tiers
        )


def planned(intent: str, *steps: str, change_id: str | None = None) -> SyncPlanned:
    return SyncPlanned(
        "clicks", "2.0.0.0#3", "s", "complex", intent, NEWER, 3,
        tuple(SyncStep(one) for one in steps), '{"tasks":4}', VERSIONS, change_id=change_id,
    )  # fmt: skip


def committed(state: str, *, held: bool = False, change_id: str | None = None) -> SyncCommitted:
    return SyncCommitted(
        "clicks", "p", "simple", VERSIONS, 1, '{"tasks":4}', state, 4, change_id, held=held
    )


FAILURE = SyncFailed(
    "clicks", "2.0.0.0#3", "s", VERSIONS, 1, "start", "task-failed", "there is no module x", 2,
    retry_ms=NOW,
)  # fmt: skip


def test_a_job_that_runs_has_no_hindrance() -> None:
    told = Desk().why()
    assert told == {
        "state": "running", "tasks": 4, "running": 4, "because": "", "since_ms": None, "todo": "",
        "decision": None,
    }  # fmt: skip


def test_quarantined_says_since_when_which_version_step_and_cause() -> None:
    desk = Desk()
    desk.say(committed("running"))
    desk.say(
        JobQuarantined("clicks", "p", "s", VERSIONS, 1, "start", "task-failed", "no module x", 3)
    )
    told = desk.why()
    assert told["state"] == "quarantined"
    assert told["because"] == (
        "quarantined after 3 failures of version 1.0.0.0 at step start: no module x"
    )
    assert (told["since_ms"], told["decision"]) == (NOW + MINUTE_MS, "d1")
    assert told["todo"] == "turbine release clicks --reason R, once that is put right"


def test_a_remedy_is_told_to_its_end() -> None:
    long = "operator a:b: " + 200 * "there is no module x, " + "or correct the name"
    desk = Desk()
    desk.say(JobQuarantined("clicks", "p", "s", VERSIONS, 1, "start", "task-failed", long, 3))
    assert desk.why()["because"].endswith(f": {long}")
    desk = Desk()
    desk.say(planned("change", "stop", "start"))
    desk.say(replace(FAILURE, explanation=long))
    desk.sync(desk.seen.sync._replace(versions=NEWER) if desk.seen.sync else Sync("x"))
    assert desk.why()["because"].endswith(f": {long}")


def test_paused_by_an_operator_names_who_and_why() -> None:
    desk = Desk()
    desk.ask(PauseRequested("9.x", "clicks", "ana", "the disk is full"))
    desk.say(planned("pause", "stop", change_id="9.x"))
    desk.say(committed("paused", held=True, change_id="9.x"))
    desk.say(committed("paused", held=True))  # a change while it is paused
    told = desk.why()
    assert told["because"] == "ana asks to pause the job: the disk is full"
    assert (told["state"], told["since_ms"]) == ("paused", NOW + MINUTE_MS)
    assert told["todo"] == "turbine resume clicks --reason R"
    desk.asked.clear()
    assert desk.why()["because"] == "an operator has paused it", "the wish has expired"


def test_paused_by_a_layer_names_its_author_and_how_to_end_it() -> None:
    desk = Desk()
    desk.layer(3, {"paused": True}, "ben", "backlog")
    desk.say(committed("paused"))
    told = desk.why()
    assert told["because"] == "the oncall layer pauses it by ben: backlog"
    assert told["todo"] == (
        "turbine publish change clicks --layer oncall --clear paused --reason R"
    )


def test_syncing_says_which_step_it_waits_for() -> None:
    desk = Desk()
    desk.say(planned("change", "stop", "start"))
    desk.say(SyncStepStarted("clicks", "2.0.0.0#3", 0, "stop", 2))
    told = desk.why()
    assert told["state"] == "syncing"
    assert told["because"] == (
        "it waits in step stop, 1 of 2, for tasks 0 (not stopped), 1 (not stopped), 2 (not stopped)"
        " and 1 more; the plan stops 4 tasks to run them, version 2.0.0.0"
    )
    assert told["since_ms"] == NOW + MINUTE_MS


def test_failing_says_the_last_error_of_the_plan() -> None:
    desk = Desk()
    desk.say(planned("change", "stop", "start"))
    desk.say(FAILURE)
    desk.sync(desk.seen.sync._replace(versions=NEWER) if desk.seen.sync else Sync("x"))
    told = desk.why()
    assert told["state"] == "failing"
    assert told["because"].endswith("failure 2: there is no module x")
    assert told["todo"] == "turbine logs clicks"


def test_a_task_that_fails_is_why_a_job_that_is_in_sync_fails() -> None:
    desk = Desk()
    failed = Report(1, 1, False, 2, True, False, False, "operator-error", "no table x", -NOW)
    desk.tasks(task_1=failed, task_3=failed._replace(final=True))
    told = desk.why()
    assert (told["state"], told["running"]) == ("failing", 2)
    assert told["because"] == (
        "task 1 fails and is started again, and 1 other too (operator-error): no table x"
    )
    assert (told["since_ms"], told["todo"]) == (NOW, "turbine logs clicks/1")


def test_a_job_fails_whose_containers_are_not_heard() -> None:
    desk = Desk()
    seen = {task: (desk.tasks_said[task], f"c{task}", 1) for task in (0, 1, 2)}
    desk.seen = replace(desk.seen, notes=Notes(seen=Map(seen)))
    desk.lives = {"c0": Lived(1, 0, False), "c1": Lived(1, 0, False), "c2": Lived(2, 1)}
    told = desk.why()
    assert (told["state"], told["running"]) == ("failing", 1)
    assert told["because"] == (
        "of 4 tasks 2 unheard and 1 lost: nothing is heard of where they ran"
    )
    assert told["todo"] == "turbine get tasks --job clicks"


def test_a_job_of_which_nothing_has_run_yet_starts_and_does_not_fail() -> None:
    desk = Desk()
    assert desk.seen.sync is not None
    stopped = desk.seen.sync.tasks[0]._replace(stopped=True)
    desk.sync(desk.seen.sync._replace(tasks=Map({0: stopped})))
    told = desk.why()
    assert (told["state"], told["running"]) == ("starting", 0)
    assert told["because"] == (
        "none of 4 tasks runs yet (1 stopped and 3 waiting), and nothing has failed"
    )
    assert told["todo"] == "turbine get tasks --job clicks"


@pytest.mark.parametrize(
    ("config", "said", "todo"),
    [
        (
            {"tier": "defualt"},
            "there is no tier defualt, perhaps default: correct `tier`; ",
            "tier",
        ),
        (
            {"tier": "spare"},
            "tier spare has no container: correct `tier`, or start containers with --tier spare; ",
            "tier",
        ),
        (
            {"allowed_regions": ["mars"]},
            "tier default has none of mars: correct `allowed_regions`; it has local; ",
            "allowed_regions",
        ),
    ],
)
@pytest.mark.parametrize("plan", [False, True])
def test_where_nobody_is_that_is_said_first(
    config: dict[str, Any], said: str, todo: str, plan: bool
) -> None:
    desk = Desk(Case("clicks", 4, config=config).view())
    desk.tiers = {**desk.tiers, "spare": Tale(2).fleet}
    assert desk.seen.sync is not None
    desk.sync(desk.seen.sync._replace(tasks=Map()))
    if plan:
        desk.say(planned("change", "start"))
        desk.say(SyncStepStarted("clicks", "2.0.0.0#3", 0, "start", 3))
    told = desk.why()
    assert told["because"].startswith(said)
    assert told["todo"].startswith(f"turbine publish change clicks --set {todo}=")


def test_a_job_none_of_whose_tasks_run_fails_where_one_of_them_has_failed() -> None:
    desk = Desk()
    assert desk.seen.sync is not None
    failed = Report(1, 1, False, 2, True, False, False, "operator-error", "no table x", -NOW)
    desk.sync(desk.seen.sync._replace(tasks=Map({1: failed})))
    assert desk.why()["state"] == "failing"


def test_lagging_tells_by_how_much() -> None:
    desk = Desk(Case("clicks", 4, lag_ms=500_000).view())
    told = desk.why()
    assert (told["state"], told["running"]) == ("lagging", 4)
    assert told["because"] == (
        "1 of 4 tasks are further behind than slo.lag_seconds allows, the worst by 500 s"
    )


def test_behind_and_deleted() -> None:
    desk = Desk()
    assert desk.seen.sync is not None
    desk.sync(desk.seen.sync._replace(versions=NEWER))
    assert desk.why()["because"].endswith("is the state syncer running?")
    desk.say(JobDeleted("clicks", "9.x", NEWER, "ana", "done"))
    desk.seen = JobView(desk.seen.job._replace(alive=False), desk.seen.sync)
    assert desk.why()["because"] == "it is deleted, and what runs of it is not stopped yet"
    desk.say(committed("deleted"))
    told = desk.why()
    assert (told["state"], told["because"]) == ("deleted", "deleted by ana: done")


# --- the word


def test_the_gravest_word_that_is_true_is_said() -> None:
    sync = Case("clicks", 2).view().sync
    assert sync is not None
    assert standing(sync, alive=True) == "running"
    assert standing(sync, alive=True, lagging=1) == "lagging"
    assert standing(sync, alive=True, lagging=1, unhealthy=1) == "failing"
    assert standing(sync, alive=True, lagging=1, unhealthy=1, idle=True) == "failing"
    assert standing(sync, alive=True, lagging=1, idle=True) == "starting"
    assert sync.running is not None
    paused = sync._replace(held=True, running=sync.running._replace(state="paused"))
    assert standing(paused, alive=True, lagging=1, unhealthy=1) == "paused"
    assert standing(None, alive=True) == "behind"
    assert standing(None, alive=False) == "deleted"
    assert standing(sync._replace(tasks=Map(), versions=NEWER), alive=True) == "behind"


# --- `get jobs`


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three jobs, of which one is well."""
    cases = [Case("ads"), Case("clicks", 4, lag_ms=500_000), Case("views", 3, quarantined=True)]
    found: tuple[AlertView, ...] = (
        alert("straggler", "views", "warning", NOW),
        alert("job-quarantined", "views", "critical"),
    )
    view = View(
        {}, NOW, NOW, jobs={one.name: one.view() for one in cases},
        alerts={one.key: one for one in found},
    )  # fmt: skip
    monkeypatch.setattr("turbine.cli.jobs.open_log", lambda _: None)
    monkeypatch.setattr("turbine.cli.jobs.jobs_view", lambda *_: view)


@pytest.mark.usefixtures("fleet")
def test_jobs_are_listed_with_what_oncall_looks_for() -> None:
    ended = run("get", "jobs")
    assert ended.code == Code.OK
    assert [" ".join(one.split()) for one in ended.out.splitlines()] == [
        "JOB STATE TASKS LAG BEHIND INPUT ALERT",
        "ads running 2/2 1.0 s 20 100.0/s -",
        "clicks lagging 4/4 8 min 20 s 40 200.0/s -",
        "views quarantined 3/3 1.0 s 30 150.0/s critical job-quarantined and 1 more",
    ]


@pytest.mark.usefixtures("fleet")
def test_the_rest_is_in_the_wide_list_and_in_json() -> None:
    wide = run("get", "jobs", "views", "-o", "wide").out
    assert "VERSIONS" in wide
    assert "1/0/0/1" in wide
    assert "OVERRIDDEN" in wide
    [row] = json.loads(run("get", "jobs", "views", "-o", "json").out)
    assert row["state"] == "quarantined"
    assert row["gravest"] == {
        "alert": "job-quarantined", "severity": "critical", "cause": "something about views",
    }  # fmt: skip
