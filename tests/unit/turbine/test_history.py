"""What is said of a history without Spark: spans, profiles with their ids, and bad inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from events.generated.records import ProfileSlot, WorkloadProfiled
from spark_streaming.history.layout import DAY_MS, BadHistory
from spark_streaming.history.writing import Wrote
from spark_streaming.session import SparkOptions
from tests.unit.turbine.lines import NOWHERE, run
from turbine.cli.history import show_profiles, show_written, to_plain
from turbine.failures import Code
from turbine.ops.history import (
    SLOT_MS,
    ProfileSpan,
    Written,
    place_of,
    reachable,
    sentence_of,
    span_of,
    to_profile,
    to_record,
)
from turbine_client.settings import Settings

NOON_MS = 20_000 * DAY_MS + DAY_MS // 2
SLOT: dict[str, Any] = {
    "slot": 3,
    "days": 14,
    "records_in_per_s_mean": 1.25,
    "records_in_per_s_peak": 2.5,
    "bytes_in_per_s_mean": 10.0,
    "bytes_in_per_s_peak": 20.0,
    "cpu_cores_peak": None,
    "memory_bytes_peak": 7,
}
ROW = {"job": "clicks", "slots": [SLOT]}


@pytest.fixture(autouse=True)
def _nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TURBINE_BOOTSTRAP", "TURBINE_CONFIG", "TURBINE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("more_ms", [0, 1, SLOT_MS - 1])
def test_a_span_is_of_whole_slots(more_ms: int) -> None:
    assert span_of(NOON_MS + more_ms, 14) == ProfileSpan(NOON_MS - 14 * DAY_MS, NOON_MS, SLOT_MS)


def test_a_span_does_not_begin_before_time_does() -> None:
    assert span_of(DAY_MS, 14).from_ms == 0


def test_what_is_unknown_stays_unknown() -> None:
    found = to_profile(ROW, span_of(NOON_MS, 14), "file:/h")
    assert found.slots == (ProfileSlot(**SLOT),)
    assert found.slots[0].cpu_cores_peak is None
    assert (found.job, found.slot_ms, found.source) == ("clicks", SLOT_MS, "file:/h")


def test_the_same_profile_has_the_same_id() -> None:
    def of(row: dict[str, Any], days: int = 14) -> str:
        return to_record(to_profile(row, span_of(NOON_MS, days), "file:/h")).id

    other = {"job": "clicks", "slots": [{**SLOT, "memory_bytes_peak": None}]}
    assert of(ROW) == of(dict(ROW))
    assert len({of(ROW), of(ROW, 13), of(other), of({**ROW, "job": "views"})}) == 4


def test_the_record_is_the_jobs() -> None:
    record = to_record(to_profile(ROW, span_of(NOON_MS, 14), "file:/h"))
    assert (record.key, record.kind, record.parent) == ("clicks", "WorkloadProfiled", "")
    assert isinstance(record.body, WorkloadProfiled)


def test_a_history_lies_beside_the_logs() -> None:
    assert place_of(Settings(directory=Path("/var/t")), None) == "/var/t/history"
    assert place_of(Settings(), None) == str(Path.cwd() / ".turbine" / "history")
    assert place_of(Settings(), "hdfs://h/x") == "hdfs://h/x"


def test_what_a_run_has_written_adds_up() -> None:
    total = Written()
    for one in (Wrote(0, 5, 0, ""), Wrote(1, 0, 2, "no report"), Wrote(2, 1, 0, "")):
        total.add(one)
    assert (total.batches, total.reports, total.unreadable, total.why) == (3, 6, 2, "no report")


def test_workers_of_a_cluster_find_the_driver() -> None:
    assert reachable(SparkOptions((), Path(), master="local[*]")) == {}
    told = reachable(SparkOptions((), Path(), master="spark://m:7077"))
    assert told["spark.driver.bindAddress"] == "0.0.0.0"  # noqa: S104 - what is checked
    assert told["spark.driver.host"]


class Thrown:
    """What Java threw, as Python has it."""

    _target_id = "o1"

    def toString(self) -> str:  # noqa: N802 - Java's own name
        return 'java.io.IOException: No FileSystem for scheme "nosuch"\n\tat a.b(C.java:1)'


class Java(Py4JJavaError):
    """One that was not thrown by a Java that runs."""

    def __init__(self) -> None:
        self.java_exception = Thrown()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            PySparkException("[KAFKA_DATA_LOSS.X] gone\n at org.apache"),
            (
                "reports have expired before they were written, or the topic was made anew;"
                " remove the directory checkpoint of the history, and it goes on with what there is"
                " (reports that it has already count once)"
            ),
        ),
        (PySparkException("[X] broken\n at org.apache"), "Spark failed: [X] broken"),
        (
            Java(),
            (
                "the files of the history cannot be used: java.io.IOException: No FileSystem for"
                ' scheme "nosuch"'
            ),
        ),
        (
            Py4JNetworkError("Answer from Java side is empty"),
            (
                "Spark's Java process is gone; the lines above this one say why (if it was"
                ' memory, give it more by "heap.mb" of the [spark] settings)'
            ),
        ),
        (BadHistory("x is no manifest"), "x is no manifest"),
    ],
)
def test_what_goes_wrong_is_one_sentence(error: Exception, sentence: str) -> None:
    assert sentence_of(error) == sentence


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("history write --every 10ms", Code.USAGE, "--every: 10ms is less than 1s; write more"),
        (
            "history write --every soon",
            Code.USAGE,
            "--every: 'soon' is no span of time; write one such as 90s, 10m or 1h30m",
        ),
        (
            "history compact --directory a*",
            Code.USAGE,
            (
                "--directory: 'a*' cannot be the directory of a history; name one without"
                " * ? [ ] { } \\"
            ),
        ),
        (
            "history profile --to journal.v1/3:4",
            Code.USAGE,
            "--to: journal.v1/3:4 is a position; a history is of days, so write a time",
        ),
        (
            "history profile NO",
            Code.USAGE,
            (
                "\"NO\" is no job's name; use up to 128 of a-z, 0-9, '.', '_', '-', beginning"
                " and ending with a letter or digit"
            ),
        ),
    ],
)
def test_what_cannot_be_asked_for(line: str, code: Code, sentence: str) -> None:
    ended = run("--bootstrap", NOWHERE, *line.split())
    assert (ended.code, ended.sentence) == (code, sentence)


@pytest.mark.parametrize("line", ["write --once", "compact", "profile"])
def test_without_java_it_says_so(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("turbine.cli.options.Chosen.connected", lambda self: self.settings())
    monkeypatch.setattr("turbine.ops.history.partitions_for", lambda *_: 4)
    ended = run("history", *line.split())
    assert ended.code == Code.FAILED
    assert "install a JDK 17 or newer" in ended.sentence


def shown(capsys: pytest.CaptureFixture[str], form: str, *, publish: bool = False) -> str:
    """Of two profiles, one of which says no cores and is known to the log already."""
    rows = []
    for job, cores in (("clicks", None), ("views", 1.5)):
        slots = [SLOT, {**SLOT, "slot": 4, "cpu_cores_peak": cores, "records_in_per_s_mean": 3.75}]
        found = to_profile({"job": job, "slots": slots}, span_of(NOON_MS, 14), "file:/h")
        rows.append(
            to_plain(found, to_record(found), published=job == "views" if publish else None)
        )
    assert show_profiles(iter(rows), form, publish=publish) == 2
    return capsys.readouterr().out


def test_a_table_of_profiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "table", publish=True).splitlines() == [
        "JOB      SLOTS   DAYS   MEAN IN   PEAK IN   PEAK CORES   PUBLISHED",
        "clicks   2       14     2.5       2.5       -            known",
        "views    2       14     2.5       2.5       1.5          new",
    ]


def test_profiles_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "name") == "clicks\nviews\n"
    lines = [json.loads(line) for line in shown(capsys, "jsonl").splitlines()]
    assert lines == json.loads(shown(capsys, "json"))
    assert [one["published"] for one in json.loads(shown(capsys, "json", publish=True))] == [
        False,
        True,
    ]
    assert lines[0].keys() == {"id", "job", "from_ms", "to_ms", "slot_ms", "slots", "source"}


def test_what_was_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    show_written("/h", Written(2, 5, 1, "no report"), "table")
    assert capsys.readouterr().out.splitlines() == [
        "directory    /h",
        "batches      2",
        "reports      5",
        "unreadable   1",
        "why          no report",
    ]
