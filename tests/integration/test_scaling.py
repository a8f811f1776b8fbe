"""Jobs that are sized on a real broker: more for a spike, capped, declined, and taken back.

The process engine's tasks wait for a dependency with each record, so a job's capacity is known: so
many records a second of one thread, or so many of all tasks together, however many they are.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer

from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet
from events.generated.records import (
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
)
from infra.waiting import until
from tests.integration.processes import processes_in
from tests.unit.turbine.lines import run
from turbine.read.sources.log import Log

pytestmark = [pytest.mark.broker, pytest.mark.slow]

TENTH = 100
INTERVAL_MS = 6_000
PARTITIONS = 8
WAIT_US = 5_000
PER_THREAD = 1_000_000 / WAIT_US
SPIKY, CAPPED, VAIN, QUIET = "spiky", "capped", "vain", "quiet"
USUAL = {SPIKY: 60.0, CAPPED: 60.0, VAIN: 60.0, QUIET: 0.0}
"""Records a second, before."""
SPIKE = {SPIKY: 3 * PER_THREAD, CAPPED: 20 * PER_THREAD, VAIN: 2 * PER_THREAD}
POLICY = {"verify_minutes": 5}
WAIT_S = 150.0


@dataclass(slots=True)
class Flood:
    """Sends records to all topics, each at its rate of the moment."""

    source: Producer
    rates: dict[str, float] = field(default_factory=lambda: dict(USUAL))
    over: bool = False

    def play(self) -> None:
        """Until it is over."""
        owed, before, number = dict.fromkeys(self.rates, 0.0), time.monotonic(), 0
        while not self.over:
            time.sleep(0.02)
            now = time.monotonic()
            for topic, rate in self.rates.items():
                owed[topic] += rate * (now - before)
                while owed[topic] >= 1:
                    owed[topic] -= 1
                    number += 1
                    self.source.produce(topic, b"x" * 50, partition=number % PARTITIONS)
            before = now
            self.source.poll(0)


class Said(NamedTuple):
    """A decision that stands."""

    id: str
    body: Any  # of the kind that was asked for


@dataclass(slots=True)
class Bench:
    """One container with four jobs, and what they are given."""

    fleet: SparkFleet
    flood: Flood

    def said(self, job: str, *kinds: type) -> list[Said]:
        """What stands in a job's journal of these kinds, in order."""
        found = Log(self.fleet.site.settings).decisions(job=job)
        records = [one.read.record for one in found if one.stands]
        return [Said(one.id, one.body) for one in records if isinstance(one.body, kinds)]

    def first(self, job: str, kind: type, holds: Callable[[Any], bool]) -> Said | None:
        """The first of them for which that is so."""
        return next((one for one in self.said(job, kind) if holds(one.body)), None)


def config(fleet: SparkFleet, job: str) -> dict[str, Any]:
    more = ["--among", "${tasks}"] if job == VAIN else ["--at-once", "${threads}"]
    return config_of(
        job,
        PARTITIONS,
        f"{job}-out",
        1,
        fleet.site.directory / "checkpoints",
        arguments=["--wait-us", str(WAIT_US), *more],
        schedule={"batch_interval_ms": 100},
        limits={"tasks": 1 if job == CAPPED else 8},
        policy={"interval_ms": INTERVAL_MS, "settings": POLICY},
    )


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    topics = {topic: PARTITIONS for job in USUAL for topic in (job, f"{job}-out")}
    with spark_fleet(["solo"], topics, per_mille=TENTH, kind="process") as fleet:
        fleet.site.serve("auto-scaler")
        flood = Flood(Producer({"bootstrap.servers": fleet.site.settings.bootstrap}))
        playing = threading.Thread(target=flood.play, daemon=True)
        versions = {job: fleet.ask(job, config(fleet, job)) for job in USUAL}
        until(lambda: all(fleet.runs(*one) for one in versions.items()), "all jobs run", 90)
        playing.start()
        yield Bench(fleet, flood)
        flood.over = True
        playing.join()
        fleet.site.stop()
        until(lambda: not processes_in(fleet.places), "no process is left")


def more(body: ScalingDecided) -> bool:
    return body.action == "scale-up"


def why(read: Said) -> str:
    """What `turbine why` says of it."""
    ended = run("why", read.id)
    assert ended.code == 0, ended
    return ended.out


