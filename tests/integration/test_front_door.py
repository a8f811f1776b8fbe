"""The README's first command, typed in a fresh clone by somebody who has set nothing, is told to
its end on real Spark; a client of its own asks the running fleet whether the story is true.
"""

from __future__ import annotations

import io
import json
import re
import struct
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import fastavro
import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from benchmarks.front_door import Ran, clone_into, commands, run
from tests.integration import desk, pages
from tests.integration.processes import ROOT, processes_in

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.timeout(1_500)]

STEPS = [
    "A broker, all components and two containers with a Spark each start on this machine.",
    "Everything that happens can be watched at http://127.0.0.1:",
    "All are accepted: clicks, visits, orders.",
    "clicks runs: task 0 on container-",
    "A quiet day passes in four minutes: one with a night and a noon",
    "Rejected, at the path tasks: tasks: expected at most limits.tasks, which is 32, found 99.",
    "the other is stale: expected version 1 of the base layer, but it is 2, set by",
    "Accepted: oncall stands above base",
    "The old tasks have stopped in the log, and 3 new ones run.",
    "orders has 1 task of 1 thread,",
    "ScalingDecided, for lag, caused by under-capacity:",
    " now. ScalingVerified: ",
    "OverrideExpired at outcomes.v1/",
    "It cannot read the log, so its tasks stand still before anybody gives them away.",
    "Given up after a minute of silence (here a tenth of it): all run on container-",
    "The supervisor has started it again (process ",
    "in the middle of them kill -9 of worker-",
    "which decides about ",
    " had no verdict yet, and 15 came after it. Each of the 30 has exactly",
    "no change for the old one fits the new.",
    "decisions come out the same, byte by byte; none differs.",
    "All came as told, and all of it still runs.",
]
HELD = re.compile(r"^8\. (container-\d) hangs, and with it (.*)\.$", re.MULTILINE)

README = (ROOT / "README.md").read_text()
[JOB] = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
SHOWN = [
    re.split(r"\s+#\s", line)[0].strip()
    for line in re.findall(r"^ {4}(turbine .*)$", README, re.MULTILINE)
]
GOES_ON = {"turbine top": " --once", "turbine subscribe outcomes --resume seen": " --count 1"}
"""What goes on until Ctrl-C is told when to end."""


class Said(NamedTuple):
    """One record, as any Kafka client has it."""

    id: str
    at_ms: int
    body: dict[str, Any]
    place: str


class Client:
    """Knows the address that was printed, and of the contract what it needs: no code of ours."""

    def __init__(self, clone: Path, told: Ran) -> None:
        self.address = re.findall(r"http://127\.0\.0\.1:\d+", told.text)[0]
        [self.bootstrap] = re.findall(r"topics, on the broker at (\S+)", told.text)
        written = json.loads((clone / "events" / "schemas" / "lock.json").read_text())
        self._schemas = {one["id"]: fastavro.parse_schema(one["schema"]) for one in written}

    def get(self, path: str) -> str:
        """What the address that was printed gives."""
        with urllib.request.urlopen(self.address + path, timeout=30) as answer:  # noqa: S310 - its
            return answer.read().decode()

    def read(self, topic: str, *kinds: str) -> list[Said]:
        """All records of these kinds that a topic has now."""
        told = {"bootstrap.servers": self.bootstrap, "group.id": "nobody"}
        told |= {"enable.auto.commit": "false", "enable.partition.eof": "true"}
        consumer = Consumer(told)
        try:
            found = list(self._all(consumer, topic, kinds))
            return sorted(found, key=lambda one: one.at_ms)
        finally:
            consumer.close()

    def _all(self, consumer: Consumer, topic: str, kinds: tuple[str, ...]) -> Iterator[Said]:
        left = set(consumer.list_topics(topic).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, one, OFFSET_BEGINNING) for one in left])
        while left:
            message = consumer.poll(30)
            assert message is not None, f"{topic} does not end"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                left.discard(message.partition() or 0)
                continue
            headers: Mapping[str, Any] = dict(message.headers() or ())
            if headers.get("ce_type", b"").decode().rpartition(".")[2] in kinds:
                yield self._said(message, headers)

    def _said(self, message: Any, headers: Mapping[str, bytes]) -> Said:
        magic, schema = struct.unpack(">bI", message.value()[:5])
        assert magic == 0
        written = self._schemas[schema]
        body = fastavro.schemaless_reader(io.BytesIO(message.value()[5:]), written, None)
        assert isinstance(body, dict)
        place = f"{message.topic().removeprefix('turbine.')}/{message.partition()}"
        until = f"{place}:{message.offset() + 1}"
        return Said(headers.get("ce_id", b"").decode(), message.timestamp()[1], body, until)

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """How far a job has come, as every lag tool sees it."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        [asked] = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
        places = asked.result().topic_partitions or []
        return {(one.topic, one.partition): one.offset for one in places}


class Played(NamedTuple):
    """A fleet on which the story was told."""

    clone: Path
    told: Ran
    client: Client


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The demo as it is typed; what was started is ended as it is typed, and nothing is left."""
    clone = clone_into(tmp_path_factory.mktemp("front"))
    assert commands() == ["make demo", "make test"]
    try:
        told = run(clone, "make demo")
        assert told.code == 0, told.text
        yield Played(clone, told, Client(clone, told))
    finally:
        ended = run(clone, "make demo-stop")
    assert (ended.code, ended.text) == (0, "The demo has ended.\n")
    assert processes_in(clone) == []
    assert run(clone, "make demo-stop").text == "No demo runs.\n"


def test_the_story_is_told_to_its_end(played: Played) -> None:
    at = 0
    for step in STEPS:
        at = played.told.text.find(step, at)
        assert at >= 0, f"not told, or not in its place: {step}\n{played.told.text}"
    assert "<title>" in played.client.get("/")


