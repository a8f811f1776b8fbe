"""`generate` and `get lag` on a real broker: what is sent is there, and what is left is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from benchmarks.installation import Installation, install
from components.runtime.kafka.inputs import committed_of, create_topic, ends_of
from components.runtime.kafka.topics import TopicsError
from components.runtime.process.loop import StopSignal
from events.generated.records import Generation, TaskLoadReported
from events.topics import BY_SHORT, LOADS
from events.wire.codec import encode
from infra.waiting import until
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine.read.sources.log import Log
from turbine_client.clients import (
    admin,
    counts_of,
    producer,
)
from turbine_client.publish import Accepted, Publisher

pytestmark = [pytest.mark.broker, pytest.mark.slow]

INPUTS = 4
CONFIG = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": INPUTS}],
    "package": {"name": "counts", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    with install(partitions=4) as found:
        found.serve("clock")
        found.serve("publisher")
        found.serve("job-service", "state-syncer", "task-service", instance="worker-0")
        found.await_assigned()
        yield found


@pytest.fixture(autouse=True)
def _here(site: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests, but for the broker; its signals stay."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", site.settings.bootstrap)
    monkeypatch.setattr(StopSignal, "listen", lambda self: self)


def turbine(*line: str) -> Ended:
    """A command that has to end with 0."""
    ended = run(*line)
    assert ended.code == Code.OK, ended
    return ended


def told(*line: str) -> Any:
    return json.loads(turbine(*line, "-o", "json").out)


def values(site: Installation, topic: str, records: int) -> list[tuple[int, str, dict[str, Any]]]:
    """So many records of a topic: partition, key and value, each partition in its order."""
    counts = counts_of(site.settings)
    client = Consumer({"bootstrap.servers": site.settings.bootstrap, "group.id": "reader"})
    client.assign([TopicPartition(topic, number, 0) for number in range(counts[topic])])
    found: list[tuple[int, str, dict[str, Any]]] = []

    def all_read() -> bool:
        for message in client.consume(1_000, 0.2):
            assert message.error() is None, message.error()
            key, value = message.key(), message.value()
            assert key is not None
            assert value is not None
            found.append((message.partition() or 0, key.decode(), json.loads(value)))
        return len(found) >= records

    until(all_read, f"{records} records of {topic}")
    client.close()
    assert len(found) == records
    return found


# --- generate


def test_a_steady_load_is_there_whole_and_by_its_keys(site: Installation) -> None:
    line = "generate --topic steady --partitions 3 --rate 500 --for 2s --keys 20 --bytes 150"
    ended = turbine(*line.split(), "--late", "0.2", "--late-by", "5000", "-o", "json")
    assert ended.err == "topic steady is created, with 3 partitions\n"
    assert json.loads(ended.out)["sent"] == 1_000
    found = values(site, "steady", 1_000)
    assert sorted(value["n"] for _, _, value in found) == list(range(1_000))
    homes: dict[str, set[int]] = {}
    for partition, key, value in found:
        assert value["key"] == key
        homes.setdefault(key, set()).add(partition)
    assert set(homes) == {f"k{number}" for number in range(20)}
    assert all(len(partitions) == 1 for partitions in homes.values())
    in_time = sorted((value["n"], value["at_ms"]) for _, _, value in found)
    assert any(later < sooner - 100 for (_, sooner), (_, later) in pairwise(in_time))
    assert run("generate", "--topic", "steady", "--partitions", "4").code == Code.USAGE


def test_a_trace_is_played_fast(site: Installation) -> None:
    Path("day.csv").write_text("minute_index,rate\n0,6000\n1,12000\n2,0\n")
    line = "generate --topic played --trace day.csv --speed 60 --scale 2 -o json"
    row = told(*line.removesuffix(" -o json").split())
    assert row["sent"] == 2 * (150 + 100)
    assert len(values(site, "played", row["sent"])) == row["sent"]
    assert counts_of(site.settings)["played"] == 16, "as many as the settings say"


def test_it_ends_in_order_on_ctrl_c(site: Installation) -> None:
    command = [sys.executable, "-m", "turbine", "generate", "--topic", "endless", "-o", "json"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def some() -> bool:
        count = counts_of(site.settings).get("endless", 0)
        ends = ends_of(site.settings, {("endless", number) for number in range(count)})
        return sum(ends.values()) > 100

    until(some, "it sends", pause_s=0.2)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == Code.INTERRUPTED, err
    sent = json.loads(out)["sent"]
    ends = ends_of(site.settings, {("endless", number) for number in range(16)})
    assert sum(ends.values()) == sent


def test_a_topic_is_made_once_and_a_broker_that_refuses_is_a_sentence(site: Installation) -> None:
    assert create_topic(site.settings, "made", 2)
    assert not create_topic(site.settings, "made", 5)
    assert ends_of(site.settings, [("made", 0), ("made", 1), ("made", 7), ("gone", 0)]) == {
        ("made", 0): 0,
        ("made", 1): 0,
    }
    assert "gone" not in counts_of(site.settings)
    with pytest.raises(TopicsError, match=r"does not create topic \.\. \("):
        create_topic(site.settings, "..", 1)


# --- get lag


def commit(site: Installation, group: str, offsets: dict[int, int]) -> None:
    client = Consumer({"bootstrap.servers": site.settings.bootstrap, "group.id": group})
    spots = [TopicPartition("clicks", number, offset) for number, offset in offsets.items()]
    client.commit(offsets=spots, asynchronous=False)
    client.close()


def report(site: Installation, task: int, specs: int, lag_ms: int) -> None:
    body = TaskLoadReported(
        job="tallies",
        task=task,
        generation=Generation(specs, 1),
        epoch=1,
        count=1,
        window_ms=60_000,
        records_in_per_s=12.5,
        bytes_in_per_s=0.0,
        records_out_per_s=0.0,
        bytes_out_per_s=0.0,
        lag_ms=lag_ms,
        busy_share=0.5,
    )
    client = producer(site.settings)
    client.produce(BY_SHORT[LOADS].name, encode(body), "tallies")
    assert client.flush(30) == 0


def test_topics_of_jobs_are_created_by_name(site: Installation) -> None:
    create = ["topics", "create", "words"]
    assert run(*create, "--partitions", "3").out == "topic words is created, with 3 partitions\n"
    assert run(*create).out == "topic words exists already, with 3 partitions\n"
    assert run(*create, "--partitions", "5").code == Code.FAILED
    ours = run("topics", "create", "turbine.words")
    assert ours.code == Code.USAGE
    assert ours.sentence.startswith("turbine.words is of the log itself; ")


def test_lag_is_what_is_sent_and_not_committed(site: Installation) -> None:
    turbine("generate", "--topic", "clicks", "--partitions", str(INPUTS), "--records", "400")
    ends = ends_of(site.settings, {("clicks", number) for number in range(INPUTS)})
    with Publisher(site.settings, author="ana") as publisher:
        assert isinstance(publisher.change("tallies", CONFIG, create=True, wait_s=60), Accepted)
    until(lambda: _listed(site) is not None, "its tasks are listed", pause_s=0.2)
    [row] = told("get", "lag")
    assert (row["job"], row["tasks"], row["partitions"]) == ("tallies", 2, INPUTS)
    assert (row["lag_records"], row["unknown_partitions"]) == (None, INPUTS)
    assert "-" in turbine("get", "lag", "tallies").out.splitlines()[1].split()

    read = {number: ends["clicks", number] - 5 * number for number in range(INPUTS)}
    commit(site, "turbine-job.tallies", read)
    [row] = told("get", "lag", "tallies")
    assert (row["lag_records"], row["lag_bytes"], row["busy_share"]) == (30, None, None)
    rows = told("get", "lag", "--by", "partition")
    assert [(one["partition"], one["lag_records"]) for one in rows] == [
        (3, 15), (2, 10), (1, 5), (0, 0),
    ]  # fmt: skip

    specs = _listed(site)
    assert specs is not None
    report(site, 0, specs, 70)
    report(site, 1, specs - 1, 90)
    by_task = {one["task"]: one for one in told("get", "lag", "--by", "task")}
    assert (by_task[0]["lag_ms"], by_task[0]["records_in_per_s"]) == (70, 12.5)
    assert by_task[1]["lag_ms"] is None, "of an older generation"
    report(site, 1, specs, 90)
    [row] = told("get", "lag")
    assert (row["lag_ms"], row["records_in_per_s"], row["busy_share"]) == (90, 25.0, 0.5)
    assert run("get", "lag", "nobody").code == Code.NOT_FOUND


def _listed(site: Installation) -> int | None:
    """The generation of the job's tasks, once they are listed."""
    listed = Log(site.settings).syncs(job="tallies")["tallies"].listed
    return None if listed is None or not listed.tasks else listed.generation


def test_many_groups_are_asked_about_at_once(site: Installation) -> None:
    create_topic(site.settings, "clicks", INPUTS)
    commit(site, "group-3", {0: 7})
    spots = {f"group-{number}": [("clicks", 0), ("clicks", 1)] for number in range(20)}
    found = committed_of(site.settings, spots | {"idle": []})
    assert set(found) == {*spots, "idle"}
    assert {group: told for group, told in found.items() if told} == {"group-3": {("clicks", 0): 7}}
    client = admin(site.settings)  # its futures end with it
    groups = client.list_consumer_groups(request_timeout=60).result(60).valid
    assert "group-4" not in {one.group_id for one in groups}, "to ask makes no group"
