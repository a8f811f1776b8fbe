"""The history on a real broker and a real Spark: whoever is killed, and wherever, each report is
there once at any instant, and profiles are what brute force makes of the same reports."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyspark
import pytest
from confluent_kafka import Producer
from pyarrow import parquet

from benchmarks.installation import Installation, install
from events.generated.records import ClockTicked, WorkloadProfiled
from events.topics import BY_SHORT, JOURNAL, LOADS, PROFILES, partition_of
from events.wire.codec import encode
from infra.kafka.directory import free_port
from infra.waiting import within
from spark_streaming.history.layout import (
    DAY_MS,
    DirectoryListing,
    Manifest,
    day_of,
    live_paths,
    read_manifest,
)
from spark_streaming.history.rows import COLUMNS
from spark_streaming.jvm import java_command
from tests.integration.history_child import C1
from tests.integration.history_reports import Said, day_of_reports, once_a_day, profiled
from tests.integration.processes import ROOT
from turbine.read.sources.log import Log

pytestmark = [pytest.mark.broker, pytest.mark.slow]

PARTITIONS, EVERY_MS = 4, 12 * 60_000
CHILD_S, PAUSE_S = within(300.0), 0.25
WRITE, COMPACT = ("write", "--once"), ("compact",)
TOPIC = BY_SHORT[LOADS].name
LOAD = next(day_of_reports(0, random.Random(1), EVERY_MS)).load
BAD: tuple[tuple[bytes | None, int], ...] = (
    (None, 0),
    (b"junk", 0),
    (encode(LOAD)[:-3], 0),
    (encode(LOAD), 1),  # where its job's records do not lie
    (encode(ClockTicked(1)), 0),
)
Rows = Counter[tuple[Any, ...]]


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    # Reports of other days cannot be made with the broker's own time.
    times = {**BY_SHORT[LOADS].config, "message.timestamp.type": "CreateTime"}
    topics = [replace(BY_SHORT[LOADS], config=times), BY_SHORT[JOURNAL], BY_SHORT[PROFILES]]
    with install(topics=topics, partitions=PARTITIONS) as found:
        yield found


@dataclass(slots=True)
class Child:
    """One process with a Spark; see `history_child`."""

    process: subprocess.Popen[str]
    point: str

    def run(self, *lines: Sequence[str]) -> list[Any]:
        """Command lines; what they put out, as far as they came."""
        told = json.dumps([["history", *line, "-o", "json"] for line in lines])
        out, words = self.process.communicate(told, CHILD_S)
        ended = [json.loads(line) for line in out.splitlines()]
        assert self.process.returncode == (-signal.SIGKILL if self.point else 0), words
        assert all(code == 0 for code, _, _ in ended), ended
        return [json.loads(shown) for _, shown, _ in ended]


@dataclass(slots=True)
class Scene:
    """One history, what was produced for it, and what became of those who wrote it."""

    site: Installation
    directory: Path
    today_ms: int = time.time_ns() // 1_000_000 // DAY_MS * DAY_MS
    said: list[Said] = field(default_factory=list)
    children: list[subprocess.Popen[str]] = field(default_factory=list)
    draw: random.Random = field(default_factory=lambda: random.Random(4))

    @property
    def days(self) -> list[int]:
        """Two that are over since more than an hour, as is the one after them."""
        return [self.today_ms - back * DAY_MS for back in (4, 3)]

    @property
    def last_ms(self) -> int:
        """The day after them, on which some is said again."""
        return self.days[1] + DAY_MS

    @property
    def root(self) -> Path:
        return self.directory / "turbine" / "history"

    def produce(self, said: Iterable[Said]) -> None:
        """Reports, each at its time."""
        client = Producer({"bootstrap.servers": self.site.settings.bootstrap})
        for one in said:
            self.said.append(one)
            send(client, one.load.job, encode(one.load), one.at_ms)
        client.flush(30)

    def produce_bad(self) -> None:
        """What is no report, each in another way."""
        client = Producer({"bootstrap.servers": self.site.settings.bootstrap})
        for value, more in BAD:
            send(client, "clicks", value, self.days[0], more)
        client.flush(30)

    def child(self, point: str, **settings: str) -> Child:
        """A process that makes its Spark ready while others work, and dies at the point."""
        clean = {name: value for name, value in os.environ.items() if name[:8] != "TURBINE_"}
        ours = {
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(self.directory),
            "TURBINE_BOOTSTRAP": self.site.settings.bootstrap,
            "TURBINE_DIRECTORY": str(self.directory / "turbine"),
            "TURBINE_SPARK__HEAP_MB": "600",
            "TURBINE_SPARK__SQL_SHUFFLE_PARTITIONS": "2",
            **{f"TURBINE_SPARK__{name}": value for name, value in settings.items()},
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.history_child", point, str(self.root)],
            cwd=self.directory,
            env=clean | ours,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(process)
        return Child(process, point)

    def close(self) -> None:
        """No process is left behind."""
        for one in self.children:
            one.kill()
            one.communicate()

    @property
    def compacted(self) -> Rows:
        """The rows that there have to be when all days that are over are compacted."""
        over = once_a_day(one for one in self.said if one.at_ms < self.today_ms)
        return Counter([*over, *(one.row for one in self.said if one.at_ms >= self.today_ms)])

    # --- a reader that has nothing of Spark

    def manifests(self) -> list[int]:
        return sorted(int(one.stem) for one in (self.root / "manifests").glob("*.json"))

    def rows(self) -> Rows:
        """All rows as they count now."""
        while True:
            numbers = self.manifests()
            manifest = Manifest()
            if numbers:
                file = self.root / Manifest(numbers[-1]).path
                manifest = read_manifest(file.read_text(), str(file))
            paths = [
                str(one.relative_to(self.root))
                for pattern in ("batches/*/*/_SUCCESS", "batches/*/*/day=*", "days/*/*")
                for one in self.root.glob(pattern)
            ]
            if self.manifests() == numbers:
                break
        found: Rows = Counter()
        for path in live_paths(manifest, DirectoryListing.of(paths)):
            files = list((self.root / path).glob("*.parquet"))
            assert files, f"{path} is gone"
            for one in files:
                columns = parquet.ParquetFile(one).read(columns=list(COLUMNS)).to_pydict()
                found.update(zip(*columns.values(), strict=True))
        return found


def send(client: Producer, job: str, value: bytes | None, at_ms: int, more: int = 0) -> None:
    """A message where its job's lie, or so many partitions further."""
    number = (partition_of(job, PARTITIONS) + more) % PARTITIONS
    client.produce(TOPIC, value, job, partition=number, timestamp=at_ms)
    client.poll(0)


