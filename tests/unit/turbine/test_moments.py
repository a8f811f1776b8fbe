"""Times, spans and positions are read as people mean them, and refused in one sentence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from events.topics import JOURNAL, place
from turbine.failures import Code, code_of
from turbine.read.moments import SPAN_MAX_MS, BadMoment, parse_moment, parse_span, show_time
from turbine.read.state.instants import position_at

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("500ms", 500),
        ("90s", 90_000),
        ("2h", 7_200_000),
        ("1h30m", 5_400_000),
        ("3d", 259_200_000),
        ("1w", 604_800_000),
        ("10s500ms", 10_500),
    ],
)
def test_a_span(text: str, ms: int) -> None:
    assert parse_span(text) == ms


@pytest.mark.parametrize(
    "text", ["", "2", "h", "2 h", "-2h", "2y", "2h-1m", "1.5h", "9" * 20 + "h"]
)
def test_what_is_no_span(text: str) -> None:
    with pytest.raises(BadMoment) as failed:
        parse_span(text, "--expires")
    assert str(failed.value) == (
        f"--expires: {text!r} is no span of time; write one such as 90s, 10m or 1h30m"
    )
    assert code_of(failed.value) is Code.USAGE


@pytest.mark.parametrize("text", ["0s", "999999999w", f"{SPAN_MAX_MS + 1}ms"])
def test_a_span_out_of_bounds(text: str) -> None:
    with pytest.raises(BadMoment, match=r"span"):
        parse_span(text)


def test_the_longest_span() -> None:
    assert parse_span(f"{SPAN_MAX_MS // 86_400_000}d") == SPAN_MAX_MS


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", NOW),
        ("10m ago", NOW - 600_000),
        ("10m", NOW - 600_000),
        (" 1h30mago ", NOW - 5_400_000),
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T00:00:01.250Z", 1250),
        ("1970-01-01t01:00:01.25+01:00", 1250),
        ("1970-01-01 00:00:01z", 1000),
        ("1960-01-01T00:00:00Z", 0),
        ("journal.v1/3:40", {"journal.v1/3": 40}),
        (
            "changes.base.v1/3:12,journal.v1/3:40",
            {"changes.base.v1/3": 12, "journal.v1/3": 40},
        ),
    ],
)
def test_a_moment(text: str, moment: int | dict[str, int]) -> None:
    assert parse_moment(text, NOW, "--at") == moment


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-01-31", "09:00", "2026-01-31T09:00:00", "7"]
)
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(BadMoment) as failed:
        parse_moment(text, NOW, "--at")
    assert str(failed.value) == (
        f"--at: {text!r} is neither a time nor a position; write one such as"
        " 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40"
    )
    assert code_of(failed.value) is Code.USAGE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2026-02-30T09:00:00Z", "--at: 2026-02-30T09:00:00Z is no time: day is out of range"),
        ("2026-01-31T25:00:00Z", "--at: 2026-01-31T25:00:00Z is no time: hour must be in 0..23"),
        ("journal.v1/3", "--at: 'journal.v1/3' is no position; write place:offset"),
        ("journal.v1/x:3", "--at: 'journal.v1/x' is no place; write topic/partition"),
        ("a.v1/0:1,a.v1/0:2", "--at: a vector names each place once"),
    ],
)
def test_a_moment_with_a_mistake(text: str, sentence: str) -> None:
    with pytest.raises(BadMoment) as failed:
        parse_moment(text, NOW, "--at")
    assert str(failed.value).startswith(sentence)


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (None, "-"),
        (0, "-"),
        (1_763_479_981_123, "2025-11-18T15:33:01.123Z"),
        (10**17, "100000000000000000"),
    ],
)
def test_a_time_is_shown(at_ms: int | None, text: str) -> None:
    assert show_time(at_ms) == text


def test_a_position_may_be_the_end_of_the_log_and_nothing_beyond() -> None:
    log: Any = SimpleNamespace(
        counts={JOURNAL: 1},
        places=lambda topics: [place(topic, 0) for topic in topics],
        ends=lambda places: dict.fromkeys(places, 7),
    )
    assert position_at(log, {"journal.v1/0": 7}, [JOURNAL]) == {"journal.v1/0": 7}
    with pytest.raises(
        BadMoment, match=r"journal\.v1/0 ends at 7, before the position 8; name one"
    ):
        position_at(log, {"journal.v1/0": 8}, [JOURNAL])
