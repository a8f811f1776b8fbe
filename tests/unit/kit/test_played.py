"""What is played once is played again as soon as a source has changed, and is always whole."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.examples import at_most
from tests.kit.played import KEPT, ROOMS, ROOT, digest, once, played_once


def test_it_is_played_once(tmp_path: Path) -> None:
    played = []

    def play() -> list[int]:
        played.append(1)
        return [*played]

    assert once(tmp_path / "now", "a", play) == once(tmp_path / "now", "a", play) == [1]
    assert once(tmp_path / "now", "b", play) == [1, 1]


def test_what_other_sources_came_to_is_not_used_and_goes(tmp_path: Path) -> None:
    assert once(tmp_path / "before", "a", lambda: 1) == 1
    assert once(tmp_path / "now", "a", lambda: 2) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["now"]


def test_a_file_that_changes_comes_or_goes_is_another_source(tmp_path: Path) -> None:
    room, beside = tmp_path / "room", tmp_path / "beside.py"
    (room / "deeper").mkdir(parents=True)
    (room / "deeper" / "a.py").write_text("x = 1")
    beside.write_text("")
    found = [digest([room, beside])]
    (room / "deeper" / "a.py").write_text("x = 2")
    found.append(digest([room, beside]))
    (room / "b.avsc").write_text("")
    found.append(digest([room, beside]))
    (room / "b.avsc").rename(room / "c.avsc")
    found.append(digest([room, beside]))
    beside.write_text("y")
    found.append(digest([room, beside]))
    assert len(set(found)) == 5
    (room / "a.pyc").write_text("built, and no source")
    assert digest([room, beside]) == found[-1]


def test_who_fails_while_it_is_played_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        once(tmp_path / "now", "a", lambda: 1 // 0)
    assert once(tmp_path / "now", "a", lambda: 3) == 3
    assert len([*(tmp_path / "now").iterdir()]) == 1, "a part is left beside the whole"


def _ask(folder: Path) -> int:
    return len(once(folder, "a", lambda: "x" * 1_000_000))


def test_workers_that_play_the_same_at_once_find_it_whole(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert set(pool.map(_ask, [tmp_path / "now"] * 20, chunksize=1)) == {1_000_000}
    assert len([*(tmp_path / "now").iterdir()]) == 1


@played_once
def _told(length: int, *, word: str = "x") -> str:
    return word * length


def test_what_others_had_played_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is played from one state of the sources lies together."""
    monkeypatch.setattr("tests.kit.played.KEPT", tmp_path)
    assert [played_once(one)(4) for one in (_ours, at_most)] == ["x", 4]
    assert len([*tmp_path.glob("*/*")]) == 2


def _ours(length: int) -> str:
    return "x"


def test_each_question_has_its_own_answer() -> None:
    assert (_told(2), _told(3), _told(2, word="y")) == ("xx", "xxx", "yy")
    assert _told(2) is _told(2)
    assert KEPT.is_dir()


def test_every_source_that_plays_a_history_is_looked_at() -> None:
    """All modules of ours that a fresh simulator loads; the front door's own name is no source."""
    code = "import sys, simulation.run; print(*(m.__file__ for m in sys.modules.values()"
    code += " if getattr(m, '__file__', None)), sep='\\n')"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {Path(line) for line in told.stdout.splitlines()}
    ours = {one.relative_to(ROOT) for one in files if one.is_relative_to(ROOT)}
    left = {str(one) for one in ours if not any(one.is_relative_to(room) for room in ROOMS)}
    assert {one for one in left if not one.startswith(".venv")} == {"turbine/__init__.py"}
