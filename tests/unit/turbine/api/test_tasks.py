"""One task by the API: its last failure from the log, then and now, and what it prints from its
container, which may be anywhere or dead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.spoken_log import SpokenLog
from events.generated.records import ContainerStarted, Generation, TaskFailed
from events.topics import CONTAINERS, TASKS
from tests.browser.hostile import HOSTILE
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.test_answers import extras, get
from tests.unit.turbine.api.world import World, small_fleet, world_of
from tests.unit.turbine.test_lines_door import HERE
from tests.unit.turbine.test_task_lines import container, line, put
from turbine.api import shapes
from turbine.ops.lines_door import DoorAddress, open_door
from turbine.read.answers.tasks import Task
from turbine.read.plain import adapter

TRACE = 'Traceback (most recent call last):\n  File "clicks.py", line 3\nValueError: <b>'


def failed(log: SpokenLog, task: int, trace: str, where: str = "container-0") -> None:
    body = TaskFailed(
        "clicks",
        task,
        Generation(1, 1),
        where,
        1,
        "operator-error",
        "ValueError: <b>",
        2,
        "ValueError",
        5_000,
        trace,
    )
    log.say(TASKS, "clicks", body, source=where)


def lives(log: SpokenLog, name: str, door: DoorAddress, host: str = HERE, epoch: int = 2) -> None:
    body = ContainerStarted(
        name, epoch, "default", "local", (), host, logs_url=door.url, logs_key=door.key
    )
    log.say(CONTAINERS, name, body, source=name)


@pytest.fixture
def log() -> SpokenLog:
    return small_fleet()


def served(log: SpokenLog, tmp_path: Path) -> World:
    """Of a fleet whose containers are not on this machine, unless a test puts one there."""
    world = world_of(log, directory=tmp_path / "views")
    world.desk.places = tmp_path
    return world


# --- the last failure


def test_the_last_traceback_is_in_the_log_whatever_became_of_the_container(
    log: SpokenLog, tmp_path: Path
) -> None:
    failed(log, 0, "an older one")
    failed(log, 0, TRACE, "container-1")
    told = get(served(log, tmp_path), "/jobs/clicks/tasks/0")
    assert (told["name"], told["state"], told["task"]) == ("clicks/0", "restarting", 0)
    last = told["last_failure"]
    assert (last["traceback"], last["cause"], last["container"], last["attempt"]) == (
        TRACE,
        "operator-error",
        "container-1",
        2,
    )
    assert last["retry_ms"] == last["at_ms"] + 5_000
    assert adapter(Task).dump_python(adapter(Task).validate_python(told), mode="json") == told


def test_one_that_never_failed_has_none(log: SpokenLog, tmp_path: Path) -> None:
    world = served(log, tmp_path)
    told = get(world, "/jobs/orders/tasks/1")
    assert (told["last_failure"], told["state"]) == (None, "running")
    assert told["lag_records"] == 10


def test_as_of_then_it_is_the_one_of_then(log: SpokenLog, tmp_path: Path) -> None:
    moments = []
    for trace in ("first", "second"):
        failed(log, 1, trace)
        log.tick()
        moments.append(log.now_ms)
    world = served(log, tmp_path)
    world.clock[0] = log.now_ms
    at = ask(world.app, "GET", "/api/v1/jobs/clicks/tasks/1").headers["turbine-position"]
    failed(log, 1, "third")
    assert get(world, "/jobs/clicks/tasks/1")["last_failure"]["traceback"] == "third"
    then = get(world, f"/jobs/clicks/tasks/1?at={at}")
    assert then["last_failure"]["traceback"] == "second"


def test_a_task_that_the_job_has_no_more_still_tells_how_it_failed(
    log: SpokenLog, tmp_path: Path
) -> None:
    failed(log, 9, TRACE)
    told = get(served(log, tmp_path), "/jobs/clicks/tasks/9")
    assert told["last_failure"]["traceback"] == TRACE


@pytest.mark.parametrize("path", ["/jobs/clicks/tasks/7", "/jobs/clicks/tasks/7/log"])
def test_no_such_task_is_one_sentence(log: SpokenLog, tmp_path: Path, path: str) -> None:
    told = get(served(log, tmp_path), path, 404)
    assert told["detail"] == "clicks has no task 7; it has 2, counted from 0"
    assert told["place"] == "path.task"


def test_a_task_of_no_job_and_one_that_is_no_number(log: SpokenLog, tmp_path: Path) -> None:
    world = served(log, tmp_path)
    assert get(world, "/jobs/nobody/tasks/0", 404)["place"] == "path.job"
    assert get(world, "/jobs/clicks/tasks/-1", 422)["place"] == "path.task"


def test_hostile_words_come_as_they_are(log: SpokenLog, tmp_path: Path) -> None:
    trace = "\n".join(one for one in HOSTILE if len(one) < 500)
    failed(log, 0, trace)
    told = get(served(log, tmp_path), "/jobs/clicks/tasks/0")
    assert told["last_failure"]["traceback"] == trace


# --- what it prints


def test_of_a_container_that_is_elsewhere_its_door_is_asked(log: SpokenLog, tmp_path: Path) -> None:
    place = container(tmp_path / "elsewhere", "container-1")
    put(place, 1, line(1, "a"), line(2, "<script>"), line(3, "c"))
    lives(log, "container-1", open_door("127.0.0.1", 0, place))
    world = served(log, tmp_path)
    told = get(world, "/jobs/clicks/tasks/1/log?tail=2")
    assert [(one["at_ms"], one["stream"], one["text"]) for one in told["lines"]] == [
        (2, "stdout", "<script>"),
        (3, "stdout", "c"),
    ]
    assert (told["container"], told["host"], told["cut"]) == ("container-1", HERE, False)
    assert extras(shapes.TaskLogAnswer.model_validate(told)) == []
    put(place, 1, line(4, "d"))
    assert get(world, "/jobs/clicks/tasks/1/log?tail=1")["lines"][0]["text"] == "d", "it is of now"


def test_where_the_place_of_a_dead_container_is_here_its_files_are_read(
    log: SpokenLog, tmp_path: Path
) -> None:
    put(container(tmp_path, "container-0"), 0, line(1, "its last words"))
    told = get(served(log, tmp_path), "/jobs/clicks/tasks/0/log?container=container-0")
    assert [one["text"] for one in told["lines"]] == ["its last words"]


def test_of_one_that_nobody_can_ask_the_sentence_says_why(log: SpokenLog, tmp_path: Path) -> None:
    where = "/jobs/clicks/tasks/0/log?container="
    lives(log, "far", DoorAddress("http://127.0.0.1:9", "k"), host="far-away")
    lives(log, "off", DoorAddress())
    world = served(log, tmp_path)
    found = {name: get(world, where + name, 503)["detail"] for name in ("far", "off", "nobody")}
    assert found["far"].startswith("far answers for its tasks' lines to far-away only")
    assert found["off"].startswith(f"off on {HERE} does not answer for its tasks' lines")
    assert found["nobody"].startswith("nobody has never said where")


def test_an_older_life_is_not_asked(log: SpokenLog, tmp_path: Path) -> None:
    place = container(tmp_path / "elsewhere", "container-1")
    put(place, 1, line(1, "a"))
    lives(log, "container-1", open_door("127.0.0.1", 0, place), epoch=3)
    lives(log, "container-1", DoorAddress("http://127.0.0.1:9", "k"), epoch=2)
    assert get(served(log, tmp_path), "/jobs/clicks/tasks/1/log")["lines"][0]["text"] == "a"


@pytest.mark.parametrize("query", ["tail=0", "tail=1001", "tail=x", f"container={'c' * 129}"])
def test_what_cannot_be_asked(log: SpokenLog, tmp_path: Path, query: str) -> None:
    told = get(served(log, tmp_path), f"/jobs/clicks/tasks/0/log?{query}", 422)
    assert told["place"] == f"query.{query.partition('=')[0]}"


def test_a_log_in_a_file_asks_nobody(log: SpokenLog, tmp_path: Path) -> None:
    """Whoever wrote the file would say where this machine asks."""
    lives(log, "container-0", DoorAddress("http://127.0.0.1:9", "k"))
    world = world_of(log, directory=tmp_path)
    told: Any = get(world, "/jobs/clicks/tasks/0/log", 409)
    assert told["detail"] == (
        "this log lies in a file, and no lines with it; ask the fleet that it is of"
    )
