"""Only positions that moved are committed, and a clock that ticks alone is no reason to."""

from __future__ import annotations

from components.runtime.core.commits import TICKS_MOST, Commits
from events.topics import BY_SHORT, CLOCK, JOURNAL, LOADS

TICKS, WORDS, TOLD = ((BY_SHORT[short].name, 3) for short in (CLOCK, JOURNAL, LOADS))


def committed(*rounds: dict[tuple[str, int], int]) -> Commits:
    commits = Commits()
    for positions in rounds:
        commits.done(commits.moved(positions))
    return commits


def test_a_place_is_committed_when_it_moved() -> None:
    commits = committed({WORDS: 7, TOLD: 4})
    assert commits.moved({WORDS: 7, TOLD: 4}) == {}
    assert commits.moved({WORDS: 7, TOLD: 5}) == {TOLD: 5}


def test_a_place_in_which_nothing_ever_came_is_not_committed() -> None:
    assert Commits().moved({WORDS: 0, TOLD: 1}) == {TOLD: 1}


def test_the_clock_goes_along_with_what_came_in_its_partition() -> None:
    elsewhere = (WORDS[0], 4)
    commits = committed({TICKS: 1_000, WORDS: 7, elsewhere: 1})
    assert commits.moved({TICKS: 1_001, WORDS: 8}) == {TICKS: 1_001, WORDS: 8}
    assert commits.moved({TICKS: 1_001, WORDS: 7, elsewhere: 2}) == {elsewhere: 2}


def test_the_clock_alone_is_committed_now_and_then() -> None:
    commits = committed({TICKS: 1_000})
    assert commits.moved({TICKS: 1_000 + TICKS_MOST - 1}) == {}
    assert commits.moved({TICKS: 1_000 + TICKS_MOST}) == {TICKS: 1_000 + TICKS_MOST}


def test_after_an_assignment_all_is_committed_once_more() -> None:
    commits = committed({WORDS: 7})
    commits.forget()
    assert commits.moved({WORDS: 7}) == {WORDS: 7}


def test_what_was_not_committed_is_tried_again() -> None:
    commits = Commits()
    commits.moved({WORDS: 7})
    assert commits.moved({WORDS: 7}) == {WORDS: 7}
