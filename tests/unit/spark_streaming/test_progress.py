"""What a query has done, by Spark's words about its batches; and what ended it, in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from spark_streaming.context import BadOperator, OperatorFailed
from spark_streaming.engine import ProcessUse, judged
from spark_streaming.progress import QueryProgress
from spark_streaming.run import summed, threads_of
from spark_streaming.sink import LostCheckpoint

TOPICS = ("views", "clicks")


def batch(number: int, records: int, took_ms: int = 50, **more: Any) -> dict[str, Any]:
    """As Spark tells it; all of them are of the first partition but one, of the last topic."""
    of = [{"item": 0, "count": records - 1}, {"item": 11, "count": 1}]
    return {
        "batchId": number,
        "durationMs": {"triggerExecution": took_ms},
        "observedMetrics": {"read": {"records": records, "bytes": 10 * records, "of": of}},
        **more,
    }


def test_batches_add_up() -> None:
    progress = QueryProgress(TOPICS)
    for one in (batch(0, 3, 40), batch(1, 5, 60)):
        progress.add(one, "read")
    found = progress.counts()
    assert (found["records_in"], found["bytes_in"], found["busy_us"]) == (8, 80, 100_000)
    assert (found["batch_ms_p50"], found["batch_ms_p95"]) == (60, 60)
    assert found["state_rows"] is None, "it keeps none, and nobody said 0"
    assert progress.counts()["batch_ms_p50"] is None, "since the last call"


def test_what_is_read_of_each_partition_adds_up_to_what_is_read() -> None:
    progress = QueryProgress(TOPICS)
    for one in (batch(0, 3), batch(1, 5)):
        progress.add(one, "read")
    assert progress.reads == {("clicks", 0): 6, ("views", 5): 2}
    assert progress.reads.total() == progress.counts()["records_in"]


def test_a_batch_without_input_has_read_nothing() -> None:
    progress = QueryProgress()
    progress.add({"batchId": 0, "durationMs": {}, "observedMetrics": {}}, "read")
    progress.add({"batchId": 0, "durationMs": {}, "observedMetrics": {"read": None}}, "read")
    assert progress.counts()["records_in"] == 0


def test_the_state_of_all_operators_counts() -> None:
    progress = QueryProgress(TOPICS)
    states = [{"numRowsTotal": 2, "memoryUsedBytes": 30}, {"numRowsTotal": 1, "memoryUsedBytes": 4}]
    progress.add(batch(0, 1, stateOperators=states), "read")
    assert progress.counts()["state_rows"] == 3
    assert progress.counts()["state_bytes"] == 34


@pytest.mark.parametrize(
    ("error", "how", "cause"),
    [
        (BadOperator("no such column"), "refused", "operator-error"),
        (OperatorFailed("the table's store is away"), "failed", "operator-error"),
        (LostCheckpoint("batch 2 goes beyond"), "refused", "checkpoint-lost"),
        (PySparkException("Caused by: a UDF"), "failed", "operator-error"),
        (PySparkException("x\nCaused by: OffsetOutOfRange: gone"), "failed", "input-gone"),
        (RuntimeError("what"), "failed", "defect"),
    ],
)
def test_what_cannot_run_is_refused_and_what_broke_is_tried_again(
    error: Exception, how: str, cause: str
) -> None:
    verdict = judged(error)
    assert (verdict.how, verdict.cause) == (how, cause)
    assert verdict.explanation in str(error) or str(error) in verdict.explanation


def test_cpu_is_charged_to_those_who_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([1_000, 1_400, 1_600])
    monkeypatch.setattr(ProcessUse, "_measure_ms", lambda _: next(spent))
    use = ProcessUse(1)
    use.share({1: 30_000, 2: 10_000})
    assert (use.cpu_ms(1), use.cpu_ms(2)) == (300, 100)
    use.share({1: 30_000, 2: 10_000})
    assert (use.cpu_ms(1), use.cpu_ms(2)) == (400, 200), "nobody worked: it is shared evenly"


BURN = "import time; input()\nwhile time.process_time() < 0.5: pass\nprint(flush=True); input()"
PARENT = f"""
import subprocess, sys
subprocess.run([sys.executable, "-u", "-c", {BURN!r}])
print(flush=True); input()
"""


def test_what_the_processes_below_java_use_is_charged_once() -> None:
    """Half a second of a core, of a process below another one: while it lives, and afterwards."""
    command = [sys.executable, "-c", PARENT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as above:
        use = ProcessUse(above.pid)

        def charged_ms() -> int:
            """After what is next."""
            assert above.stdin is not None
            assert above.stdout is not None
            above.stdin.write("\n")
            above.stdin.flush()
            above.stdout.readline()
            use.share({1: 0})
            return use.cpu_ms(1)

        living_ms = charged_ms()
        assert 400 <= living_ms < 1_000
        assert charged_ms() - living_ms < 300
        above.communicate("\n")
    use.share({1: 0})
    assert use.cpu_ms(1) >= living_ms, "what it used is not taken back"


def test_of_several_lines_all_adds_up_but_the_time_of_the_slowest() -> None:
    one = {"records_in": 3, "state_rows": None, "batch_ms_p95": 40}
    other = {"records_in": 4, "state_rows": 2, "batch_ms_p95": None}
    none = {"records_in": 0, "state_rows": None, "batch_ms_p95": None}
    assert summed([one, other]) == {"records_in": 7, "state_rows": 2, "batch_ms_p95": 40}
    assert summed([none])["state_rows"] is None


@pytest.mark.parametrize(
    ("asked", "lines", "pieces"),
    [(1, 1, 1), (3, 1, 3), (4, 1, 4), (5, 1, 4), (1, 3, 1), (5, 3, 1), (6, 3, 2), (1_024, 3, 4)],
)
def test_a_tasks_threads_are_shared_by_its_lines_and_are_no_more_than_cores(
    asked: int, lines: int, pieces: int
) -> None:
    assert threads_of(asked, lines, cores=4) == pieces


def test_what_spark_tells_again_counts_once() -> None:
    told, progress = list[dict[str, Any]](), QueryProgress(TOPICS)
    words = SimpleNamespace(recentProgress=lambda: [Word(one) for one in told])
    query: Any = SimpleNamespace(_jsq=words)
    for number, news in enumerate((1, 2, 3)):
        told += [batch(len(told) + at, 2) for at in range(news)]
        for _ in range(2 + number):
            progress.take(query, "read")
        assert progress.counts()["records_in"] == 2 * len(told)


class Word(dict[str, Any]):
    """What Spark says of a batch."""

    def json(self) -> str:
        return json.dumps(self)
