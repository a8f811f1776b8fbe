"""Rows that are kept apart from their chains: written when they change, and taken whole or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.runtime.core import chunks as pieces
from components.runtime.core.chunks import ROW
from components.runtime.core.component import Component
from components.runtime.core.store import POSITIONS, Keeper, RowEntry, by_key, restore
from tests.unit.runtime.bench import Toy, toy
from tests.unit.runtime.shelf import BUILD, Shelf

APART: Component[Toy] = replace(
    toy, apart=True, fold=lambda row, read: _counted(row, toy.fold(row, read))
)
PIECE = f"{ROW}0\x00orders"


def _counted(row: Toy | None, now: Toy) -> Toy:
    return row if row == now and row is not None else now


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def begun(shelf: Shelf) -> Keeper[Toy]:
    """One wish is kept."""
    _, keeper = shelf.begin(APART)
    shelf.bench.wish()
    shelf.bench.read()
    assert [entry.key for entry in shelf.put(keeper)] == ["orders", PIECE, POSITIONS]
    return keeper


def test_a_row_is_not_written_again_where_only_its_chain_goes_on(shelf: Shelf) -> None:
    keeper = begun(shelf)
    shelf.bench.owner.changed.add("orders")
    assert [entry.key for entry in shelf.put(keeper)] == ["orders", POSITIONS]
    _, heir = shelf.begin(APART)
    shelf.bench.owner.changed.add("orders")
    assert [entry.key for entry in shelf.put(heir)] == ["orders", POSITIONS]
    shelf.bench.wish("w2")
    shelf.bench.read()
    assert [entry.key for entry in shelf.put(heir)] == ["orders", PIECE, POSITIONS]
    restored = restore(APART, shelf.keep.entries, BUILD)
    assert restored.held["orders"].row == shelf.bench.owner.held["orders"].row


def test_a_large_row_lies_in_pieces_and_leaves_none_behind(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, keeper = shelf.begin(APART)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 7)
    shelf.bench.wish()
    shelf.bench.read()
    many = [entry.key for entry in shelf.put(keeper)]
    assert len(many) > 4
    row = shelf.bench.owner.held["orders"].row
    assert restore(APART, shelf.keep.entries, BUILD).held["orders"].row == row
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1_000)
    shelf.bench.wish("w2")
    shelf.bench.read()
    gone = [entry.key for entry in shelf.put(keeper) if entry.value is None]
    assert gone == many[2:-1]
    shelf.keep.compact()
    row = shelf.bench.owner.held["orders"].row
    assert restore(APART, shelf.keep.entries, BUILD).held["orders"].row == row


def test_what_misses_a_row_or_a_key_is_not_taken(shelf: Shelf) -> None:
    """Whoever reads while the owner writes: compaction took the old ones, the new come later."""
    begun(shelf)
    whole = list(shelf.keep.entries)
    with pytest.raises(ValueError, match="of the row of orders not all is there"):
        restore(APART, [entry for entry in whole if entry.key != PIECE], BUILD)
    with pytest.raises(ValueError, match="0 keys are there, of 1"):
        restore(APART, [entry for entry in whole if entry.key != "orders"], BUILD)


def test_a_chain_goes_with_its_row_into_one_transaction(shelf: Shelf) -> None:
    _, keeper = shelf.begin(APART)
    shelf.bench.wish()
    shelf.bench.wish(key="clicks")
    shelf.bench.read()
    groups = [[entry.key for entry in group] for group in by_key(shelf.put(keeper))]
    assert groups == [["clicks", f"{ROW}0\x00clicks"], ["orders", PIECE], [POSITIONS]]
    assert list(by_key(list[RowEntry]())) == []