@contextmanager
def watched(scene: Scene) -> Iterator[list[int]]:
    """Looks all the while: nothing that was there goes, and nothing is there more often than it was
    said. How many rows there were at each look."""
    looks, wrong, ended = list[int](), list[str](), threading.Event()

    def look() -> None:
        before = set[tuple[Any, ...]]()
        while not ended.is_set() and not wrong:
            try:
                rows = scene.rows()
            except (OSError, AssertionError) as error:
                wrong.append(repr(error))
                return
            said = Counter(one.row for one in scene.said)
            first = once_a_day(scene.said)
            if rows - said:
                wrong.append(f"not said so often: {list(rows - said)[:3]}")
            if (before & first) - rows.keys():
                wrong.append(f"gone: {list((before & first) - rows.keys())[:3]}")
            before = set(rows)
            looks.append(rows.total())
            ended.wait(PAUSE_S)  # there are two cores, and this is not what is measured

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join(60)
    assert not wrong, wrong


@contextmanager
def cluster(directory: Path) -> Iterator[str]:
    """A master and a worker of Spark's own, each a process; the master's address."""
    port, web = free_port(), free_port()
    command = java_command([], {}, ["-Xmx256m", C1])
    java = command[: command.index("org.apache.spark.deploy.SparkSubmit")]
    master = f"spark://127.0.0.1:{port}"
    of_master = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]
    of_worker = ["--host", "127.0.0.1", "--cores", "2", "--memory", "600m", master]
    log = directory / "cluster.log"
    told = {
        "SPARK_HOME": str(Path(pyspark.__path__[0])),
        "SPARK_SCALA_VERSION": "2.13",  # as Spark's own scripts say
        "SPARK_WORKER_DIR": str(directory / "work"),
    }
    with log.open("wb") as out:
        started = [
            subprocess.Popen(
                [*java, f"org.apache.spark.deploy.{kind}", *arguments],
                cwd=directory,
                env={**os.environ, **told},
                stdout=out,
                stderr=out,
            )
            for kind, arguments in (
                ("master.Master", of_master),
                ("worker.Worker", [*of_worker, "--webui-port", "0"]),
            )
        ]
        try:
            yield master
        finally:
            for one in reversed(started):
                one.terminate()
                one.wait(30)


def told(plain: Sequence[dict[str, Any]]) -> dict[str, WorkloadProfiled]:
    """Profiles as a command put them out."""
    known = WorkloadProfiled.__slots__
    bodies = [WorkloadProfiled.from_plain({name: one[name] for name in known}) for one in plain]
    return {one.job: replace(one, source="") for one in bodies}


