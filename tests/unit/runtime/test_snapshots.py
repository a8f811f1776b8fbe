"""Snapshots of a tier-wide component: what is kept, how it is cut, and which one holds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import replace

import pytest

from components.runtime.core.ground import Ground
from components.runtime.core.snapshots import (
    CHUNK_BYTES,
    STALE_MS,
    Slots,
    Snapshot,
    SnapshotRecord,
    keepable,
    lost,
    restored,
    take,
)
from components.runtime.core.store import Restored
from events.topics import CLOCK, CONTAINERS, TIERS, place
from tests.unit.runtime.bench import BASE, DECISIONS, Bench, toy

A, B = Slots(toy.logic).names
CHAIN, LIVES, TICKS = place(TIERS, 0), place(CONTAINERS, 3), place(CLOCK, 0)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.tick()
    return bench


def snapshot(number: int, size: int = 10, logic: str = toy.logic) -> Snapshot:
    return Snapshot(b"%d." % number + bytes(size), {BASE: number}, logic, "build 1")


def lay(slots: Slots, pieces: Iterable[SnapshotRecord], at_ms: int = 0) -> list[SnapshotRecord]:
    laid = [replace(piece, at_ms=at_ms) for piece in pieces]
    for piece in laid:
        slots.lay(piece)
    return laid


# --- when there is something to keep


def test_what_was_folded_is_kept_once(bench: Bench) -> None:
    assert not keepable(bench.owner), "nothing was folded"
    bench.wish()
    bench.read()
    assert keepable(bench.owner)
    take(bench.owner, "build 1")
    assert not keepable(bench.owner)


def test_nothing_is_kept_before_all_was_read_that_there_was(bench: Bench) -> None:
    bench.wish()
    bench.decision("a")
    bench.assign()
    bench.tick()
    bench.read(BASE)
    assert bench.owner.changed
    assert not keepable(bench.owner)
    bench.read()
    assert keepable(bench.owner)


def test_a_frozen_row_is_not_kept_and_the_build_that_can_read_goes_on(bench: Bench) -> None:
    bench.wish("w")
    bench.read()
    before = take(bench.owner, "build 1")
    bench.decision("new words", build=2)
    bench.hear(DECISIONS, 0, build=1)
    assert bench.held.frozen
    assert not keepable(bench.owner)
    kept = restored(toy, before, "build 2")
    bench.assign(held=kept.held, seen=kept.seen)
    bench.read(build=2)
    assert not bench.held.frozen
    assert (bench.row.wishes, bench.row.answers) == (1, 1)


def test_held_back_records_are_kept_as_bytes_and_decoded_anew(bench: Bench) -> None:
    bench.wish("w")
    bench.decision("new words", evidence={BASE: 1}, build=2)
    bench.hear(DECISIONS, 0, build=1)
    assert bench.held.early[DECISIONS][0].record.body is None
    kept = restored(toy, take(bench.owner, "build 1"), "build 2")
    assert kept.held["orders"].early == {DECISIONS: [bench.log.read(DECISIONS, 0, toy.folds, 2)]}


def test_what_was_said_and_not_read_back_is_not_kept(bench: Bench) -> None:
    bench.wish()
    assert bench.say()
    kept = restored(toy, take(bench.owner, "build 1"), "build 1")
    bench.assign(held=kept.held, seen=kept.seen)
    bench.tick()
    assert [record.kind for _, record in bench.say()] == ["AlertRaised"]


def test_equal_states_have_equal_bytes() -> None:
    def taken(*places: str) -> Snapshot:
        bench = Bench()
        bench.tick()
        for key in ("orders", "clicks"):
            bench.wish(f"w-{key}", key=key)
        bench.other("o", key="late")
        bench.read(*places)
        return take(bench.owner, "build 1")

    one, other = taken(), taken(*sorted(Bench().owner.places, reverse=True))
    assert (one.packed, one.id) == (other.packed, other.id)


# --- how it is cut


def test_chunks_come_first_and_the_marker_closes() -> None:
    slots, large = Slots(toy.logic), snapshot(1, 2 * CHUNK_BYTES)
    large = replace(large, log={"changes.base.v1": "id-1"})
    pieces = lay(slots, slots.cut(large))
    assert [piece.key for piece in pieces] == [f"{A}/0", f"{A}/1", f"{A}/2", A]
    assert {piece.of for piece in pieces} == {large.id}
    assert [len(piece.value or b"") for piece in pieces[:2]] == [CHUNK_BYTES] * 2
    marker = json.loads(pieces[-1].value or b"")
    assert marker == {
        "sha256": large.digest,
        "chunks": 3,
        "seen": {BASE: 1},
        "logic": "toy/1",
        "build": "build 1",
        "log": {"changes.base.v1": "id-1"},
    }
    assert [one.log for one in slots.whole()] == [large.log]
    assert [one.packed for one in slots.whole()] == [large.packed]


def test_slots_alternate_and_shorter_ones_remove_what_is_left_over() -> None:
    slots = Slots(toy.logic)
    for number, size in enumerate((CHUNK_BYTES, 10, 10), 1):
        pieces = lay(slots, slots.cut(snapshot(number, size)))
        assert pieces[-1].key == (A, B, A)[number - 1]
    assert [piece.key for piece in pieces if piece.value is None] == [f"{A}/1"]
    assert [one.seen[BASE] for one in slots.whole()] == [3, 2]


def test_what_another_logic_left_is_removed_once_nobody_can_use_it() -> None:
    slots, old = Slots(toy.logic), Slots("toy/0")
    for piece in lay(old, old.cut(snapshot(9, logic="toy/0")), at_ms=1_000):
        slots.lay(piece)
    lay(slots, slots.cut(snapshot(1)), at_ms=STALE_MS)
    assert all(piece.value for piece in slots.cut(snapshot(2)))
    lay(slots, slots.cut(snapshot(2)), at_ms=STALE_MS + 1_001)
    gone = [piece.key for piece in slots.cut(snapshot(3)) if piece.value is None]
    assert gone == [old.names[0], f"{old.names[0]}/0"]


# --- which one holds


def test_the_one_that_has_read_furthest_holds_whoever_closed_last() -> None:
    slots = Slots(toy.logic)
    lay(slots, slots.cut(snapshot(5)))
    lay(slots, slots.cut(snapshot(4)))  # of an instance that lags
    assert [one.seen[BASE] for one in slots.whole()] == [5, 4]
    assert [piece.key for piece in slots.cut(snapshot(6))][-1] == B


@pytest.mark.parametrize(
    "spoil",
    [
        SnapshotRecord(f"{B}/0", b"2.", "another's"),
        SnapshotRecord(f"{B}/0", b"spoilt", snapshot(2).id),
        SnapshotRecord(f"{B}/0", None, "another's"),
        SnapshotRecord(B, b"\xff", "nobody's"),
        SnapshotRecord(B, b"[]", "nobody's"),
        SnapshotRecord(B, b'{"chunks":"1"}', snapshot(2).id),
        SnapshotRecord(B, b'{"chunks":1}', snapshot(2).id),
        SnapshotRecord(B, None, "nobody's"),
    ],
    ids=str,
)
def test_where_one_is_not_whole_the_other_holds(spoil: SnapshotRecord) -> None:
    slots = Slots(toy.logic)
    lay(slots, slots.cut(snapshot(1)))
    lay(slots, slots.cut(snapshot(2)))
    assert [one.seen[BASE] for one in slots.whole()] == [2, 1]
    slots.lay(spoil)
    assert [one.seen[BASE] for one in slots.whole()] == [1]
    assert [piece.key for piece in slots.cut(snapshot(3))][-1] == B, "not over the whole one"


def test_foreign_records_in_the_topic_are_nothing_to_it() -> None:
    slots = Slots(toy.logic)
    lay(
        slots,
        [
            SnapshotRecord("", b"x", ""),
            SnapshotRecord("job", b"{}", ""),
            SnapshotRecord(f"{A}/x", b"?", ""),
        ],
    )
    assert slots.whole() == []
    pieces = lay(slots, slots.cut(snapshot(1)))
    assert [piece.key for piece in pieces if piece.value is None] == [f"{A}/x"]
    assert [one.seen[BASE] for one in slots.whole()] == [1]


def test_rows_of_another_logic_are_nothing_to_go_on_from(bench: Bench) -> None:
    bench.wish()
    bench.read()
    kept = take(bench.owner, "build 1")
    assert restored(replace(toy, logic="toy/2"), kept, "build 1").seen == {}


def test_bytes_that_are_no_snapshot_are_an_error() -> None:
    with pytest.raises(zlib.error):
        restored(toy, snapshot(1), "build 1")


# --- whether the log goes on from there


LIVES_ID = {CONTAINERS: "id-1"}


def test_the_log_goes_on_where_nothing_has_expired_that_was_not_read() -> None:
    kept: Restored[object] = Restored(seen={CHAIN: 4, LIVES: 7, TICKS: 2}, log=LIVES_ID)
    starts, ends = {CHAIN: 0, LIVES: 7, TICKS: 90}, {CHAIN: 4, LIVES: 9, TICKS: 95}
    now = Ground(LIVES_ID, starts, ends)
    assert lost(kept, ends, now, "shard-manager") == "", "ticks of the clock may be missed"


@pytest.mark.parametrize(
    ("seen", "start", "end", "told"),
    [
        ({CHAIN: 4, LIVES: 7}, 8, 9, "had been read up to 7, and what lies below 8 has expired"),
        ({CHAIN: 4}, 1, 9, "had been read up to 0, and what lies below 1 has expired"),
        ({CHAIN: 4, LIVES: 7}, 0, 6, "had been read up to 7, and the log ends at 6"),
    ],
)
def test_positions_that_are_not_there_are_told_with_the_remedy(
    seen: dict[str, int], start: int, end: int, told: str
) -> None:
    now = Ground(LIVES_ID, {CHAIN: 0, LIVES: start}, {CHAIN: 4, LIVES: end})
    kept: Restored[object] = Restored(seen=seen, log=LIVES_ID)
    why = lost(kept, now.ends, now, "shard-manager")
    assert why.startswith(f"{LIVES}: ")
    assert told in why
    assert "`turbine rows forget shard-manager`; see docs/runbooks/log-replaced.md" in why
