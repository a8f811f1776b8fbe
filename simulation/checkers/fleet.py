"""I1-I5: who holds a shard, and who has an effect, is one at a time; and in the end it is somebody.

Told from the tier's chain, from the life of each container in its own partition, and from what one
who stood beside the containers saw of their instances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from events.generated.records import (
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    ShardAddRequested,
    ShardDropped,
    TierDefined,
)
from simulation.checkers.history import History, SeenRun, SinkEffect

LEAST_SILENCE_MS = 60_000
ENDLESS_MS = 1 << 60
Span = tuple[int, int]


def check_fleet(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    if not history.wild:
        yield from check_overlap(history)
    yield from check_sink(history)
    yield from check_grants(history)
    yield from check_silence(history)
    yield from check_homes(history)


# --- K1


def check_overlap(history: History) -> Iterator[str]:
    """I2: no two instances of one shard are awake at once."""
    by_shard: dict[int, list[tuple[int, int, SeenRun]]] = defaultdict(list)
    for run in history.instances:
        by_shard[run.shard] += [(begin, end, run) for begin, end in awake(run)]
    for shard, spans in sorted(by_shard.items()):
        spans.sort(key=lambda span: span[:2])
        last: tuple[int, int, SeenRun] | None = None
        for begin, end, run in spans:
            if last is not None and begin < last[1] and run is not last[2]:
                yield (
                    f"shard {shard}: {_name(last[2])} and {_name(run)} are awake together for"
                    f" {min(end, last[1]) - begin} ms from {begin}"
                )
            if last is None or end > last[1]:
                last = (begin, end, run)


def awake(run: SeenRun) -> Iterator[Span]:
    """When the instance ran, but for when it slept."""
    at, over = run.start_ms, ENDLESS_MS if run.end_ms is None else run.end_ms
    for begin, end in run.asleep:
        if begin > at:
            yield at, min(begin, over)
        at = over if end is None else end
    if at < over:
        yield at, over


def _name(run: SeenRun) -> str:
    return f"{run.container}.{run.epoch} at generation {run.generation}"


# --- K2


def check_sink(history: History) -> Iterator[str]:
    """I1: what is taken never goes back in generation, and each generation is one holder's."""
    floor: dict[int, int] = {}
    holder: dict[tuple[int, int], tuple[str, int]] = {}
    for one in history.accepted:
        if not one.taken:
            continue
        if one.generation < floor.get(one.shard, 0):
            yield f"shard {one.shard}: {_who(one)} was taken after {floor[one.shard]}"
        floor[one.shard] = one.generation
        mine = (one.container, one.epoch)
        if holder.setdefault((one.shard, one.generation), mine) != mine:
            yield f"shard {one.shard}: {_who(one)}, and the generation is another's"


def _who(one: SinkEffect) -> str:
    return f"generation {one.generation} of {one.container}.{one.epoch}"


def check_grants(history: History) -> Iterator[str]:
    """I4: a shard is given away after its holder gave it up, or cannot serve it any more."""
    lives = Lives(history)
    last: dict[int, ShardAddRequested] = {}
    for read in history.standing:
        body = read.record.body
        if not isinstance(body, ShardAddRequested):
            continue
        before = last.get(body.shard)
        if before is not None:
            if body.generation != before.generation + 1:
                yield f"shard {body.shard} goes from {before.generation} to {body.generation}"
            end = read.record.evidence.get(lives.place, 0)
            if not lives.given_up(before, end):
                yield (
                    f"shard {body.shard} is given to {body.container} at {read.offset}, and"
                    f" {before.container}.{before.epoch} has it, by its evidence"
                )
        last[body.shard] = body


class Lives:
    """The lives of containers, and what they dropped, up to an offset of their partition."""

    def __init__(self, history: History) -> None:
        partition = history.journal.partition("/")[2]
        self.place = f"containers.v1/{partition}"
        self.reads = [
            read for read in history.log.get(self.place, ()) if not history.impossible(read)
        ]
        self._over: dict[tuple[str, int], int] = {}  # life to the offset at which it was over
        beats: dict[tuple[str, int], int] = {}
        newest: dict[str, int] = {}
        for read in self.reads:
            match read.record.body:
                case ContainerStarted() as body:
                    if body.epoch > newest.get(body.container, 0):
                        newest[body.container] = body.epoch
                        for epoch in range(1, body.epoch):
                            self._over.setdefault((body.container, epoch), read.offset)
                case ContainerHeartbeat() as body if newest.get(body.container) == body.epoch:
                    beats[body.container, body.epoch] = read.offset
                case ContainerFailedOver() as body:
                    life = (body.container, body.epoch)
                    fits = beats.get(life) == body.last_heartbeat_offset
                    if fits and newest.get(body.container) == body.epoch:
                        self._over.setdefault(life, read.offset)

    def given_up(self, grant: ShardAddRequested, end: int) -> bool:
        """Had its holder said so, or had its life ended, below that offset?"""
        over = self._over.get((grant.container, grant.epoch), end)
        if over < end:
            return True
        return any(
            isinstance(body := read.record.body, ShardDropped)
            and (body.container, body.epoch, body.shard, body.generation)
            == (grant.container, grant.epoch, grant.shard, grant.generation)
            for read in self.reads
            if read.offset < end
        )


def check_silence(history: History) -> Iterator[str]:
    """Nobody is failed over who was heard of a while ago, unless it did not do what was asked."""
    lives = Lives(history)
    for read in history.standing:
        body = read.record.body
        if not isinstance(body, ContainerFailOverRequested) or body.explanation.startswith("shard"):
            continue
        if body.last_heartbeat_offset is not None:
            heard_ms = history.times[lives.place][body.last_heartbeat_offset]
            if read.at_ms - heard_ms < LEAST_SILENCE_MS:
                yield f"{body.container} was heard {read.at_ms - heard_ms} ms before {read.offset}"


# --- K8


def check_homes(history: History) -> Iterator[str]:
    """I5: when nothing goes wrong any more, each shard runs once, at its newest generation."""
    if not history.instances:
        return
    count, newest = 0, dict[int, int]()
    for read in history.standing:
        body = read.record.body
        if isinstance(body, TierDefined):
            count = body.shards
        elif isinstance(body, ShardAddRequested):
            newest[body.shard] = body.generation
    runs: dict[int, list[SeenRun]] = defaultdict(list)
    for run in history.instances:
        if run.end_ms is None and not (run.asleep and run.asleep[-1][1] is None):
            runs[run.shard].append(run)
    for shard in range(count):
        found = [run.generation for run in runs[shard]]
        if found != [newest.get(shard)]:
            yield f"shard {shard} runs at generations {found}, and {newest.get(shard)} is meant"
