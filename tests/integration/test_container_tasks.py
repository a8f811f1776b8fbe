"""Tasks of the process engine on a real broker: claims, fences, and what they begin again with."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.spark_fleet import children
from components.task_manager.engine import EngineProcess
from components.task_manager.place import hold
from infra.waiting import until
from tasks.core.claims import Claim, claim_of
from tasks.core.protocol import (
    FAILED,
    FENCED,
    STOPPED,
    Ended,
    Event,
    Left,
    RunLoads,
    Started,
    WorkOrder,
)
from tasks.deadline import Deadline, own_ms
from tests.integration.conftest import SharedBroker
from turbine_client.settings import Settings

pytestmark = [pytest.mark.broker]

JOB, SOURCE, SINK, PARTITIONS = "ledger", "payments", "ledgers", 2
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Bench:
    """One engine, one input of two partitions, and all that was said."""

    engine: EngineProcess
    deadline: Deadline
    source: Producer
    sink: Consumer
    group: Consumer
    events: list[Event] = field(default_factory=list)
    runs: int = 0
    fed: int = 0
    out: int = 0

    def start(
        self,
        *argv: str,
        specs: int = 2,
        shard: int = 1,
        topic: str = SOURCE,
        output: str = SINK,
    ) -> int:
        self.runs += 1
        config = {"output": {"topic": output}, "schedule": {"batch_interval_ms": 0}}
        work = WorkOrder(
            run=self.runs,
            job=JOB,
            task=0,
            specs=specs,
            shard=shard,
            shard_number=0,
            container="c1",
            epoch=1,
            operator="a:b",
            guarantee="exactly_once",
            argv=argv,
            inputs=((topic, tuple(range(PARTITIONS))),),
            checkpoint="/c",
            config_json=json.dumps(config),
            memory_bytes=None,
            cpu_cores=None,
            package="p",
            package_version="1",
            threads=1,
        )
        self.engine.start(work)
        return self.runs

    def started(self, run: int) -> Started:
        self.until(lambda: any(_is(Started, run, one) for one in self.events), f"{run} starts")
        return next(one for one in self.events if isinstance(one, Started) and one.run == run)

    def ended(self, run: int) -> Ended:
        self.until(lambda: any(_is(Ended, run, one) for one in self.events), f"{run} ends")
        return next(one for one in self.events if isinstance(one, Ended) and one.run == run)

    def until(self, holds: Callable[[], object], what: str) -> None:
        def heard() -> bool:
            if holds():
                return True
            self.events += self.engine.hear()
            return False

        until(heard, lambda: f"{what}: {self.events}", pause_s=0.01)

    def feed(self, records: int = 100) -> None:
        for at in range(records):
            self.source.produce(SOURCE, b"x", partition=at % PARTITIONS)
        assert self.source.flush(30) == 0
        self.fed += records

    def counted(self) -> int:
        while (message := self.sink.poll(0.02)) is not None:
            assert message.error() is None, message.error()
            self.out += json.loads(message.value() or b"{}")["records"]
        return self.out

    def loads(self) -> RunLoads:
        self.engine.ask_loads()
        seen = len(self.events)
        self.until(lambda: any(isinstance(one, RunLoads) for one in self.events[seen:]), "loads")
        return [one for one in self.events if isinstance(one, RunLoads)][-1]

    def check(self) -> None:
        self.until(lambda: self.counted() >= self.fed, "all is counted")
        assert self.counted() == self.fed

    def claims(self) -> set[Claim | None]:
        spots = [TopicPartition(SOURCE, p) for p in range(PARTITIONS)]
        return {claim_of(one.metadata) for one in self.group.committed(spots, timeout=15)}


def _is(kind: type, run: int, event: Event) -> bool:
    return isinstance(event, kind) and getattr(event, "run", None) == run


@pytest.fixture(scope="module")
def bench(broker: SharedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    client = {"bootstrap.servers": broker.bootstrap}
    admin = AdminClient(client)  # its futures end with it
    topics = [NewTopic(SOURCE, PARTITIONS, 1), NewTopic(SINK, 1, 1)]
    for done in admin.create_topics(topics).values():
        done.result()
    directory: Path = tmp_path_factory.mktemp("place")
    place = hold(directory, "c1")
    deadline = Deadline.create(place.deadline)
    deadline.lease_ms = own_ms() + HOUR_MS
    settings = Settings(broker.bootstrap, "staging")
    engine = EngineProcess("tasks.process_engine.engine", settings, place, deadline)
    sink = Consumer(client | {"group.id": "reader", "isolation.level": "read_committed"})
    sink.assign([TopicPartition(SINK, 0, 0)])
    group = Consumer(client | {"group.id": settings.job_group(JOB), "enable.auto.commit": False})
    yield Bench(engine, deadline, Producer(client), sink, group)
    engine.end()
    sink.close()
    group.close()
    os.close(place.lock)


def test_a_start_claims_before_it_reads(bench: Bench) -> None:
    started = bench.started(bench.start())
    assert [one.offset for one in started.offsets] == [0, 0]
    assert bench.claims() == {Claim(2, 1, 0, "c1", 1)}
    bench.feed()
    bench.check()


def test_a_successor_fences_and_goes_on_where_the_other_came(bench: Bench) -> None:
    before = bench.runs
    started = bench.started(bench.start(shard=2))
    assert [one.offset for one in started.offsets] == [50, 50]
    bench.feed()  # the predecessor finds out when it writes: an idle one speaks to nobody
    ended = bench.ended(before)
    assert (ended.how, ended.error_class) == (FENCED, "_FENCED")
    bench.check()
    assert bench.claims() == {Claim(2, 2, 0, "c1", 1)}


@pytest.mark.parametrize(("specs", "shard"), [(2, 1), (1, 9)])
def test_one_of_an_older_generation_ends_before_it_reads(
    bench: Bench, specs: int, shard: int
) -> None:
    ended = bench.ended(bench.start(specs=specs, shard=shard))
    assert ended.how == FENCED
    said = f"is claimed by generation 2.2 of c1, and this is {specs}.{shard}"
    assert ended.explanation.endswith(said)
    assert bench.claims() == {Claim(2, 2, 0, "c1", 1)}


def test_one_that_is_stopped_tells_how_far_it_came(bench: Bench) -> None:
    run = bench.start(shard=3)
    bench.started(run)
    bench.feed()
    bench.check()
    bench.engine.stop(run)
    ended = bench.ended(run)
    assert ended.how == STOPPED
    assert sum(one.offset for one in ended.offsets) == bench.fed


def test_what_is_left_is_told_by_partition_and_of_one_that_is_held_up_nothing(bench: Bench) -> None:
    run = bench.start(shard=4)
    bench.started(run)
    bench.feed(51)
    bench.check()

    def told(records: int | None) -> bool:
        """So many are left of each partition, and 51 are read in all."""
        parts = (Left(SOURCE, 0, records, read=26), Left(SOURCE, 1, records, read=25))
        return bench.loads().partitions[run] == parts

    bench.until(lambda: told(0), "caught up")
    counts = bench.loads().runs[run]
    assert (counts["records_in"], counts["bytes_in"], counts["lag_records"]) == (51, 51, 0)
    assert counts["checkpoint_age_ms"] is not None
    [pid] = [pid for pid, name in children(bench.engine.pid).items() if name == f"{JOB}/0"]
    os.kill(pid, signal.SIGSTOP)
    try:
        bench.feed()
        bench.until(lambda: told(None), "unknown")
        assert bench.loads().runs[run]["lag_records"] is None
    finally:
        os.kill(pid, signal.SIGCONT)
    bench.check()
    bench.engine.stop(run)
    bench.ended(run)


def test_a_batch_that_fails_is_read_again_by_the_next(bench: Bench) -> None:
    run = bench.start("--fail-after", "10", shard=5)
    bench.started(run)
    bench.feed()
    ended = bench.ended(run)
    assert (ended.how, ended.cause) == (FAILED, "operator-error")
    run = bench.start(shard=6)
    bench.started(run)
    bench.check()
    found = bench.loads()
    assert [one.read for one in found.partitions[run]] == [50, 50], "each record counts once"
    assert found.runs[run]["records_in"] == 100


def test_one_that_does_not_heed_can_only_be_killed(bench: Bench) -> None:
    run = bench.start("--ignore-sigterm", shard=7)
    bench.started(run)
    bench.engine.stop(run)
    bench.feed()
    bench.check()  # it goes on
    bench.engine.kill(run)
    assert bench.ended(run).cause == "killed"


def test_an_input_that_is_not_there_is_a_failure_with_its_name(bench: Bench) -> None:
    ended = bench.ended(bench.start(topic="nowhere", specs=9))
    assert (ended.how, ended.cause) == (FAILED, "input-gone")
    assert ended.explanation.startswith(
        "the broker has no topic nowhere; create it (`turbine topics"
    )


def test_an_output_that_is_not_there_is_one_as_well(bench: Bench) -> None:
    ended = bench.ended(bench.start(output="nowhere", specs=9))
    assert (ended.how, ended.cause) == (FAILED, "output-gone")
    assert ended.explanation.startswith(
        "the broker has no topic nowhere; create it (`turbine topics"
    )


def test_past_the_lease_nothing_is_begun(bench: Bench) -> None:
    """The next start, with a lease, counts what the one without was given."""
    bench.deadline.lease_ms = own_ms()
    run = bench.start(shard=8)
    bench.feed()
    bench.engine.stop(run)
    ended = bench.ended(run)
    assert (ended.how, ended.offsets) == (STOPPED, ())
    assert bench.claims() == {Claim(2, 7, 0, "c1", 1)}
    bench.deadline.lease_ms = own_ms() + HOUR_MS
    bench.started(bench.start(shard=8))
    bench.check()
