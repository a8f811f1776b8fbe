"""How rows are kept over restarts: whose entries hold, what is missed, and what is read anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from components.runtime.core import store
from components.runtime.core.step import ROOT
from components.runtime.core.store import (
    EARLY,
    LOG,
    POSITIONS,
    Keeper,
    Restored,
    RowEntry,
    dump_held,
)
from events.topics import JOURNAL
from events.wire.codec import SKIPPED
from simulation.log import Keep
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, Bench, Toy, toy
from tests.unit.runtime.shelf import BUILD, Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def wait_for_two(bench: Bench) -> None:
    """A wish is folded, and two decisions wait for another one that is not read yet."""
    bench.wish("w1")
    bench.wish("w2")
    bench.decision("a", evidence={BASE: 2})
    bench.decision("b", "a", evidence={BASE: 2})
    bench.hear(BASE, 0)
    bench.read(DECISIONS)


# --- what is kept comes back


def test_rows_positions_and_chains_come_back(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    shelf.bench.wish()
    shelf.bench.settle()
    before = dump_held(toy, shelf.bench.held), dict(shelf.bench.owner.seen)
    shelf.put(keeper)
    restored, _ = shelf.begin()
    assert (dump_held(toy, restored.held["orders"]), restored.seen) == before
    assert shelf.bench.say() == [], "what was said before is not said again"


def test_only_changed_keys_are_written_and_the_positions_last(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    shelf.bench.wish()
    shelf.bench.wish(key="clicks")
    shelf.bench.read()
    assert [entry.key for entry in shelf.put(keeper)] == ["clicks", "orders", POSITIONS]
    shelf.bench.wish(key="clicks")
    shelf.bench.read()
    assert [entry.key for entry in shelf.put(keeper)] == ["clicks", POSITIONS]
    assert [entry.key for entry in shelf.put(keeper)] == [POSITIONS]


def test_nothing_kept_is_nothing_restored(shelf: Shelf) -> None:
    restored, _ = shelf.begin()
    assert (restored.held, restored.seen) == ({}, {})


def test_rows_ahead_of_the_positions_take_what_is_read_again(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    shelf.put(keeper)
    shelf.bench.wish("w1")
    shelf.bench.wish("w2", key="clicks")
    shelf.bench.read()
    shelf.put(keeper, most=1)  # it dies once the row of clicks is written
    shelf.begin()
    shelf.bench.read()
    assert shelf.bench.row.wishes == 1
    assert shelf.bench.owner.held["clicks"].row == Toy("clicks", ("w2",), wishes=1)
    assert shelf.bench.owner.counts.repeated == 1


# --- held-back records


def test_held_back_records_are_kept_under_keys_of_their_own(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    wait_for_two(shelf.bench)
    shelf.put(keeper)
    assert shelf.names(EARLY) == {f"{EARLY}orders\x00{DECISIONS}\x00{offset}" for offset in (0, 1)}
    queue = shelf.bench.held.early[DECISIONS]
    restored, _ = shelf.begin()
    assert restored.held["orders"].early == {DECISIONS: queue}
    assert shelf.bench.owner.blocked == {"orders"}
    shelf.bench.read()
    assert shelf.bench.row.folded == ("w1", "w2", "a", "b")


def test_a_record_that_waits_is_written_once_and_removed_once_folded(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    wait_for_two(shelf.bench)
    shelf.put(keeper)
    shelf.bench.other("o")
    shelf.bench.read(ASKED)
    assert [entry.key for entry in shelf.put(keeper)] == ["orders", POSITIONS]
    shelf.bench.read()
    entries = shelf.put(keeper)
    assert {entry.key for entry in entries if entry.value is None} == shelf.names(EARLY)
    assert entries[0].key == "orders", "not before its row has it"
    restored, _ = shelf.begin()
    assert restored.held["orders"].early == {}


def test_a_record_that_is_folded_again_by_a_heir_is_removed_by_the_heir(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    wait_for_two(shelf.bench)
    shelf.put(keeper)
    _, heir = shelf.begin()
    shelf.bench.read()
    entries = shelf.put(heir)
    assert {entry.key for entry in entries if entry.value is None} == shelf.names(EARLY)


@pytest.mark.parametrize("written", range(5))
def test_who_dies_amid_keeping_loses_no_record(shelf: Shelf, written: int) -> None:
    _, keeper = shelf.begin()
    shelf.put(keeper)
    shelf.bench.wish("w1")
    shelf.bench.decision("a")
    shelf.bench.wish("w2")
    shelf.bench.decision("b", "a", evidence={BASE: 2})
    shelf.bench.hear(BASE, 0)
    shelf.bench.read(DECISIONS)  # a is folded, b waits, and neither is kept
    assert len(shelf.put(keeper, most=written)) == 3
    shelf.begin()
    shelf.bench.read()
    assert set(shelf.bench.row.folded) == {"w1", "w2", "a", "b"}
    assert shelf.bench.held.last == {JOURNAL: "b"}


@pytest.mark.parametrize("written", range(15))
def test_of_many_that_wait_the_earlier_ones_are_kept_first(shelf: Shelf, written: int) -> None:
    """Offsets of one digit and of two: the order of their texts is not theirs."""
    _, keeper = shelf.begin()
    shelf.put(keeper)
    bench, names = shelf.bench, [ROOT, *(f"d{n}" for n in range(12))]
    bench.wish("w")
    for parent, name in pairwise(names):
        bench.decision(name, parent, evidence={BASE: 1})
    bench.read(DECISIONS)
    shelf.put(keeper, most=written)
    shelf.begin()
    bench.read()
    assert bench.held.last == {JOURNAL: "d11"}


def test_what_a_rebuilt_row_has_folded_is_not_held_back_any_more(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    wait_for_two(shelf.bench)
    shelf.put(keeper)
    owner = shelf.bench.assign()  # rebuilt from the log, as after another logic
    shelf.bench.read()
    rebuilt = Keeper(owner, keeper.claim, BUILD, Restored())
    shelf.put(rebuilt)
    restored, heir = shelf.begin()
    assert shelf.names(EARLY), "nobody has removed them yet"
    assert restored.held["orders"].early == {}
    shelf.bench.wish()
    shelf.bench.read()
    removed = {entry.key for entry in shelf.put(heir) if entry.value is None}
    assert removed == shelf.names(EARLY)


def test_what_one_build_could_not_read_the_next_one_may(shelf: Shelf) -> None:
    bench = shelf.bench
    _, keeper = shelf.begin()
    bench.wish("w")
    bench.decision("new words", evidence={BASE: 1}, build=2)
    bench.hear(DECISIONS, 0, build=1)
    assert bench.held.early[DECISIONS][0].record.body is None
    shelf.put(keeper)
    restored, _ = shelf.begin(build="build 2")
    (read,) = restored.held["orders"].early[DECISIONS]
    assert read == bench.log.read(DECISIONS, 0, toy.folds, 2)
    bench.read()
    assert bench.row.answers == 1
    assert not bench.held.frozen


def test_kinds_that_nobody_folds_come_back_unread(shelf: Shelf) -> None:
    bench = shelf.bench
    _, keeper = shelf.begin()
    bench.wish("w")
    bench.decision("a", evidence={BASE: 1})
    bench.step_done("plan", "a")
    bench.read(DECISIONS)
    shelf.put(keeper)
    restored, _ = shelf.begin()
    assert [read.record.body is SKIPPED for read in restored.held["orders"].early[DECISIONS]] == [
        False,
        True,
    ]


def test_bytes_that_nobody_can_read_come_back_as_such(shelf: Shelf) -> None:
    bench = shelf.bench
    _, keeper = shelf.begin()
    bench.wish("w")
    line = bench.decision("a", evidence={BASE: 1})
    dark = replace(line.record, kind="NotKnownHere", value=b"\0\0\0\xff\xff?", body=None)
    bench.log.lines[DECISIONS][0] = replace(line, record=dark)
    bench.read(DECISIONS)
    shelf.put(keeper)
    shelf.begin()
    bench.read()
    assert bench.held.frozen
    assert bench.held.last == {JOURNAL: "a"}


# --- claims


def test_what_is_written_after_another_claim_does_not_hold(shelf: Shelf) -> None:
    _, zombie = shelf.begin()
    shelf.bench.wish("w1")
    shelf.bench.read()
    shelf.put(zombie)
    asleep = shelf.bench.owner
    shelf.begin()
    shelf.bench.owner = asleep  # it wakes up, and does not know
    shelf.bench.wish("w2")
    shelf.bench.read()
    shelf.put(zombie)
    restored, _ = shelf.begin()
    row = restored.held["orders"].row
    assert row is not None
    assert row.folded == ("w1",)
    assert restored.seen[BASE] == 1


def test_a_heir_takes_over_what_was_kept_before_its_claim(shelf: Shelf) -> None:
    for number in range(4):
        _, keeper = shelf.begin()
        assert len(shelf.bench.owner.held) == min(number, 1)
        shelf.bench.wish()
        shelf.bench.read()
        assert shelf.bench.row.wishes == number + 1
        shelf.put(keeper)


@pytest.mark.parametrize("lives", [1, 2])
def test_of_a_topic_that_is_made_again_while_it_is_owned_nothing_holds(
    shelf: Shelf, lives: int
) -> None:
    """Its owner goes on under the offset of a claim that is not there: the log has it all."""
    for _ in range(lives):
        _, keeper = shelf.begin()
    shelf.bench.wish("w1")
    shelf.bench.read()
    shelf.put(keeper)
    shelf.keep = Keep()
    shelf.bench.wish("w2")
    shelf.bench.read()
    shelf.put(keeper)
    restored, _ = shelf.begin()
    assert (restored.held, restored.seen) == ({}, {})


def test_what_a_zombie_hid_is_kept_again(shelf: Shelf) -> None:
    hide(shelf)
    restored, heir = shelf.begin()
    assert restored.again == {"orders"}
    shelf.put(heir)
    shelf.keep.compact()
    restored, _ = shelf.begin()
    assert restored.held["orders"].row == Toy("orders", ("w1",), wishes=1)


def test_a_row_that_compaction_lost_to_a_zombie_is_missed(shelf: Shelf) -> None:
    hide(shelf)
    shelf.keep.compact()  # of each key the newest entry is left, and that is the zombie's
    restored, _ = shelf.begin()
    assert (restored.held, restored.seen) == ({}, {})


def hide(shelf: Shelf) -> None:
    """A zombie writes its row once more, after its heir's claim."""
    _, zombie = shelf.begin()
    shelf.bench.wish("w1")
    shelf.bench.read()
    shelf.put(zombie)
    asleep = shelf.bench.owner
    _, heir = shelf.begin()
    shelf.put(heir)
    shelf.bench.owner = asleep
    asleep.changed.add("orders")
    shelf.put(zombie)


