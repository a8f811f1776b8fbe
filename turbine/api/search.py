"""What a person types to find jobs: words, `!word` for not, `tier=X`, `state=X`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from events.strict_json import shorten
from turbine.api.problems import Refusal

Row = Mapping[str, Any]
Test = Callable[[Row], bool]

WORDS_MAX = 32
FIELDS = ("job", "state", "tier", "policy", "mode")


def test_of(text: str) -> Test:
    """Whether a job's line is meant: each of the words has to hold."""
    words = text.lower().split()
    if len(words) > WORDS_MAX:
        raise _refused(f"{len(words)} words are too many; write at most {WORDS_MAX}")
    tests = [_word(word) for word in words]
    return lambda row: all(test(row) for test in tests)


def _word(word: str) -> Test:
    if word.startswith("!"):
        if word == "!":
            raise _refused("'!' stands before the word that must not hold, such as !paused")
        inner = _word(word[1:])
        return lambda row: not inner(row)
    name, given, value = word.partition("=")
    if not given:
        return lambda row: any(word in str(row[field]).lower() for field in ("job", "tier"))
    if name == "override":
        return lambda row: any(value in one["path"].lower() for one in row["overrides"])
    if name not in FIELDS:
        known = ", ".join(f"{one}=" for one in (*FIELDS, "override"))
        raise _refused(f"{shorten(name)} is nothing to search by; use words, or one of {known}")
    wanted = set(value.split(","))
    return lambda row: str(row[name]).lower() in wanted


def _refused(sentence: str) -> Refusal:
    return Refusal(422, "invalid-request", f"q: {sentence}", "query.q")
