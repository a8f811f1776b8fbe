"""An id is known by its first six characters; where several begin so they are named."""

from __future__ import annotations

from typing import Any

import pytest

from events.topics import CHANGES, JOURNAL
from events.wire.codec import Read, Record
from turbine.failures import Code, code_of
from turbine.read.answers.ids import Ambiguous, full_id, may_begin

FIRST = "4bf9aca4-ca30-5496-b683-5e9e032cb90a"
SECOND = "4bf9acff-ca30-5496-b683-5e9e032cb90b"
REQUEST = "1795016177117.6d7d471d647b4070a7eb94f410591258"


class Shelf:
    """Stands in for a log with these records, some of them twice."""

    counts = {JOURNAL: 1, CHANGES["base"]: 1}  # noqa: RUF012 - it is only read

    def read(self, topics: Any, **_: Any) -> Any:
        assert set(topics) == set(self.counts)
        for name, kind in (
            (FIRST, "JobConfigChanged"),
            (FIRST, "JobConfigChanged"),
            (SECOND, "ScalingDecided"),
            (REQUEST, "ConfigChangeProposed"),
        ):
            yield Read("p/0", "p", 0, 0, Record("clicks", name, kind, b"", None))


LOG: Any = Shelf()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4bf9aca", FIRST),
        ("4bf9acf", SECOND),
        (FIRST, FIRST),
        (FIRST.upper(), FIRST),
        ("4BF9ACA", FIRST),
        ("6D7d47", REQUEST),
        ("6d7d47", REQUEST),
        ("1795016177117.6d", REQUEST),
        ("4bf9a", "4bf9a"),
        ("ffffff", "ffffff"),
        ("clicks", "clicks"),
    ],
)
def test_six_characters_are_enough(text: str, found: str) -> None:
    assert full_id(LOG, text) == found


def test_several_that_begin_so_are_named() -> None:
    with pytest.raises(Ambiguous) as several:
        full_id(LOG, "4bf9ac")
    assert str(several.value) == (
        f"2 ids begin with 4bf9ac: {FIRST} (JobConfigChanged of clicks), {SECOND}"
        " (ScalingDecided of clicks); write more"
    )
    assert code_of(several.value) == Code.USAGE


@pytest.mark.parametrize(
    ("text", "may"),
    [("4bf9ac", True), ("4bf9a", False), ("words-1", False), ("-4bf9ac", False), ("", False)],
)
def test_what_an_id_can_begin_with(text: str, may: bool) -> None:
    assert may_begin(text) is may
