"""The language in which a person asks for some of the jobs, on the page, in `top` and in lists.

Words, `!word` for not, and `tier=X,Y` for one of several. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from events.job_config.strict_json import shorten
from turbine_client.errors import BadRequest

WORDS_MAX = 32
FIELDS = ("job", "state", "tier", "policy", "mode")
OVERRIDE = "override"
GRAMMAR = "words, !words, state=, tier=, policy=, mode=, override="


class BadFilter(BadRequest):
    """A filter that asks for what there is not; the sentence says what there is."""


def filter_of(text: str) -> Callable[[Any], bool]:
    """The test whether a job's line is meant: each word has to hold. BadFilter: it is none."""
    words = text.lower().split()
    if len(words) > WORDS_MAX:
        raise BadFilter(f"{len(words)} words are too many; write at most {WORDS_MAX}")
    tests = [_word(word) for word in words]
    return lambda line: all(test(line) for test in tests)


def _word(word: str) -> Callable[[Any], bool]:
    if word.startswith("!"):
        if word == "!":
            raise BadFilter("'!' stands before the word that must not hold, such as !paused")
        inner = _word(word[1:])
        return lambda line: not inner(line)
    name, given, value = word.partition("=")
    if not given:
        return lambda line: word in line.job.lower() or word in line.tier.lower()
    if name == OVERRIDE:
        return lambda line: any(value in found.path.lower() for found in line.overrides)
    if name not in FIELDS:
        known = ", ".join(f"{field}=" for field in (*FIELDS, OVERRIDE))
        raise BadFilter(
            f"{shorten(name)} is nothing to filter by; use words, !words, or one of {known}"
        )
    wanted = set(value.split(","))
    return lambda line: str(getattr(line, name)).lower() in wanted