@pytest.fixture
def scene(site: Installation, tmp_path: Path) -> Iterator[Scene]:
    """Two days that are over, the first report of today, and messages that are no reports."""
    found = Scene(site, tmp_path)
    for day_ms in found.days:
        found.produce(day_of_reports(day_ms, found.draw, EVERY_MS))
    begun = next(day_of_reports(found.today_ms, found.draw, EVERY_MS))
    found.produce([Said(found.today_ms, begun.load)])
    found.produce_bad()
    yield found
    found.close()


def test_each_report_once_and_its_profile(scene: Scene) -> None:
    with cluster(scene.directory) as master:
        with watched(scene) as looks:
            kill_writers(scene)
            there = {"MASTER": master, "EXECUTOR_MEMORY": "600m", "DRIVER_HOST": "127.0.0.1"}
            last = scene.child("clear"), scene.child("", **there)
            kill_compactions(scene, last[0])
        assert len(looks) > 10, "nobody looked"
        on_a_cluster(scene, last[1])


def kill_writers(scene: Scene) -> None:
    amid_files, named, days = (scene.child(point) for point in ("files", "named", "days"))

    # Amid the files of the second batch: the first is there, the second is not.
    assert amid_files.run(WRITE) == []
    [first] = scene.root.glob("batches/*/000000000")
    assert list(first.parent.glob("_000000001-*"))
    rows = scene.rows().total()
    assert 0 < rows < len(scene.said)

    # With its name, and without Spark's knowing: the batch is not written again.
    assert named.run(WRITE) == []
    [second] = scene.root.glob("batches/*/000000001")
    written = {file: file.stat().st_mtime_ns for file in second.rglob("*.parquet")}
    assert scene.rows().total() > rows

    # And amid a compaction that has written its days.
    [wrote] = days.run(WRITE, COMPACT)
    assert {file: file.stat().st_mtime_ns for file in second.rglob("*.parquet")} == written
    assert not list(first.parent.glob("_*")), "drafts are left"
    assert scene.rows() == Counter(one.row for one in scene.said)
    # Messages of one partition come in their order; the first batches may have met some of them.
    assert 0 < wrote["reports"] < len(scene.said)
    assert not scene.manifests()


def kill_compactions(scene: Scene, child: Child) -> None:
    """A first one that comes to its end; then late reports, also of a day that is compacted, and
    one that dies amid what it clears."""
    scene.produce(day_of_reports(scene.days[1], scene.draw, 3 * EVERY_MS))
    scene.produce_bad()
    ago = f"{(scene.today_ms - scene.days[0]) // 3_600_000 - 31}h ago"
    days, wrote, found, views = child.run(
        COMPACT,
        ("write", "--every", "1s"),
        ("profile", "--publish"),
        ("profile", "views", "--days", "1", "--to", ago),
        COMPACT,
    )
    assert [one["day"] for one in days] == [day_of(at_ms) for at_ms in (*scene.days, scene.last_ms)]
    assert wrote["unreadable"] == len(BAD)
    assert " at offset " in wrote["why"]
    assert told(found) == profiled(scene.said, scene.today_ms - 14 * DAY_MS, scene.today_ms)
    assert all(slot.cpu_cores_peak is None for slot in told(found)["idle"].slots)
    assert [one["published"] for one in found] == [True] * 3
    [few] = views
    assert told(views) == {"views": profiled(scene.said, few["from_ms"], few["to_ms"])["views"]}
    assert scene.manifests() == [1, 2]
    assert scene.rows() == scene.compacted


def on_a_cluster(scene: Scene, child: Child) -> None:
    """The same, by a master and workers that are processes of their own: the same profiles too, to
    the last bit, from days that are compacted now."""
    scene.produce(list(day_of_reports(scene.today_ms, scene.draw, EVERY_MS))[:9])
    wrote, made, found = child.run(WRITE, COMPACT, ("profile", "--publish"))
    assert (wrote["reports"], wrote["unreadable"], made) == (9, 0, [])
    assert scene.rows() == scene.compacted
    left = {file.name for file in scene.root.glob("batches/*/*")}
    assert len(left) == 3, "of today, and what the manifest before the last one counts on"
    published = list(Log(scene.site.settings).read([PROFILES]))
    assert {one.record.id for one in published} == {one["id"] for one in found}
    assert [one["published"] for one in found] == [False] * 3
    assert len(published) == 3
    bodies = {one.record.key: one.record.body for one in published}
    assert {job: replace(body, source="") for job, body in bodies.items()} == told(found)
