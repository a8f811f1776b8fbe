"""Judges what happened by the log, by the outputs, and by who stood beside: K1, K2 and the sums."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from benchmarks.exclusivity_faults import Fault
from benchmarks.exclusivity_heard import Output
from benchmarks.exclusivity_lives import FailOver, Life, Lives, clipped, life_of, outside
from benchmarks.exclusivity_offsets import Committed
from benchmarks.exclusivity_watch import Seen, Span
from events.wire.codec import Read
from projections.timing import UNIT
from simulation.checkers.fleet import awake, check_grants, check_overlap, check_silence, check_sink
from simulation.checkers.history import History

AFTER_MS = 3_000
"""For the fail-over that a fault causes to be in the log, once the fault is over."""
SPECS = 1_000_000
"""More than the generations of any shard: a pair of generations becomes one number."""
CHAIN, LIVES = "tiers.v1/0", "containers.v1/0"


@dataclass(frozen=True, slots=True)
class Instance:
    """A task's process, as K1 wants to know it: only while its container held a lease."""

    shard: int  # the task's number: tasks are what must not run twice
    generation: int
    container: str
    epoch: int
    start_ms: int
    end_ms: int | None
    asleep: Sequence[tuple[int, int | None]]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An effect that stands, as K2 wants to know it."""

    at_ms: int
    shard: int
    generation: int
    container: str
    epoch: int
    taken: bool = True


# --- K1


def instances(
    seen: Iterable[Seen],
    leases: Mapping[Life, Sequence[Span]],
    epochs: Mapping[tuple[str, int], int],
    numbers: Mapping[str, int],
) -> Iterator[Instance]:
    """Every process of a task that was awake under a lease."""
    for one in seen:
        life = life_of(one, epochs)
        spans = clipped(one.spans, leases.get(life, ())) if one.is_task else []
        if spans:
            gaps = [(a[1], b[0]) for a, b in pairwise(spans)]
            yield Instance(numbers[one.name], 0, *life, spans[0][0], spans[-1][1], gaps)


def overlap_ms(found: Iterable[Instance]) -> int:
    """How long two of one task were awake together, in all."""
    by_task: dict[int, list[Span]] = defaultdict(list)
    for one in found:
        by_task[one.shard] += awake(one)
    total = 0
    for spans in by_task.values():
        until = 0
        for begin, end in sorted(spans):
            total += max(0, min(end, until) - begin)
            until = max(until, end)
    return total


def past_lease_ms(
    seen: Iterable[Seen],
    leases: Mapping[Life, Sequence[Span]],
    epochs: Mapping[tuple[str, int], int],
) -> int:
    """The longest that a task was awake without a lease of its container."""
    return max(
        (
            end - begin
            for one in seen
            if one.is_task
            for begin, end in outside(one.spans, leases.get(life_of(one, epochs), ()))
        ),
        default=0,
    )


# --- K2


def effects_of(
    outputs: Mapping[str, Sequence[Output]], numbers: Mapping[str, int]
) -> Iterator[Accepted]:
    """The committed outputs, each task's in the order of the log."""
    for task, found in outputs.items():
        for one in found:
            generation = one.specs * SPECS + one.shard
            yield Accepted(one.heard_ms, numbers[task], generation, one.container, one.epoch)


def claims_of(
    commits: Iterable[Committed], readers: Mapping[str, str], numbers: Mapping[str, int]
) -> Iterator[Accepted]:
    """The commits of offsets, each partition's in the order of the log.

    `readers`: the task that reads an input's partition, `topic/partition`.
    """
    for one in commits:
        task = readers.get(f"{one.topic}/{one.partition}")
        if task is not None and one.claim is not None:
            claim = one.claim
            generation = claim.specs * SPECS + claim.shard
            yield Accepted(one.at_ms, numbers[task], generation, claim.container, claim.epoch)


def offsets_back(commits: Iterable[Committed]) -> int:
    """Commits that went back in a partition."""
    reached: dict[tuple[str, int], int] = {}
    back = 0
    for one in commits:
        spot = one.topic, one.partition
        back += one.offset < reached.get(spot, 0)
        reached[spot] = max(one.offset, reached.get(spot, 0))
    return back


