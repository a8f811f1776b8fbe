"""How far jobs are behind their input: what they have committed against where the input ends.

A job's consumer group is `turbine-job.` and the job's name. Unknown is None and never 0: of a
partition where nothing is committed nobody knows what is left to read, and a sum over it is
unknown, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, assert_never

from components.runtime.kafka.inputs import At, committed_of, ends_of
from events.generated.records import TaskLoadReported
from events.topics import LOADS
from events.wire.codec import Read
from projections import lists
from projections.lists import TaskLists
from projections.syncs import DELETED, Sync
from turbine.read.sources.log import Log
from turbine.read.state.notes import FRESH_MS
from turbine.read.state.running import state_of
from turbine.read.state.view import JobView
from turbine_client.clients import counts_of

Row = dict[str, Any]
By = Literal["job", "task", "partition"]


class Listings:
    """The lists of task specs that stand, by job. Given to `Log.syncs` as `heed`."""

    def __init__(self) -> None:
        self.rows: dict[str, TaskLists] = {}

    def __call__(self, read: Read, stands: bool) -> None:
        record = read.record
        if stands and record.kind in lists.FOLDED_KINDS:
            self.rows[record.key] = lists.fold(self.rows.get(record.key), read)


class NewestLoads:
    """What each task reported last under its newest generation."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, int], tuple[tuple[int, ...], TaskLoadReported, int]] = {}

    def take(self, read: Read) -> None:
        """A report; one that is older than what is known, or of an older owner, is nothing."""
        body = read.record.body
        if not isinstance(body, TaskLoadReported):
            return
        rank = (body.generation.specs, body.generation.shard, body.epoch, body.count)
        at = (read.record.key, body.task)
        if at not in self._newest or self._newest[at][0] < rank:
            self._newest[at] = (rank, body, read.at_ms)

    def of(self, sync: Sync, task: int, specs: int) -> tuple[TaskLoadReported, int] | None:
        """A task's newest report and its instant, unless a newer generation of it has begun."""
        found, begun = self._newest.get((sync.name, task)), sync.tasks.get(task)
        if found is None or found[1].generation.specs != specs:
            return None
        moved = begun is not None and begun.specs == specs and begun.shard > found[0][1]
        return None if moved else found[1:]


@dataclass(frozen=True, slots=True)
class InputShare:
    """One input partition of a job, and how far it is read."""

    task: int | None  # None: it is no task's now
    topic: str
    partition: int
    committed: int | None = None
    end: int | None = None
    told: int | None = None  # what its task reported, where the broker is not asked

    @property
    def lag(self) -> int | None:
        """Records that are not read yet."""
        if self.committed is None or self.end is None:
            return self.told
        # Asked for first, so what is committed is beyond the end only of a reader that does not
        # wait for transactions: it has read all that there is.
        return max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class JobLag:
    """One job: its partitions and what its tasks reported last, with the instants."""

    sync: Sync
    tasks: int
    shares: tuple[InputShare, ...]
    reports: Mapping[int, tuple[TaskLoadReported, int]] = field(default_factory=dict)
    past: bool = False  # nobody was asked: all of it is what tasks reported


# --- asking


def look(log: Log, names: Iterable[str], now_ms: int) -> tuple[dict[str, Sync], list[JobLag]]:
    """All jobs that ever were, and how far the named ones are behind, or all that are; the worst
    first.

    Offsets are asked for before ends, so that a reader who is quick is not ahead of the end.
    """
    wanted = set(names)
    only = next(iter(wanted)) if len(wanted) == 1 else None
    listings = Listings()
    syncs = log.syncs(job=only, heed=listings)
    jobs = [sync for sync in syncs.values() if _asked(sync, wanted)]
    loads = _loads(log, now_ms, only)
    counts, group = counts_of(log.settings), log.settings.job_group
    found = {sync.name: shares_of(sync, listings.rows.get(sync.name), counts) for sync in jobs}
    spots = {name: [(one.topic, one.partition) for one in found[name]] for name in found}
    committed = committed_of(log.settings, {group(name): spots[name] for name in spots})
    # To ask for a partition by name might make its topic, where the broker has none.
    there = {at for some in spots.values() for at in some if at[1] < counts.get(at[0], 0)}
    ends = ends_of(log.settings, there)
    behind = [
        behind_of(sync, read_to(found[sync.name], committed[group(sync.name)], ends), loads)
        for sync in jobs
    ]
    return syncs, sorted(behind, key=worst_first)


