"""When Flink's autoscaler must not act: times of the day, cron expressions, or both at once. Pure.

Read in UTC, where the source takes its machine's time zone: a decision must not depend on it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from events.job_config.strict_json import shorten

DAY_MS = 86_400_000
CHARS_MAX = 500
"""Of one period: it is read at every change of the job, and may come from anybody."""

_CLOCK = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?::(\d{1,3}))?)?"
_DAILY = re.compile(f"^{_CLOCK}-{_CLOCK}$", re.ASCII)
_TERM = re.compile(r"^(\*|\w+)(?:-(\w+))?(?:/(\d{1,9}))?$", re.ASCII)
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


class _Field(NamedTuple):
    """One field of a cron expression."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, tuple(_MONTHS)),
    _Field("day of week", 1, 7, tuple(_DAYS)),
    _Field("year", 1970, 2099),
)

Cron = tuple[frozenset[int] | None, ...]


class Period(NamedTuple):
    """Excluded are the instants that all of its parts hold."""

    daily: tuple[int, int] | None = None  # ms of the day, both ends included
    cron: Cron | None = None  # None: any

    def holds(self, at_ms: int) -> bool:
        """Does an instant lie in it?"""
        if self.daily and not self.daily[0] <= at_ms % DAY_MS <= self.daily[1]:
            return False
        if self.cron is None:
            return True
        at = datetime.fromtimestamp(at_ms // 1000, UTC)
        weekday = at.isoweekday() % 7 + 1  # Sunday is the first
        parts = (at.second, at.minute, at.hour, at.day, at.month, weekday, at.year)
        return all(one is None or part in one for one, part in zip(self.cron, parts, strict=False))


def period(text: str) -> Period:
    """A period as it is written; ValueError says what is expected instead."""
    if len(text) > CHARS_MAX:
        raise ValueError(f"a period of at most {CHARS_MAX} characters")
    parts = [part.strip() for part in text.split("&&")]
    found = Period()
    for part in parts:
        daily = _daily(part)
        if daily and found.daily is None:
            found = found._replace(daily=daily)
        elif not daily and found.cron is None:
            found = found._replace(cron=_cron(part))
        else:
            raise ValueError("times of the day, a cron expression, or one of each joined by &&")
    return found


def _daily(text: str) -> tuple[int, int] | None:
    match = _DAILY.match(text)
    if not match:
        return None
    numbers = [int(one or 0) for one in match.groups()]
    for hour, minute, second, _ in (numbers[:4], numbers[4:]):
        if hour > 23 or minute > 59 or second > 59:
            raise ValueError("times of a day such as 09:00-17:30")
    begin, end = (((h * 60 + m) * 60 + s) * 1000 + ms for h, m, s, ms in (numbers[:4], numbers[4:]))
    if begin >= end:
        raise ValueError("an end after the begin; around midnight write two periods")
    return begin, end


def _cron(text: str) -> Cron:
    words = text.upper().split()
    if len(words) not in {6, 7}:
        raise ValueError(
            "times of the day such as 09:00-17:30, or a cron expression of six or seven fields,"
            " seconds first"
        )
    if (words[3] == "?") == (words[5] == "?"):
        raise ValueError("a cron expression with ? as its day of month or as its day of week")
    return tuple(_numbers(word, one) for word, one in zip(words, _FIELDS, strict=False))


def _numbers(word: str, field: _Field) -> frozenset[int] | None:
    if word == "*" or (word == "?" and field.name.startswith("day")):
        return None
    found: set[int] = set()
    for term in word.split(","):
        match = _TERM.match(term)
        if not match:
            raise ValueError(
                f"a cron expression with a {field.name} other than {shorten(term)}: L, W and # are"
                " not known"
            )
        first, last, step = match.groups()
        if first == "*":
            begin, end = field.least, field.most
        else:
            begin = _number(first, field)
            end = _number(last, field) if last else field.most if step else begin
        size = field.most - field.least + 1
        span = end - begin if end >= begin else end - begin + size  # Friday to Monday, say
        steps = range(0, span + 1, max(1, int(step or 1)))
        found.update(field.least + (begin - field.least + at) % size for at in steps)
    return frozenset(found)


def _number(word: str, field: _Field) -> int:
    if word in field.names:
        return field.least + field.names.index(word)
    if not word.isdecimal() or not field.least <= int(word) <= field.most:
        raise ValueError(
            f"a cron expression with a {field.name} from {field.least} to {field.most} in place of"
            f" {shorten(word)}"
        )
    return int(word)
