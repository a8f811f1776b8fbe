"""Every scenario says again what was recorded of it; `pytest tests/scenarios --rewrite` records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Fleet, fleet_in
from tests.scenarios.transcripts import NEEDS_FLEET, Marks, play
from tests.unit.turbine.lines import Ended, run_all

HERE = Path(__file__).parent
SCENARIOS = sorted(HERE.glob("*.txt"))


def _parameter(path: Path) -> object:
    needs_fleet = path.read_text().startswith(NEEDS_FLEET)
    return pytest.param(path, id=path.stem, marks=[pytest.mark.broker] if needs_fleet else [])


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """What is said of a tier hangs on whether any was ever defined."""
    with fleet_in(tmp_path_factory.mktemp("untouched")) as fleet:
        yield fleet


@pytest.mark.parametrize("path", [_parameter(path) for path in SCENARIOS])
def test_a_scenario(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    recorded = path.read_text()
    monkeypatch.chdir(tmp_path)
    for name in ("TURBINE_BOOTSTRAP", "TURBINE_CONFIG", "TURBINE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    if recorded.startswith(NEEDS_FLEET):
        settings = request.getfixturevalue("untouched").settings
        monkeypatch.setenv("TURBINE_BOOTSTRAP", settings.bootstrap)
        monkeypatch.setenv("TURBINE_PARTITIONS", str(settings.partitions))
    said = play(recorded, tmp_path, run_all)
    if request.config.getoption("--rewrite"):
        path.write_text(said)
    else:
        assert said == recorded


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 5


# --- the player itself

SCRIPT = """\
# Why.

@ a.yaml
    job: a

    tasks: 1
$ turbine one 'two words' a.yaml
what was said before, and is said otherwise now
[1]

$ turbine again <change-1>
"""


def test_a_script_is_played_and_recorded(tmp_path: Path) -> None:
    change = "1795016177117.6d7d471d647b4070a7eb94f410591258"
    asked: list[list[str]] = []

    def run(arguments: list[str]) -> Ended:
        asked.append(arguments)
        return Ended(len(asked) - 1, f"change {change} at 2026-11-18T15:35:18.112Z\n\n", "oh\n")

    said = play(SCRIPT, tmp_path, run)
    assert asked == [["one", "two words", "a.yaml"], ["again", change]]
    assert (tmp_path / "a.yaml").read_text() == "job: a\n\ntasks: 1\n"
    assert said == (
        "# Why.\n\n@ a.yaml\n    job: a\n\n    tasks: 1\n"
        "$ turbine one 'two words' a.yaml\nchange <change-1> at <time>\n\n! oh\n\n"
        "$ turbine again <change-1>\nchange <change-1> at <time>\n\n! oh\n[1]\n"
    )


def test_a_recording_played_again_is_the_same(tmp_path: Path) -> None:
    ended = Ended(2, "a\n\n  b\n", "")
    once = play(SCRIPT, tmp_path, lambda _: ended)
    assert play(once, tmp_path, lambda _: ended) == once


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('"at_ms": 1795016118177,', '"at_ms": <ms>,'),
        ("journal.v1/3:40, x", "journal.v1/<p>:<n>, x"),
        ('"changes.base.v1/3": 40', '"changes.base.v1/<p>":<n>'),
        ("at 127.0.0.1:22045", "at <broker>"),
        ("a      b", "a  b"),
        ("    a: 1", "    a: 1"),
        ("it ends at 17, before", "it ends at <n>, before"),
        ("rows.job-service.v1/11:5", "rows.job-service.v1/<p>:<n>"),
    ],
)
def test_what_differs_from_run_to_run_is_marked(text: str, hidden: str) -> None:
    assert Marks().hide(text) == hidden


def test_one_id_has_one_mark() -> None:
    marks = Marks()
    first, second = (f"e6db05ca-a313-5496-b683-5e9e032cb90{n}" for n in "ab")
    assert marks.hide(f"{first} {second} {first}") == "<decision-1> <decision-2> <decision-1>"
    assert marks.show("why <decision-2>") == f"why {second}"