def look_back(
    log: Log, names: Iterable[str], at_ms: int | None, end: Mapping[str, int] | None = None
) -> tuple[dict[str, Sync], list[JobLag]]:
    """The same of the past, from the log alone: what tasks had reported by the log's end, in the
    minutes before that instant, or before the last report. Nothing is waited for on a topic that
    `end` does not name, if there is one."""
    wanted = set(names)
    only = next(iter(wanted)) if len(wanted) == 1 else None
    listings = Listings()
    syncs = log.syncs(job=only, heed=listings, end=end)
    jobs = [sync for sync in syncs.values() if _asked(sync, wanted)]
    loads = _loads(log, at_ms, only)
    behind = [
        _reported(behind_of(sync, shares_of(sync, listings.rows.get(sync.name), {}), loads))
        for sync in jobs
    ]
    return syncs, sorted(behind, key=worst_first)


def behind_then(
    jobs: Iterable[JobView], names: Iterable[str], at_ms: int
) -> tuple[dict[str, Sync], list[JobLag]]:
    """The same of jobs as somebody else has folded them up to that instant."""
    wanted = set(names)
    syncs, behind = dict[str, Sync](), list[JobLag]()
    for one in jobs:
        if (sync := one.sync) is None:
            continue
        syncs[sync.name] = sync
        if _asked(sync, wanted):
            fresh = {at: told for at, told in one.loads.items() if told[1] > at_ms - FRESH_MS}
            shares = tuple(shares_of(sync, one.notes.lists, {}))
            tasks = 0 if sync.listed is None else sync.listed.tasks
            behind.append(_reported(JobLag(sync, tasks, shares, fresh)))
    return syncs, sorted(behind, key=worst_first)


def _reported(one: JobLag) -> JobLag:
    """Each partition with the lag that its own task told of it."""
    told: dict[tuple[int | None, str, int], int | None] = {
        (task, part.topic, part.partition): part.lag_records
        for task, (report, _) in one.reports.items()
        for part in report.partitions
    }
    shares = (
        replace(share, told=told.get((share.task, share.topic, share.partition)))
        for share in one.shares
    )
    return replace(one, shares=tuple(shares), past=True)


def _asked(sync: Sync, wanted: Set[str]) -> bool:
    """Is it named, or is it one that there is where nobody names any?"""
    there = sync.alive or state_of(sync) not in ("none", DELETED)
    return sync.name in wanted if wanted else sync.versions.base > 0 and there


def _loads(log: Log, now_ms: int | None, job: str | None) -> NewestLoads:
    """The reports of the minutes before that instant; of a position before the last of them."""
    loads = NewestLoads()
    if LOADS not in log.counts:
        return loads
    if now_ms is not None:
        since = log.at(now_ms - FRESH_MS, [LOADS])
        for read in log.read([LOADS], start=since, key=job):
            loads.take(read)
        return loads
    known = list(log.read([LOADS], key=job))
    newest_ms = max((read.at_ms for read in known), default=0)
    for read in known:
        if read.at_ms > newest_ms - FRESH_MS:
            loads.take(read)
    return loads


def shares_of(sync: Sync, known: TaskLists | None, counts: Mapping[str, int]) -> list[InputShare]:
    """The partitions that a job reads, each with its task.

    Of a job whose tasks must not run now they are what its config says: input comes in then, too.
    """
    listed = None if known is None else known.listed
    if listed is not None and listed.tasks:
        return [
            InputShare(spec.task, one.topic, number)
            for spec in listed.specs
            for one in spec.inputs
            for number in one.partitions
        ]
    running = sync.running
    text = sync.expected_json if running is None else running.config_json
    return [
        InputShare(None, one["topic"], number)
        for one in json.loads(text).get("inputs", ())
        for number in range(one.get("partitions") or counts.get(one["topic"], 0))
    ]


def read_to(
    shares: Iterable[InputShare], committed: Mapping[At, int], ends: Mapping[At, int]
) -> Iterator[InputShare]:
    """The same partitions, with what was told of them."""
    for one in shares:
        at = (one.topic, one.partition)
        yield InputShare(one.task, one.topic, one.partition, committed.get(at), ends.get(at))


def behind_of(sync: Sync, shares: Iterable[InputShare], loads: NewestLoads) -> JobLag:
    """A job with what its tasks reported last."""
    tasks, specs = (0, 0) if sync.listed is None else (sync.listed.tasks, sync.listed.generation)
    told = {task: loads.of(sync, task, specs) for task in range(tasks)}
    reports = {task: report for task, report in told.items() if report is not None}
    return JobLag(sync, tasks, tuple(shares), reports)


# --- telling