def readers_of(outputs: Mapping[str, Sequence[Output]]) -> dict[str, str]:
    """Which task reads which partition of an input."""
    return {at: task for task, found in outputs.items() for one in found for at in one.since}


def stale_effects(outputs: Iterable[Accepted], commits: Iterable[Accepted]) -> list[str]:
    """What was accepted and must not have been, as sentences."""
    found = list[str]()
    for what, accepted in (("output", outputs), ("offsets", commits)):
        history = History({}, CHAIN, accepted=list(accepted))
        found += [f"{what}: {sentence}" for sentence in check_sink(history)]
    return found


def grants_of(log: Mapping[str, Sequence[Read]], per_mille: int) -> tuple[list[str], list[str]]:
    """Grants without a right to them, and fail-overs that came too early, as sentences."""
    history = History(log, CHAIN)
    # The checker knows the times of production alone: so time is stretched as it was scaled.
    slow = {at: [_stretched(read, per_mille) for read in reads] for at, reads in log.items()}
    return list(check_grants(history)), list(check_silence(History(slow, CHAIN)))


def _stretched(read: Read, per_mille: int) -> Read:
    return replace(read, at_ms=read.at_ms * UNIT // per_mille)


def overlaps(found: Sequence[Instance]) -> list[str]:
    """As sentences."""
    return list(check_overlap(History({}, CHAIN, instances=found)))


# --- K5


def sums(
    ends: Mapping[tuple[str, int], int], outputs: Mapping[str, Sequence[Output]]
) -> dict[str, int]:
    """Each input once: what outputs speak of, against what the broker had taken."""
    spans: dict[str, list[Span]] = defaultdict(list)
    records = 0
    for found in outputs.values():
        for one in found:
            records += one.records
            for at, begin in one.since.items():
                spans[at].append((begin, one.until[at]))
    missing = doubled = 0
    for (topic, partition), end in ends.items():
        reached = 0
        for begin, until in sorted(spans[f"{topic}/{partition}"]):
            missing += max(0, begin - reached)
            doubled += max(0, min(until, reached) - begin)
            reached = max(reached, until)
        missing += max(0, end - reached)
    return {
        "inputs": sum(ends.values()),
        "inputs_missing": missing,
        "inputs_doubled": doubled,
        "inputs_counted": records,
    }


# --- faults


def needless_moves(faults: Iterable[Fault], fail_overs: Sequence[FailOver]) -> int:
    """Tasks of containers that were given up because of what is to be borne in place."""
    return sum(len(one.tasks) for one in faults if one.kind.stays and _caused(one, fail_overs))


def most_fail_overs(faults: Iterable[Fault], fail_overs: Sequence[FailOver]) -> int:
    """The most that one pause or cut led to."""
    return max((_caused(one, fail_overs) for one in faults if not one.kind.kills), default=0)


def _caused(fault: Fault, fail_overs: Sequence[FailOver]) -> int:
    until_ms = fault.over_ms + AFTER_MS
    return sum(
        one.container == fault.container and fault.at_ms <= one.at_ms <= until_ms
        for one in fail_overs
    )


def recoveries(faults: Iterable[Fault]) -> dict[str, list[float]]:
    """Seconds until each task that was hit had an effect again, by kind of fault."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in faults:
        found[one.kind.name] += one.recovered_s.values()
    return dict(found)


def counts_of(faults: Sequence[Fault], lives: Lives) -> dict[str, float]:
    """How often what was done, and what the shard managers made of it."""
    kinds = Counter(one.kind.kills for one in faults)
    return {
        "kills": kinds[True],
        "pauses_and_cuts": kinds[False],
        "tasks_hit": sum(len(one.tasks) for one in faults),
        "tasks_not_recovered": sum(len(one.missing) for one in faults),
        "fail_overs": len(lives.fail_overs),
        "fail_overs_per_fault_max": most_fail_overs(faults, lives.fail_overs),
        "tasks_moved_needlessly": needless_moves(faults, lives.fail_overs),
    }
