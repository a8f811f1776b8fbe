"""What one build froze, another may read: who takes rows over, and who folds the log anew."""

from __future__ import annotations

import pytest

from tests.unit.runtime.bench import BASE
from tests.unit.runtime.shelf import Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.mark.parametrize(("build", "rebuilt"), [("build 1", False), ("build 2", True)])
def test_a_frozen_key_is_rebuilt_by_another_build(shelf: Shelf, build: str, rebuilt: bool) -> None:
    _, keeper = shelf.begin()
    shelf.bench.decision("new words", build=2)
    shelf.bench.read(build=1)
    shelf.put(keeper)
    restored, _ = shelf.begin(build=build)
    assert (restored.seen == {}) is rebuilt
    shelf.bench.read(build=2)
    assert shelf.bench.held.frozen is not rebuilt


def test_a_frozen_key_is_rebuilt_where_its_keeper_died_before_it_told_its_build(
    shelf: Shelf,
) -> None:
    """After a rollback: the positions are still those of the newer build."""
    _, newer = shelf.begin(build="build 2")
    shelf.put(newer)
    _, older = shelf.begin()
    shelf.bench.decision("new words", build=2)
    shelf.bench.read(build=1)
    shelf.put(older, most=1)
    shelf.begin(build="build 2")
    shelf.bench.read(build=2)
    assert not shelf.bench.held.frozen


def test_another_build_takes_over_what_is_not_frozen(shelf: Shelf) -> None:
    _, keeper = shelf.begin()
    shelf.bench.wish()
    shelf.bench.read()
    shelf.put(keeper)
    restored, _ = shelf.begin(build="build 2")
    assert restored.seen[BASE] == 1
