"""The loads of windowed counts, and that what is wrong in a job's output is seen."""

from __future__ import annotations

import gzip
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.windows_load import (
    EVENTS,
    LATE_MS,
    MINUTE_MS,
    MINUTES,
    PARTITIONS,
    SLIDE_MS,
    TOO_LATE,
    WAITED_MS,
    WINDOW_MS,
    Compared,
    Piece,
    brute_force,
    closing,
    compare,
    events_of,
    made_up,
    out_of_order,
    piece_of,
    recordings,
    steps,
    too_late,
)

BEGIN_MS = 100 * WINDOW_MS


def test_an_event_counts_in_every_window_that_it_lies_in() -> None:
    begin = 7 * WINDOW_MS
    said = [("a", begin), ("a", begin + 1), ("b", begin - 1), ("a", begin + SLIDE_MS)]
    found = brute_force((key, json.dumps({"at_ms": at_ms})) for key, at_ms in said)
    assert found == {
        ("a", begin): 3,
        ("a", begin - SLIDE_MS): 2,
        ("a", begin + SLIDE_MS): 1,
        ("b", begin - SLIDE_MS): 1,
        ("b", begin - 2 * SLIDE_MS): 1,
    }


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ([(("a", 1), 5), (("b", 1), 2)], Compared(0, 0, 0)),
        ([(("a", 1), 5)], Compared(1, 0, 0)),
        ([(("a", 1), 5), (("b", 1), 2), (("a", 1), 5)], Compared(0, 1, 0)),
        ([(("a", 1), 4), (("b", 1), 2)], Compared(0, 0, 1)),
        ([(("a", 1), 5), (("b", 1), 2), (("c", 1), 1)], Compared(0, 0, 1)),
    ],
)
def test_what_is_missing_doubled_or_wrong_is_seen(
    written: list[tuple[tuple[str, int], int]], compared: Compared
) -> None:
    found = compare({("a", 1): 5, ("b", 1): 2}, written)
    assert found == compared
    assert found.equal == (compared == (0, 0, 0))


def test_a_load_has_its_size_its_shape_and_late_events_that_count() -> None:
    piece = piece_of(made_up(), random.Random(1))
    events = events_of(piece, BEGIN_MS, random.Random(2))
    assert abs(len(events) - EVENTS) < EVENTS / 10
    assert events == events_of(piece, BEGIN_MS, random.Random(2))
    assert {one.partition for one in events} == set(range(PARTITIONS))
    homes = {(one.key, one.partition) for one in events}
    assert len(homes) == len({key for key, _ in homes}), "a key has one partition"
    times_ms = [json.loads(one.value)["at_ms"] for one in events]
    latest_ms = 0
    for at_ms in times_ms:
        assert at_ms > latest_ms - LATE_MS - 2
        latest_ms = max(latest_ms, at_ms)
    assert LATE_MS < WAITED_MS
    assert out_of_order(events) > len(events) / 20
    assert max(times_ms) <= BEGIN_MS + MINUTES * MINUTE_MS


def test_what_closes_lies_beyond_all_windows_and_what_is_too_late_before_that() -> None:
    end_ms = BEGIN_MS + MINUTES * MINUTE_MS
    times_ms = [json.loads(closing(BEGIN_MS, n)[0].value)["at_ms"] for n in (1, 2, 3)]
    for before_ms, at_ms in pairwise([end_ms, *times_ms]):
        assert at_ms - WAITED_MS > before_ms + WINDOW_MS
    late = too_late(BEGIN_MS, random.Random(3))
    assert len(late) == TOO_LATE
    assert all(BEGIN_MS <= json.loads(one.value)["at_ms"] < end_ms for one in late)


def test_a_piece_is_one_in_which_something_happens() -> None:
    quiet = [(minute, 0.0) for minute in range(5 * MINUTES)]
    whole = Piece("quiet", [*quiet, (len(quiet), 4.0)])
    piece = piece_of(Piece("burst", [*whole.rates, *whole.rates[:MINUTES]]), random.Random(4))
    assert any(rate for _, rate in piece.rates)
    assert len(piece.rates) <= MINUTES


def test_recordings_are_read_where_there_are_any(tmp_path: Path) -> None:
    assert [one.name for one in recordings(tmp_path)] == ["made-up"]
    (tmp_path / "site.csv.gz").write_bytes(gzip.compress(b"minute_index,rate\n0,60\n1,30\n"))
    assert recordings(tmp_path) == [Piece("site", [(0, 60.0), (1, 30.0)])]


def test_both_processes_are_killed_and_all_numbers_of_tasks_come() -> None:
    for seed in range(20):
        found = list(steps(random.Random(seed)))
        assert [tasks for tasks, _, _ in found] == [4, 1, 2]
        assert {victim for _, victim, _ in found} == {"python", "java"}
