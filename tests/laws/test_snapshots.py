"""The law of snapshots: whoever dies, writes at the same time or compacts, none is half of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from components.runtime.core.snapshots import (
    Slots,
    Snapshot,
    SnapshotRecord,
    keepable,
    restored,
    take,
)
from tests.kit.examples import at_most
from tests.laws.test_step import Line, hears, held, in_order, logs, write
from tests.unit.runtime.bench import BASE, toy

LOGIC, CHUNK = toy.logic, 8
seeds = st.integers(0, 2**32)


@dataclass(slots=True)
class Topic:
    """A compacted topic: it may lose whatever a later record of the same key replaces."""

    pieces: list[SnapshotRecord] = field(default_factory=list)
    end: int = 0

    def append(self, piece: SnapshotRecord) -> None:
        self.pieces.append(replace(piece, offset=self.end, at_ms=self.end))
        self.end += 1

    def compact(self, random: Random) -> None:
        newest = {piece.key: piece.offset for piece in self.pieces}
        # Of what is replaced some is left: the broker cleans a part of the log at a time.
        self.pieces = [
            piece
            for piece in self.pieces
            if piece.offset == newest[piece.key] or random.random() < 0.5
        ]
        # A tombstone goes once nothing is left that it hides.
        count = Counter(piece.key for piece in self.pieces)
        self.pieces = [
            piece for piece in self.pieces if piece.value is not None or count[piece.key] > 1
        ]

    def slots(self, logic: str = LOGIC) -> Slots:
        """As a reader that comes now sees it."""
        found = Slots(logic, CHUNK)
        for piece in self.pieces:
            found.lay(piece)
        return found


def drawn(random: Random, number: int, logic: str = LOGIC) -> Snapshot:
    """A snapshot that has read further than those before it, of one chunk or of some."""
    packed = b"%d" % number + random.randbytes(random.randint(0, 5 * CHUNK))
    return Snapshot(packed, {BASE: number}, logic, "build")


def told(snapshot: Snapshot) -> tuple[bytes, dict[str, int]]:
    return snapshot.packed, dict(snapshot.seen)


@given(seeds)
def test_who_dies_while_keeping_leaves_what_was_kept_before(seed: int) -> None:
    random, topic, last = Random(seed), Topic(), None
    for number in range(1, 12):
        snapshot = drawn(random, number)
        pieces = list(topic.slots().cut(snapshot))
        dies_at = random.choice([len(pieces), random.randint(0, len(pieces))])
        for at, piece in enumerate(pieces[:dies_at], 1):
            topic.append(piece)
            if at == len(pieces):
                last = snapshot
            if random.random() < 0.3:
                topic.compact(random)
            found = topic.slots().whole()
            assert [told(one) for one in found[:1]] == [told(one) for one in [last] if one]
    assert last is None or topic.slots().whole()[0].seen == last.seen


@settings(max_examples=at_most(300))
@given(seeds)
def test_who_writes_beside_another_never_yields_a_mixture(seed: int) -> None:
    random, topic = Random(seed), Topic()
    written: dict[str, Snapshot] = {}
    writers: list[Iterator[SnapshotRecord]] = []
    for number in range(1, 150):
        if len(writers) < 3 and random.random() < 0.4:
            snapshot = drawn(random, number)
            written[snapshot.id] = snapshot
            # What it sees now may be old by the time that it writes.
            writers.append(iter(list(topic.slots().cut(snapshot))))
        elif writers:
            one = random.choice(writers)
            piece = next(one, None)
            if piece is None or random.random() < 0.03:
                writers.remove(one)
            if piece is not None:
                topic.append(piece)
        if random.random() < 0.1:
            topic.compact(random)
        for found in topic.slots().whole():
            assert told(found) == told(written[found.id])
    alone = drawn(random, 1_000)
    for piece in topic.slots().cut(alone):
        topic.append(piece)
    assert told(topic.slots().whole()[0]) == told(alone)


@given(seeds)
def test_two_logics_leave_each_other_alone(seed: int) -> None:
    random, topic = Random(seed), Topic()
    last: dict[str, Snapshot] = {}
    for number in range(1, 12):
        logic = random.choice(["toy/1", "toy/2"])
        last[logic] = drawn(random, number, logic)
        for piece in topic.slots(logic).cut(last[logic]):
            topic.append(piece)
        for one, snapshot in last.items():
            assert told(topic.slots(one).whole()[0]) == told(snapshot)


@given(seeds)
def test_chunks_of_longer_snapshots_do_not_stay(seed: int) -> None:
    random, topic = Random(seed), Topic()
    for number in range(1, 8):
        snapshot = drawn(random, number)
        for piece in topic.slots().cut(snapshot):
            topic.append(piece)
        slot = topic.slots().whole()[0].slot
        live = {piece.key: piece.value for piece in topic.pieces}
        chunks = [key for key, value in live.items() if value and key.startswith(f"{slot}/")]
        assert len(chunks) == -(-len(snapshot.packed) // CHUNK)


readable = logs.map(lambda lines: [replace(line, build=1) for line in lines])


@settings(max_examples=at_most(200), deadline=None)
@given(readable, seeds)
def test_what_was_kept_is_what_was_held_and_is_folded_on_alike(
    lines: list[Line], seed: int
) -> None:
    bench, random = write(lines), Random(seed)
    owner = bench.assign()
    owner.ends = {}
    for _ in range(2):
        take(owner, "build 1")  # what was kept before is in the next one as well
        for at in random.sample(sorted(owner.places), len(owner.places)):
            bench.read(at, most=random.randint(0, 4))
    owner.now_ms = max(owner.now_ms, 1)
    assert keepable(owner) is bool(owner.changed)
    before = held(owner)
    snapshot = take(owner, "build 1")
    assert not keepable(owner)
    topic = Topic()
    for piece in topic.slots().cut(snapshot):
        topic.append(piece)
    kept = restored(toy, topic.slots().whole()[0], "build 1")
    assert kept.seen == owner.seen
    assert {key: one.early for key, one in kept.held.items()} == {
        key: one.early for key, one in owner.held.items()
    }
    heir = bench.assign(held=kept.held, seen=kept.seen)
    assert held(heir) == before
    bench.tick()  # the clock goes on, as it does
    bench.read()
    assert held(heir) == held(hears(bench, in_order))