def worst_first(one: JobLag) -> tuple[int, bool, str]:
    """The order of jobs: by the records that are left for certain, and where nobody knows whether
    more are, before those that are known whole."""
    least, unknown = _sum(one.shares)
    return -least, unknown == 0, one.sync.name


def to_plain(one: JobLag, by: By) -> Iterator[Row]:
    """A job's rows as JSON, the worst first."""
    match by:
        case "job":
            row = {"job": one.sync.name}
            # Every job has an input; where no partition of it is known, nothing is.
            unknown: Row = {} if one.shares else {"lag_records": None}
            told = _told(one, range(one.tasks))
            totals = _totals(one.shares) | unknown
            yield caught_up(row | totals | told | _whole(one, totals, range(one.tasks)))
        case "task":
            yield from sorted(_tasks(one), key=_worst)
        case "partition":
            yield from sorted(_partitions(one), key=_worst)
        case _:
            assert_never(by)


def _worst(row: Row) -> tuple[int, bool]:
    """The same order for rows of one job; equals stay as they are."""
    lag: int | None = row["lag_records"]
    least: int = row.get("lag_records_min", lag or 0)
    return -least, lag is not None


def _tasks(one: JobLag) -> Iterator[Row]:
    owned: dict[int | None, list[InputShare]] = {task: [] for task in range(one.tasks)}
    for share in one.shares:
        owned.setdefault(share.task, []).append(share)
    for task, shares in owned.items():
        name = f"{one.sync.name}/{'-' if task is None else task}"
        row: Row = {"job": one.sync.name, "task": task, "name": name}
        tasks, totals = () if task is None else (task,), _totals(shares)
        yield caught_up(row | totals | _told(one, tasks) | _whole(one, totals, tasks))


def _whole(one: JobLag, totals: Row, tasks: Iterable[int]) -> Row:
    """Of the past: what tasks told of all their input together, where they did not of each part."""
    known = [one.reports[task][0].lag_records for task in tasks if task in one.reports]
    if not one.past or totals["lag_records"] is not None or not known or None in known:
        return {}
    lag = sum(records for records in known if records is not None)
    whole = len(known) == len(list(tasks))
    least = max(lag, totals["lag_records_min"])
    return {"lag_records": lag if whole else None, "lag_records_min": least}


def _partitions(one: JobLag) -> Iterator[Row]:
    told = {
        (part.topic, part.partition): part
        for report, _ in one.reports.values()
        for part in report.partitions
    }
    for share in one.shares:
        part = told.get((share.topic, share.partition))
        row = {
            "job": one.sync.name,
            "task": share.task,
            "name": f"{one.sync.name}:{share.topic}/{share.partition}",
            "topic": share.topic,
            "partition": share.partition,
            "committed": share.committed,
            "end": share.end,
            "lag_records": share.lag,
            "lag_bytes": None if part is None else part.lag_bytes,
            "lag_ms": None if part is None else part.lag_ms,
            "records_in_per_s": None if part is None else part.records_in_per_s,
        }
        yield caught_up(row)


def caught_up(row: Row) -> Row:
    """Who has read all has no bytes left and no time, whatever was reported a minute ago."""
    return row | {"lag_bytes": 0, "lag_ms": 0} if row["lag_records"] == 0 else row


def _sum(shares: Iterable[InputShare]) -> tuple[int, int]:
    """Records that are left for certain, and partitions of which nobody knows how many are."""
    lags = [share.lag for share in shares]
    return sum(lag for lag in lags if lag is not None), sum(lag is None for lag in lags)


def _totals(shares: Iterable[InputShare]) -> Row:
    counted = list(shares)
    least, unknown = _sum(counted)
    return {
        "partitions": len(counted),
        "unknown_partitions": unknown,
        "lag_records": None if unknown else least,
        "lag_records_min": least,
    }


def _told(one: JobLag, tasks: Iterable[int]) -> Row:
    """What these tasks say together: of rates and bytes the sum, of times and shares the greatest,
    and nothing where one of them says nothing."""
    asked = list(tasks)
    reports = [one.reports[task] for task in asked if task in one.reports]
    whole = bool(asked) and len(reports) == len(asked)

    def together(name: str, fold: Callable[[list[Any]], Any]) -> Any:
        values = [getattr(report, name) for report, _ in reports]
        return fold(values) if whole and None not in values else None

    return {
        "lag_bytes": together("lag_bytes", sum),
        "lag_ms": together("lag_ms", max),
        "records_in_per_s": together("records_in_per_s", sum),
        "busy_share": together("busy_share", max),
        "checkpoint_age_ms": together("checkpoint_age_ms", max),
        "reported_ms": min(at_ms for _, at_ms in reports) if whole else None,
    }
