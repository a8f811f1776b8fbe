"""What tasks and shards used, from what runs have counted since their start. Pure.

Unknown is None and never 0. A shard's load is the sum of its tasks': of memory the peak where it is
enforced, since a task ends that has less, and the mean elsewhere (Turbine IV-B). A task's lag is
that of its partitions: of records and bytes the sum, of time the greatest. What it reads is what it
reads of its partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from components.task_manager.core.catalogue import Target
from events.generated.records import PartitionLag, ShardLoad, ShardLoadsReported, TaskLoadReported
from tasks.core.protocol import Left

PART_SHARDS = 1_500
"""Of one record: a shard takes at most some 150 bytes, with its job's name."""

PARTITIONS_MOST = 800
"""Of one task's report, the worst of them: one takes at most some 300 bytes, nearly all of it the
name of its topic, and all must fit into an event. The task's own lag is that of all of them."""

Counts = Mapping[str, int | None]
At = tuple[str, int]


class Sampled(NamedTuple):
    """One run, and what its engine says of it."""

    run: int
    target: Target
    counts: Counts
    left: Sequence[Left] = ()


@dataclass(slots=True)
class _CountedRun:
    """What was known of a run at its last report."""

    at_ms: int
    counts: Counts
    read: Mapping[At, int | None]


@dataclass(slots=True)
class _Use:
    """What one task used since the last report of its shard."""

    cpu_ms: int | None = None
    network: int = 0
    memory_sum: int = 0
    samples: int = 0
    peak: int = 0
    enforced: bool = False
    disk: int | None = None  # the most of it

    @property
    def memory(self) -> int | None:
        """As it counts for its shard."""
        if not self.samples:
            return None
        return self.peak if self.enforced else self.memory_sum // self.samples


