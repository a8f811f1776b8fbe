"""How long each answer of the API takes over a large fleet, and how much memory it takes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.figures import Result, peak_mb, say, share
from benchmarks.spoken_log import SpokenLog
from components.runtime.process.garbage import collect_seldom
from events.generated.records import TierDefined
from events.topics import TIERS
from turbine.api.app import make_app
from turbine.api.desk import Desk
from turbine.api.feed import Feed
from turbine.api.guard import GuardRules, RequestGuard
from turbine.api.writing import LogWriter
from turbine.read.sources.log import Log
from turbine.read.state.live import LiveLog

JOBS, TASKS = 5_000, 10_000
QUICK_JOBS, QUICK_TASKS = 500, 1_000
PARTITIONS = 16
ROUNDS, QUICK_ROUNDS = 100, 20
LIMIT_MS, LIMIT_MB = 1_000.0, 600.0
"""What a page may take, and the server in memory: the budget of the dashboard."""
CONFIG = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
}
TARGETS = {
    "fleet": "fleet",
    "jobs": "jobs",
    "jobs_by_lag": "jobs?sort=lag&limit=1000",
    "jobs_found": "jobs?q=7%20!77&state=running",
    "job": "jobs/job-00042",
    "tasks": "jobs/job-00042/tasks",
    "series": "jobs/job-00042/series",
    "decisions": "jobs/job-00042/decisions",
    "why_not": "jobs/job-00042/why-not?action=scale-up",
    "journal": "journal?limit=200",
    "journal_of_kind": "journal?kind=SyncCommitted&void=false",
    "markers": "markers",
    "tiers": "tiers",
    "shards": "tiers/default/shards?limit=1000",
    "platform": "platform",
    "alerts": "alerts",
    "policies": "policies",
}


def large_fleet(jobs: int, tasks: int) -> SpokenLog:
    """Jobs that run and report, over two minutes."""
    log = SpokenLog(PARTITIONS)
    log.say(TIERS, "default/placement", TierDefined("default", 1024), source="operator")
    each = max(1, tasks // jobs)
    for number in range(jobs):
        name = f"job-{number:05}"
        config = CONFIG | {"tasks": each, "priority": number % 100}
        log.expect(name, config)
        log.run(name, config, each)
    for count in (1, 2):
        log.tick(at_ms=log.now_ms + 60_000)
        for number in range(jobs):
            for task in range(each):
                lag_ms = 100 * (number % 1000)
                log.load(f"job-{number:05}", task, count=count, lag_ms=lag_ms)
    log.tick()
    return log


def measure(quick: bool) -> Result:
    """Each question again and again, through all that stands between it and the socket."""
    jobs, tasks = (QUICK_JOBS, QUICK_TASKS) if quick else (JOBS, TASKS)
    spoken = large_fleet(jobs, tasks)
    log = Log(source=spoken)
    with TemporaryDirectory() as directory:
        since = time.perf_counter()
        views = LiveLog(directory=Path(directory), log=log)
        while not views.ready(1.0):
            continue
        view = views.view()
        folded_s = time.perf_counter() - since
        say(f"{view.records:,} records are folded in {folded_s:.1f} s")
        desk = Desk(log, views, Feed(log, views), LogWriter(None))
        app = make_app(desk, GuardRules("", read_only="it is measured"), page=Path(directory))
        since = time.perf_counter()
        desk.summary()
        lines_s = time.perf_counter() - since
        collect_seldom()  # both as the server does before it answers
        rounds = QUICK_ROUNDS if quick else ROUNDS
        times = asyncio.run(_all_times(app, rounds))
        views.close()
    figures: dict[str, float] = {"jobs": jobs, "tasks": tasks}
    for name, took in times.items():
        figures[f"{name}_ms_p50"] = share(took, 0.50)
        figures[f"{name}_ms_p99"] = share(took, 0.99)
    slowest = max(times, key=lambda name: share(times[name], 0.99))
    figures["slowest_ms_p99"] = share(times[slowest], 0.99)
    figures["rss_mb"] = peak_mb()
    figures["fold_s"], figures["lines_s"] = folded_s, lines_s
    notes = [
        f"{rounds} rounds over {view.records:,} records in memory; the slowest is {slowest}",
        "rss_mb is the peak of this process, which holds the log as well",
        f"the budget is {LIMIT_MS:g} ms for any answer, and {LIMIT_MB:g} MB",
    ]
    peers = {"limit_ms": LIMIT_MS, "limit_mb": LIMIT_MB}
    return Result("api", figures, peers, notes)


async def _all_times(app: RequestGuard, rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in TARGETS}
    for _ in range(rounds):
        for name, target in TARGETS.items():
            times[name].append(await _time(app, target))
    return times


async def _time(app: RequestGuard, target: str) -> float:
    """Milliseconds from the request to the last byte of its answer."""
    path, _, query = f"/api/v1/{target}".partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    status: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(event: Any) -> None:
        if "status" in event:
            status.append(event["status"])

    since = time.perf_counter()
    await app(scope, receive, send)
    assert status == [200], f"{target}: {status}"
    return 1000 * (time.perf_counter() - since)
