"""Anybody's text as a sentence may quote it: short, and with nothing that cannot be seen. Pure."""

from __future__ import annotations

import json
import re

# Controls, marks of direction and width, halves of pairs. A list of our own: str.isprintable knows
# other characters in other Pythons, and a sentence in a decision must come out the same.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]"
)


def shorten(text: str, most: int = 60) -> str:
    """The text in quotes, short and printable, for a sentence: it may be anybody's."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return json.dumps(cut, ensure_ascii=_UNSEEN.search(cut) is not None)


def printable(text: str) -> str:
    """The text with a mark in place of every character that cannot be seen or encoded."""
    return _UNSEEN.sub("\ufffd", text)