@pytest.fixture(autouse=True)
def _here(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = bench.fleet.site.settings
    monkeypatch.setenv("TURBINE_BOOTSTRAP", settings.bootstrap)
    monkeypatch.setenv("TURBINE_PARTITIONS", str(settings.partitions))


def test_a_job_that_is_well_is_left_alone_and_that_is_told(bench: Bench) -> None:
    def told() -> bool:
        return all(bench.said(job, ScalingDeclined) for job in (SPIKY, CAPPED, VAIN))

    until(told, "each job was looked at", WAIT_S, 1.0)
    assert not bench.said(SPIKY, ScalingDecided)
    read = bench.said(SPIKY, ScalingDeclined)[-1]
    assert read.body.reason in why(read)


def test_a_spike_makes_the_job_larger_and_that_is_verified(bench: Bench) -> None:
    bench.flood.rates |= SPIKE
    until(lambda: bench.first(SPIKY, ScalingDecided, more), "it is made larger", WAIT_S, 1.0)
    read = bench.first(SPIKY, ScalingDecided, more)
    assert read is not None
    body = read.body
    assert (body.symptom, body.diagnosis) == ("lag", "under-capacity")

    def closed() -> Said | None:
        return bench.first(SPIKY, ScalingVerified, lambda one: one.change_id == body.change_id)

    until(closed, "it is verified", WAIT_S, 1.0)
    verified = closed()
    assert verified is not None
    assert "ScalingVerified" in why(read)
    assert body.change_id in why(verified)

    def lag() -> int:
        ended = run("get", "lag", SPIKY, "-o", "json")
        [row] = json.loads(ended.out)
        return int(row["lag_records"])

    until(lambda: lag() < 2 * SPIKE[SPIKY], "what was left is read", WAIT_S, 1.0)


def test_a_job_gets_no_more_than_its_limit_and_the_record_says_so(bench: Bench) -> None:
    def capped(body: ScalingDecided) -> bool:
        return any(one.after < one.before for one in body.constraints)

    until(lambda: bench.first(CAPPED, ScalingDecided, capped), "it is capped", WAIT_S, 1.0)
    read = bench.first(CAPPED, ScalingDecided, capped)
    assert read is not None
    assert read.body.final_tasks == 1
    assert read.body.raw_tasks > 1
    assert "limit" in why(read)


def test_what_does_not_help_is_taken_back(bench: Bench) -> None:
    until(lambda: bench.said(VAIN, ScalingReverted), "it is taken back", WAIT_S, 1.0)
    read = bench.said(VAIN, ScalingReverted)[0]
    body = read.body
    assert body.change_id in why(read)
    made = bench.first(VAIN, ScalingDecided, lambda one: one.change_id == body.change_id)
    assert made is not None
    assert "ScalingReverted" in why(made)

    def back() -> bool:
        row = Log(bench.fleet.site.settings).syncs(job=VAIN)[VAIN]
        assert row.running is not None
        running = json.loads(row.running.config_json)
        return running.get("threads_per_task", 1) == 1 and row.running.tasks == 1

    until(back, "it runs as before", WAIT_S, 1.0)


def test_every_decision_about_sizes_comes_out_again(bench: Bench) -> None:
    found = [
        one for one in Log(bench.fleet.site.settings).audit() if one.component == "auto-scaler"
    ]
    assert {one.read.record.kind for one in found} >= {
        "ScalingDecided",
        "ScalingDeclined",
        "ScalingVerified",
        "ScalingReverted",
    }
    assert [one for one in found if one.verdict != "same"] == []


def test_what_really_came_in_is_played_again_beside_what_happened(bench: Bench) -> None:
    before = len(bench.said(SPIKY, ScalingDecided))
    kinds = (ScalingDecided, ScalingReverted)
    ended = run("whatif", "--job", SPIKY, "--set", "margin=1.2", "-o", "json")
    assert ended.code == 0, ended
    told = json.loads(ended.out)
    assert told["interval_ms"] == INTERVAL_MS
    # One that was made after the last minute that is played is not among them.
    assert before - 1 <= len(told["sides"][0]["decisions"]) <= len(bench.said(SPIKY, *kinds))
    nature = {one["name"]: one["value"] for one in told["nature"]}
    assert 0.05 * PER_THREAD < nature["records_per_s_of_a_thread"] < 1.5 * PER_THREAD
    assert max(told["series"]["rate_in"]) > USUAL[SPIKY]
    ups = [one for one in told["sides"][1]["decisions"] if one["action"] == "scale-up"]
    assert ups, "the plant under the policy that ran grows as well"


def test_the_last_verdict_is_made_again_and_asked_what_would_have_changed_it(bench: Bench) -> None:
    for job in (SPIKY, CAPPED, VAIN):
        ended = run("why-not", job, "--action", "scale-down", "-o", "json")
        assert ended.code == 0, ended
        asked = json.loads(ended.out)["asked"]
        assert asked["rebuilt"]
        assert asked["same"]
    newest = bench.said(SPIKY, ScalingDecided)[-1]
    assert "[loads.v1/" in why(newest), "the reports that it was made on"
