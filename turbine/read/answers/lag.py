"""How far jobs are behind their input: what they have committed against where the input ends.

Unknown is None and never 0: of a partition where nothing is committed nobody knows what is left to
read, and a sum over it is unknown, too. Pure, but for `look`, which asks the broker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, assert_never

from components.runtime.kafka.inputs import At, committed_of, ends_of
from events.generated.records import PartitionLag, TaskLoadReported
from projections.syncs import Sync
from turbine.read.answers.lines import JobLine, is_fresh, now_of
from turbine.read.plain import made, means
from turbine.read.sources.log import Log
from turbine.read.state.view import JobView, View
from turbine_client.clients import counts_of
from turbine_client.settings import Settings

By = Literal["job", "task", "partition"]
Loads = Mapping[int, TaskLoadReported]
Key = tuple[int, bool, str, int, str, int]

LIKE: Key = (0, True, "", 0, "", 0)
"""The form of the key of `worst_first`."""


@dataclass(frozen=True, slots=True)
class PartitionBehind:
    """One input partition of a job, and how far it is read."""

    job: str
    task: Annotated[int | None, means("Null: it is no task's now.")]
    name: str
    topic: str
    partition: int
    committed: Annotated[int | None, means("Null of the past: the broker keeps that of now.")]
    end: Annotated[int | None, means("Where the partition ends; null of the past.")]
    lag_records: Annotated[int | None, means("Records that are not read yet.")]
    lag_bytes: int | None
    lag_ms: int | None
    records_in_per_s: float | None


@dataclass(frozen=True, slots=True)
class Behind:
    """What is left to read of some partitions, and what their tasks reported together."""

    job: str
    partitions: int
    unknown_partitions: Annotated[int, means("Of which nobody knows what is left.")]
    lag_records: Annotated[int | None, means("Null where it is unknown of a partition.")]
    lag_records_min: Annotated[int, means("What is left for certain.")]
    lag_bytes: int | None
    lag_ms: Annotated[int | None, means("Of the task that is behind most.")]
    records_in_per_s: float | None
    busy_share: Annotated[float | None, means("Of the busiest task.")]
    checkpoint_age_ms: Annotated[int | None, means("Of the oldest checkpoint.")]
    reported_ms: Annotated[int | None, means("When the first of these tasks reported last.")]


@dataclass(frozen=True, slots=True)
class TaskBehind(Behind):
    """One task of a job, and how far its partitions are read."""

    task: Annotated[int | None, means("Null: the partitions that are no task's now.")]
    name: str


@dataclass(frozen=True, slots=True)
class JobBehind(Behind):
    """One job, and how far its input is read."""

    state: Annotated[str, means("As lists of jobs have it.")]
    tasks: Annotated[int, means("By config; none of a job that is paused.")]
    running: int


class Offsets(NamedTuple):
    """What the broker tells of inputs now; nothing, of the past."""

    counts: Mapping[str, int]  # partitions of each topic
    committed: Mapping[str, Mapping[At, int]]  # by job
    ends: Mapping[At, int]


NOBODY_ASKED = Offsets({}, {}, {})


class InputShare(NamedTuple):
    """One input partition of a job, with the task that it is given to."""

    task: int | None  # None: it is no task's now
    topic: str
    partition: int


def offsets_of(settings: Settings, view: View, lines: Iterable[JobLine]) -> Offsets:
    """What the broker tells of the inputs of these jobs.

    Offsets are asked for before ends, so that a reader who is quick is not ahead of the end.
    """
    counts, group = counts_of(settings), settings.job_group
    spots = {
        line.job: [(share.topic, share.partition) for share in shares_of(seen, counts)]
        for line, seen in _reading(view, lines)
    }
    by_group = committed_of(settings, {group(job): some for job, some in spots.items()})
    # To ask for a partition by name might make its topic, where the broker has none.
    there = {at for some in spots.values() for at in some if at[1] < counts.get(at[0], 0)}
    return Offsets(counts, {job: by_group[group(job)] for job in spots}, ends_of(settings, there))


def look(
    log: Log, view: View, lines: Iterable[JobLine], by: By, *, past: bool
) -> Sequence[JobBehind | TaskBehind | PartitionBehind]:
    """The answer, for which the broker is asked unless it is about the past, or the log is in a
    file: what was committed then nobody keeps."""
    known = list(lines)
    asked = not past and not log.source.at_hand
    return lag(view, known, by, offsets_of(log.settings, view, known) if asked else NOBODY_ASKED)


def lag(
    view: View, lines: Iterable[JobLine], by: By = "job", offsets: Offsets = NOBODY_ASKED
) -> Sequence[JobBehind | TaskBehind | PartitionBehind]:
    """How far the jobs of these lines are behind, the worst first; without offsets of a broker by
    what their tasks reported."""
    now_ms = now_of(view)
    found = [
        each
        for line, seen in _reading(view, lines)
        for each in _JobInput.of(seen, offsets, now_ms).by(by, line)
    ]
    return sorted(found, key=worst_first)


def worst_first(line: JobBehind | TaskBehind | PartitionBehind) -> Key:
    """The order: by the records that are left for certain, and where nobody knows whether more
    are, before those that are known whole."""
    known = line.lag_records is not None
    if isinstance(line, PartitionBehind):
        least, at = line.lag_records or 0, (line.topic, line.partition)
    else:
        least, at = line.lag_records_min, ("", 0)
    task = None if isinstance(line, JobBehind) else line.task
    return (-least, known, line.job, -1 if task is None else task, *at)


def _reading(view: View, lines: Iterable[JobLine]) -> Iterator[tuple[JobLine, JobView]]:
    """The jobs that somebody has planned: before, nothing is read."""
    for line in lines:
        seen = view.jobs[line.job]
        if seen.sync is not None and (seen.sync.alive or seen.sync.running is not None):
            yield line, seen


def shares_of(seen: JobView, counts: Mapping[str, int]) -> list[InputShare]:
    """The partitions that a job reads, each with its task.

    Of a job whose tasks must not run now they are what its config says: input comes in then, too.
    """
    known, sync = seen.notes.lists, seen.sync
    listed = None if known is None else known.listed
    if listed is not None and listed.tasks:
        return [
            InputShare(spec.task, given.topic, number)
            for spec in listed.specs
            for given in spec.inputs
            for number in given.partitions
        ]
    if sync is None:
        return []
    text = sync.expected_json if sync.running is None else sync.running.config_json
    return [
        InputShare(None, given["topic"], number)
        for given in json.loads(text).get("inputs", ())
        for number in range(given.get("partitions") or counts.get(given["topic"], 0))
    ]


class _JobInput(NamedTuple):
    """The partitions of a job, and what its tasks reported of late."""

    job: str
    tasks: int
    loads: Loads
    instants: Mapping[int, int]  # when each of them was reported
    parts: tuple[PartitionBehind, ...]
    past: bool  # nobody was asked: all of it is what tasks reported

    @classmethod
    def of(cls, seen: JobView, offsets: Offsets, now_ms: int) -> _JobInput:
        sync, name = seen.sync or Sync(seen.job.name), seen.job.name
        fresh = {task: told for task, told in seen.loads.items() if is_fresh(told[1], now_ms)}
        loads = {task: load for task, (load, _) in fresh.items()}
        committed = offsets.committed.get(name)
        told: dict[tuple[int | None, str, int], PartitionLag] = {
            (task, part.topic, part.partition): part
            for task, load in loads.items()
            for part in load.partitions
        }
        shares = shares_of(seen, offsets.counts)
        parts = tuple(
            _part(name, share, told.get(share), committed, offsets.ends) for share in shares
        )
        tasks = 0 if sync.listed is None else sync.listed.tasks
        instants = {task: at_ms for task, (_, at_ms) in fresh.items()}
        return cls(name, tasks, loads, instants, parts, committed is None)

    def by(self, by: By, line: JobLine) -> Iterable[JobBehind | TaskBehind | PartitionBehind]:
        """The lines of that kind."""
        match by:
            case "job":
                together = self._together(self.parts, range(self.tasks))
                state, tasks, running = line.state, line.tasks, line.running
                return [made(JobBehind, together, state=state, tasks=tasks, running=running)]
            case "task":
                return self._tasks()
            case "partition":
                return self.parts
            case _:
                assert_never(by)

    def _tasks(self) -> Iterator[TaskBehind]:
        owned: dict[int | None, list[PartitionBehind]] = {task: [] for task in range(self.tasks)}
        for part in self.parts:
            owned.setdefault(part.task, []).append(part)
        for task, parts in owned.items():
            name = f"{self.job}/{'-' if task is None else task}"
            together = self._together(parts, () if task is None else (task,))
            yield made(TaskBehind, together, task=task, name=name)

    def _together(self, parts: Sequence[PartitionBehind], tasks: Sequence[int]) -> Behind:
        """What these tasks say together: of rates and bytes the sum, of times and shares the
        greatest, and nothing where one of them says nothing."""
        loads = [self.loads[task] for task in tasks if task in self.loads]
        whole = bool(tasks) and len(loads) == len(tasks)

        def told(name: str, fold: Callable[[list[Any]], Any]) -> Any:
            values = [getattr(load, name) for load in loads]
            return fold(values) if whole and None not in values else None

        lags = [part.lag_records for part in parts if part.lag_records is not None]
        least, unknown = sum(lags), len(parts) - len(lags)
        # Every job has an input; where no partition of it is known, nothing is.
        records = None if unknown or not self.parts else least
        if records is None and self.past:  # what tasks told of all their input together
            sums = [load.lag_records for load in loads if load.lag_records is not None]
            if len(sums) == len(loads):
                records, least = told("lag_records", sum), max(least, sum(sums))
        read = records == 0
        return Behind(
            job=self.job,
            partitions=len(parts),
            unknown_partitions=unknown,
            lag_records=records,
            lag_records_min=least,
            # Who has read all has no bytes left and no time, whatever was reported a minute ago.
            lag_bytes=0 if read else told("lag_bytes", sum),
            lag_ms=0 if read else told("lag_ms", max),
            records_in_per_s=told("records_in_per_s", sum),
            busy_share=told("busy_share", max),
            checkpoint_age_ms=told("checkpoint_age_ms", max),
            reported_ms=min(self.instants[task] for task in tasks) if whole else None,
        )


def _part(
    job: str,
    share: InputShare,
    told: PartitionLag | None,
    committed: Mapping[At, int] | None,
    ends: Mapping[At, int],
) -> PartitionBehind:
    at = (share.topic, share.partition)
    done, end = (None if committed is None else committed.get(at)), ends.get(at)
    if committed is None:
        left = None if told is None else told.lag_records
    else:
        # Asked for first, so what is committed is beyond the end only of a reader that does not
        # wait for transactions: it has read all that there is.
        left = None if done is None or end is None else max(0, end - done)
    return PartitionBehind(
        job=job,
        task=share.task,
        name=f"{job}:{share.topic}/{share.partition}",
        topic=share.topic,
        partition=share.partition,
        committed=done,
        end=end,
        lag_records=left,
        lag_bytes=0 if left == 0 else None if told is None else told.lag_bytes,
        lag_ms=0 if left == 0 else None if told is None else told.lag_ms,
        records_in_per_s=None if told is None else told.records_in_per_s,
    )
