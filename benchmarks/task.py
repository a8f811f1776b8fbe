"""What one Spark task carries, exactly once, beside a loop that is written by hand for the same."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.children import ChildFailed, ask, python
from benchmarks.figures import Result, say, share
from benchmarks.installation import Installation, install
from benchmarks.one_engine import OneEngine, one_engine
from benchmarks.spark_fleet import make_topics

PARTITIONS, ROW_BYTES = 4, 100
TOPICS = ("rows", "copied", "spark", "live", "echo")
ROWS, QUICK_ROWS = 4_000_000, 400_000
WARM_SHARE = 0.4
"""Of the rows, before the clock starts: Java compiles what it runs often."""
LATENCY_S, QUICK_LATENCY_S, RATE = 60.0, 10.0, 1_000
SETTLE_S = 10.0
HEAP_MB = "1536"


def measure(quick: bool) -> Result:
    """First how much, then how soon."""
    rows = QUICK_ROWS if quick else ROWS
    with install() as site:
        client = {"bootstrap.servers": site.settings.bootstrap}
        make_topics(site.settings.bootstrap, dict.fromkeys(TOPICS, PARTITIONS))
        say(f"{rows} rows of {ROW_BYTES} bytes go to {PARTITIONS} partitions")
        fill(client, "rows", rows)
        loop = by_hand(site)
        say(f"by hand {loop:.0f} rows/s")
        settings = replace(site.settings, spark={"heap.mb": HEAP_MB})
        with one_engine(settings, site.directory / "engine") as engine:
            carried = throughput(engine, client, rows)
            say(f"in Spark {carried['rows_per_s']:.0f} rows/s")
            times = latency(engine, client, QUICK_LATENCY_S if quick else LATENCY_S)
    figures = {**carried, "ratio_to_loop": carried["rows_per_s"] / loop, **times}
    share_text = f"the first {WARM_SHARE:.0%} to warm up"
    notes = [
        f"{rows} rows of {ROW_BYTES} bytes over {PARTITIONS} partitions, {share_text}",
        "both read, write and commit in transactions, 100,000 rows a batch at most",
        f"latency: from produce to a reader of what is committed, {RATE} rows/s, trigger 0",
    ]
    return Result("task", figures, {"loop_rows_per_s": loop}, notes)


def fill(client: Mapping[str, str], topic: str, rows: int) -> None:
    """Numbered rows, evenly."""
    producer = Producer({**client, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    pad = b"x" * (ROW_BYTES - 12)
    for begin in range(0, rows, 10_000):
        for partition in range(PARTITIONS):
            some = range(begin + partition, min(begin + 10_000, rows), PARTITIONS)
            messages = [{"value": b"%012d" % at + pad} for at in some]
            while len(producer) > 500_000:
                producer.poll(0.05)
            producer.produce_batch(topic, messages, partition=partition)
    if producer.flush(60):
        raise ChildFailed("the broker did not take the rows")


def by_hand(site: Installation) -> float:
    """Rows per second of the loop."""
    command = python("benchmarks.task_loop", site.settings.bootstrap, "rows", "copied", PARTITIONS)
    return float(ask("task-loop", command, site.directory))


def committed(admin_client: Consumer, topic: str) -> int:
    """Rows that the group has behind it."""
    spots = [TopicPartition(topic, p) for p in range(PARTITIONS)]
    return sum(max(0, one.offset) for one in admin_client.committed(spots, timeout=10))


def throughput(engine: OneEngine, client: Mapping[str, str], rows: int) -> dict[str, float]:
    """Rows per second once it is warm, by what the group has committed."""
    watcher = Consumer({**client, "group.id": "bulk"})
    inputs = [("rows", list(range(PARTITIONS)))]
    config = {"output": {"topic": "spark"}, "schedule": {"batch_interval_ms": 0}}
    run = engine.start("bulk", 0, inputs, config)
    engine.until(lambda: committed(watcher, "rows") >= rows * WARM_SHARE, "it is warm", 300)
    began, begin = time.monotonic(), committed(watcher, "rows")
    engine.until(lambda: committed(watcher, "rows") >= rows, "all rows are carried", 600)
    took = time.monotonic() - began
    engine.process.ask_loads()
    engine.until(lambda: engine.loads is not None, "it tells its load")
    assert engine.loads is not None
    used = engine.loads[run]
    watcher.close()
    engine.process.stop(run)
    engine.until(lambda: run in engine.ended, "it has stopped")
    cpu_ms = used.get("cpu_ms") or 0
    return {"rows_per_s": (rows - begin) / took, "cpu_us_per_row": 1000 * cpu_ms / rows}


def latency(engine: OneEngine, client: Mapping[str, str], seconds: float) -> dict[str, float]:
    """From the producer's hand to the reader's."""
    inputs = [("live", list(range(PARTITIONS)))]
    config = {"output": {"topic": "echo"}, "schedule": {"batch_interval_ms": 0}}
    run = engine.start("live", 0, inputs, config)
    engine.until(lambda: run in engine.started, "it has started")
    source = Source(client)
    source.start()
    reader = Consumer({**client, "group.id": "reader", "isolation.level": "read_committed"})
    reader.assign([TopicPartition("echo", p, 0) for p in range(PARTITIONS)])
    found = list[float]()
    limit = time.monotonic() + SETTLE_S + seconds
    while (now := time.monotonic()) < limit:
        for message in reader.consume(500, 0.02):
            if now > limit - seconds:
                found.append(1000 * (time.time() - json.loads(message.value() or b"0")))
        engine.hear()
    source.close()
    reader.close()
    return {
        "latency_ms_p50": share(found, 0.5),
        "latency_ms_p95": share(found, 0.95),
        "latency_ms_p99": share(found, 0.99),
        "latency_rows": len(found),
    }


@dataclass(slots=True)
class Source:
    """Writes rows evenly, each with the time at which it was made."""

    client: Mapping[str, str]
    _over: threading.Event
    _thread: threading.Thread

    def __init__(self, client: Mapping[str, str]) -> None:
        self.client, self._over = client, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def close(self) -> None:
        """No more."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        producer = Producer({**self.client, "linger.ms": 0})
        began, count = time.monotonic(), 0
        while not self._over.is_set():
            for at in range(count, due := int((time.monotonic() - began) * RATE)):
                value = json.dumps(time.time()).ljust(ROW_BYTES)
                producer.produce("live", value, partition=at % PARTITIONS)
            count = due
            producer.poll(0)
            time.sleep(0.002)
        producer.flush(10)
