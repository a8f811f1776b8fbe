"""`turbine logs` of tasks in a real Spark: what they print wherever they run, and how one fails."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet
from components.runtime.process.loop import StopSignal
from infra.waiting import until
from tasks.core.traces import TRACE_BYTES
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.lines import Ended, run
from turbine.api.app import make_app
from turbine.api.server import Serving, opened
from turbine.failures import Code

pytestmark = [pytest.mark.broker, pytest.mark.slow]

NAME = "solo"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkFleet]:
    with spark_fleet([NAME], {"numbers": 2, "quotients": 2}, per_mille=250, heap_mb=640) as one:
        config = config_of("numbers", 2, "quotients", 2, tmp_path_factory.mktemp("checkpoints"))
        talks = {
            "schedule": {"batch_interval_ms": 100},
            "operator": "tests.integration.talking:run",
        }
        one.submit("talks", {**config, **talks})
        source = Producer({"bootstrap.servers": one.site.settings.bootstrap})
        source.produce("numbers", b"5", partition=0)
        source.produce("numbers", b"0", partition=1)
        assert source.flush(30) == 0
        yield one


@pytest.fixture(autouse=True)
def _here(fleet: SparkFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests, but for the broker."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", fleet.site.settings.bootstrap)


def logs(fleet: SparkFleet, *line: str) -> Ended:
    ended = run("logs", *line, "--directory", str(fleet.places / NAME))
    assert ended.code == Code.OK, ended
    return ended


def rows_of(fleet: SparkFleet, *line: str) -> list[dict[str, Any]]:
    return [json.loads(one) for one in logs(fleet, *line, "-o", "json").out.splitlines()]


def texts(rows: list[dict[str, Any]], stream: str) -> set[str]:
    return {row["text"] for row in rows if row["kind"] == "line" and row["stream"] == stream}


PRINTED = {"stdout", "log", "stderr", "worker", "end"}


def kept(fleet: SparkFleet, said: str) -> set[str]:
    """Which of all that talks/1 has to say lie in its files."""
    rows = rows_of(fleet, "talks/1", "-n", "1000")
    found = {
        "stdout": {"building talks/1", "talks/1 divides by 0"} <= texts(rows, "stdout"),
        "log": "INFO talking: thinking for talks/1" in texts(rows, "log"),
        "worker": "INFO talking.worker: in a worker of talks/1" in texts(rows, "log"),
        "stderr": said in texts(rows, "stderr"),
        "end": any(row["kind"] == "line" and row["text"].startswith("failed: ") for row in rows),
    }
    return {name for name, there in found.items() if there}


def test_a_task_that_prints_and_then_fails(fleet: SparkFleet) -> None:
    def failed() -> bool:
        return rows_of(fleet, "talks/1")[0]["last_error"] is not None

    until(failed, "it fails", 60, 0.5)
    said = "ZeroDivisionError: integer division or modulo by zero"
    # Its failure is in the log once it is known, and what it printed in a file a little later.
    until(lambda: kept(fleet, said) == PRINTED, "what it printed lies there", 60, 0.5)
    now, *rows = rows_of(fleet, "talks/1", "-n", "1000")
    assert (now["name"], now["container"], now["shard_container"]) == ("talks/1", NAME, NAME)
    error = now["last_error"]
    assert (error["cause"], error["container"]) == ("operator-error", NAME)
    assert (error["error_class"], error["explanation"]) == ("ZeroDivisionError", said)
    assert error["retry_ms"] > error["at_ms"]
    assert {"building talks/1", "talks/1 divides by 0"} <= texts(rows, "stdout")
    assert {
        "INFO talking: thinking for talks/1",
        "INFO talking.worker: in a worker of talks/1",
    } <= texts(rows, "log")
    assert any("old ways of talks/1" in one for one in texts(rows, "stderr"))
    assert said in texts(rows, "stderr")
    lines = [row for row in rows if row["kind"] == "line"]
    assert {row["container"] for row in lines} == {NAME}
    first = [row for row in lines if row["run"] == lines[0]["run"]]
    assert first[0]["text"].startswith("starts, generation ")
    assert first[-1]["text"] == f"failed: operator-error: {said}"
    shown = logs(fleet, "talks/1").out
    assert "\nlast error   " in shown
    assert f"by operator-error - {said} - again at " in shown.partition("\n\n")[0]


def test_two_tasks_of_one_jvm_do_not_mix(fleet: SparkFleet) -> None:
    until(
        lambda: "talks/0 divides by 5" in texts(rows_of(fleet, "talks/0", "-n", "1000"), "stdout"),
        "the other works",
        60,
        0.5,
    )
    until(lambda: rows_of(fleet, "talks/1")[0]["last_error"], "the one fails", 60, 0.5)
    for mine, other in (("talks/0", "talks/1"), ("talks/1", "talks/0")):
        own = [row["text"] for row in rows_of(fleet, mine, "-n", "1000") if row["kind"] == "line"]
        assert any(mine in one for one in own)
        assert not [one for one in own if other in one]
    assert {row["name"] for row in rows_of(fleet, "talks")} == {"talks/0", "talks/1"}


def test_what_comes_is_followed(fleet: SparkFleet) -> None:
    """The task that fails is started again and again."""
    until(lambda: rows_of(fleet, "talks/1")[0]["last_error"], "it fails", 60, 0.5)
    seen = {json.dumps(row) for row in rows_of(fleet, "talks/1", "-n", "1000")}
    wanted = {"stdout", "stderr", "TaskStarted", "TaskFailed"}

    def came() -> bool:
        for row in rows_of(fleet, "talks/1", "-n", "0", "-f", "--timeout", "3s"):
            if json.dumps(row) not in seen:
                wanted.discard(row["stream"] if row["kind"] == "line" else row["kind"])
        return not wanted

    until(came, "all kinds of lines come", 60)


def test_from_elsewhere_its_container_is_asked(fleet: SparkFleet, tmp_path: Path) -> None:
    """With the files of nobody at hand, from what the log tells of the container."""
    until(lambda: rows_of(fleet, "talks/1")[0]["last_error"], "it fails", 60, 0.5)
    ended = run("logs", "talks/1", "--directory", str(tmp_path), "-n", "1000", "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    rows = [json.loads(one) for one in ended.out.splitlines()]
    assert {"building talks/1", "talks/1 divides by 0"} <= texts(rows, "stdout")
    assert {row["container"] for row in rows if row["kind"] == "line"} == {NAME}
    trace = rows[0]["last_error"]["traceback"]
    assert "Traceback (most recent call last):" in trace
    assert "talking.py" in trace
    assert len(trace.encode()) <= TRACE_BYTES
    assert run("logs", "talks/7", "--directory", str(tmp_path)).code == Code.NOT_FOUND


def test_the_api_tells_the_same_and_of_a_dead_container_the_traceback(
    fleet: SparkFleet, tmp_path: Path
) -> None:
    """The last test: its container is dead afterwards."""
    until(lambda: rows_of(fleet, "talks/1")[0]["last_error"], "it fails", 60, 0.5)
    settings = replace(fleet.site.settings, directory=tmp_path)  # no place of a container is here
    with opened(settings, Serving(port=0), StopSignal()) as (desk, rules):
        app = make_app(desk, rules)

        def get(target: str) -> tuple[int, Any]:
            found = ask(app, "GET", f"/api/v1/jobs/talks/tasks/1{target}")
            return found.status, found.json()

        until(lambda: get("")[1].get("last_failure"), "the view knows that it failed", 60, 0.5)
        status, told = get("/log?tail=1000")
        assert (status, told["container"], told["host"]) == (200, NAME, os.uname().nodename)
        assert "talks/1 divides by 0" in {one["text"] for one in told["lines"]}
        fleet.site.processes[NAME].abandon()
        assert fleet.site.processes[NAME].kill()
        until(lambda: get("/log")[0] == 503, "nobody answers", 60, 0.5)
        assert get("/log")[1]["detail"].startswith(f"{NAME} does not answer at http://127.0.0.1:")
        status, told = get("")
        assert status == 200
        last = told["last_failure"]
        assert (last["error_class"], last["container"]) == ("ZeroDivisionError", NAME)
        assert "ZeroDivisionError: integer division or modulo by zero" in last["traceback"]
    ended = run("logs", "talks/1", "--directory", str(tmp_path))
    assert ended.code == Code.OK
    assert "    Traceback (most recent call last):" in ended.out
    assert f"talks/1: what it prints is with container {NAME} on " in ended.err