def test_claims_of_their_own_keys_outlive_compaction(shelf: Shelf) -> None:
    for _ in range(3):
        _, keeper = shelf.begin()
        shelf.bench.wish()
        shelf.bench.read()
        shelf.put(keeper)
    shelf.keep.compact()
    restored, _ = shelf.begin()
    row = restored.held["orders"].row
    assert row is not None
    assert row.wishes == 3


def test_a_zombie_that_holds_back_costs_one_rebuild_and_no_more(shelf: Shelf) -> None:
    _, zombie = shelf.begin()
    shelf.put(zombie)
    asleep = shelf.bench.owner
    _, heir = shelf.begin()
    shelf.put(heir)
    shelf.bench.owner, owner = asleep, shelf.bench.owner
    wait_for_two(shelf.bench)
    shelf.put(zombie)  # two entries under names that no other owner writes
    shelf.bench.owner = owner
    shelf.bench.read()
    shelf.put(heir)
    _, third = shelf.begin()
    shelf.bench.read()
    shelf.put(third)
    restored, _ = shelf.begin()
    assert restored.held["orders"].row == shelf.bench.row
    assert restored.held["orders"].early == {}


# --- which log it is of


def of_log(shelf: Shelf, claim: int, name: str) -> None:
    shelf.keep.append(RowEntry(LOG, json.dumps({JOURNAL: name}).encode(), claim))


