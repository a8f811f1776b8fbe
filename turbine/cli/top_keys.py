"""What the keys of `turbine top` do. Pure: after a key, what the person wants to see."""

from __future__ import annotations

from typing import NamedTuple

from turbine.read.answers.fleet import SORTS
from turbine.read.filters import BadFilter, filter_of


class TopChoices(NamedTuple):
    """What the person at the keys wants to see."""

    sort: str = SORTS[0]
    query: str = ""
    typing: str | None = None  # a filter that is being typed
    first: int = 0  # of the jobs that are shown
    over: bool = False
    trouble: str = ""  # with what was typed


STEPS = {"up": -1, "k": -1, "down": 1, "j": 1, "page-up": -10, "page-down": 10, " ": 10}
LENGTH_MAX = 200


def pressed(look: TopChoices, key: str, jobs: int) -> TopChoices:
    """After a key; one that means nothing changes nothing. `jobs` is how many there are."""
    if look.typing is not None:
        return _typed(look, look.typing, key)
    match key:
        case "q":
            return look._replace(over=True)
        case "s":
            sort = SORTS[(SORTS.index(look.sort) + 1) % len(SORTS)]
            return look._replace(sort=sort, first=0)
        case "/":
            return look._replace(typing=look.query, trouble="")
        case "escape":
            return look._replace(query="", first=0, trouble="")
        case "g" | "home":
            return look._replace(first=0)
        case "G" | "end":
            return look._replace(first=max(0, jobs - 1))
        case _ if key in STEPS:
            return look._replace(first=min(max(0, look.first + STEPS[key]), max(0, jobs - 1)))
        case _:
            return look


def _typed(look: TopChoices, text: str, key: str) -> TopChoices:
    match key:
        case "enter":
            try:
                filter_of(text)
            except BadFilter as bad:
                return look._replace(trouble=str(bad))
            return look._replace(query=text.strip(), typing=None, first=0, trouble="")
        case "escape":
            return look._replace(typing=None, trouble="")
        case "backspace":
            return look._replace(typing=text[:-1], trouble="")
        case _ if len(key) == 1 and key.isprintable() and len(text) < LENGTH_MAX:
            return look._replace(typing=text + key, trouble="")
        case _:
            return look
