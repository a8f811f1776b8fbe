"""The publisher dies, is doubled, is fenced and forgets: the world hears all that stands, once."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from components.publisher.agents import GROUP
from components.runtime.core.store import POSITIONS
from events.generated.records import JobConfigRejected
from events.topics import ALERTS, BY_SHORT, JOURNAL, partition_of, place
from events.wire.codec import Record, encode, headers_of
from infra.waiting import WAIT_S, until, within
from tests.integration.changes import Load, all_answered, all_published, published
from tests.integration.hooks import serving
from tests.integration.processes import PARTITIONS, Fleet, fleet_on
from tests.unit.webhooks.receiver import receiving
from turbine.ops.tiers import define
from turbine.read.sources.log import Log
from turbine_client.clients import (
    admin,
    producer,
)
from turbine_client.identity import decision_id
from turbine_client.reading import committed_now, ends_now, read_span

pytestmark = pytest.mark.broker

KILLS = 10
JOBS, EACH = 1_000, 50
PLACES = [place(JOURNAL, p) for p in range(PARTITIONS)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("publisher")) as fleet:
        fleet.start("clock")
        fleet.worker("w0")
        yield fleet


@pytest.fixture
def fleet(shared: Fleet) -> Iterator[Fleet]:
    """The module's broker, clock and worker; the publishers of a test end with it."""
    yield shared
    shared.end("publisher")


def test_a_publisher_is_killed_at_any_moment(fleet: Fleet) -> None:
    chance = random.Random(11)
    with Load(fleet.settings, "killed") as load:
        for _ in range(KILLS):
            # From before it can have connected to long after its first transactions.
            process = fleet.start("publisher")
            time.sleep(chance.uniform(0.3, 2.0))
            assert process.alive, process.text()
            process.kill()
    fleet.publisher()
    all_answered(fleet.settings, load.author.taken)
    all_published(fleet.settings)


def test_a_second_publisher_fences_the_first(fleet: Fleet) -> None:
    one = fleet.publisher()
    with Load(fleet.settings, "fenced") as load:
        until(lambda: load.sent > 50, "load")
        two = fleet.publisher()
        assert one.ends() == 71
        assert "fenced" in one.why()
        at = load.sent
        until(lambda: load.sent > at + 50, "load beside the second")
    assert two.alive
    all_answered(fleet.settings, load.author.taken)
    all_published(fleet.settings)
    assert two.stop() == 0


def test_its_groups_offsets_are_deleted(fleet: Fleet) -> None:
    """The kept rows tell what was published: nobody hears anything twice."""
    first = fleet.publisher()
    with Load(fleet.settings, "forgot") as load:
        until(lambda: load.sent > 50, "load")
    all_answered(fleet.settings, load.author.taken)
    all_published(fleet.settings)
    assert first.stop() == 0
    client, group = admin(fleet.settings), fleet.settings.group(GROUP)

    def forgotten() -> bool:
        # The last transaction was acknowledged, and may still be under way to the group.
        with suppress(KafkaException):  # a group that is gone cannot be deleted again
            client.delete_consumer_groups([group])[group].result(within(WAIT_S))
        return set(committed_now(fleet.settings, group, PLACES).values()) == {0}

    until(forgotten, "the group's offsets are gone")
    fleet.publisher()
    with Load(fleet.settings, "remembers") as load:
        until(lambda: load.sent > 50, "load")
    all_answered(fleet.settings, load.author.taken)
    all_published(fleet.settings)


def test_a_restart_on_a_long_journal_reads_rows_and_not_the_journal(fleet: Fleet) -> None:
    before = sum(map(len, published(fleet.settings).values()))
    _write_journal(fleet)
    first = fleet.publisher()
    end = sum(ends_now(fleet.settings, PLACES).values())  # what other tests had decided, too
    until(lambda: _kept(fleet) >= end, "its rows are kept", pause_s=0.5)
    first.kill()
    assert sum(map(len, published(fleet.settings).values())) == before + JOBS * EACH
    began = time.monotonic()
    second = fleet.publisher()
    took_s = time.monotonic() - began
    [again] = [line for line in second.lines() if line["event"] == "caught up"]
    print(f"restarted in {took_s:.2f} s: {again}")  # noqa: T201 - a figure to read
    assert int(str(again["below"])) >= JOBS * EACH
    assert int(str(again["records"])) < JOBS


def test_a_tier_without_containers_is_told_to_whoever_is_on_call(
    fleet: Fleet, tmp_path: Path
) -> None:
    """From the manager's decision by the publisher to a webhook; and once, whoever is killed."""
    log = Log(fleet.settings)
    tell = '[webhooks.pager]\nsecret_file = "hooks"\ntopics = ["alerts"]\n'
    define(log, "default", 4)
    first = fleet.publisher()
    with receiving() as pager:
        table = f'{tell}url = "{pager.url}"\n'
        with serving(fleet.broker.bootstrap, tmp_path, table):
            began = time.monotonic()
            manager = fleet.start("shard-manager")
            until(lambda: pager.taken, "the pager is told")
            took_s = time.monotonic() - began
    [event] = [one.event for one in pager.taken]
    print(f"told {took_s:.2f} s after its shard manager was started")  # noqa: T201 - a figure to read
    assert (event["type"], event["subject"]) == ("turbine.AlertRaised", "default/placement")
    assert (event["data"]["subject"], event["data"]["alert"]) == ("default", "shards-unplaced")
    first.kill()
    assert manager.stop() == 0
    standing = [one.read.record for one in log.chain("default") if one.stands]
    raised = [record for record in standing if record.kind == "AlertRaised"]
    fleet.publisher()
    with Load(fleet.settings, "told") as load:
        until(lambda: load.sent > 50, "load")
    all_published(fleet.settings)
    reads = log.read([ALERTS], key="default/placement")
    copies = [(one.record.id, one.record.value) for one in reads]
    assert copies == [(record.id, record.value) for record in raised]


def _kept(fleet: Fleet) -> int:
    """Up to where the chains are kept, over all partitions."""
    seen: dict[int, int] = {}
    spans = {place("rows.publisher.v1", p): (0, None) for p in range(PARTITIONS)}
    for poll in read_span(fleet.settings, spans, **{"isolation.level": "read_committed"}):
        for message in poll:
            if message.key == POSITIONS.encode():
                kept = json.loads(message.value or b"{}")["seen"]
                seen[message.partition] = kept[place(JOURNAL, message.partition)]
    return sum(seen.values())


def _write_journal(fleet: Fleet) -> None:
    """Refusals of a job service that was busy, each the child of the one before it."""
    speaker = producer(fleet.settings)
    last = dict.fromkeys((f"long-{n}" for n in range(JOBS)), "root")
    for number in range(EACH):
        for job, parent in last.items():
            body = JobConfigRejected(
                job=job,
                ingress="base",
                change_id=f"1.{number}",
                reason="stale",
                explanation="busy",
                path="",
                version=1,
                author="author",
                traceparent=None,
            )
            value = encode(body)
            name = decision_id(parent, job, "JobConfigRejected", value)
            record = Record(job, name, "JobConfigRejected", value, body, parent, source="busy")
            last[job] = name
            speaker.produce(
                BY_SHORT[JOURNAL].name,
                key=job.encode(),
                value=value,
                partition=partition_of(job, PARTITIONS),
                headers=headers_of(record, JOURNAL),
            )
            speaker.poll(0)
    assert speaker.flush(60) == 0
