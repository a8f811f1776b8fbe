"""The house is counted as it stands, and each kind of thing is seen where it is planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import house
from benchmarks.__main__ import main
from benchmarks.children import ROOT, ChildFailed
from benchmarks.house import Module, any_maps, modules_in, names_twice, rooms_of, timed
from benchmarks.targets import TARGETS

MADE = '"""Records, generated from x by `python -m events.wire.generate`."""\n'
TREE = {
    "turbine/a.py": "class Row: ...\nclass Own: ...\n",
    "turbine/lab/b.py": "x = 1\n",
    "events/c.py": "class Row: ...\n\n\n",
    "events/generated/d.py": "x = 1\n",
    "events/e.py": MADE,
    "infra/f.py": "class Own: ...\n",
    "tests/g.py": "class Own: ...\n",
    ".venv/h.py": "x = 1\n",
    "turbine/build/i.py": "x = 1\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_lines_are_by_room_and_by_who_wrote_them(tree: Path) -> None:
    found = rooms_of(modules_in(tree))
    assert {name: (one.modules, one.written, one.generated) for name, one in found.items()} == {
        "turbine": (1, 2, 0),
        "turbine/lab": (1, 1, 0),
        "events": (3, 3, 2),
        "infra": (1, 1, 0),
        "tests": (1, 1, 0),
    }


def test_a_name_is_twice_where_two_classes_of_the_product_have_it(tree: Path) -> None:
    assert names_twice(modules_in(tree)) == {"Row": ["events/c.py:1", "turbine/a.py:1"]}


def test_maps_of_anything_are_counted_in_the_front_door() -> None:
    text = "Row = dict[str, Any]\ndef f(x: list[dict[str, Any]], y: Row) -> dict[str, int]: ...\n"
    modules = [Module("turbine/a.py", text), Module("events/a.py", text)]
    assert any_maps(modules) == 2


def test_this_tree_is_counted() -> None:
    rooms = rooms_of(modules_in(ROOT))
    assert {"turbine", "events", "tests", "benchmarks"} <= rooms.keys()
    assert rooms["events"].generated > 1_000
    assert rooms["client"].generated > 400
    assert {name for name, one in rooms.items() if one.generated} == {"client", "events"}


def test_a_target_is_run_and_its_tests_are_counted() -> None:
    found = timed("check", ("echo", "12 passed, 1 skipped in 3 s;"))
    assert found["check_tests"] == 12
    assert 0 < found["check_s"] < 60
    with pytest.raises(ChildFailed, match="make check ended with 1"):
        timed("check", ("false",))
    with pytest.raises(ChildFailed, match="make check ended with 0: nothing"):
        timed("check", ("echo", "nothing"))


def test_what_is_timed_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(house, "modules_in", lambda _: [Module("turbine/a.py", "x = 1\n")])
    monkeypatch.setattr(house, "timed", lambda name: asked.append(name) or {f"{name}_s": 60.0})
    assert main(["house"]) == 0
    assert asked == []
    assert "house" in capsys.readouterr().out
    assert main(["house", "--timed", "check", "--timed", "test", "--json"]) == 0
    assert asked == ["check", "test"]
    promised = {one.key for one in TARGETS if one.benchmark == "house" and one.target is not None}
    assert promised == {
        "turbine_lines",
        "generated_lines",
        "dict_any",
        "names_twice",
        "check_s",
        "test_s",
    }


def test_only_the_house_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["merge", "--timed", "check"])
    assert ended.value.code == 2
    assert "error: --timed is of house alone" in capsys.readouterr().err
