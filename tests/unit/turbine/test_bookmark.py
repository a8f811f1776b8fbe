"""The file that a subscriber goes on from, and the ids that it has seen."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from events.topics import OUTCOMES, place
from tests.unit.turbine.test_records import DECISION
from turbine.cli.subscribing import _deal, _Progress
from turbine_client.bookmark import BYTES_MAX, BadBookmark, Bookmark, Once
from turbine_client.subscribe import KINDS, Subscriber

AT = place(OUTCOMES, 0)
POSITIONS = {"outcomes.v1/0": 7, "outcomes.v1/1": 0}


def test_what_is_kept_is_read(tmp_path: Path) -> None:
    one = Bookmark(tmp_path / "position")
    assert one.read() is None
    one.keep(POSITIONS)
    assert one.read() == POSITIONS
    one.keep(POSITIONS | {"outcomes.v1/1": 9})
    assert one.read() == POSITIONS | {"outcomes.v1/1": 9}
    assert [path.name for path in tmp_path.iterdir()] == ["position"]


def test_one_that_dies_while_it_writes_leaves_what_was_there(tmp_path: Path) -> None:
    one = Bookmark(tmp_path / "position")
    one.keep(POSITIONS)
    (tmp_path / "position.new").write_text("outcomes.v1/0:")
    assert one.read() == POSITIONS


@pytest.mark.parametrize("held", [b"", b"hello", b"outcomes.v1/0:x", b"\xff", b"a" * BYTES_MAX])
def test_a_file_of_something_else_is_not_taken_for_one(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(held)
    with pytest.raises(BadBookmark) as refused:
        Bookmark(path).read()
    assert str(refused.value) == (
        f"{path} holds no positions; name the file that --resume wrote, or a new one"
    )
    assert path.read_bytes() == held


def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadBookmark, match="cannot be read \\(Is a directory\\); name another"):
        Bookmark(tmp_path).read()
    with pytest.raises(BadBookmark, match="cannot be written \\(No such file or directory\\); nam"):
        Bookmark(tmp_path / "none" / "position").keep(POSITIONS)


def test_the_first_time_is_told_from_the_second() -> None:
    once = Once(["kept"])
    assert [once.first(one) for one in ("a", "b", "a", "kept")] == [True, True, False, False]
    assert once.known == ["b", "a", "kept"]
    assert not Once(once.known).first("b")


def test_both_sides_of_how_many_it_remembers() -> None:
    once = Once(most=2)
    assert [once.first(one) for one in "abcab"] == [True] * 5
    once = Once(most=3)
    assert [once.first(one) for one in "abcab"] == [True, True, True, False, False]
    with pytest.raises(ValueError, match="most is at least 1, not 0"):
        Once(most=0)


# --- what a subscriber and its command keep


def following(path: Path) -> Any:
    """A subscriber without a broker: two outcomes come at once, and behind them what is none."""
    batch = [DECISION._replace(topic=OUTCOMES, offset=offset) for offset in (3, 5, 6)]
    batch[-1] = batch[-1]._replace(value=b"")
    one: Any = object.__new__(Subscriber)
    one._follower = SimpleNamespace(poll=lambda _: batch)
    one._read, one._count, one._kinds, one._job = {AT: 0}, 1, KINDS[OUTCOMES], None
    one.positions = {}
    one._bookmark = Bookmark(path)
    return one


def test_amid_a_batch_what_was_handed_out_is_kept_and_no_more(tmp_path: Path) -> None:
    one, kept = following(tmp_path / "position"), []
    for _, outcome in zip(range(2), one, strict=False):
        one.keep()
        kept.append((outcome.offset, one._bookmark.read()))
    assert kept == [(3, {AT: 4}), (5, {AT: 6})]
    assert [outcome.offset for outcome in one.poll()] == [3, 5]
    assert one.positions == {AT: 7}
    one._job = "another"
    assert (one.poll(), one.positions) == ([], {AT: 7})


@pytest.mark.parametrize(("count", "position"), [(1, 4), (2, 7)])
def test_a_count_ends_amid_a_batch_or_behind_it(tmp_path: Path, count: int, position: int) -> None:
    one = following(tmp_path / "position")
    _deal(one, _Progress(one._bookmark, {}), count, None, "jsonl")
    assert one._bookmark.read() == {AT: position}
