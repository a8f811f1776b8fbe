"""The history of loads: how fast reports are written and compacted, and what a profile takes.

Beside each stands a loop in one Python process over the same bytes with the same decoder, by Arrow,
which promises nothing to whoever kills it and does not go on where a machine is too small.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from benchmarks.figures import Result, say
from benchmarks.history_loops import loop_compacts, loop_profiles, loop_writes
from benchmarks.history_reports import DAYS, Fleet, make_days, produce, slots_of
from benchmarks.installation import install
from components.runtime.process.loop import StopSignal
from events.topics import BY_SHORT, LOADS
from spark_streaming.history.layout import DAY_MS
from turbine.ops.history import compact_days, profiles, span_of, spark_of, write
from turbine_client.settings import Settings

PARTITIONS = 4
JOBS, TASKS = 25, 8
MESSAGES = 300_000
END_MS = 20_500 * DAY_MS


def measure(quick: bool) -> Result:
    """All of it with one Spark on two cores of this machine."""
    fleet = Fleet(JOBS // 10 if quick else JOBS, TASKS, END_MS)
    messages = MESSAGES // 10 if quick else MESSAGES
    times = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
    topic = replace(BY_SHORT[LOADS], config={**BY_SHORT[LOADS].config, **times})
    run = Run({"rows": messages, "rows_profiled": fleet.rows, "missing": 0}, {})
    with install(topics=[topic], partitions=PARTITIONS) as site:
        produce(Producer({"bootstrap.servers": site.settings.bootstrap}), fleet, messages)
        say(f"{messages:,} reports on the topic")
        with run.timed("loop_write_s"):
            loop_writes(site.settings.bootstrap, site.directory / "loop", PARTITIONS, messages)
        settings = replace(site.settings, spark={"master": "local[2]", "heap.mb": "1500"})
        with spark_of(settings) as spark:
            run.write(spark, settings, str(site.directory / "written"))
            run.profile(spark, site.directory, fleet)
    return run.result(fleet)


@dataclass(slots=True)
class Run:
    """What was measured."""

    figures: dict[str, float]
    peers: dict[str, float]

    def write(self, spark: SparkSession, settings: Settings, place: str) -> None:
        """All that the topic has."""
        with self.timed("write_s"):
            total = write(
                spark,
                settings,
                place,
                partitions=PARTITIONS,
                every_ms=None,
                stop=StopSignal(),
                progress=lambda one: say(f"batch {one.number}: {one.reports:,} reports"),
            )
        self.figures["missing"] += self.figures["rows"] - total.reports

    def profile(self, spark: SparkSession, directory: Path, fleet: Fleet) -> None:
        """Compacts days of small files, and profiles them; so does the loop."""
        days, loop = directory / "days", directory / "loop-days"
        make_days(days, fleet)
        say(f"{fleet.rows:,} reports of {DAYS} days in small files")
        with self.timed("loop_compact_s"):
            loop_compacts(days, loop)
        with self.timed("compact_s"):
            done = list(compact_days(spark, str(days), END_MS + 2 * DAY_MS))
        self.figures["missing"] += fleet.rows - sum(rows for _, rows in done)
        with self.timed("loop_profile_s"):
            expected = loop_profiles(loop)
        with self.timed("profile_s"):
            found = list(profiles(spark, str(days), span_of(END_MS, DAYS)))
        self.figures["profile_differences"] = len(slots_of(found).items() ^ expected.items())

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Seconds of the block."""
        began = time.monotonic()
        yield
        into = self.peers if name.startswith("loop") else self.figures
        into[name] = time.monotonic() - began
        say(f"{name}: {into[name]:.1f}")

    def result(self, fleet: Fleet) -> Result:
        """With rates and ratios."""
        figures, peers = self.figures, self.peers
        figures["written_per_s"] = figures["rows"] / figures["write_s"]
        figures["compacted_per_s"] = figures["rows_profiled"] / figures["compact_s"]
        for name in ("write", "compact", "profile"):
            figures[f"{name}_ratio_to_loop"] = peers[f"loop_{name}_s"] / figures[f"{name}_s"]
        notes = [
            f"{fleet.jobs} jobs of {fleet.tasks} tasks, a report a minute each, for {DAYS} days",
            "a fleet of 30,000 tasks makes 500 reports a second",
            "the loops: the same decoder, one Python process, Arrow; a kill loses or doubles rows",
            "loop_profile_s: means and peaks of records alone",
            "profile_s: of days that are compacted, from the call until all profiles are held",
        ]
        return Result("history", figures, peers, notes)
