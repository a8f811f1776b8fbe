"""`get lag`: what is left to read, what nobody knows, which reports count, and in which order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from events.generated.records import (
    Body,
    Generation,
    InputPartitions,
    PartitionLag,
    TaskLoadReported,
    TaskSpec,
    TaskSpecsPublished,
    TaskStarted,
)
from events.topics import LOADS, TASKS
from events.wire.codec import Read, Record, encode
from projections import lists
from projections.jobs import Job, LayerState
from projections.syncs import Sync
from tests.unit.state_syncer.fleet import Fleet
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine.read.answers import lag
from turbine.read.answers.lag import shares_of
from turbine.read.state.notes import FRESH_MS, UNLOADED, Notes, loaded
from turbine.read.state.view import JobView, View
from turbine_client.settings import Settings

COUNTS = {"clicks": 4, "views": 2}
NOW = 10**15
BASE = Fleet().runs().row.versions


def read_of(body: Body, *, job: str = "orders", topic: str = "journal.v1", at_ms: int = 7) -> Read:
    record = Record(job, "r", type(body).__name__, encode(body), body)
    return Read(f"{topic}/0", topic, 0, at_ms, record)


def specs(generation: int, *owned: tuple[int, ...], topic: str = "clicks") -> TaskSpecsPublished:
    """A list in one part: the partitions of each task."""
    return TaskSpecsPublished(
        job="orders",
        plan_id="p",
        generation=generation,
        part=1,
        parts=1,
        tasks=len(owned),
        versions=Fleet().row.versions,
        tier="default",
        operator="a:b",
        guarantee="exactly_once",
        specs=tuple(
            TaskSpec(task, (), (InputPartitions(topic, numbers),) if numbers else (), "/c")
            for task, numbers in enumerate(owned)
        ),
    )


def report(task: int, *, specs: int = 2, shard: int = 1, count: int = 1, **more: Any) -> Body:
    known: dict[str, Any] = {"records_in_per_s": 10.0, "lag_bytes": 500, "lag_ms": 40}
    return TaskLoadReported(
        job="orders",
        task=task,
        generation=Generation(specs, shard),
        epoch=1,
        count=count,
        window_ms=60_000,
        bytes_in_per_s=0.0,
        records_out_per_s=0.0,
        bytes_out_per_s=0.0,
        **known | more,
    )


ORDERS = Settings().job_group("orders")


@dataclass(slots=True)
class FakeLog:
    """Stands in for a Log of one job that runs, `orders`, and for what its broker tells."""

    fleet: Fleet = field(default_factory=lambda: Fleet().runs())
    owned: tuple[tuple[int, ...], ...] = ((0, 1), (2, 3))
    reports: list[Read] = field(default_factory=list)
    others: dict[str, Sync] = field(default_factory=dict)
    committed: dict[str, dict[tuple[str, int], int]] = field(default_factory=dict)
    ends: dict[tuple[str, int], int] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    source: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(at_hand=False))

    def view(self, *_: object) -> View:
        """What the log says: also of `orphans`, that nobody has planned yet."""
        notes, reports = Notes(lists.fold(None, read_of(specs(2, *self.owned)))), UNLOADED
        for read in self.reports:
            reports = loaded(reports, read)
        syncs = {"orders": self.fleet.row} | self.others
        jobs = {
            name: JobView(
                job_of(name, sync), sync, notes, reports if name == "orders" else UNLOADED
            )
            for name, sync in syncs.items()
        }
        orphan = JobView(job_of("orphans", Sync("orphans", alive=True, versions=BASE)))
        return View({}, now_ms=NOW, jobs=jobs | {"orphans": orphan})

    def load(self, body: Body, at_ms: int = NOW) -> None:
        self.reports.append(read_of(body, topic=LOADS, at_ms=at_ms))

    def serve(self, monkeypatch: pytest.MonkeyPatch) -> FakeLog:
        def committed_of(_: Settings, spots: Mapping[str, Any]) -> dict[str, Any]:
            return {group: self.committed.get(group, {}) for group in spots}

        def ends_of(_: Settings, spots: set[tuple[str, int]]) -> dict[tuple[str, int], int]:
            self.asked = sorted(spots)
            return {at: end for at, end in self.ends.items() if at in spots}

        monkeypatch.setattr("turbine.cli.syncs.open_log", lambda _: self)
        monkeypatch.setattr("turbine.cli.syncs.jobs_view", self.view)
        monkeypatch.setattr(lag, "counts_of", lambda _: COUNTS)
        monkeypatch.setattr(lag, "committed_of", committed_of)
        monkeypatch.setattr(lag, "ends_of", ends_of)
        return self


def job_of(name: str, sync: Sync) -> Job:
    """Of the base layer alone."""
    layers = (LayerState(sync.versions.base), LayerState(), LayerState(), LayerState())
    return Job(name, sync.alive, layers)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> FakeLog:
    fake = FakeLog().serve(monkeypatch)
    fake.ends = {("clicks", number): 100 for number in range(4)}
    fake.committed[ORDERS] = {("clicks", number): 100 - 10 * number for number in range(4)}
    return fake


def told(*line: str) -> Any:
    ended = run("get", "lag", *line, "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return json.loads(ended.out)


# --- what is left to read


def test_a_jobs_lag_is_the_sum_over_its_partitions(log: FakeLog) -> None:
    [row] = told()
    assert (row["job"], row["state"], row["tasks"], row["running"]) == ("orders", "running", 2, 2)
    assert (row["lag_records"], row["partitions"], row["unknown_partitions"]) == (60, 4, 0)
    assert [row[name] for name in ("lag_bytes", "lag_ms", "busy_share", "reported_ms")] == [
        None
    ] * 4


def test_by_task_and_by_partition_the_worst_stand_first(log: FakeLog) -> None:
    rows = told("orders", "--by", "task")
    assert [(row["name"], row["lag_records"]) for row in rows] == [
        ("orders/1", 50),
        ("orders/0", 10),
    ]
    rows = told("--by", "partition")
    assert [(row["name"], row["task"], row["lag_records"]) for row in rows] == [
        ("orders:clicks/3", 1, 30),
        ("orders:clicks/2", 1, 20),
        ("orders:clicks/1", 0, 10),
        ("orders:clicks/0", 0, 0),
    ]
    assert (rows[0]["committed"], rows[0]["end"]) == (70, 100)


def test_what_is_not_committed_is_unknown_and_not_0(log: FakeLog) -> None:
    del log.committed[ORDERS]["clicks", 0]
    [row] = told()
    assert (row["lag_records"], row["lag_records_min"], row["unknown_partitions"]) == (None, 60, 1)
    by_task = {row["task"]: row["lag_records"] for row in told("--by", "task")}
    assert by_task == {0: None, 1: 50}
    log.committed.clear()
    line = run("get", "lag").out.splitlines()[1].split()
    assert line[:4] == ["orders", "running", "2/2", "-"]
    assert {row["lag_records"] for row in told("--by", "partition")} == {None}


def test_of_a_topic_that_is_gone_the_lag_is_unknown_and_nobody_asks(log: FakeLog) -> None:
    log.owned = ((0, 9),)
    log.committed[ORDERS]["clicks", 9] = 5
    [row] = told()
    assert (row["lag_records"], row["unknown_partitions"]) == (None, 1)
    assert log.asked == [("clicks", 0)]


def test_a_task_without_partitions_has_nothing_to_read(log: FakeLog) -> None:
    log.owned = ((0, 1, 2, 3), ())
    assert {row["task"]: row["lag_records"] for row in told("--by", "task")} == {0: 60, 1: 0}


def test_a_reader_that_is_beyond_the_end_has_read_all(log: FakeLog) -> None:
    log.committed[ORDERS]["clicks", 3] = 107
    rows = {row["partition"]: row["lag_records"] for row in told("--by", "partition")}
    assert rows[3] == 0


# --- whose partitions


def test_of_a_job_whose_tasks_must_not_run_the_inputs_are_those_of_its_config(log: FakeLog) -> None:
    log.owned = ()
    assert log.fleet.row.running is not None
    log.fleet.lists(3, 0)
    [row] = told("--by", "task")
    assert (row["name"], row["task"], row["lag_records"]) == ("orders/-", None, 60)


def test_inputs_have_as_many_partitions_as_the_config_or_the_broker_says() -> None:
    sync = Sync(
        "orders", expected_json='{"inputs":[{"topic":"clicks","partitions":2},{"topic":"views"}]}'
    )
    assert shares_of(JobView(Job("orders"), sync), COUNTS) == [
        (None, "clicks", 0),
        (None, "clicks", 1),
        (None, "views", 0),
        (None, "views", 1),
    ]
    assert shares_of(JobView(Job("orders"), Sync("orders")), COUNTS) == []


# --- what tasks report


def test_reports_of_all_tasks_make_a_jobs(log: FakeLog) -> None:
    log.load(report(0, busy_share=0.25), at_ms=NOW + 5)
    assert told()[0]["lag_bytes"] is None, "one of two tasks has told nothing"
    log.load(report(1, busy_share=0.75, lag_ms=90))
    [row] = told()
    assert (row["lag_bytes"], row["lag_ms"]) == (1_000, 90)
    assert (row["records_in_per_s"], row["busy_share"], row["reported_ms"]) == (20.0, 0.75, NOW)
    assert {row["task"]: row["lag_ms"] for row in told("--by", "task")} == {0: 40, 1: 90}
    shown = run("get", "lag").out.splitlines()
    assert shown[0].split() == [
        "JOB", "STATE", "TASKS", "LAG", "BYTES", "TIME", "IN", "BUSY", "PARTITIONS", "UNKNOWN",
    ]  # fmt: skip
    assert shown[1].split() == [
        "orders", "running", "2/2", "60", "1", "kB", "90", "ms", "20.0/s", "75", "%", "4", "-",
    ]  # fmt: skip


def test_what_a_task_does_not_know_is_not_0(log: FakeLog) -> None:
    for task in range(2):
        log.load(report(task, lag_bytes=None if task else 5))
    [row] = told()
    assert (row["lag_bytes"], row["lag_ms"], row["busy_share"]) == (None, 40, None)


def test_a_partition_has_what_was_told_of_it(log: FakeLog) -> None:
    log.load(report(1, partitions=(PartitionLag("clicks", 3, 30, 3_000, 60, 12.5),)))
    rows = {row["partition"]: row for row in told("--by", "partition")}
    assert (rows[3]["lag_bytes"], rows[3]["lag_ms"]) == (3_000, 60)
    assert (rows[2]["lag_bytes"], rows[2]["lag_ms"]) == (None, None)
    assert (rows[0]["lag_bytes"], rows[0]["lag_ms"]) == (0, 0), "all of it is read"
    assert {at: row["records_in_per_s"] for at, row in rows.items()} == {
        0: None,
        1: None,
        2: None,
        3: 12.5,
    }, "what was not told is not 0"
    shown = run("get", "lag", "--by", "partition").out.splitlines()
    assert shown[0].split()[-2:] == ["TIME", "IN"]
    assert shown[1].split()[-3:] == ["60", "ms", "12.5/s"]
    assert shown[2].split()[-1] == "-"


def test_who_has_caught_up_since_the_report_has_no_bytes_and_no_time_left(log: FakeLog) -> None:
    log.load(report(0, checkpoint_age_ms=5))
    log.load(report(1, checkpoint_age_ms=9))
    log.committed[ORDERS] = dict(log.ends)
    [row] = told()
    assert (row["lag_records"], row["lag_bytes"], row["lag_ms"]) == (0, 0, 0)
    assert row["checkpoint_age_ms"] == 9
    assert {(row["lag_bytes"], row["lag_ms"]) for row in told("--by", "task")} == {(0, 0)}
    wide = run("get", "lag", "-o", "wide").out.splitlines()
    assert wide[0].split()[-2:] == ["CHECKPOINT", "REPORTED"]
    assert " 9 ms " in wide[1]


def test_an_old_report_says_nothing_about_now(log: FakeLog) -> None:
    log.load(report(0), at_ms=NOW - FRESH_MS - 1)
    log.load(report(1), at_ms=NOW - FRESH_MS)
    by_task = {row["task"]: row["lag_ms"] for row in told("--by", "task")}
    assert by_task == {0: None, 1: 40}


@pytest.mark.parametrize(
    ("bodies", "lag_ms"),
    [
        ([report(0, count=2, lag_ms=2), report(0, count=1, lag_ms=1)], 2),
        ([report(0, shard=2, lag_ms=2), report(0, shard=1, count=9, lag_ms=1)], 2),
        ([report(0, specs=1, lag_ms=1)], None),
        ([report(0, specs=3, lag_ms=1)], None),
        ([], None),
    ],
)
def test_the_newest_report_under_the_current_generation_counts(
    log: FakeLog, bodies: list[Body], lag_ms: int | None
) -> None:
    for body in bodies:
        log.load(body)
    assert {row["task"]: row["lag_ms"] for row in told("--by", "task")}[0] == lag_ms


def test_a_report_of_an_owner_who_has_a_successor_does_not_count(log: FakeLog) -> None:
    log.load(report(0, shard=1))
    assert told("--by", "task")[1]["lag_ms"] == 40
    log.fleet.tell(TASKS, TaskStarted("orders", 0, Generation(2, 2), "c2", 1))
    assert told("--by", "task")[1]["lag_ms"] is None


# --- which jobs, and in which order


def test_jobs_stand_the_worst_first_and_unknown_ones_before_those_that_are_known(
    log: FakeLog,
) -> None:
    for name, left in (("far", 70), ("near", 1), ("lost", None), ("done", 0)):
        log.others[name] = log.fleet.row._replace(name=name)
        if left is not None:
            first = {("clicks", 0): 100 - left}
            rest = {("clicks", number): 100 for number in range(1, 4)}
            log.committed[Settings().job_group(name)] = first | rest
    assert [row["job"] for row in told()] == ["far", "orders", "near", "lost", "done"]
    assert run("get", "lag", "-o", "name").out.split() == ["far", "orders", "near", "lost", "done"]
    assert [row["job"] for row in told("near", "far")] == ["far", "near"]


def test_no_jobs_at_all(log: FakeLog) -> None:
    log.fleet = Fleet()
    ended = run("get", "lag")
    assert ended == Ended(
        0, "", "there are no jobs that read anything; `turbine apply` makes one\n"
    )
    assert told() == []


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("gone", Code.NOT_FOUND, "there is no job gone; `turbine get jobs --deleted` lists all"),
        ("ordres", Code.NOT_FOUND, "there is no job ordres, perhaps orders; "),
        ("orphan", Code.NOT_FOUND, "there is no job orphan, perhaps orphans; "),
        ("orders gone", Code.NOT_FOUND, "there is no job gone; "),
        ("Orders", Code.USAGE, '"Orders" is no job\'s name; use up to 128 of'),
        ("--at yesterday", Code.USAGE, "--at: 'yesterday' is neither a time nor a position; "),
        ("--by shard", Code.USAGE, "Invalid value for '--by': "),
    ],
)
def test_what_is_refused(log: FakeLog, line: str, code: Code, sentence: str) -> None:
    ended = run("get", "lag", *line.split())
    assert (ended.code, ended.out) == (code, "")
    assert ended.sentence.startswith(sentence)


def test_a_job_without_any_partition_known_has_no_lag(log: FakeLog) -> None:
    log.others["new"] = log.fleet.row._replace(name="new", listed=None, running=None)
    log.owned = ()
    [row] = [row for row in told() if row["job"] == "new"]
    assert (row["lag_records"], row["lag_bytes"], row["lag_ms"]) == (None, None, None)
