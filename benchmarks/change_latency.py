"""How long a change waits for its verdict, and how many one worker decides a second."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.configs import base_config, next_version
from benchmarks.echo import ECHO_IN, ECHO_OUT
from benchmarks.echo_figures import measure_echo
from benchmarks.figures import Result, say, share, spread
from benchmarks.installation import Installation, install
from benchmarks.pace import due
from benchmarks.throughput import measure_throughput
from events.topics import CHANGES, JOURNAL, OUTCOMES, TOPICS
from turbine.read.sources.log import Log
from turbine_client.publish import Accepted, Publisher

RATE_PER_S = 50.0
JOBS = 100
# More than changes can be under way at that rate: 64 threads are 1.3 s of a stand-still.
THREADS = 64
WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Heard:
    """One change as its author saw it, in milliseconds of the wall clock."""

    change_id: str
    begun_ms: float
    acknowledged_ms: float
    heard_ms: float
    accepted: bool


def measure(quick: bool) -> Result:
    """Latency, then throughput, each followed by the echo's in the same installation."""
    seconds, changes = (6, 2_000) if quick else (60, 20_000)
    with install(workers=1, topics=[*TOPICS, ECHO_IN, ECHO_OUT]) as site:
        heard, cpu = _follow_changes(site, int(seconds * RATE_PER_S))
        latency = _latency(site, heard) | cpu
        throughput, notes = measure_throughput(site, changes)
        site.stop()  # the echo has the machine for itself, as the worker had
        peers = measure_echo(site, RATE_PER_S, int(seconds * RATE_PER_S), changes)
    figures = latency | throughput
    figures["latency_ratio_to_echo"] = figures["verdict_ms_p50"] / peers["echo_ms_p50"]
    figures["throughput_ratio_to_echo"] = figures["changes_per_s"] / peers["echo_per_s"]
    return Result("change-latency", figures, peers, [*_notes(seconds), *notes])


def _notes(seconds: int) -> list[str]:
    pace = f"{RATE_PER_S:g} changes a second for {seconds} s over {JOBS} jobs"
    return [
        f"{pace} by one turbine.Publisher, open loop: a time begins when a change is due",
        (
            "ack: until the broker has the proposal. decided, published: the broker's append time"
            " of the decision and of the outcome, each less that of the record before. heard: from"
            " there to the author. Append times are whole milliseconds."
        ),
        "a verdict is three hops (proposal, decision, transaction of the publisher), an echo one",
    ]


def _follow_changes(site: Installation, count: int) -> tuple[list[Heard], dict[str, float]]:
    with Publisher(site.settings, author="bench") as publisher, ThreadPoolExecutor(THREADS) as pool:
        created = [publisher.propose(_job(n), base_config(n), create=True) for n in range(JOBS)]
        for pending in created:
            verdict = pending.wait(WAIT_S)
            assert isinstance(verdict, Accepted), verdict
        say(f"{JOBS} jobs created; {count} changes at {RATE_PER_S:g}/s")

        def one(number: int, begun_ms: float) -> Heard:
            pending = publisher.propose(_job(number), next_version(number))
            acknowledged_ms = _now_ms()
            verdict = pending.wait(WAIT_S)
            accepted = isinstance(verdict, Accepted)
            return Heard(pending.change_id, begun_ms, acknowledged_ms, _now_ms(), accepted)

        before = site.cpu_s()
        asked = [pool.submit(one, number, _now_ms()) for number in due(RATE_PER_S, count)]
        heard = [future.result() for future in asked]
        cpu = {name: site.cpu_s()[name] - seconds for name, seconds in before.items()}
    return heard, {
        f"cpu_percent_{name.replace('-', '_')}": 100 * used / (count / RATE_PER_S)
        for name, used in cpu.items()
    }


def _job(number: int) -> str:
    return f"latency-{number % JOBS:03}"


def _now_ms() -> float:
    return time.time() * 1000


def _latency(site: Installation, heard: list[Heard]) -> dict[str, float]:
    log = Log(site.settings)
    asked = {read.record.id: read.at_ms for read in log.read([CHANGES["base"]])}
    decided = _by_cause(log, JOURNAL)
    published = _by_cause(log, OUTCOMES)
    accepted = [one for one in heard if one.accepted]
    figures = spread("verdict", [one.heard_ms - one.begun_ms for one in accepted])
    figures["verdicts_missing"] = len(heard) - len(accepted)
    ids = [one.change_id for one in accepted]
    steps = {
        "ack": [one.acknowledged_ms - one.begun_ms for one in accepted],
        "decided": [float(decided[name] - asked[name]) for name in ids],
        "published": [float(published[name] - decided[name]) for name in ids],
        "heard": [one.heard_ms - published[one.change_id] for one in accepted],
    }
    for name, values in steps.items():
        figures |= {f"{name}_ms_p50": share(values, 0.5), f"{name}_ms_p99": share(values, 0.99)}
    return figures


def _by_cause(log: Log, topic: str) -> Mapping[str, int]:
    return {read.record.cause: read.at_ms for read in log.read([topic], kinds=frozenset())}
