"""`logs`: where a task is, how it failed last, what it printed; and what to do where that is not to
be had."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.runtime.kafka.intake import Message
from events.generated.records import Generation, TaskStopped
from events.topics import TASKS
from events.wire.codec import Record, headers_of
from projections.shards import shard_of
from tests.unit.turbine.lines import run
from tests.unit.turbine.task_desk import NOW_MS, Desk, Told, printed
from tests.unit.turbine.test_lines_door import HERE
from tests.unit.turbine.test_task_lines import container, line
from turbine.cli.task_logs import WORDS_OF_MANY, WORDS_OF_ONE
from turbine.failures import Code
from turbine.ops import lines_door
from turbine.read.answers.task_words import WORDS_KEPT, TaskWords
from turbine_client.settings import Settings


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path)
    desk.job.words.clear()
    monkeypatch.setattr("turbine.cli.task_logs.open_log", lambda _: desk)
    return desk


def texts(rows: list[dict[str, Any]]) -> list[str]:
    """Kinds of words, texts of lines, in their order."""
    return [row["text"] if row["kind"] == "line" else row["kind"] for row in rows]


# --- what is shown


def test_a_task_says_where_it_is_how_it_failed_and_what_it_printed(desk: Desk) -> None:
    desk.has_tier()
    desk.job.began(1)
    desk.job.now_ms += 10
    desk.job.broke(1)
    printed(
        container(desk.directory, "c1"),
        1,
        "1970-01-01T00:00:01.005Z 1.1 stdout dividing\tby 0\n",
        "1970-01-01T00:00:01.009Z 1.1 stderr ZeroDivisionError: \x1b[31mno\n",
    )
    ended = desk.ask("orders/1")
    assert (ended.code, ended.err) == (Code.OK, "")
    shard = shard_of("orders/1", 1, 4)
    name = desk.tier.grants[shard].container if desk.tier else ""
    failed = (
        "in c1, attempt 2 by operator-error (ZeroDivisionError) - talks failed with"
        " no number - again at 1970-01-01T00:00:02.010Z"
    )
    assert ended.out.splitlines() == [
        "task         orders/1",
        "state        restarting, attempt 2, since 1970-01-01T00:00:01.010Z",
        "container    c1",
        f"shard        {shard} of tier default, held on {name}",
        "generation   2, shard 1",
        f"last error   1970-01-01T00:00:01.010Z {failed}",
        "",
        "1970-01-01T00:00:01.000Z  started in c1, attempt 1",
        "1970-01-01T00:00:01.005Z  stdout  dividing    by 0",
        "1970-01-01T00:00:01.009Z  stderr  ZeroDivisionError: \ufffd[31mno",
        f"1970-01-01T00:00:01.010Z  failed  {failed}",
    ]


def test_the_last_error_is_told_also_of_a_task_that_runs_again(desk: Desk) -> None:
    desk.job.broke(0)
    desk.job.now_ms += 10
    desk.job.began(0, "c2", attempt=3)
    [now, *_] = desk.rows("orders/0")
    assert (now["state"], now["attempt"], now["container"]) == ("running", 3, "c2")
    error = now["last_error"]
    assert (error["at_ms"], error["error_class"], error["retry_ms"]) == (
        NOW_MS,
        "ZeroDivisionError",
        NOW_MS + 1_000,
    )
    assert "last error   1970" in desk.ask("orders/0").out
    [other, *_] = desk.rows("orders/1")
    assert other["last_error"] is None
    assert "last error   -" in desk.ask("orders/1").out


def test_a_job_shows_all_of_its_tasks_and_less_of_each(desk: Desk) -> None:
    place = container(desk.directory, "c1")
    for task in range(2):
        desk.job.began(task)
        printed(place, task, *(line(at, f"{task}:{at}") for at in range(task, 40, 2)))
    desk.job.now_ms += 1
    desk.job.broke(1)
    ended = desk.ask("orders")
    assert (ended.code, ended.err) == (Code.OK, "")
    head, first, second, _, *lines = ended.out.splitlines()
    assert head.split() == [
        "TASK", "STATE", "SINCE", "CONTAINER", "SHARD", "GENERATION", "ATTEMPT", "LAST", "ERROR",
    ]  # fmt: skip
    assert first.split()[:2] == ["orders/0", "running"]
    assert second.endswith("1970-01-01T00:00:01.001Z ZeroDivisionError")
    assert lines[0] == "1970-01-01T00:00:00.030Z  orders/0  stdout  0:30"
    assert texts(desk.rows("orders"))[2:] == [
        *(f"{at % 2}:{at}" for at in range(30, 40)),
        "TaskStarted", "TaskStarted", "TaskFailed",
    ]  # fmt: skip
    assert len(texts(desk.rows("orders", "-n", "2"))) == 2 + 2 * 2 + 3


def test_so_many_words_and_lines_are_shown(desk: Desk) -> None:
    place = container(desk.directory, "c1")
    printed(place, 0, *(line(at, str(at)) for at in range(30)))
    for attempt in range(WORDS_KEPT + 1):
        desk.job.began(0, attempt=attempt)
    rows = desk.rows("orders/0")
    assert [row["text"] for row in rows if row["kind"] == "line"] == list(map(str, range(10, 30)))
    attempts = [row["attempt"] for row in rows if row["kind"] == "TaskStarted"]
    assert attempts == list(range(WORDS_KEPT + 1 - WORDS_OF_ONE, WORDS_KEPT + 1))
    assert texts(desk.rows("orders/0", "-n", "0")) == ["task"] + ["TaskStarted"] * WORDS_OF_ONE
    many = [row for row in desk.rows("orders") if row["kind"] == "TaskStarted"]
    assert len(many) == WORDS_OF_MANY


def test_words_are_kept_up_to_a_bound_and_the_last_failure_beyond_it(desk: Desk) -> None:
    words = TaskWords(0)
    desk.job.broke(0, attempt=7)
    desk.job.began(1)
    for _ in range(WORDS_KEPT):
        desk.job.began(0)
    for one in desk.job.words:
        words(one, True)
    assert words.tasks == {0}, "no other is asked for"
    assert [row["kind"] for row in words.of(0)] == ["TaskStarted"] * WORDS_KEPT
    failure = words.failure(0)
    assert failure is not None
    assert failure["attempt"] == 7
    assert words.failure(1) is None


def test_a_task_that_the_job_has_no_more_is_told_by_its_last_word(desk: Desk) -> None:
    body = TaskStopped("orders", 7, Generation(1, 4), "c1", 1, "plan")
    desk.job.tell(TASKS, body)
    printed(container(desk.directory, "c1"), 7, line(3, "bye"))
    ended = desk.ask("orders/7")
    assert "state        gone by plan, since 1970-01-01T00:00:01.000Z" in ended.out
    assert "generation   1, shard 4" in ended.out
    assert texts(desk.rows("orders/7")) == ["task", "bye", "TaskStopped"]


# --- what is not there


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["views/0"], Code.NOT_FOUND, "there is no job views; `turbine get jobs --deleted` lists"),
        (["orders/2"], Code.NOT_FOUND, "orders has no task 2; it has 2, orders/0 to orders/1"),
        (["orders/x"], Code.USAGE, "'orders/x' is no task; after the slash stands its index, such"),
        (["orders/"], Code.USAGE, "'orders/' is no task; after the slash stands its index, such"),
        (["orders/1/2"], Code.USAGE, "'orders/1/2' is no task; after the slash stands its index"),
        (["orders/1234567890"], Code.USAGE, "'orders/1234567890' is no task; after the slash"),
        (["Orders/0"], Code.USAGE, '"Orders" is no job\'s name; use up to 128 of'),
        (["orders/0", "--timeout", "1s"], Code.USAGE, "--timeout is how long to follow; add --fol"),
        (["orders/0", "-f", "--timeout", "x"], Code.USAGE, "--timeout"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(
    desk: Desk, words: list[str], code: Code, sentence: str
) -> None:
    ended = desk.ask(*words)
    assert ended.code == code, ended
    assert ended.sentence.startswith(sentence)
    assert ended.out == ""


def test_a_job_none_of_whose_tasks_is_to_run(desk: Desk) -> None:
    desk.job = Told()
    desk.job.wants(paused=True)
    ended = desk.ask("orders/0")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == (
        "orders has no task 0: none of its tasks is to run now; `turbine describe job orders`"
        " tells why"
    )
    ended = desk.ask("orders")
    assert (ended.code, ended.out) == (Code.OK, "")
    assert ended.err == "orders has no tasks now; `turbine describe job orders` tells why\n"


def test_a_directory_that_is_not_there(desk: Desk) -> None:
    ended = run("logs", "orders/0", "--directory", str(desk.directory / "no"))
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith("--directory: there is no ")


def never_ran(desk: Desk) -> None:
    """Tasks that are to run, of which nobody has heard."""
    desk.job = Told()
    desk.job.wants(tasks=2)
    desk.job.decide()
    desk.job.lists(2, 2)


def test_a_task_that_never_ran_and_has_no_tier(desk: Desk) -> None:
    never_ran(desk)
    ended = desk.ask("orders/0")
    assert "state        waiting\n" in ended.out
    assert ended.err == (
        "orders/0: has not run yet, for there is no tier default; see `turbine tier create"
        " --help`\n"
    )


def test_a_task_that_never_ran_says_where_its_shard_is(desk: Desk) -> None:
    never_ran(desk)
    desk.has_tier()
    assert desk.tier is not None
    told = []
    for task in range(2):
        shard = shard_of(f"orders/{task}", 1, 4)
        name = desk.tier.grants[shard].container
        told.append(
            f"orders/{task}: has not run yet; its shard is held by {name}: `turbine why shard"
            f" {shard} --tier default` tells more"
        )
    assert sorted(desk.ask("orders").err.splitlines()) == sorted(told)


def test_a_task_that_no_region_of_the_tier_may_run(desk: Desk) -> None:
    desk.job = Told()
    desk.job.wants(allowed_regions=["mars"])
    desk.job.decide()
    desk.job.lists(2, 2)
    desk.has_tier()
    assert desk.ask("orders/0").err == (
        "orders/0: has not run yet, for tier default has none of its allowed_regions; it has"
        " local\n"
    )


def test_a_task_that_has_printed_nothing(desk: Desk) -> None:
    container(desk.directory, "c1")
    desk.job.began(0)
    assert desk.ask("orders/0").err == "orders/0: has printed nothing in c1\n"


@pytest.mark.parametrize(("off_ms", "looks"), [(50, 1), (10**9, 1)])
def test_a_task_on_another_machine_says_which(desk: Desk, off_ms: int, looks: int) -> None:
    """Also where the clock stood still, so that the start is not where the ticks tell."""
    desk.has_tier()
    desk.began_on("an-older-one", "c1", 1)
    desk.began_on("far-away", "c1", 10_000_000 + off_ms)
    desk.began_on("elsewhere", "c2", 10_000_000)
    for task in range(2):
        desk.job.began(task)
    ended = desk.ask("orders")
    assert ended.code == Code.OK
    assert ended.err == (
        "orders/0, orders/1: what it prints is with container c1 on far-away, and not in"
        f" {desk.directory}; run `turbine logs` there, or name the fleet's directory with"
        " --directory\n"
    )
    assert desk.looked == looks, "once for a container"


def test_a_task_on_a_machine_that_nobody_knows(desk: Desk) -> None:
    desk.job.began(0)
    assert "container c1 on a host that nobody knows" in desk.ask("orders/0").err
    desk.has_tier()
    assert "container c1 on a host that nobody knows" in desk.ask("orders/0").err


def test_of_many_tasks_the_first_are_named(desk: Desk) -> None:
    container(desk.directory, "c1")
    desk.job = Told()
    desk.job.wants(tasks=7)
    desk.job.decide()
    desk.job.lists(2, 7)
    for task in range(7):
        desk.job.began(task)
    assert desk.ask("orders").err == (
        "orders/0, orders/1, orders/2, orders/3, orders/4 and 2 more: has printed nothing in c1\n"
    )


# --- following


LOOKS = 3


class Follows:
    """Stands in for a reader of the log: at each look something happens."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.looks, self.closed = desk, 0, False
        self.start: Mapping[str, int] = {}

    def __call__(self, _: Settings, start: Mapping[str, int]) -> Follows:
        self.start = start
        return self

    def poll(self, wait_s: float) -> list[Message]:
        assert wait_s > 0
        self.looks += 1
        if self.looks <= LOOKS:
            place = self.desk.directory / "containers" / "c1"
            printed(place, 0, line(self.looks, f"look {self.looks}"))
        if self.looks == 1:
            self.desk.job.broke(0)
            self.desk.job.broke(1)
            return [message(one.record, at) for at, one in enumerate(self.desk.job.words[-2:])]
        return []

    def close(self) -> None:
        self.closed = True


