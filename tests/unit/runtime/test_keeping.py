"""When a changed row is kept: after ten minutes, or when a restart would have to read too much."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from components.runtime.core.store import KEEP_MOST, KEEP_MS, POSITIONS, Keeper, dump_held
from tests.unit.runtime.bench import BASE, DECISIONS, Toy, toy
from tests.unit.runtime.shelf import Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def begin_again(shelf: Shelf) -> Keeper[Toy]:
    """An owner that goes on from what another one kept."""
    _, keeper = shelf.begin()
    shelf.bench.wish("w1")
    shelf.bench.read()
    shelf.put(keeper)
    _, keeper = shelf.begin()
    shelf.bench.tick()
    return keeper


def test_a_changed_row_waits_and_a_restart_reads_again_from_its_first_change(shelf: Shelf) -> None:
    keeper = begin_again(shelf)
    assert list(keeper.due()) == []
    shelf.bench.wish("w2")
    shelf.bench.read()
    assert list(keeper.due()) == []
    shelf.bench.tick(KEEP_MS - 1)
    assert list(keeper.due()) == []
    before = dump_held(toy, shelf.bench.held)
    restored, _ = shelf.begin()
    assert restored.held["orders"].vector[BASE] == 1, "its last change is not kept"
    shelf.bench.read()
    assert dump_held(toy, shelf.bench.held) == before


def test_a_row_that_has_waited_for_long_is_kept(shelf: Shelf) -> None:
    keeper = begin_again(shelf)
    list(keeper.due())
    shelf.bench.wish("w2")
    shelf.bench.read()
    shelf.bench.tick(KEEP_MS)
    assert [entry.key for entry in keeper.due()] == ["orders", POSITIONS]
    assert list(keeper.due()) == []


def test_positions_stay_behind_the_oldest_change_that_is_not_kept(shelf: Shelf) -> None:
    keeper = begin_again(shelf)
    list(keeper.due())
    shelf.bench.wish("w2")
    shelf.bench.tick(KEEP_MS // 2)
    shelf.bench.read()
    list(keeper.due())
    shelf.bench.wish("c1", key="clicks")
    shelf.bench.tick(KEEP_MS // 2)
    shelf.bench.read()
    entries = list(keeper.due())
    assert [entry.key for entry in entries] == ["orders", POSITIONS], "clicks waits since later"
    kept = json.loads(entries[-1].value or b"")["seen"]
    assert kept[BASE] == 2, "the first wish about clicks would be read again"
    assert shelf.bench.owner.seen[BASE] == 3


def test_a_key_that_changes_again_waits_since_its_first_change(shelf: Shelf) -> None:
    keeper = begin_again(shelf)
    list(keeper.due())
    for key in ("orders", "clicks", "orders"):
        shelf.bench.wish(key=key)
        shelf.bench.tick(KEEP_MS // 4)
        shelf.bench.read()
        list(keeper.due())
    shelf.bench.tick(KEEP_MS // 4)
    entries = list(keeper.due())
    assert [entry.key for entry in entries] == ["orders", POSITIONS]


@pytest.mark.parametrize(("records", "kept"), [(KEEP_MOST, False), (KEEP_MOST + 1, True)])
def test_what_a_restart_reads_again_has_a_bound(shelf: Shelf, records: int, kept: bool) -> None:
    keeper = begin_again(shelf)
    shelf.bench.wish("w2")
    shelf.bench.read()
    assert list(keeper.due()) == []
    shelf.bench.owner.seen[DECISIONS] = records - 1  # the wish is one of them
    assert bool(list(keeper.due())) == kept


def test_positions_alone_go_on_where_nothing_changes(shelf: Shelf) -> None:
    keeper = begin_again(shelf)
    list(keeper.due())
    shelf.bench.tick(KEEP_MS)
    assert [entry.key for entry in keeper.due()] == [POSITIONS]
    assert list(keeper.due()) == []


def test_who_began_from_nothing_keeps_all_rows_before_any_positions(shelf: Shelf) -> None:
    """Rows of another logic lie there: with positions of ours they would be taken for ours."""
    begin_again(shelf)
    other = replace(toy, logic="toy/2")
    restored, keeper = shelf.begin(other)
    assert restored.held == {}
    shelf.bench.read()
    assert [entry.key for entry in keeper.due()] == ["orders", POSITIONS]


def test_a_row_that_a_zombie_wrote_over_does_not_wait(shelf: Shelf) -> None:
    _, frozen = shelf.begin()
    shelf.bench.wish()
    shelf.bench.read()
    zombie = [replace(entry, value=b"{}") for entry in frozen.entries()]
    _, keeper = shelf.begin()
    shelf.bench.read()
    shelf.put(keeper)
    for entry in zombie:
        shelf.keep.append(entry)
    _, heir = shelf.begin()
    assert [entry.key for entry in heir.due()] == ["orders", POSITIONS]
