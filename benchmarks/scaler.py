"""The auto scaler's round over 10,000 jobs, what it keeps of each, and a back-test of two weeks."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from math import pi, sin
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.children import ask, python
from benchmarks.figures import Result, resident_mb, say
from components.auto_scaler.core.catalogue import policy_of
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.decide import decide
from events.generated.records import (
    Body,
    Generation,
    JobConfigChanged,
    LayerVersions,
    ProfileSlot,
    SyncCommitted,
    TaskLoadReported,
    WorkloadProfiled,
)
from events.job_config.strict_json import canonical_json
from events.topics import JOURNAL, LOADS
from events.wire.codec import Read, Record
from projections.scaling.actions import JobSize
from projections.scaling.fold import fold
from projections.scaling.row import ScalingRow
from projections.scaling.row_json import dump, load
from projections.scaling.seen import DAY_MS, MINUTE_MS, Minute
from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import DAY_MINUTES, back_test
from turbine.lab.plant.cases import case_of
from turbine.lab.plant.job_model import Nature
from turbine.lab.plant.plant import Plant

JOBS, QUICK_JOBS = 10_000, 1_000
DAYS, QUICK_DAYS = 14, 2
LEARNT = 240
"""Minutes before the rounds that are timed: all that is kept is full."""
ROUNDS = 5
MODELS = 50
"""Jobs that are played; the others hold the same, each in objects of its own."""
SLOT_MS = 900_000
TASKS, PARTITIONS = 8, 64


def measure(quick: bool) -> Result:
    """Each part in a process of its own, on one core."""
    jobs, days = (QUICK_JOBS, QUICK_DAYS) if quick else (JOBS, DAYS)
    say(f"{ROUNDS} rounds over {jobs:,} jobs")
    figures = dict(_run("round", jobs))
    figures["round_10k_jobs_s"] = figures.pop("round_s") * JOBS / jobs
    say(f"{days} days of a job")
    figures["backtest_14d_s"] = _run("backtest", days)["backtest_s"] * DAYS / days
    figures["jobs"] = jobs
    notes = [
        "seconds of the process, one core; the policy is turbine with its defaults",
        f"a round: the component decides about each job, of {TASKS} tasks; median of {ROUNDS}",
        "fold_us: to fold one report, apart from the round",
        f"kb_per_job: the component's row after {LEARNT} minutes, the usual days included",
        "with --quick fewer jobs and days are measured, and scaled up",
    ]
    return Result("scaler", figures, {}, notes)


def _run(part: str, amount: int) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        return ask("scaler", python("benchmarks.scaler", part, amount), Path(directory))


# --- in the child


def rounds(jobs: int) -> dict[str, float]:
    """Seconds of a round, of a report that is folded, and kilobytes that each job adds."""
    minutes = [list(_minutes(number)) for number in range(MODELS)]
    models = [_model(number, minutes[number][:LEARNT]) for number in range(MODELS)]
    kept = [dump(one) for one in models]
    before_mb = resident_mb()
    rows = [load(kept[number % MODELS]) for number in range(jobs)]
    each_kb = (resident_mb() - before_mb) * 1024 / jobs
    looks, folds, said = list[float](), list[float](), 0
    for at in range(LEARNT, LEARNT + ROUNDS):
        since = time.process_time()
        for number in range(jobs):
            rows[number] = _reported(rows[number], minutes[number % MODELS][at], at)
        folds.append((time.process_time() - since) / jobs / TASKS)
        now_ms = (at + 1) * MINUTE_MS
        since = time.process_time()
        said += sum([len(list(decide(row, now_ms))) for row in rows])
        looks.append(time.process_time() - since)
    return {
        "round_s": median(looks),
        "fold_us": median(folds) * 1e6,
        "kb_per_job": each_kb,
        "decisions_per_round": said / ROUNDS,
    }


def _model(number: int, minutes: Sequence[Minute]) -> ScalingRow:
    """A job that runs, and has been looked at for a while."""
    asked: Any = {
        "operator": "examples.counts:count",
        "inputs": [{"topic": "clicks", "partitions": PARTITIONS}],
        "package": {"name": "counts", "version": "1.0.0"},
        "checkpoint": {"root": "/checkpoints"},
        "tasks": TASKS,
        "resources": {"memory_mb": 512},
    }
    config, versions = canonical_json(asked), LayerVersions(1, 0, 0, 0)
    name = f"job-{number:05d}"
    changed = JobConfigChanged(name, "base", "1.a", 1, versions, config, config, "ann", "")
    commit = SyncCommitted(name, "p", "simple", versions, 2, config, "running", TASKS)
    usual = [_usual(number, slot) for slot in range(DAY_MS // SLOT_MS)]
    slots = tuple(
        ProfileSlot(at, DAYS, one, 1.1 * one, 100 * one, 110 * one) for at, one in enumerate(usual)
    )
    profile = WorkloadProfiled(name, 0, DAYS * DAY_MS, SLOT_MS, slots, "benchmark")
    row = ScalingRow(name)
    told: tuple[Body, ...] = (changed, commit, profile)
    for body in told:
        row = _told(row, body, 0)
    for at, minute in enumerate(minutes):
        row = _reported(row, minute, at)
    for body in decide(row, len(minutes) * MINUTE_MS):
        row = _told(row, body, len(minutes) * MINUTE_MS)
    return row


def _told(row: ScalingRow, body: Body, at_ms: int) -> ScalingRow:
    record = Record(row.name, "r", type(body).__name__, b"", body, tick_ms=at_ms)
    return fold(row, Read("journal.v1/0", JOURNAL, 0, at_ms, record))


def _reported(row: ScalingRow, minute: Minute, at: int) -> ScalingRow:
    """All tasks tell the minute."""
    for part in minute.parts:
        body = TaskLoadReported(
            job=row.name,
            task=part.task,
            generation=Generation(2, 1),
            epoch=1,
            count=at + 1,
            window_ms=MINUTE_MS,
            records_in_per_s=part.rate,
            bytes_in_per_s=100 * part.rate,
            records_out_per_s=part.rate,
            bytes_out_per_s=100 * part.rate,
            lag_records=round(part.lag or 0.0),
            lag_ms=round(1000 * (part.lag_s or 0.0)),
            memory_bytes=round((part.memory_mb or 0.0) * 2**20),
            busy_share=part.busy,
            tasks=TASKS,
            threads=1,
        )
        record = Record(row.name, "load", "TaskLoadReported", b"", body)
        row = fold(row, Read("loads.v1/0", LOADS, 0, minute.at_ms, record))
    return row


def _usual(number: int, slot: int) -> float:
    return (4_000.0 + number) * (1 + 0.5 * sin(2 * pi * (slot / 96 + number / MODELS)))


def _minutes(number: int) -> Iterator[Minute]:
    nature = Nature(1_000.0, PARTITIONS, noise=0.03)
    plant = Plant(nature, JobSize(TASKS, 1, 0.25, 512), Streams(number).fork("scaler"))
    for at in range(LEARNT + ROUNDS):
        told = plant.step(_usual(number, at // 15))
        assert told is not None, "nothing goes wrong here"
        yield told


def backtest(days: int) -> dict[str, float]:
    """Seconds of so many days of a job whose rate changes by the hour and by the minute."""
    chance = Streams(0).fork("backtest")
    rates = [
        1_000 * (1 + 0.6 * sin(2 * pi * at / DAY_MINUTES)) * chance.uniform(0.9, 1.1)
        for at in range(days * DAY_MINUTES)
    ]
    case, policy = case_of("backtest", rates), policy_of(Turbine.name, {})
    since = time.process_time()
    back_test(case, policy)
    return {"backtest_s": time.process_time() - since}


def main(arguments: list[str]) -> None:
    part, amount = arguments
    print(json.dumps({"round": rounds, "backtest": backtest}[part](int(amount))))


if __name__ == "__main__":
    main(sys.argv[1:])