def message(record: Record, offset: int) -> Message:
    headers = headers_of(record, TASKS)
    return Message(TASKS, 0, offset, NOW_MS, record.key.encode(), record.value, headers)


def test_what_comes_is_followed_until_the_time_is_over(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    follows = Follows(desk)
    monkeypatch.setattr("turbine.cli.task_logs.Follower", follows)
    desk.job.began(0)
    printed(container(desk.directory, "c1"), 0, line(0, "before"))
    now, before, began, *came = desk.rows("orders/0", "-f", "--timeout", "500ms")
    assert (now["kind"], before["text"], began["kind"]) == ("task", "before", "TaskStarted")
    assert texts(came) == ["TaskFailed", *(f"look {at}" for at in range(1, LOOKS + 1))]
    assert {row["task"] for row in came} == {0}, "and not the other task's"
    assert follows.start == {f"{TASKS}/0": 1}
    assert follows.closed


# --- containers elsewhere


def test_a_container_elsewhere_is_asked(desk: Desk, tmp_path: Path) -> None:
    place = container(tmp_path / "elsewhere", "c1")
    printed(place, 0, line(1, "a"), line(2, "b\x1b[31m"))
    desk.has_tier()
    desk.began_on(HERE, "c1", 10_000_000, lines_door.open_door("127.0.0.1", 0, place))
    for task in range(2):
        desk.job.began(task)
    ended = desk.ask("orders/0", "-n", "1")
    assert (ended.code, ended.err) == (Code.OK, "")
    assert "stdout  b" in ended.out
    assert "stdout  a" not in ended.out
    assert "\x1b" not in ended.out
    rows = desk.rows("orders")
    assert [row["text"] for row in rows if row["kind"] == "line"] == ["a", "b\x1b[31m"]
    assert desk.ask("orders").err == "orders/1: has printed nothing in c1\n"


def test_of_one_that_is_dead_the_traceback_is_shown_and_why_no_more(desk: Desk) -> None:
    desk.has_tier()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    desk.began_on(HERE, "c1", 10_000_000, lines_door.DoorAddress(url, "k"))
    for task in range(2):
        desk.job.began(task)
    desk.job.broke(0, traceback="Traceback\n  File x\nZeroDivisionError: \x1b[31mno")
    ended = desk.ask("orders/0")
    assert ended.code == Code.OK
    assert "\n    Traceback\n      File x\n    ZeroDivisionError: " in ended.out
    assert "\x1b" not in ended.out
    assert ended.err.startswith(f"orders/0: what it prints is with container c1 on {HERE}, and not")
    assert f"; c1 does not answer at {url} (" in ended.err
    assert desk.rows("orders/0")[0]["last_error"]["traceback"].startswith("Traceback\n")
    assert "    Traceback" not in desk.ask("orders").out, "of all tasks a line each"
