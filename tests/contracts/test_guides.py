"""The pages for newcomers name only what is there: words, tests, targets and links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
INVARIANTS = ROOT / "docs" / "invariants.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
WORDS_MAX = 40
USES_MIN = 3
"""A word that fewer files use needs no row."""
LENGTHS = {"README.md": 1_000, "ARCHITECTURE.md": 1_300}
"""The most words of a page, as `wc -w` counts them beside a table that is written: five and ten
minutes of reading, with the table."""


def rows(page: str) -> list[list[str]]:
    """The cells of each row of all tables of a page, without the heads."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    heads = {at - 1 for at, line in enumerate(lines) if set(line) <= set("|-: ")}
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for at, line in enumerate(lines)
        if at not in heads and at - 1 not in heads
    ]


def uses(word: str, texts: Iterable[str]) -> int:
    """How many texts use the word, whatever its case, in the plural too."""
    pattern = re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)
    return sum(bool(pattern.search(text)) for text in texts)


def twice(names: list[str]) -> set[str]:
    """The names that stand more than once."""
    return {name for name in names if names.count(name) > 1}


def missing(paths: Iterable[str]) -> list[str]:
    """The paths of the repository at which nothing is."""
    return [path for path in paths if not (ROOT / path).exists()]


def texts_beside_the_glossary() -> list[str]:
    rooms = [path.parent for path in ROOT.glob("*/__init__.py")]
    files = [path for room in rooms for path in room.rglob("*.py")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [path.read_text(encoding="utf-8") for path in (*files, *pages) if path != GLOSSARY]


def test_the_glossary_is_short_and_each_word_is_used_and_stands_once() -> None:
    words = [row[0] for row in rows(GLOSSARY.read_text(encoding="utf-8"))]
    texts = texts_beside_the_glossary()
    assert 0 < len(words) <= WORDS_MAX
    assert twice(words) == set()
    assert [word for word in words if uses(word, texts) < USES_MIN] == []


def test_each_meaning_is_one_or_two_sentences() -> None:
    for word, meaning in rows(GLOSSARY.read_text(encoding="utf-8")):
        sentences = re.findall(r"[.](?= |$)", meaning)
        assert 1 <= len(sentences) <= 2, f"{word} has {len(sentences)} sentences: {meaning}"


def test_each_invariant_stands_once_and_names_tests_that_are_there() -> None:
    table = rows(INVARIANTS.read_text(encoding="utf-8"))
    assert len(table) > 30
    assert twice([row[0] for row in table]) == set()
    for rule, held in table:
        named = re.findall(r"`((?:tests|simulation)/[^`]+)`", held)
        assert any(path.startswith("tests/") for path in named), f"nothing holds: {rule}"
        assert missing(named) == [], rule


def test_each_law_and_each_test_of_the_simulator_holds_an_invariant() -> None:
    page = INVARIANTS.read_text(encoding="utf-8")
    files = (path for room in ("laws", "simulation") for path in ROOT.glob(f"tests/{room}/test_*"))
    assert [path.name for path in files if f"{path.relative_to(ROOT)}`" not in page] == []


def test_contributing_names_each_make_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*  ## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", CONTRIBUTING.read_text(encoding="utf-8")))
    assert named == targets


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"])
def test_what_a_page_links_to_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert missing(re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text)) == []


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "STYLE.md", "docs/walks.md"])
def test_a_file_of_the_code_that_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    rooms = "|".join(path.parent.name for path in ROOT.glob("*/__init__.py"))
    assert missing(re.findall(rf"`((?:{rooms}|tests)/[\w/.]+)`", text)) == []


@pytest.mark.parametrize("page", LENGTHS)
def test_a_page_that_is_read_first_is_short(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    by_hand = re.sub(r"<!-- Written by .*?<!-- Here the ", "", text, flags=re.DOTALL)
    assert len(by_hand.split()) <= LENGTHS[page]


def test_what_is_missing_unused_or_twice_is_told() -> None:
    page = "| word | held by |\n| --- | --- |\n| a rule | `tests/no_such_test.py` |\n"
    assert rows(page) == [["a rule", "`tests/no_such_test.py`"]]
    assert missing(["tests/no_such_test.py", "README.md"]) == ["tests/no_such_test.py"]
    assert uses("fold", ["Folds of all", "unfolded", "the fold"]) == 2
    assert twice(["tick", "row", "tick"]) == {"tick"}