def test_the_log_that_rows_are_of_is_kept_with_them(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    of_log(shelf, keeper.claim, "id-1")
    shelf.bench.wish("w1")
    shelf.bench.read()
    shelf.put(keeper)
    restored, heir = shelf.begin()
    assert restored.log == {JOURNAL: "id-1"}
    of_log(shelf, keeper.claim, "id-0")  # a zombie's: of no account, nor is what it hides missed
    shelf.keep.compact()
    restored, _ = shelf.begin()
    assert heir.claim > keeper.claim
    assert (restored.log, restored.held["orders"].row) == ({}, shelf.bench.row)


# --- from nothing


def test_rows_of_another_logic_are_rebuilt(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    shelf.bench.wish()
    shelf.bench.read()
    shelf.put(keeper)
    restored, _ = shelf.begin(component=replace(toy, logic="toy/2"))
    assert (restored.held, restored.seen) == ({}, {})


def test_rows_of_another_form_are_rebuilt(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    _, keeper = shelf.begin()
    shelf.bench.wish()
    shelf.bench.read()
    monkeypatch.setattr(store, "FORM", store.FORM - 1)
    shelf.put(keeper)
    monkeypatch.undo()
    restored, _ = shelf.begin()
    assert (restored.held, restored.seen) == ({}, {})


# --- form


def test_equal_rows_have_equal_bytes() -> None:
    def at(places: Iterator[str]) -> bytes:
        bench = Bench()
        bench.wish("w")
        bench.other("o")
        bench.read(*places)
        bench.held.row = None
        return dump_held(toy, bench.held)

    assert at(iter([BASE, ASKED])) == at(iter([ASKED, BASE]))
