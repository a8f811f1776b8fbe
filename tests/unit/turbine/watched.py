"""Fleets made by hand for whoever watches them: one that is well, and one in which nothing is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from immutables import Map
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from components.runtime.process import metrics
from events.generated.records import (
    Body,
    CapacityReported,
    Generation,
    JobConfigChanged,
    LayerVersions,
    ResourceUse,
    ScalingDecided,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    TaskLoadReported,
)
from events.topics import JOURNAL, place
from events.wire.codec import Read, Record, encode
from projections.jobs import End, Job, LayerState
from projections.reports import Report
from projections.syncs import ListedPlan, Quarantine, RunningConfig, Sync
from tests.unit.shard_manager.fleets import Tale, placed
from turbine.exporter.families import Beside, MetricOptions, families
from turbine.read.answers.alert_kinds import RAISED
from turbine.read.state.notes import NOTHING, Notes
from turbine.read.state.tally import Tally
from turbine.read.state.view import AlertView, JobView, View

NOW = 1_800_000_000_000
VERSIONS = LayerVersions(1, 0, 0, 0)
CONFIG: Mapping[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
}


@dataclass(slots=True)
class Case:
    """One job as it is to look."""

    name: str
    tasks: int = 2
    crashing: int = 0  # of the tasks
    lag_ms: int | None = 1_000  # of the last task; None where it does not say
    told: bool = True  # whether tasks report at all
    told_ms: int = NOW - 30_000
    rate: float = 50.0
    oncall: Mapping[str, Any] = field(default_factory=dict)
    expires_ms: int | None = None
    quarantined: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)

    def view(self) -> JobView:
        """As a view has it."""
        expected = json.dumps({**CONFIG, "tasks": self.tasks, **self.config})
        layers = (
            LayerState(1, expected, "ana"),
            LayerState(),
            LayerState(),
            LayerState(1, json.dumps(self.oncall), "ben", "backlog", "1.b", self._ends()),
        )
        listed = ListedPlan("plan#1", 1, self.tasks, VERSIONS)
        running = RunningConfig(VERSIONS, expected, "running", self.tasks, "plan#1", 1, said=1)
        sync = Sync(
            self.name,
            alive=True,
            versions=VERSIONS,
            expected_json=expected,
            running=running,
            generation=1,
            listed=listed,
            live=listed,
            tasks=Map({task: self._report(task) for task in range(self.tasks)}),
        )
        if self.quarantined:
            held = Quarantine(VERSIONS, "start", "task-failed", "tasks 0 and 1 failed")
            sync = sync._replace(quarantine=held)
        reports = Map({task: self._load(task) for task in range(self.tasks if self.told else 0)})
        return JobView(Job(self.name, True, layers, expected), sync, reports=reports)

    def _ends(self) -> tuple[End, ...]:
        return () if self.expires_ms is None else (End(self.expires_ms, "1.b", "ben", "{}"),)

    def _report(self, task: int) -> Report:
        failed = task < self.crashing
        cause = "operator-error" if failed else ""
        return Report(1, 1, False, 1, failed, False, failed, cause, "", -NOW)

    def _load(self, task: int) -> Any:
        worst = task == self.tasks - 1
        body = TaskLoadReported(
            self.name, task, Generation(1, 1), 1, 1, 60_000, self.rate, 0.0, 0.0, 0.0,
            lag_records=10, lag_ms=self.lag_ms if worst else 0,
        )  # fmt: skip
        return (1, 1, 1, 1), body, self.told_ms


def alert(kind: str, subject: str, severity: str, since_ms: int = NOW - 600_000) -> AlertView:
    """One that is open."""
    return AlertView(
        subject, kind, severity, f"something about {subject}", f"docs/runbooks/{kind}.md", "{}",
        since_ms, f"id-{kind}", f"{JOURNAL}/0:1", "state-syncer",
    )  # fmt: skip


def view_of(*cases: Case, alerts: tuple[AlertView, ...] = (), **more: Any) -> View:
    """A view of these jobs."""
    jobs = {case.name: case.view() for case in cases}
    open_now = {one.key: one for one in alerts}
    return View({place(JOURNAL, 0): 10}, NOW, NOW, jobs=jobs, alerts=open_now, **more)


def view_of_row(sync: Sync, notes: Notes = NOTHING, **more: Any) -> View:
    """A view of one job as the state syncer holds it."""
    layers = (LayerState(1, sync.expected_json, "ana"), LayerState(), LayerState(), LayerState())
    job = Job(sync.name, True, layers, sync.expected_json)
    return View({}, NOW, NOW, jobs={sync.name: JobView(job, sync, notes)}, **more)


def tier(share: float, reserved: float) -> dict[str, Any]:
    """A tier whose fullest container uses that share of its memory."""
    tale: Tale = placed(3, 6)
    held = {shard: 100.0 for shard, name in tale.holders().items() if name == "c0"}
    tale.weigh("c0", held)
    row = tale.fleet
    shard = min(held)
    load = row.loads[shard]
    size = 64_000_000_000 // 1024
    lives = row.lives.mutate()
    for name, life in row.lives.items():
        lives[name] = life._replace(capacity=(("memory_bytes", 64_000_000_000.0),))
    loads = Map({shard: load._replace(amounts=(None, int(size * share), None, None))})
    grants = row.grants
    if share > 0.9:  # and a shard is on its way
        grants = grants.set(shard, grants[shard]._replace(stage="drop", to="c1"))
    row = row._replace(lives=lives.finish(), loads=loads, grants=grants)
    use = ResourceUse("memory_bytes", 100.0, 50.0, reserved=100.0 * reserved)
    said = CapacityReported("default", 3, (use,), state="plenty", containers_measured=3)
    return {"tiers": {"default": row}, "reported": {"default": (said, NOW)}}


def good() -> View:
    """All is well."""
    return view_of(Case("ads"), Case("clicks", 4), Case("views", 3), **tier(0.5, 0.6))


def bad() -> View:
    """Everything that a rule looks for."""
    alerts = (
        *(alert(kind.name, "clicks", str(kind.severity)) for kind in RAISED),
        alert("of-another-build", "clicks", "warning"),
    )
    view = view_of(
        Case("ads", 3, crashing=3, told=False, oncall={"tasks": 3}),
        Case("clicks", 2, lag_ms=500_000, config={"policy": {"mode": "off"}}),
        Case("views", 2, quarantined=True),
        alerts=alerts,
        letters=Map({"no-key": 3}),
        **tier(0.97, 1.2),
    )
    return replace(view, now_ms=NOW)


# --- what has happened


def read_of(body: Body, offset: int, at_ms: int, key: str = "clicks", **more: Any) -> Read:
    """A decision where it lies."""
    topic = more.pop("topic", JOURNAL)
    source = more.pop("source", "auto-scaler")
    record = Record(
        key, f"id-{offset}", type(body).__name__, encode(body), body, source=source, **more
    )
    return Read(place(topic, 0), topic, offset, at_ms, record)


def scaled(
    number: int, action: str, outcome: type[ScalingVerified | ScalingReverted]
) -> list[tuple[int, Body]]:
    """An action from its decision to its outcome, each word with its second."""
    change, versions = f"{NOW}.{number}", LayerVersions(1, 0, number + 1, 0)
    return [
        (0, ScalingDecided("clicks", change, 0, "{}", "lag", "under-capacity", 4, 4,
                           action=action)),
        (1, JobConfigChanged("clicks", "scaler", change, number + 1, versions, "{}",
                             json.dumps(CONFIG), "auto-scaler")),
        (40, SyncCommitted("clicks", "p", "complex", versions, 2, "{}", "running", 4)),
        (600, outcome("clicks", change, "as it was seen")),
    ]  # fmt: skip


# --- as Prometheus has it


class Told(Collector):
    """The families of one view."""

    def __init__(self, view: View, tally: Tally, beside: Beside, asked: MetricOptions) -> None:
        self._found = list(families(view, tally, beside, asked))

    def collect(self) -> list[Metric]:
        return self._found


def exposition(
    view: View,
    tally: Tally | None = None,
    *,
    beside: Beside | None = None,
    asked: MetricOptions | None = None,
    frozen: int = 0,
    held_back: int = 0,
) -> str:
    """Of the exporter, and of one component."""
    registry = CollectorRegistry()
    told = beside or Beside("1.2.3", 0, True, 2)
    registry.register(
        Told(view, tally or Tally(), told, asked or MetricOptions(tasks_per_job=True))
    )
    return generate_latest(registry).decode() + component(frozen, held_back)


def component(frozen: int, held_back: int) -> str:
    """What a component says of itself, by the names in `components.runtime.process.metrics`."""
    registry = CollectorRegistry()
    for family, value in ((metrics.FROZEN, frozen), (metrics.HELD_BACK, held_back)):
        [described] = family.describe()
        gauge = Gauge(described.name, "", ["component", "partition"], registry=registry)
        gauge.labels("state-syncer", "0").set(value)
    return generate_latest(registry).decode()


def told(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Values of one series by its labels' values, in the order of the labels' names."""
    return {
        tuple(text for _, text in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }
