"""How many tasks one Java process carries: their batches, its memory and its CPU."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer

from benchmarks.figures import Result, say, share
from benchmarks.installation import cpu_of, install
from benchmarks.one_engine import OneEngine, one_engine
from benchmarks.spark_fleet import children, make_topics

COUNTS, QUICK_COUNTS = (1, 10, 20, 50), (1, 5)
PER_S, ROW_BYTES = 20, 100
INTERVAL_MS = 4_000
WARM_S, WINDOW_S, QUICK_S = 25.0, 40.0, 10.0
HEAP_MB = "800"


def measure(quick: bool) -> Result:
    """One engine, to which tasks are added."""
    counts = QUICK_COUNTS if quick else COUNTS
    most = counts[-1]
    figures: dict[str, float] = {}
    with install() as site:
        client = {"bootstrap.servers": site.settings.bootstrap}
        make_topics(client["bootstrap.servers"], {"small": most, "smaller": most})
        settings = replace(site.settings, spark={"heap.mb": HEAP_MB})
        with one_engine(settings, site.directory / "engine") as engine, flow(client, most):
            for count in counts:
                add_up_to(engine, count)
                wait(engine, QUICK_S if quick else WARM_S)
                figures |= window(engine, count, QUICK_S if quick else WINDOW_S)
                say(", ".join(f"{name} {value:.4g}" for name, value in list(figures.items())[-5:]))
    notes = [
        f"each task has a partition with {PER_S} rows/s of {ROW_BYTES} bytes, exactly once",
        f"triggers of {INTERVAL_MS / 1000:g} to {INTERVAL_MS * 1.5 / 1000:g} s",
        "batch_ms_p95: of each task the slowest batch of a window, of these the 95th percentile",
        "batch_ms_p50: of each task the middle one, and of these the middle",
        "rss and CPU: of Java and of the Python that drives it, together",
    ]
    return Result("density", figures, {}, notes)


def add_up_to(engine: OneEngine, count: int) -> None:
    """So many tasks in all, each with a partition of its own."""
    config = {"output": {"topic": "smaller"}, "schedule": {"batch_interval_ms": INTERVAL_MS}}
    for task in range(len(engine.started), count):
        engine.start("dense", task, [("small", [task])], config)
    engine.until(lambda: len(engine.started) >= count, f"{count} tasks run", 240)


def wait(engine: OneEngine, seconds: float) -> None:
    """Hears the engine meanwhile."""
    limit = time.monotonic() + seconds
    engine.until(lambda: time.monotonic() > limit, "time passes", seconds + 60)


def window(engine: OneEngine, count: int, seconds: float) -> dict[str, float]:
    """What so many tasks use and how long their batches take."""
    pids = [engine.process.pid, *children(engine.process.pid)]
    told(engine)  # batches before the window do not count
    before, began = cpu_s(pids), time.monotonic()
    wait(engine, seconds)
    cores = (cpu_s(pids) - before) / (time.monotonic() - began)
    loads = told(engine)
    middle = [one["batch_ms_p50"] or 0 for one in loads]
    tail = [one["batch_ms_p95"] or 0 for one in loads]
    return {
        f"batch_ms_p50_{count}": share(middle, 0.5),
        f"batch_ms_p95_{count}": share(tail, 0.95),
        f"batch_ms_max_{count}": max(tail),
        f"rss_mb_{count}": rss_mb(pids),
        f"cpu_cores_{count}": cores,
    }


def told(engine: OneEngine) -> list[Mapping[str, int | None]]:
    """What every task has used."""
    engine.loads = None
    engine.process.ask_loads()
    engine.until(lambda: engine.loads is not None, "loads are told")
    assert engine.loads is not None
    return list(engine.loads.values())


def cpu_s(pids: list[int]) -> float:
    """Of all of them."""
    return sum(cpu_of(pid) or 0.0 for pid in pids)


def rss_mb(pids: list[int]) -> float:
    """Resident, of all of them."""
    pages = 0
    for pid in pids:
        with suppress(OSError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def flow(client: Mapping[str, str], partitions: int) -> Iterator[None]:
    """Rows for every partition, evenly, for as long as the block."""
    over = threading.Event()

    def run() -> None:
        producer = Producer({**client, "linger.ms": 20})
        while not over.wait(1 / PER_S):
            for partition in range(partitions):
                producer.produce("small", b"x" * ROW_BYTES, partition=partition)
            producer.poll(0)
        producer.flush(10)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
