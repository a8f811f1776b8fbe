"""Each line of README and docs is typed on a fleet (test_front_door.py), or stands in the list of
what is not typed; here, without one, that the list and the tables are those of the pages.
"""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tests.integration import desk, pages, typist
from tests.integration.processes import ROOT

LINES = pages.lines()
WAYS = [way for one in LINES for way in pages.ways(one.text)]
FOUND = desk.found("http://127.0.0.1:1", "decision", "default#1", "journal.v1/0:1") | {
    "--id ID --timestamp T --signature S": "--id 17",
    "--id … --timestamp … --signature …": "--id 17",
    "$PLAN": "17",
}


def test_each_line_is_typed_or_left_out_with_a_reason() -> None:
    assert [one for one in pages.typed(FOUND) if pages.LEFT.search(one)] == []
    assert len(LINES) > 300


def test_what_is_left_out_is_on_a_page() -> None:
    left_out = pages.not_typed()
    assert {one for one in left_out if not any(way.startswith(one) for way in WAYS)} == set()
    assert len(left_out) < 30


def test_what_types_it_instead_is_there() -> None:
    named = {one for why in pages.not_typed().values() for one in re.findall(r"`(\S+/\S*)`", why)}
    places = {(ROOT / "tests" / one, ROOT / one) for one in named}
    assert [ours for ours, other in places if not (ours.exists() or other.exists())] == []


def test_each_filling_fills_something() -> None:
    table = pages.FILLINGS | FOUND
    texts = [pages.added(one) for one in WAYS]
    unused = [
        one
        for one in table
        if not any(one in text if one.startswith(("http", "$")) else
                   re.search(pages.whole(one), text) for text in texts)
    ]  # fmt: skip
    assert unused == []


def test_each_addition_order_and_code_is_of_a_line() -> None:
    assert [one for one in pages.ADDED if not any(way.startswith(one) for way in WAYS)] == []
    lines = pages.typed(FOUND)
    starts = [*pages.CODES, *(one for chain in pages.CHAINS for one in chain)]
    assert [one for one in starts if not any(line.startswith(one) for line in lines)] == []


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("turbine get jobs", ["turbine get jobs"]),
        ("turbine topics plan|apply", ["turbine topics plan", "turbine topics apply"]),
        ("turbine get lag [JOB…] [--by task\\|partition]", [
            "turbine get lag",
            "turbine get lag JOB… --by task",
            "turbine get lag JOB… --by partition",
        ]),
        ("turbine get [--job J …] [--at …]", ["turbine get", "turbine get --job J --at …"]),
        ("turbine x --set 'a=[1]'", ["turbine x --set 'a=[1]'"]),
    ],
)  # fmt: skip
def test_a_pattern_stands_for_lines(text: str, ways: list[str]) -> None:
    assert sorted(pages.ways(text)) == sorted(ways)


def test_the_place_with_the_most_words_is_filled() -> None:
    table = {"N": "1", "--tasks N": "--tasks 2", "http://here": "http://there"}
    assert pages.filled("turbine scale --tasks N N http://here/x", table) == (
        "turbine scale --tasks 2 1 http://there/x"
    )


def test_what_is_loaded_before_lines_are_typed_is_there() -> None:
    assert [one for one in typist.LOADED if find_spec(one) is None] == []
