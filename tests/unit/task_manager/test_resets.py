"""From where a task reads what an operator wants to be read anew."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from events.job_config.reset import Reset
from tasks.core.resets import At, OutOfRange, begin_of, wish_of

SINCE_MS = 5_000


@dataclass(frozen=True, slots=True)
class Topic:
    """One that holds the offsets 10 to 99; offset n was written in millisecond 100 n."""

    def edges(self, at: At) -> tuple[int, int]:
        return (10, 100) if at else (0, 0)

    def since(self, at: At, ms: int) -> int:
        first = max(10, -(-ms // 100))
        return first if at and first < 100 else -1


@pytest.mark.parametrize(
    ("to", "known", "begin"),
    [
        ("earliest", 50, 10),
        ("earliest", None, 10),
        ("latest", 50, 100),
        ("latest", None, 50),  # from when it was asked for: nobody has seen what came since
        ("4150", 50, 42),
        ("4150", None, 42),
        ("99999", 50, 100),  # nothing is as new: what comes next
        ("0", 50, 10),
        ('{"clicks":{"0":12}}', 50, 12),
        ('{"clicks":{"0":100}}', 50, 100),
        ('{"clicks":{"1":12}}', 50, None),
        ('{"users":{"0":12}}', 50, None),
    ],
)
def test_where_a_partition_begins(to: str, known: int | None, begin: int | None) -> None:
    assert begin_of(Reset("9.a", to, SINCE_MS), ("clicks", 0), known, Topic()) == begin


@pytest.mark.parametrize("offset", [9, 101])
def test_an_offset_that_the_partition_has_not_is_told(offset: int) -> None:
    reset = Reset("9.a", f'{{"clicks":{{"0":{offset}}}}}', SINCE_MS)
    with pytest.raises(OutOfRange, match=f"clicks/0 has the offsets 10 to 100, and .* {offset};"):
        begin_of(reset, ("clicks", 0), 50, Topic())


def test_a_wish_comes_with_the_jobs_config() -> None:
    one = Reset("9.a", "latest", 7)
    assert wish_of({"reset": one.to_plain()}) == one
    assert wish_of({}) is None
