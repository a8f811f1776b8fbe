"""A small fleet in memory, and the API over it: jobs that run, lag or are gone, and a tier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.spoken_log import NOW, SpokenLog
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    CapacityReported,
    Constraint,
    ContainerHeartbeat,
    ContainerStarted,
    JobConfigChanged,
    JobDeleted,
    LayerVersions,
    PlacementPlanned,
    ResourceAmount,
    ResourceUse,
    ScalingDecided,
    ScalingDeclined,
    ShardAdded,
    ShardAddRequested,
    ShardLoad,
    ShardLoadsReported,
    TierDefined,
)
from events.topics import CONTAINERS, JOURNAL, TIERS
from tests.kit.held_views import HeldViews
from turbine.api.app import make_app
from turbine.api.desk import Desk
from turbine.api.feed import Feed
from turbine.api.guard import GuardRules, RequestGuard
from turbine.api.plans import Plans
from turbine.api.writing import LayerChange, OperatorWish
from turbine.read.sources.log import Log
from turbine_client.verdicts import Accepted, Rejected, Unknown, Verdict

TOKEN = "the-token-of-these-tests"  # noqa: S105 - of a server that lives for a test
CONFIG: Mapping[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}
SPREAD = json.dumps({"spread": {"cpu_cores": [1400, 600, 1010, 990]}})


def small_fleet() -> SpokenLog:
    """`clicks` lags and has an override, `orders` runs, `stuck` waits, `gone` is deleted."""
    log = SpokenLog()
    for name in ("clicks", "orders"):
        log.expect(name, CONFIG)
        log.run(name, CONFIG, 2)
    log.load("clicks", 0, lag_ms=500_000, lag_records=70_000)
    log.load("clicks", 1, lag_ms=None, lag_records=None)
    log.load("orders", 0)
    log.load("orders", 1)
    _override(log, "clicks")
    _scale(log, "clicks")
    log.expect("stuck", dict(CONFIG) | {"priority": 90, "tier": "gold"})
    log.expect("gone", CONFIG)
    gone = JobDeleted("gone", f"{NOW + 60_000}.gone", LayerVersions(2, 0, 0, 0), "ana", "old")
    log.say(JOURNAL, "gone", gone, source="job-service", cause=gone.change_id)
    raised = AlertRaised("orders", "tasks-failing", "warning", "task 1 fails", "docs/runbooks/x.md")
    log.say(JOURNAL, "orders", raised, source="state-syncer")
    log.say(JOURNAL, "orders", AlertCleared("orders", "tasks-failing", "it runs"), source="s")
    stuck = AlertRaised("stuck", "no-task-specs", "critical", "${x}", "docs/runbooks/y.md")
    log.say(JOURNAL, "stuck", stuck, source="task-service")
    _place(log)
    log.tick()
    return log


def _override(log: SpokenLog, job: str) -> None:
    merged = json.dumps(dict(CONFIG) | {"tasks": 2, "priority": 99})
    body = JobConfigChanged(
        job,
        "oncall",
        f"{NOW + 60_000}.pin",
        1,
        LayerVersions(1, 0, 0, 1),
        '{"priority":99}',
        merged,
        "bob",
        "a night",
        expires_ms=NOW + 9_000_000,
    )
    log.say(JOURNAL, job, body, source="job-service", cause=body.change_id)
    void = JobConfigChanged(
        job, "base", "1.x", 2, LayerVersions(2, 0, 0, 1), "{}", "{}", "eve", "too late"
    )
    log.say(JOURNAL, job, void, source="job-service", parent="00000000-0000-5000-8000-000000000000")


def _scale(log: SpokenLog, job: str) -> None:
    declined = ScalingDeclined(job, "settling", "too new to judge", policy="turbine")
    log.say(JOURNAL, job, declined, source="auto-scaler")
    decided = ScalingDecided(
        job,
        f"{NOW + 60_000}.up",
        0,
        '{"tasks":8}',
        "lag",
        "under-capacity",
        12,
        8,
        (Constraint("limit", 12.0, 8.0, "the job may have 8 tasks"),),
        '{"lag_s": 500.0}',
        policy="turbine",
        action="scale-up",
        explanation="it lags",
        mode="advise",
    )
    log.say(JOURNAL, job, decided, source="auto-scaler")


def _place(log: SpokenLog) -> None:
    key = "default/placement"
    log.say(TIERS, key, TierDefined("default", 8), source="operator")
    room = (ResourceAmount("cpu_cores", 4.0), ResourceAmount("memory_bytes", 2.0**32))
    for at in range(2):
        name = f"container-{at}"
        started = ContainerStarted(name, 1, "default", "local", room)
        log.say(CONTAINERS, name, started, source=name)
        beat = ContainerHeartbeat(name, 1, 1, log.now_ms, "serving", 4, "")
        log.say(CONTAINERS, name, beat, source=name)
    planned = PlacementPlanned(
        "default", "default!1", "news", 8, 8, 2, 0, "d", "all are placed", measures_json=SPREAD
    )
    log.say(TIERS, key, planned, source="shard-manager")
    for shard in range(8):
        name = f"container-{shard % 2}"
        given = ShardAddRequested("default", shard, 1, name, 1, "default!1", "nobody holds it")
        log.say(TIERS, key, given, source="shard-manager")
        added = ShardAdded(name, 1, "default", shard, 1)
        log.say(CONTAINERS, name, added, source=name)
    for at in range(2):
        name = f"container-{at}"
        loads = tuple(
            ShardLoad("default", shard, 1, 1, 0.2 + 0.1 * shard, 2**20) for shard in range(at, 8, 2)
        )
        log.say(CONTAINERS, name, ShardLoadsReported(name, 1, 1, 600_000, loads), source=name)
    uses = (ResourceUse("cpu_cores", 8.0, 4.0),)
    report = CapacityReported("default", 2, uses, jobs=2, containers_measured=2, state="normal")
    log.say(TIERS, "default/capacity", report, source="capacity-manager")


@dataclass(slots=True)
class FakeWriter:
    """Keeps what is asked, and answers as it is told."""

    verdict: Verdict = field(
        default_factory=lambda: Accepted("1.id", "clicks", "base", 2, "decision", "journal.v1/0:9")
    )
    asked: list[LayerChange | OperatorWish] = field(default_factory=list)

    def change(self, change: LayerChange, wait_s: float) -> Verdict:
        self.asked.append(change)
        return self.verdict

    def ask(self, wish: OperatorWish, wait_s: float) -> Verdict:
        self.asked.append(wish)
        return self.verdict

    def tell(self, wish: OperatorWish) -> str:
        self.asked.append(wish)
        return "1.wish"

    def close(self) -> None:
        self.asked.clear()


@dataclass(slots=True)
class World:
    """The log, the API over it, and what it wrote."""

    log: SpokenLog
    app: RequestGuard
    desk: Desk
    feed: Feed
    writer: FakeWriter
    clock: list[int]


def world_of(
    log: SpokenLog | None = None,
    *,
    directory: Path,
    page: Path | None = None,
    scoreboard: Path | None = None,
    read_only: str = "",
    stall_s: float = 30.0,
) -> World:
    """An API over a log in memory."""
    spoken = small_fleet() if log is None else log
    known, writer, clock = Log(source=spoken), FakeWriter(), [NOW]
    views = HeldViews(known, directory)
    views.view()
    feed = Feed(known, views)
    plans = Plans(lambda: clock[0])
    desk = Desk(known, views, feed, writer, scoreboard, plans=plans)
    rules = GuardRules(TOKEN, read_only=read_only, stall_s=stall_s)
    app = make_app(desk, rules, page=page or Path("nowhere"))
    return World(spoken, app, desk, feed, writer, clock)


__all__ = ["CONFIG", "NOW", "TOKEN", "FakeWriter", "Rejected", "Unknown", "World", "world_of"]
