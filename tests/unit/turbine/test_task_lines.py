"""Finding and following what tasks have printed: files that are full, moves, torn lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.task_log import FILE_BYTES_MOST, STDOUT, TaskLog, file_of, older
from turbine.ops.task_lines import TaskLineReader, lines_of, places_in


def container(directory: Path, name: str, life: str | None = None) -> Path:
    """The place of a container of a fleet."""
    place = directory / "containers" / name
    (place / "tasks").mkdir(parents=True)
    text = json.dumps({"container": name, "epoch": 1}) if life is None else life
    (place / "life.json").write_text(text)
    return place


def line(at_ms: int, text: str, run: str = "1.1") -> str:
    return f"1970-01-01T00:00:00.{at_ms:03d}Z {run} stdout {text}\n"


def put(place: Path, task: int, *lines: str, job: str = "clicks") -> Path:
    path = file_of(place, job, task)
    with path.open("a") as file:
        file.writelines(lines)
    return path


def texts(reader: TaskLineReader, last: int | None = None) -> list[str]:
    return [one.line.text for one in reader.read(last)]


def test_places_are_those_of_a_fleet_or_of_one_container(tmp_path: Path) -> None:
    one, two = container(tmp_path, "c1"), container(tmp_path, "c2")
    container(tmp_path, "c3", life="{")
    container(tmp_path, "c4", life="[]")
    container(tmp_path, "c5", life='{"container": 5}')
    (tmp_path / "containers" / "c6").mkdir()
    assert places_in(tmp_path) == {"c1": one, "c2": two}
    assert places_in(one) == {"c1": one}
    assert places_in(tmp_path / "nowhere") == {}


def test_a_task_that_moved_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    one, two = container(tmp_path, "c1"), container(tmp_path, "c2")
    put(one, 0, line(1, "begins"), line(5, "is back"))
    put(two, 0, line(3, "moved"))
    put(two, 1, line(4, "another"))
    put(two, 0, line(2, "of another job"), job="clicks.0")
    reader = TaskLineReader(tmp_path, "clicks", 0)
    assert [(one.line.text, one.container) for one in reader.read()] == [
        ("begins", "c1"),
        ("moved", "c2"),
        ("is back", "c1"),
    ]
    assert texts(TaskLineReader(tmp_path, "clicks", None)) == [
        "begins",
        "moved",
        "another",
        "is back",
    ]
    assert (reader.heard("c1", 0), reader.heard("c1", 1), reader.heard("c9", 0)) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("last", "found"),
    [(0, []), (1, ["a2", "b"]), (2, ["a1", "a2", "b"]), (9, ["a0", "a1", "a2", "b"])],
)
def test_so_many_lines_of_each_task(tmp_path: Path, last: int, found: list[str]) -> None:
    place = container(tmp_path, "c1")
    put(place, 0, *(line(at, f"a{at}") for at in range(3)))
    put(place, 1, line(9, "b"))
    assert texts(TaskLineReader(tmp_path, "clicks", None), last) == found


def test_a_line_as_json(tmp_path: Path) -> None:
    put(container(tmp_path, "c1"), 3, line(7, "hello", run="2.9"))
    [said] = TaskLineReader(tmp_path, "clicks", 3).read()
    assert said.to_plain() == {
        "kind": "line",
        "at_ms": 7,
        "job": "clicks",
        "task": 3,
        "name": "clicks/3",
        "container": "c1",
        "run": "2.9",
        "stream": "stdout",
        "text": "hello",
    }


# --- following


def test_each_line_comes_once_and_when_it_is_whole(tmp_path: Path) -> None:
    place = container(tmp_path, "c1")
    path = put(place, 0, line(1, "one"))
    reader = TaskLineReader(tmp_path, "clicks", 0)
    assert texts(reader) == ["one"]
    assert texts(reader) == []
    with path.open("a") as file:
        file.write(line(2, "two")[:-4])
    assert texts(reader) == []
    with path.open("a") as file:
        file.write(line(2, "two")[-4:])
    assert texts(reader) == ["two"]
    put(container(tmp_path, "c2"), 0, line(3, "moved"))
    assert texts(reader) == ["moved"], "a place that came later"
    path.unlink()
    assert texts(reader) == []


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_became_full_meanwhile_is_read_to_its_end(tmp_path: Path, times: int) -> None:
    path = file_of(container(tmp_path, "c1"), "clicks", 0)
    log, reader = TaskLog(path, "1.1"), TaskLineReader(tmp_path, "clicks", 0)
    log.write(STDOUT, [b"first"])
    assert texts(reader) == ["first"]
    wanted = []
    for number in range(times * FILE_BYTES_MOST // 1_000):
        text = f"{number} " + "x" * 1_000
        log.write(STDOUT, [text.encode()])
        wanted.append(text)
    found = texts(reader)
    assert older(path).exists()
    assert found == wanted[len(wanted) - len(found) :], "none is missing in between"
    assert len(found) == len(wanted) or times > 1
    log.write(STDOUT, [b"last"])
    assert texts(reader) == ["last"]


def test_a_first_look_reads_what_was_put_aside(tmp_path: Path) -> None:
    place = container(tmp_path, "c1")
    path = put(place, 0, line(1, "before"))
    path.rename(older(path))
    assert texts(TaskLineReader(tmp_path, "clicks", 0)) == ["before"]
    put(place, 0, line(2, "after"))
    assert texts(TaskLineReader(tmp_path, "clicks", 0)) == ["before", "after"]


def test_another_file_of_the_same_number_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = put(container(tmp_path, "c1"), 0, line(1, "long " * 20))
    reader = TaskLineReader(tmp_path, "clicks", 0)
    assert len(texts(reader)) == 1
    path.write_text(line(2, "short"))  # shorter than it was read to
    assert texts(reader) == ["short"]


def test_what_was_torn_goes_with_the_line_before() -> None:
    found = list(lines_of([b"torn", line(5, "one").encode()[:-1], b"", b"1970-01-01T00:0"]))
    assert [(one.at_ms, one.text) for one in found] == [
        (0, "torn"),
        (5, "one"),
        (5, "1970-01-01T00:0"),
    ]
    assert (found[2].run, found[2].stream) == ("1.1", "stdout")