def test_every_command_that_is_shown_can_be_typed(played: Played) -> None:
    """But for those that go on until Ctrl-C, and the one that plays a load."""
    shown = re.findall(r"^ +\$ (.*)$", played.told.text, re.MULTILINE)
    typed = [one for one in shown if not re.search(r" generate | -f$| subscribe ", one)]
    assert len(typed) >= 15
    for one in dict.fromkeys(typed):
        done = run(played.clone, one)
        assert done.code in (0, 4) if " why-not " in one else done.code == 0, f"{one}\n{done.text}"


def test_the_refused_change_changed_nothing(played: Played) -> None:
    refused = [
        one.body
        for one in played.client.read("turbine.journal.v1", "JobConfigRejected")
        if one.body["job"] == "clicks" and one.body["path"] == "tasks"
    ]
    assert [(one["reason"], one["author"]) for one in refused] == [("invalid", "ben")]
    taken = [
        one.body
        for one in played.client.read("turbine.journal.v1", "JobConfigChanged")
        if one.body["job"] == "clicks" and one.body["layer"] == "base"
    ]
    assert refused[0]["change_id"] not in {one["change_id"] for one in taken}
    # A worker that is killed may have said some of them, and its successor says them again: void.
    versions = list(dict.fromkeys(one["version"] for one in taken))
    assert versions == list(range(1, len(versions) + 1))
    assert not any('"tasks":99' in one["layer_json"].replace(" ", "") for one in taken)


def test_the_scaled_job_reads_faster(played: Played) -> None:
    decided = next(
        one
        for one in played.client.read("turbine.journal.v1", "ScalingDecided")
        if one.body["job"] == "orders" and one.body["action"] == "scale-up"
    )
    read: dict[bool, dict[int, list[float]]] = {True: {}, False: {}}
    for one in played.client.read("turbine.loads.v1", "TaskLoadReported"):
        if one.body["job"] == "orders":
            times = read[one.at_ms > decided.at_ms]
            times.setdefault(one.body["task"], []).append(one.body["records_in_per_s"])
    before, after = (sum(max(rates) for rates in read[later].values()) for later in (False, True))
    assert after > 1.5 * before > 0, (before, after)


def test_the_tasks_of_the_killed_container_have_committed_elsewhere(played: Played) -> None:
    [(victim, held)] = HELD.findall(played.told.text)
    lost = next(
        one
        for one in played.client.read("turbine.containers.v1", "ContainerFailedOver")
        if one.body["container"] == victim
    )
    starts = played.client.read("turbine.tasks.v1", "TaskStarted")
    for task in held.split(", "):
        job, _, number = task.partition("/")
        elsewhere = next(
            one.body
            for one in starts
            if (one.body["job"], one.body["task"]) == (job, int(number))
            and one.at_ms > lost.at_ms
            and one.body["container"] != victim
        )
        began = {(one["topic"], one["partition"]): one["offset"] for one in elsewhere["offsets"]}
        assert began, f"{task} began nowhere"
        committed = played.client.committed(f"turbine-job.{job}")
        assert any(committed[place] > offset for place, offset in began.items()), (task, began)


def test_the_commands_of_the_readme_can_be_typed_on_the_demos_fleet(played: Played) -> None:
    """In the README's order and with its variable, on the engine that people have."""
    clone = played.clone
    export = re.findall(r"^ {4}(export \S+)", README, re.MULTILINE)
    assert len(export) == 1
    (clone / "long-words.yaml").write_text(JOB)
    decision = played.client.read("turbine.journal.v1", "ScalingDecided")[0].id
    assert set(SHOWN) > GOES_ON.keys()
    for shown in dict.fromkeys(SHOWN):
        typed = shown.replace(" ID", f" {decision}") + GOES_ON.get(shown, "")
        done = run(clone, f". .venv/bin/activate && {export[0]} && {typed}")
        assert done.code == 0, f"{typed}\n{done.text}"


def test_each_further_line_of_the_pages_can_be_typed(played: Played) -> None:
    """On the same fleet, by somebody who has the pages' own files before them."""
    given = desk.lay_out(played.clone / "desk") | names_in(played)
    [planned] = typed(played, [[pages.filled(pages.added(desk.asked_as_plan()), given)]])
    given["$PLAN"] = desk.plan_in(planned["text"])
    lines = pages.typed(given, {*SHOWN, *commands()})
    assert [one for one in lines if pages.LEFT.search(one)] == []
    ended = typed(played, pages.in_chains(lines))
    assert sorted(one["line"] for one in ended) == sorted(lines)
    wrong = [one for one in ended if one["code"] not in pages.expected(one["line"])]
    assert wrong == [], "\n".join(f"{one['line']}: {one['code']}\n{one['text']}" for one in wrong)


def names_in(played: Played) -> dict[str, str]:
    """For the pages' placeholders."""
    decision = played.client.read("turbine.journal.v1", "ScalingDecided")[0]
    plan = played.client.read("turbine.tiers.v1", "PlacementPlanned")[0].body["plan_id"]
    return desk.found(played.client.address, decision.id, plan, decision.place)


def typed(played: Played, chains: list[list[str]]) -> list[dict[str, Any]]:
    """Types all of it at the desk, in a Python that is there already."""
    (played.clone / "desk" / "chains.json").write_text(json.dumps(chains))
    done = run(
        played.clone,
        "cd desk && . ../.venv/bin/activate && export TURBINE_DIRECTORY=../.turbine/demo"
        " && export TOKEN=$(cat ../.turbine/demo/api-token)"
        " && python -P ../tests/integration/typist.py < chains.json",
    )
    assert done.code == 0, done.text
    return [json.loads(line.text) for line in done.lines]
