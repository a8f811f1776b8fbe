"""A whole tier: what its heartbeats cost, how long an upgrade of all and a fail-over take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from subprocess import Popen
from typing import Any, NamedTuple

from benchmarks.children import ChildFailed, ask, python, running
from benchmarks.containers import define_tier
from benchmarks.figures import Result, say, share
from benchmarks.fleet_manager import NAME, Measured
from benchmarks.fleet_watch import (
    Watch,
    fail_over_figures,
    held_by,
    rescued,
    upgrade_figures,
    within,
)
from benchmarks.installation import Installation, cpu_of, install
from events.topics import BY_SHORT, CHANGES, place
from projections.timing import Timing
from turbine_client.reading import ends_now, read_span


class Size(NamedTuple):
    """Of one run."""

    containers: int
    dying: int  # of these
    crew: int  # containers that one process plays
    shards: int
    jobs: int
    tasks: int  # of each job
    window_s: float  # in which heartbeats are measured


FULL = Size(3_000, 30, 1_500, 30_000, 1_000, 30, 60.0)
QUICK = Size(300, 3, 300, 3_000, 100, 30, 20.0)
COMPONENTS = ("job-service", "state-syncer", "task-service")
WORKERS = 2
CREATED, UPGRADED = 1, 2  # versions of the base layer
PLACE_S, START_S, SILENT_S = 600.0, 600.0, 240.0
LEVEL, LAG_EVERY_S = 300, 5.0
"""Behind by no more than half a second of beats, the manager keeps up."""


def measure(quick: bool) -> Result:
    """One fleet, in this order: placed from nothing, filled with tasks, upgraded, at rest, hurt."""
    size = QUICK if quick else FULL
    with install() as site, ExitStack() as stack:
        run = Run(site, size, stack)
        for phase in (run.place, run.create, run.upgrade, run.rest, run.hurt):
            phase()
        run.finish()
    return Result("fleet", run.figures, run.peers, [*notes(size, run)])


@dataclass(slots=True)
class Run:
    """The phases; each leaves its figures."""

    site: Installation
    size: Size
    stack: ExitStack
    figures: dict[str, float] = field(default_factory=dict)
    peers: dict[str, float] = field(default_factory=dict)
    crews: dict[str, Popen[bytes]] = field(default_factory=dict)
    manager: Measured = field(init=False)
    watch: Watch = field(init=False)

    # --- phases

    def place(self) -> None:
        """All containers live before the tier is there: so its shards come to them from nothing."""
        site, size = self.site, self.size
        site.serve("clock")
        self.manager, self.watch = Measured(site), Watch(site.settings)
        self.manager.await_ready()
        lasting = size.containers - size.dying
        for first in range(0, lasting, size.crew):
            self._play(f"crew-{first}", min(size.crew, lasting - first), first)
        self._play("dying", size.dying, lasting)
        self.manager.await_level(LEVEL, PLACE_S)
        say(f"{size.containers} containers live; a tier of {size.shards} shards is defined")
        with self._spent("place"):
            define_tier(site.settings, size.shards)
            told = self.watch.until(lambda t: t.placed(size.shards), "all placed", PLACE_S)
        given = max(one.at_ms for one in told.given.values())
        added = max(one.at_ms for one in told.added.values())
        self.figures["place_all_s"] = (given - told.defined_ms) / 1000
        self.figures["place_all_added_s"] = (added - told.defined_ms) / 1000
        say(f"placed in {self.figures['place_all_added_s']:.1f} s, {told.plans} plans")

    def create(self) -> None:
        """Every job comes to run; workers begin here."""
        for number in range(WORKERS):
            self.site.serve(*COMPONENTS, instance=f"worker-{number}")
        self.site.await_assigned()
        with self._spent("create"):
            total, _ = self._change(CREATED, first=0, tasks=self.size.tasks)
        self.figures["create_all_s"] = total

    def upgrade(self) -> None:
        """Another version of every job's package, and so a start of each of its tasks."""
        with self._spent("upgrade"):
            total, each = self._change(UPGRADED, first=self.size.jobs, tasks=0)
        self.figures["upgrade_30k_s"] = total
        self.figures["upgrade_ms_per_job"] = 1000 * total / self.size.jobs
        self.figures["upgrade_job_s_p50"] = share(each, 0.50)
        self.figures["upgrade_job_s_p99"] = share(each, 0.99)

    def rest(self) -> None:
        """Nothing but heartbeats, loads and ticks; workers are gone. The peer reads the same."""
        for worker in self.site.workers:
            worker.stop()
            del self.site.processes[worker.name]
        # The first reports come within a minute; from then on they are spread over ten.
        self.watch.until(lambda t: len(t.weighed) >= self.size.containers, "all weighed", PLACE_S)
        self.manager.await_level(LEVEL, PLACE_S)
        command = python("benchmarks.fleet_peer", self.site.settings.bootstrap)
        with running("peer", command, self.site.directory) as peer:
            await_ready("peer", peer)
            say(f"at rest for {self.size.window_s:g} s")
            lags, begin_ms, before = [], time.time() * 1000, self._cpu(peer)
            since = time.monotonic()
            while (left := self.size.window_s - (time.monotonic() - since)) > 0:
                time.sleep(min(LAG_EVERY_S, left))
                lags.append(self.manager.lag())
            after, took = self._cpu(peer), time.monotonic() - since
            end_ms = time.time() * 1000
        cores = {name: (after[name] - before[name]) / took for name in before if name in after}
        told = self.watch.look()
        self._rested(cores, lags)
        self.figures["heartbeats_per_s"] = (
            1000 * within(told.beats, begin_ms, end_ms) / (end_ms - begin_ms)
        )
        self.figures["load_reports_per_s"] = (
            1000 * within(told.loads, begin_ms, end_ms) / (end_ms - begin_ms)
        )

    def _rested(self, cores: Mapping[str, float], lags: list[int]) -> None:
        manager, bare = cores[NAME], cores["peer"]
        self.figures |= {
            "heartbeat_cores": manager,
            "heartbeat_ratio_to_bare_loop": bare / manager,
            "heartbeat_lag_records_p50": share(lags, 0.5),
            "heartbeat_lag_records_max": max(lags),
            "heartbeat_cores_broker": cores.get("broker", 0.0),
            "heartbeat_cores_containers": self._crews_of(cores),
            "manager_peak_mb": self.manager.peak_mb(),
        }
        self.peers["heartbeat_cores_bare_loop"] = bare
        say(f"{manager:.3f} cores, a bare loop {bare:.3f}; {max(lags)} records behind at most")

    def hurt(self) -> None:
        """Some containers end without a word."""
        lasting = self.size.containers - self.size.dying
        dead = frozenset(f"c{n}" for n in range(lasting, self.size.containers))
        lost = held_by(self.watch.look().given, dead)
        if not lost:
            raise ChildFailed("the containers that were to die held no shards")
        with self._spent("hurt"):
            killed_ms = time.time() * 1000
            self.crews.pop("dying").kill()
            say(f"{len(dead)} containers with {len(lost)} shards are gone")
            told = self.watch.until(lambda t: rescued(t, lost), "shards of the dead", SILENT_S)
        self.figures |= fail_over_figures(told, lost, killed_ms)
        self.figures["failed_over_others"] = len(told.asked.keys() - dead)

    def finish(self) -> None:
        """What holds for all of it."""
        self.figures["manager_peak_mb"] = max(
            self.figures["manager_peak_mb"], self.manager.peak_mb()
        )
        self.figures["manager_fell"] = self.manager.process.fell
        self.figures["void_decisions"] = self.watch.told.void

    # --- parts of them

    def _play(self, name: str, count: int, first: int) -> None:
        command = python("benchmarks.fleet_containers", self.site.settings.bootstrap, count, first)
        process = self.stack.enter_context(running(name, command, self.site.directory))
        await_ready(name, process)
        self.crews[name] = process

    def _change(self, version: int, *, first: int, tasks: int) -> tuple[float, list[float]]:
        """A change of every job; until each of its tasks was started at that version."""
        size, settings = self.size, self.site.settings
        doors = [place(CHANGES["base"], p) for p in range(settings.partitions)]
        begin = ends_now(settings, doors)
        topic = BY_SHORT[CHANGES["base"]].name
        author = python(
            "benchmarks.bulk_author", settings.bootstrap, topic, "job", size.jobs, size.jobs,
            first, tasks,
        )  # fmt: skip
        say(f"{size.jobs} jobs of {size.tasks} tasks are brought to version {version}")
        ask("bulk-author", author, self.site.directory)
        all_tasks = size.jobs * size.tasks
        told = self.watch.until(
            lambda t: len(t.at_version(version)) >= all_tasks, "all tasks started", START_S
        )
        asked = read_span(settings, {at: (offset, None) for at, offset in begin.items()})
        begun = {(one.key or b"").decode(): one.at_ms for poll in asked for one in poll}
        total, each = upgrade_figures(begun, told.at_version(version))
        say(f"all {all_tasks} tasks run version {version} after {total:.1f} s")
        return total, each

    def _cpu(self, peer: Popen[bytes] | None = None) -> dict[str, float]:
        """CPU seconds of all processes of the run by name."""
        used = self.site.cpu_s()
        pids = {name: process.pid for name, process in self.crews.items()}
        if peer is not None:
            pids["peer"] = peer.pid
        for name, pid in pids.items():
            if (seconds := cpu_of(pid)) is not None:
                used[name] = seconds
        return used

    def _crews_of(self, used: Mapping[str, float]) -> float:
        return sum(used.get(name, 0.0) for name in self.crews)

    @contextmanager
    def _spent(self, phase: str) -> Iterator[None]:
        """The CPU that the phase took of whom."""
        before = self._cpu()
        yield
        after = self._cpu()
        used = {name: after[name] - at for name, at in before.items() if name in after}
        self.figures[f"cpu_s_{phase}_manager"] = used.get(NAME, 0.0)
        self.figures[f"cpu_s_{phase}_broker"] = used.get("broker", 0.0)
        self.figures[f"cpu_s_{phase}_containers"] = self._crews_of(used)


