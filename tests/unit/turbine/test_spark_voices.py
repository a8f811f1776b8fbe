"""Whose words a thread says: tasks of one process do not mix, nor with what nobody says."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.taskcontext import TaskContext

from spark_streaming.stdout import WHOSE, Voices, WorkerVoices, said, tell_workers
from tasks.task_log import LOG, STDERR, STDOUT, PrintedLine, TaskLog, line_of

say = print
"""As users' functions do: it writes a line in several pieces."""


class Desk:
    """The standard streams and the root logger of a process of its own."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.directory, self._patch = directory, patch
        self.out, self.err, self.others = io.StringIO(), io.StringIO(), io.StringIO()
        self.handler = logging.StreamHandler(self.others)

    def install(self, voices: Voices, *, anew: bool = True) -> None:
        """Only now: between fixtures and tests, pytest has streams of its own."""
        if anew:
            self._patch.setattr(sys, "stdout", self.out)
            self._patch.setattr(sys, "stderr", self.err)
        voices.install()

    def log(self, name: str, run: str = "1.1") -> TaskLog:
        return TaskLog(self.directory / name, run)

    def lines(self, name: str) -> list[PrintedLine]:
        texts = (self.directory / name).read_bytes().splitlines()
        return [one for one in map(line_of, texts) if one is not None]

    def said(self, name: str, stream: str = STDOUT) -> list[str]:
        return [one.text for one in self.lines(name) if one.stream == stream]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk, root = Desk(tmp_path, monkeypatch), logging.getLogger()
    before = root.handlers, root.level
    root.handlers = [desk.handler]
    root.setLevel(logging.INFO)
    yield desk
    root.handlers, root.level = before


def test_words_of_two_tasks_and_of_nobody_do_not_mix(desk: Desk) -> None:
    voices, meet = Voices(), threading.Barrier(2, timeout=60)
    desk.install(voices)

    def work(name: str) -> None:
        with voices.of(desk.log(name)):
            for number in range(50):
                say(name, "begins", end=" ")
                meet.wait()  # both are in the middle of a line
                say(number)
                say("trouble", file=sys.stderr)
        say(name, "is done")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for one in threads:
        one.start()
    say("nobody's")
    for one in threads:
        one.join(60)
    for name in ("a", "b"):
        assert desk.said(name) == [f"{name} begins {number}" for number in range(50)]
        assert desk.said(name, STDERR) == ["trouble"] * 50
    assert sorted(desk.out.getvalue().splitlines()) == ["a is done", "b is done", "nobody's"]
    assert desk.err.getvalue() == ""


def test_a_line_that_is_not_ended_is_its_tasks_own(desk: Desk) -> None:
    voices = Voices()
    desk.install(voices)
    with voices.of(desk.log("a")):
        say("outer", end="")
        with voices.of(desk.log("b")):
            say("inner", end="")
        with voices.of(None):
            say("nobody's", end="")
        say("outer again", end="")
    assert desk.said("a") == ["outer", "outer again"]
    assert desk.said("b") == ["inner"]
    assert desk.out.getvalue() == "nobody's"


def test_what_a_task_logs_is_its_own(desk: Desk) -> None:
    voices = Voices()
    desk.install(voices)
    logger = logging.getLogger("talks")
    with voices.of(desk.log("a")):
        logger.info("seen %d of %s", 3, "many")
        logger.debug("not at this level")
        try:
            {}["k"]
        except KeyError:
            logger.exception("a record cannot be read")
    logger.info("nobody's")
    logged = desk.said("a", LOG)
    assert logged[:2] == ["INFO talks: seen 3 of many", "ERROR talks: a record cannot be read"]
    assert logged[2] == "Traceback (most recent call last):"
    assert logged[-1] == "KeyError: 'k'"
    assert desk.others.getvalue() == "nobody's\n"


def test_a_record_that_cannot_be_said_ends_nobody(desk: Desk) -> None:
    voices = Voices()
    desk.install(voices)
    with voices.of(desk.log("a")):
        logging.getLogger("talks").info("%d of many", "three")
        say("it goes on")
    assert desk.said("a") == ["it goes on"]
    assert any("Logging error" in one for one in desk.said("a", STDERR))


def test_an_event_with_fields_is_said_in_one_line() -> None:
    record = logging.LogRecord(
        "seat", logging.WARNING, "f", 1, {"event": "waits", "s": 3}, (), None
    )
    assert said(record) == "WARNING seat: waits s=3"


def test_streams_are_as_standard_ones_are(desk: Desk) -> None:
    voices = Voices()
    desk.install(voices)
    mine = sys.stdout
    desk.install(voices, anew=False)
    assert sys.stdout is mine, "once is enough"
    with voices.of(desk.log("a")):
        assert sys.stdout.write("four") == 4
        sys.stdout.flush()
    assert (sys.stdout.writable(), sys.stdout.encoding, sys.stdout.isatty()) == (
        True,
        "utf-8",
        False,
    )


# --- workers


def works_for(monkeypatch: pytest.MonkeyPatch, whose: str | None) -> None:
    """What Spark tells a worker of the job that it serves now."""
    context = TaskContext()
    context._localProperties = {} if whose is None else {WHOSE: whose}
    monkeypatch.setattr(TaskContext, "_taskContext", context)


def test_a_worker_says_what_it_says_for_whom_spark_tells(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.install(WorkerVoices())
    monkeypatch.setattr(TaskContext, "_taskContext", None)
    say("before any task")
    for turn in range(2):
        for name in ("a b", "c"):
            works_for(monkeypatch, f"2.{turn} {desk.directory / name}")
            say("in", name)
            logging.getLogger("udf").info("turn %d", turn)
    works_for(monkeypatch, None)
    say("another's job")
    works_for(monkeypatch, "")
    say("nobody's job")
    assert [(one.run, one.text) for one in desk.lines("a b")] == [
        ("2.0", "in a b"),
        ("2.0", "INFO udf: turn 0"),
        ("2.1", "in a b"),
        ("2.1", "INFO udf: turn 1"),
    ]
    assert desk.said("c") == ["in c", "in c"]
    assert desk.out.getvalue().splitlines() == [
        "before any task",
        "another's job",
        "nobody's job",
    ]


class Spark:
    """Stands in for a session: what is said to its workers; or Java is gone."""

    def __init__(self, error: Exception | None = None) -> None:
        self.told: list[tuple[str, str]] = []
        self._error = error

    @property
    def sparkContext(self) -> Spark:  # noqa: N802 - as Spark calls it
        return self

    def setLocalProperty(self, name: str, value: str) -> None:  # noqa: N802 - as Spark calls it
        if self._error is not None:
            raise self._error
        self.told.append((name, value))


@pytest.mark.parametrize("error", [Py4JError("gone"), ConnectionRefusedError()])
def test_workers_are_told_for_whom_they_work_while_there_are_any(
    desk: Desk, error: Exception
) -> None:
    spark = Spark()
    tell_workers(spark, desk.log("a"))  # type: ignore[arg-type]  # as much of a session as it takes
    tell_workers(spark, None)  # type: ignore[arg-type]  # the same
    assert spark.told == [(WHOSE, f"1.1 {desk.directory / 'a'}"), (WHOSE, "")]
    tell_workers(Spark(error), None)  # type: ignore[arg-type]  # the same; it hurts nobody
