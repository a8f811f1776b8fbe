"""A covering set meets what all seeds meet, with a margin, and no more."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from simulation import __main__ as program
from simulation.covering import covering, met_in
from simulation.run import SeedOutcome


def outcome(seed: int, cast: str, *met: str, records: int = 100) -> SeedOutcome:
    counts = Counter(dict.fromkeys(met, 3)) + Counter({f"cast: {cast}": 1, "records": records})
    counts["never"] = 0
    return SeedOutcome(seed, "", 0, (), counts)


def test_a_thing_is_met_by_its_cast() -> None:
    assert met_in(outcome(1, "syncing", "crash")) == {
        ("cast: syncing", "cast: syncing"),
        ("cast: syncing", "crash"),
    }


def test_each_thing_is_met_as_often_as_the_margin_asks_where_so_many_meet_it() -> None:
    played = [outcome(n, "scaling", "crash") for n in range(9)]
    played += [outcome(9, "scaling", "rare"), outcome(10, "placing", "crash")]
    assert covering(played, margin=4) == [0, 1, 2, 3, 9, 10]
    assert covering(played, margin=2) == [0, 1, 9, 10]
    assert covering(played, margin=1) == [0, 9, 10]


def test_whoever_meets_more_for_its_length_comes_first() -> None:
    short, long = outcome(0, "scaling", "a"), outcome(1, "scaling", "a", "b", records=1_000)
    assert covering([short, long, outcome(2, "scaling", "a", "b", records=140)], margin=1) == [2]
    assert covering([short, long], margin=1) == [1]


def test_who_was_made_needless_goes() -> None:
    """0 meets most for its length, and 1 and 2, each for a thing of its own, all that it meets."""
    played = [
        outcome(0, "scaling", "a", "b", records=10),
        outcome(1, "scaling", "a", "c"),
        outcome(2, "scaling", "b", "d"),
    ]
    assert covering(played, margin=1) == [1, 2]


def test_no_seed_is_chosen_for_nothing() -> None:
    played = [outcome(n, "scaling", f"only {n // 2}") for n in range(40)]
    assert covering(played, margin=2) == [*range(40)]
    played.append(outcome(99, "scaling", "only 1", records=101))
    assert covering(played, margin=2) == [*range(40)]


@pytest.mark.parametrize(("broken", "written"), [((), [0, 1, 2, 3]), (("a rule",), None)])
def test_the_program_writes_them_where_no_rule_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    broken: tuple[str, ...],
    written: list[int] | None,
) -> None:
    place = tmp_path / "seeds.json"
    played = [outcome(n, "scaling", "crash") for n in range(3)]
    played.append(SeedOutcome(3, "", 0, broken, played[0].counts))
    monkeypatch.setattr(program, "run_seed", played.__getitem__)
    monkeypatch.setattr(program.multiprocessing, "Pool", Alone)
    monkeypatch.setattr("sys.argv", ["simulation", "4", "--cover", str(place)])
    assert program.main() == len(broken)
    assert (json.loads(place.read_text()) if place.exists() else None) == written
    assert "4 seeds" in capsys.readouterr().out


class Alone:
    """A pool of this process."""

    imap = staticmethod(map)

    def __init__(self, _: int) -> None:
        pass

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass
