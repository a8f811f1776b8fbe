"""How fast many jobs come from expected to running, and whether that grows with their number."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.children import ChildFailed, Supervised, ask, python
from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from components.runtime.core.step import ROOT
from components.runtime.kafka.intake import Message
from events.topics import BY_SHORT, CHANGES, JOURNAL, place
from events.wire.codec import TYPE_PREFIX
from turbine_client.reading import Follower, ends_now, read_span
from turbine_client.settings import Settings

SIZES, QUICK_SIZES = (1_000, 10_000, 30_000), (200, 1_000, 3_000)
RESCALED, QUICK_RESCALED = 1_000, 200
COMPONENTS = ("job-service", "state-syncer", "task-service")
WORKERS = 2
NAME, WAIT_S = "job", 600.0


def measure(quick: bool) -> Result:
    """Simple syncs of a growing number of jobs, then another number of tasks for some of them."""
    sizes = QUICK_SIZES if quick else SIZES
    figures: dict[str, float] = {}
    with install() as site:
        serve_all(site)
        watch = Watch(site.settings)
        for before, size in zip((0, *sizes), sizes, strict=False):
            say(f"{size - before} jobs are created")
            _run(site, watch, size, first=before, count=size - before)
            say(f"{size} jobs get a new version")
            took = _run(site, watch, size, first=size, count=size)
            label = f"{size // 1000}k" if size >= 1_000 else str(size)
            figures |= {f"simple_{label}_{name}": found for name, found in took.items()}
            figures[f"us_per_job_{label}"] = 1e6 * took["s"] / size
        rescaled = QUICK_RESCALED if quick else RESCALED
        say(f"{rescaled} jobs get another number of tasks")
        took = _run(site, watch, sizes[-1], first=2 * sizes[-1], count=rescaled, tasks=2)
        figures |= {f"rescale_{name}": found for name, found in took.items()}
    return Result("sync", _named(figures, sizes), {}, _notes(sizes, rescaled))


def serve_all(site: Installation) -> None:
    """A clock, workers, and task managers; returns once the workers have their partitions."""
    site.serve("clock")
    for number in range(WORKERS):
        site.serve(*COMPONENTS, instance=f"worker-{number}")
    site.await_assigned()
    command = python("benchmarks.task_managers", site.settings.bootstrap)
    managers = Supervised("task-managers", command, site.directory)
    site.processes["task-managers"] = managers


def _run(
    site: Installation, watch: Watch, jobs: int, *, first: int, count: int, tasks: int = 0
) -> dict[str, float]:
    """From the first proposal to the last standing commit, and where the time went."""
    watch.begin()
    cpu = site.cpu_s()
    topic = BY_SHORT[CHANGES["base"]].name
    doors = [place(CHANGES["base"], p) for p in range(site.settings.partitions)]
    begin = ends_now(site.settings, doors)
    author = python(
        "benchmarks.bulk_author", site.settings.bootstrap, topic, NAME, jobs, count, first, tasks
    )
    sent: Any = ask("bulk-author", author, site.directory)
    last_ms = watch.await_all(count)
    used = site.cpu_s()
    watch.await_rest()
    asked = read_span(site.settings, {at: (end, end + 1) for at, end in begin.items()})
    first_ms = min(message.at_ms for poll in asked for message in poll)
    found = {"s": (last_ms - first_ms) / 1000, "sent_s": float(sent["seconds"])}
    for name, seconds in used.items():
        found[f"cpu_s_{name.replace('-', '_')}"] = seconds - cpu[name]
    return found | {f"records_{kind}": float(n) for kind, n in sorted(watch.kinds.items())}


class Watch:
    """Follows the journal by its headers: to decode it would take CPU from who is measured."""

    def __init__(self, settings: Settings) -> None:
        places = [place(JOURNAL, p) for p in range(settings.partitions)]
        self._follower = Follower(settings, dict.fromkeys(ends_now(settings, places), 0))
        self._last: dict[bytes, bytes] = {}  # job to its last standing decision
        self.begin()

    def begin(self) -> None:
        """Of another run: what is counted is counted from now on."""
        self._changed: set[bytes] = set()
        self._committed: set[bytes] = set()
        self._listed: set[bytes] = set()
        self._last_ms = 0
        self.kinds: Counter[str] = Counter()

    def await_all(self, jobs: int) -> int:
        """When the last of so many jobs was committed; each counts at its first standing commit
        after its change."""
        self._read_until(lambda: len(self._committed) >= jobs, jobs)
        return self._last_ms

    def await_rest(self) -> None:
        """Returns when the list of each job is published too: the next run begins at rest."""
        self._read_until(lambda: self._listed >= self._committed, len(self._committed))

    def _read_until(self, done: Callable[[], bool], jobs: int) -> None:
        limit = time.monotonic() + WAIT_S
        while not done():
            if time.monotonic() > limit:
                raise ChildFailed(f"{len(self._committed)} of {jobs} were synced: {self.kinds}")
            for message in self._follower.poll(0.2, 2_000):
                self._see(message)

    def _see(self, message: Message) -> None:
        said, job = dict(message.headers or ()), message.key or b""
        # Nobody forges anything here: the first child of the last is the one that stands.
        if said.get("ce_parent") != self._last.get(job, ROOT.encode()):
            self.kinds["void"] += 1
            return
        self._last[job] = said.get("ce_id") or b""
        kind = (said.get("ce_type") or b"").decode().removeprefix(TYPE_PREFIX)
        self.kinds[kind] += 1
        if kind == "JobConfigChanged":
            self._changed.add(job)
        elif kind == "SyncCommitted" and job in self._changed and job not in self._committed:
            self._committed.add(job)
            self._last_ms = max(self._last_ms, message.at_ms)
        elif kind == "TaskSpecsPublished":
            self._listed.add(job)


def _named(figures: dict[str, float], sizes: tuple[int, ...]) -> dict[str, float]:
    """With the keys that targets are set for."""
    small, large = (f"{n // 1000}k" if n >= 1_000 else str(n) for n in (sizes[0], sizes[-1]))
    out = {name: value for name, value in figures.items() if not name.endswith("_s_broker")}
    out[f"simple_{large}_s"] = figures[f"simple_{large}_s"]
    out["rescale_1k_s"] = figures["rescale_s"]
    out["growth_30k_over_1k"] = figures[f"us_per_job_{large}"] / figures[f"us_per_job_{small}"]
    return out


def _notes(sizes: tuple[int, ...], rescaled: int) -> list[str]:
    of_sizes = ", ".join(map(str, sizes))
    return [
        f"{of_sizes} jobs get another version of their package each (simple sync)",
        f"then {rescaled} get another number of tasks (complex sync)",
        f"{WORKERS} workers, each of job service, state syncer and task service, beside the broker",
        "task managers say at once that tasks have stopped or started",
        "a time is from the first proposal's append time to that of the last job's commit",
    ]
