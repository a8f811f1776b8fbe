"""A task's file: whole lines, of a bounded size, from many writers, and on a disk that is full."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import task_log as task_logs
from tasks.core.protocol import FAILED, STOPPED, Ended
from tasks.task_log import (
    ENGINE,
    FILE_BYTES_MOST,
    LINE_BYTES_MOST,
    LINES_AT_ONCE,
    OUTPUT,
    STDOUT,
    Cutter,
    PrintedLine,
    TaskLog,
    TaskLogs,
    file_of,
    line_of,
    older,
    prune,
    tasks_in,
)
from tests.unit.task_manager.test_small_parts import work

RUN = "3.7"


def lines_in(path: Path) -> list[PrintedLine]:
    """All of a file, each of which must be ours."""
    found = [line_of(one) for one in path.read_bytes().splitlines() if one]
    assert None not in found, path.read_bytes()
    return [one for one in found if one is not None]


def texts(path: Path) -> list[str]:
    return [one.text for one in lines_in(path)]


# --- lines


@given(st.lists(st.binary(max_size=12).map(lambda one: one.replace(b"x", b"\n"))))
def test_lines_do_not_depend_on_the_pieces_they_come_in(pieces: list[bytes]) -> None:
    cutter = Cutter()
    found = [line for piece in pieces for line in cutter.feed(piece)] + cutter.end()
    whole = b"".join(pieces).split(b"\n")
    assert found == (whole if whole[-1] else whole[:-1])
    assert cutter.end() == []


@pytest.mark.parametrize("more", [0, 1, 70_000])
def test_a_line_that_is_too_long_is_cut_with_a_mark(more: int) -> None:
    cutter = Cutter()
    long = b"a" * (LINE_BYTES_MOST + more)
    mark = b" [cut: %d bytes more]" % more if more else b""
    assert cutter.feed(long[:9]) == []
    assert cutter.feed(long[9:] + b"\nb\n") == [b"a" * LINE_BYTES_MOST + mark, b"b"]
    cutter.feed(long)
    assert cutter.end() == [b"a" * LINE_BYTES_MOST + mark]


def test_a_line_says_when_in_which_run_and_by_which_way(tmp_path: Path) -> None:
    began_ms = int(datetime.now(UTC).timestamp() * 1000)
    TaskLog(tmp_path / "a.0.log", RUN).write(STDOUT, [b"one", b"\xff two"])
    one, two = lines_in(tmp_path / "a.0.log")
    assert one[1:] == (RUN, STDOUT, "one")
    assert two[1:] == (RUN, STDOUT, "\ufffd two")
    assert 0 <= one.at_ms - began_ms < 60_000


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"Traceback (most recent call last):",
        b"2026-01-31T09:00:00.000Z stdout of an older build",
        b"2026-01-31T09:00:00.000Z 1.2 song text",
        b"2026-13-31T09:00:00.000Z 1.2 stdout no such month",
        b"2026-01-31T09:00:00.0000 1.2 stdout no zone",
    ],
)
def test_what_is_no_line_of_ours_is_none(text: bytes) -> None:
    assert line_of(text) is None
    assert line_of(b"2026-01-31T09:00:00.001Z 1.2 stdout " + text) == PrintedLine(
        1_769_850_000_001, "1.2", "stdout", text.decode()
    )


# --- files


def test_a_file_that_is_full_is_put_aside_and_only_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.0.log"
    log, line = TaskLog(path, RUN), b"x" * 1_000
    for number in range(3 * FILE_BYTES_MOST // 1_000):
        log.write(OUTPUT, [b"%06d" % number + line])
    room = FILE_BYTES_MOST + LINES_AT_ONCE * (LINE_BYTES_MOST + 100)
    assert sorted(tmp_path.iterdir()) == [path, older(path)]
    assert FILE_BYTES_MOST <= older(path).stat().st_size < room
    numbers = [int(one[:6]) for one in (*texts(older(path)), *texts(path))]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)), "no line is missing in between"
    assert numbers[-1] == 3 * FILE_BYTES_MOST // 1_000 - 1


def test_a_file_goes_on_until_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "a.0.log"
    path.write_bytes(b"\n" * (FILE_BYTES_MOST - 1))
    TaskLog(path, RUN).write(OUTPUT, [b"fits"])
    assert not older(path).exists()
    TaskLog(path, RUN).write(OUTPUT, [b"new"])
    assert texts(path) == ["new"]
    assert texts(older(path)) == ["fits"]


LINES, WRITERS = 2_000, 4


def _write_many(path: Path, writer: int) -> None:
    log = TaskLog(path, f"1.{writer}")
    for number in range(LINES):
        log.write(STDOUT, [b"%d %d %s" % (writer, number, b"x" * 130)])


def test_processes_share_a_file_and_no_line_is_torn_or_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.0.log"
    children = [
        get_context("spawn").Process(target=_write_many, args=(path, writer))
        for writer in range(WRITERS)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * WRITERS
    assert older(path).exists(), "it became full while all of them wrote"
    found = [tuple(map(int, one.split()[:2])) for one in (*texts(older(path)), *texts(path))]
    assert sorted(found) == [(w, n) for w in range(WRITERS) for n in range(LINES)]
    for writer in range(WRITERS):
        assert [n for w, n in found if w == writer] == list(range(LINES)), "each in its order"


# --- what cannot be written


def test_a_full_disk_stops_nobody_and_what_it_lost_is_told(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    log = TaskLog(full, RUN)
    log.write(STDOUT, [b"lost", b"lost too"])
    log.write(STDOUT, [b"and this"])
    full.unlink()
    log.write(STDOUT, [b"there is room again"])
    lost, kept = lines_in(full)
    assert lost[1:] == (RUN, ENGINE, "lines lost here: 3 (No space left on device)")
    assert kept.text == "there is room again"


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process grows beyond it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_line_that_was_torn_hurts_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.0.log"
    log = TaskLog(path, RUN)
    log.write(STDOUT, [b"whole"])
    with room_for(path.stat().st_size + 50):
        log.write(STDOUT, [b"x" * 100])
    log.write(STDOUT, [b"next"])
    first, torn, lost, last = texts(path)
    assert (first, last) == ("whole", "next")
    assert set(torn) == {"x"}
    assert len(torn) < 100
    assert lost == "lines lost here: 1 (File too large)"


def test_a_place_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("a file, where the directory should be")
    logs = TaskLogs(tmp_path)
    log = logs.begin(work())
    log.write(STDOUT, [b"unheard"])
    (tmp_path / "tasks").unlink()
    logs.end(Ended(work().run, STOPPED))
    [lost, end] = lines_in(log.path)
    assert lost.text == "lines lost here: 2 (Not a directory)"
    assert end.text == "stopped"


# --- runs


def test_runs_of_a_task_have_one_file_and_a_number_each(tmp_path: Path) -> None:
    logs = TaskLogs(tmp_path)
    one = work()._replace(run=4, epoch=2)
    log = logs.begin(one)
    assert logs.of(4) is log
    log.say("a\nb\n")
    logs.end(Ended(4, FAILED, "operator-error", "division by zero", "ZeroDivisionError"))
    assert logs.of(4) is None
    logs.end(Ended(4, FAILED))  # it is over: nobody's
    logs.begin(one._replace(run=5))
    logs.end(Ended(5, FAILED, "defect", "OSError: gone", "OSError"))
    path = file_of(tmp_path, "orders", 1)
    assert [(line.run, line.stream, line.text) for line in lines_in(path)] == [
        (
            "2.4",
            ENGINE,
            f"starts, generation {one.specs} and {one.shard} of its shard, package p 1",
        ),
        ("2.4", ENGINE, "a"),
        ("2.4", ENGINE, "b"),
        ("2.4", ENGINE, "failed: operator-error: ZeroDivisionError: division by zero"),
        (
            "2.5",
            ENGINE,
            f"starts, generation {one.specs} and {one.shard} of its shard, package p 1",
        ),
        ("2.5", ENGINE, "failed: defect: OSError: gone"),
    ]


def test_the_tasks_of_a_job_are_found_by_its_whole_name(tmp_path: Path) -> None:
    directory = tmp_path / "tasks"
    directory.mkdir()
    names = ["a.0.log", "a.12.log.1", "a.b.3.log", "a.4.7.log", "a.x.log", "a.0.log.2", "b.a.1.log"]
    for name in names:
        (directory / name).touch()
    assert tasks_in(tmp_path, "a") == [0, 12]
    assert tasks_in(tmp_path, "a.4") == [7]
    assert tasks_in(tmp_path, "c") == []
    assert tasks_in(tmp_path / "nowhere", "a") == []


def test_files_that_nobody_wrote_to_for_longest_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_logs, "FILES_MOST", 4)
    paths = [tmp_path / f"a.{number}.log" for number in range(4)]
    for number, path in enumerate(paths[:3]):
        path.touch()
        os.utime(path, (number, number))
    prune(tmp_path, set())
    assert sorted(tmp_path.iterdir()) == paths[:3], "there is room for one more"
    paths[3].touch()
    prune(tmp_path, {paths[0]})
    assert sorted(tmp_path.iterdir()) == [paths[0], *paths[2:]], "what is in use stays"
    prune(tmp_path / "nowhere", set())