def await_ready(name: str, process: Popen[bytes]) -> None:
    """Returns when the process has said that it is."""
    assert process.stdout is not None
    if process.stdout.readline().strip() != b'"ready"':
        raise ChildFailed(f"{name} ended before it was ready")


def notes(size: Size, run: Any) -> Iterator[str]:
    """What the figures are of."""
    beat_s = Timing().heartbeat_ms / 1000
    yield (
        f"{size.containers} containers beat every {beat_s:g} s, each beat a request of its own;"
        f" {size.shards} shards, {size.jobs} jobs of {size.tasks} tasks; broker, containers and"
        " components share this machine"
    )
    yield (
        f"heartbeat_cores: CPU of the shard manager's process over {size.window_s:g} s; the bare"
        " loop reads and decodes the same at the same time, in batches of up to 50 ms"
    )
    yield (
        "upgrade_30k_s: from the first proposal of another version of every job's package to the"
        " last TaskStarted at it; containers start tasks in no time"
    )
    yield (
        f"failover_place_s: {size.dying} containers are killed at once; of the slowest of them,"
        " from its ContainerFailOverRequested to the ShardAddRequested of its last shard;"
        " failover_added_s until its new container said so; no constant is scaled"
    )
    if run.figures["manager_fell"]:
        yield f"the shard manager fell {run.figures['manager_fell']} times: see its log"
