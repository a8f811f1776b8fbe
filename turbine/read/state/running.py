"""What runs of a job and what it still takes, in the words of a person on call. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from components.state_syncer.core.plan import plan_for
from events.generated.records import Body, SyncFailed, TaskFailed, TaskStarted, TaskStopped
from events.wire.codec import Read
from projections.reports import Report, report_of
from projections.syncs import DELETED, RUNNING, Sync

STARTING = "starting"
"""Its config is in effect, and none of its tasks runs yet, though nothing has failed."""
FAILURES_KEPT = 5
"""Of each job: the last ones tell what is wrong now."""


class LastSeen(NamedTuple):
    """Where a task's last report is from."""

    container: str
    epoch: int  # the container's life
    at_ms: int


Spots = Mapping[int, tuple[Report, str, int]]
"""Of each task the last report, by which container, in which of its lives."""


class Sightings:
    """What records tell beside the rows: where each task was seen last, and what failed when.

    Given to `Log.syncs` as `observer`.
    """

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, int], tuple[Report, str, int]] = {}
        self._failures: dict[str, list[tuple[SyncFailed, int]]] = {}

    @classmethod
    def of(
        cls,
        job: str,
        tasks: Spots,
        failures: Iterable[tuple[SyncFailed, int]],
    ) -> Sightings:
        """What was sighted of one job, where somebody else has kept it."""
        found = cls()
        found._tasks = {(job, task): seen for task, seen in tasks.items()}
        found._failures = {job: list(failures)}
        return found

    def __call__(self, read: Read, stands: bool) -> None:
        body: Body | None = read.record.body
        if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
            at, seen = (read.record.key, body.task), report_of(body, read.at_ms)
            known = self._tasks.get(at)
            if known is None or known[0] < seen:
                self._tasks[at] = (seen, body.container, body.epoch)
        elif stands and isinstance(body, SyncFailed) and body.change_id is None:
            kept = self._failures.setdefault(read.record.key, [])
            kept.append((body, read.at_ms))
            del kept[:-FAILURES_KEPT]

    def seen(self, job: str, task: int, report: Report) -> LastSeen | None:
        """Where that report is from."""
        found = self._tasks.get((job, task))
        if found is None or found[0] != report:
            return None
        return LastSeen(found[1], found[2], report.at_ms)

    def failures(self, job: str) -> list[tuple[SyncFailed, int]]:
        """The last plans without effect, the newest last, each with its instant."""
        return list(self._failures.get(job, ()))


def condition(sync: Sync) -> str:
    """One word for how the job stands."""
    if sync.quarantine is not None:
        return "quarantined"
    if sync.plan is not None:
        return "syncing"
    if plan_for(sync) is None:
        return "in sync"
    return "failing" if sync.trouble is not None else "behind"


def state_of(sync: Sync) -> str:
    """What was last brought fully into effect: running, paused, deleted; "none" before that."""
    return "none" if sync.running is None else sync.running.state


def standing(
    sync: Sync | None, *, alive: bool, unhealthy: int = 0, lagging: int = 0, idle: bool = False
) -> str:
    """One word for how the job is, the gravest that is true: for lists, pages and metrics alike.

    What stands between expected and running comes first, then tasks that fail, that none runs, and
    tasks that lag. A job that lags is not "running" to who looks for what is wrong.
    """
    if sync is None:
        return "behind" if alive else DELETED
    word = condition(sync)
    if word != "in sync":
        return word
    if not alive:
        return DELETED
    state = state_of(sync)
    if state != RUNNING:
        return state
    if unhealthy:
        return "failing"
    return STARTING if idle else "lagging" if lagging else RUNNING