@dataclass(slots=True)
class ContainerLoads:
    """One life of one container."""

    container: str
    epoch: int
    since_ms: int  # of the shards' window
    number: int = 0
    _runs: dict[int, _CountedRun] = field(default_factory=dict)
    _uses: dict[tuple[int, int], dict[str, _Use]] = field(default_factory=dict)
    _counts: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def begin(self, run: int, now_ms: int) -> None:
        """A run has started: its first window begins."""
        self._runs[run] = _CountedRun(now_ms, {}, {})

    def take(self, sampled: Iterable[Sampled], now_ms: int) -> Iterator[TaskLoadReported]:
        """A report for each run that is sampled; those that are not are forgotten."""
        kept: dict[int, _CountedRun] = {}
        for one in sampled:
            kept[one.run] = now = _CountedRun(now_ms, one.counts, _read(one.left))
            known = self._runs.get(one.run, now)
            window_ms = now_ms - known.at_ms
            if window_ms > 0:
                self._use(one, known)
                yield self._report(one, known, window_ms)
        # A run that has begun since the engine was asked is not among those that it answered for.
        newest = max(kept, default=-1)
        self._runs = kept | {run: one for run, one in self._runs.items() if run > newest}

    def _report(self, one: Sampled, known: _CountedRun, window_ms: int) -> TaskLoadReported:
        target, counts = one.target, one.counts
        where = (target.entry.name, target.generation.specs, target.generation.shard)
        self._counts = {at: n for at, n in self._counts.items() if at[0] != where[0] or at == where}
        count = self._counts[where] = self._counts.get(where, 0) + 1

        def per_s(name: str) -> float:
            return 1000 * (_grown(name, counts, known) or 0) / window_ms

        cpu_ms, busy_us = _grown("cpu_ms", counts, known), _grown("busy_us", counts, known)
        lag = counts.get("lag_records")
        return TaskLoadReported(
            job=target.entry.job,
            task=target.entry.task,
            generation=target.generation,
            epoch=self.epoch,
            count=count,
            window_ms=window_ms,
            records_in_per_s=per_s("records_in"),
            bytes_in_per_s=per_s("bytes_in"),
            records_out_per_s=per_s("records_out"),
            bytes_out_per_s=per_s("bytes_out"),
            lag_records=lag,
            lag_bytes=_bytes(lag, counts),
            lag_ms=0 if lag == 0 else counts.get("lag_ms"),
            cpu_cores=None if cpu_ms is None else cpu_ms / window_ms,
            memory_bytes=counts.get("memory_bytes"),
            state_rows=counts.get("state_rows"),
            state_bytes=counts.get("state_bytes"),
            container=self.container,
            busy_share=None if busy_us is None else min(1.0, busy_us / (1000 * window_ms)),
            checkpoint_age_ms=counts.get("checkpoint_age_ms"),
            partitions=_partitions(one, known, window_ms),
            tasks=target.entry.tasks,
            threads=target.entry.program.spec.threads,
        )

    def _use(self, one: Sampled, known: _CountedRun) -> None:
        target = one.target
        at = (target.shard, target.generation.shard)
        use = self._uses.setdefault(at, {}).setdefault(target.entry.name, _Use())
        cpu_ms = _grown("cpu_ms", one.counts, known)
        if cpu_ms is not None:
            use.cpu_ms = (use.cpu_ms or 0) + cpu_ms
        for name in ("bytes_in", "bytes_out"):
            use.network += _grown(name, one.counts, known) or 0
        memory = one.counts.get("memory_bytes")
        if memory is not None:
            use.memory_sum += memory
            use.samples += 1
            use.peak = max(use.peak, memory)
        disk = one.counts.get("disk_bytes")
        if disk is not None:
            use.disk = max(use.disk or 0, disk)
        use.enforced = target.entry.program.spec.memory_bytes is not None

    def shards(
        self, tier: str, held: Mapping[tuple[int, int], Iterable[str]], now_ms: int
    ) -> Iterator[ShardLoadsReported]:
        """A report on all shards that are held, each with the names of its tasks, the empty ones
        among them; another window begins."""
        window_ms = max(1, now_ms - self.since_ms)
        loads = [
            self._load(tier, shard, generation, tuple(names), window_ms)
            for (shard, generation), names in sorted(held.items())
        ]
        self._uses, self.since_ms = {}, now_ms
        self.number += 1
        parts = max(1, -(-len(loads) // PART_SHARDS))
        for part in range(parts):
            yield ShardLoadsReported(
                container=self.container,
                epoch=self.epoch,
                number=self.number,
                window_ms=window_ms,
                loads=tuple(loads[part * PART_SHARDS : (part + 1) * PART_SHARDS]),
                part=part + 1,
                parts=parts,
            )

    def _load(
        self, tier: str, shard: int, generation: int, names: tuple[str, ...], window_ms: int
    ) -> ShardLoad:
        uses = self._uses.get((shard, generation), {})
        known = [uses[name] for name in names if name in uses]
        cpu = [use.cpu_ms for use in known if use.cpu_ms is not None]
        memory = [use.memory for use in known if use.memory is not None]
        disk = [use.disk for use in known if use.disk is not None]
        whole = len(known) == len(names)  # a sum without one of them would pass for less
        return ShardLoad(
            tier=tier,
            shard=shard,
            generation=generation,
            tasks=len(names),
            cpu_cores=sum(cpu) / window_ms if len(cpu) == len(names) else None,
            memory_bytes=sum(memory) if len(memory) == len(names) else None,
            disk_bytes=sum(disk) if len(disk) == len(names) else None,
            network_bytes_per_s=1000 * sum(u.network for u in known) / window_ms if whole else None,
            job=_most_of(names),
        )


def _grown(name: str, counts: Counts, known: _CountedRun) -> int | None:
    now = counts.get(name)
    return None if now is None else max(0, now - (known.counts.get(name) or 0))


def _read(left: Iterable[Left]) -> dict[At, int | None]:
    return {(one.topic, one.partition): one.read for one in left}


def _partitions(one: Sampled, known: _CountedRun, window_ms: int) -> tuple[PartitionLag, ...]:
    """What is left and was read of each partition, the worst first; beyond the bound nothing is
    said of one."""

    def worst(left: Left) -> tuple[int, bool, str, int]:
        return -(left.records or 0), left.records is not None, left.topic, left.partition

    return tuple(
        PartitionLag(
            left.topic,
            left.partition,
            left.records,
            _bytes(left.records, one.counts),
            0 if left.records == 0 else left.ms,
            _per_s(left, known, window_ms),
        )
        for left in sorted(one.left, key=worst)[:PARTITIONS_MOST]
    )


def _per_s(left: Left, known: _CountedRun, window_ms: int) -> float | None:
    if left.read is None:
        return None
    before = known.read.get((left.topic, left.partition)) or 0
    return 1000 * max(0, left.read - before) / window_ms


def _bytes(lag: int | None, counts: Counts) -> int | None:
    """By the mean size of what the run has read: nobody knows how large what was not read is."""
    records, size = counts.get("records_in"), counts.get("bytes_in")
    if lag == 0:
        return 0
    if lag is None or not records or size is None:
        return None
    return lag * size // records


def _most_of(names: Iterable[str]) -> str:
    """The job of most of the tasks, the first by name of several."""
    jobs = Counter(name.rpartition("/")[0] for name in names)
    return min(jobs, key=lambda job: (-jobs[job], job), default="")
