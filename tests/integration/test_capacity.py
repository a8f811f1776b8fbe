"""Capacity on a real broker: jobs get limits where it is tight, and containers go to another tier
and come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.children import Supervised, python
from benchmarks.installation import Installation, install
from events.generated.records import CapacityGranted, ContainerStarted
from events.topics import CONTAINERS, GRANTS
from infra.waiting import until
from projections.fleet import TierFleet
from turbine.ops.tiers import define
from turbine.read.answers.capacity import tiers_in
from turbine.read.logics import TIERED
from turbine.read.plain import plain
from turbine.read.sources.log import Log
from turbine_client.publish import Publisher

pytestmark = [pytest.mark.broker, pytest.mark.slow]

PARTITIONS, SHARDS = 4, 6
SETTINGS = {"time_per_mille": 100, "lend_max": 500, "moves_max": 1000, "load_max": 1000}
TWO = "cpu_cores=2,memory_bytes=4000000000"
CONFIG = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks"}],
    "output": {"topic": "counts"},
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
}


def serve(site: Installation, component: str, tier: str, more: str = "") -> Supervised:
    name = f"{component}-{tier}{more}"  # a number at its end would make it a worker
    address = site.settings.bootstrap
    command = python("turbine.serve", component, "--tier", tier, "--bootstrap", address)
    site.processes[name] = Supervised(name, command, site.directory)
    return site.processes[name]


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    """A tier with one container and one with two, of two cores each; jobs are configs alone."""
    with install(partitions=PARTITIONS) as found:
        log, address = Log(found.settings), found.settings.bootstrap
        for tier in ("default", "rich"):
            define(log, tier, SHARDS, (), SETTINGS)
        found.serve("clock")
        found.serve("job-service", instance="worker-0")
        for tier in ("default", "rich"):
            serve(found, "shard-manager", tier)
            serve(found, "capacity-manager", tier)
        for name, tier in (("home", "default"), ("east", "rich"), ("west", "rich")):
            place = ["--directory", found.directory / name, "--tier", tier, "--capacity", TWO]
            command = python("turbine.ops.container", name, *place, "--bootstrap", address)
            found.processes[name] = Supervised(name, command, found.directory)
        found.await_assigned()
        yield found
        found.stop()


def ask(
    site: Installation, job: str, tasks: int, cores: float = 0.5, tier: str = "default"
) -> None:
    more = {"tasks": tasks, "resources": {"cpu_cores": cores, "memory_mb": 1}, "tier": tier}
    with Publisher(site.settings) as publisher:
        publisher.change(job, CONFIG | more, create=True, wait_s=0)


def fleet(site: Installation, tier: str) -> TierFleet:
    row = Log(site.settings).fleet(tier)
    assert row is not None
    return row


def holds(site: Installation, tier: str) -> dict[str, int]:
    """How many shards of the tier run on each container."""
    row, found = fleet(site, tier), dict[str, int]()
    for shard, grant in row.grants.items():
        if shard not in row.open:
            found[grant.container] = found.get(grant.container, 0) + 1
    return found


def told(site: Installation) -> dict[str, int | None]:
    """The last grant of each job."""
    reads = Log(site.settings).read([GRANTS])
    bodies = (read.record.body for read in reads)
    return {body.job: body.tasks_max for body in bodies if isinstance(body, CapacityGranted)}


def lives(site: Installation, name: str) -> list[str]:
    """The tiers of the container's lives; one says several times that it has begun."""
    reads = Log(site.settings).read([CONTAINERS], key=name)
    bodies = (read.record.body for read in reads)
    found = {body.epoch: body.tier for body in bodies if isinstance(body, ContainerStarted)}
    return list(found.values())


def stands(site: Installation, tier: str) -> str | None:
    rows = {row["tier"]: row for row in plain(tiers_in(Log(site.settings)))}
    state: str | None = rows[tier]["state"]
    return state


def test_a_job_gets_a_limit_once_its_tier_is_tight(site: Installation) -> None:
    until(lambda: holds(site, "default") == {"home": SHARDS}, "shards run in the one tier")
    until(lambda: holds(site, "rich") == {"east": 3, "west": 3}, "and in the other one", 120, 0.2)
    until(lambda: stands(site, "default") == "plenty", "there is plenty", 60, 0.2)
    ask(site, "clicks", 4)  # 2 of 1.8 usable cores
    until(lambda: told(site).get("clicks") == 4, "it keeps its tasks, and gets no more", 60, 0.2)


def test_a_container_goes_to_the_tier_that_has_too_few(site: Installation) -> None:
    """Its shards are moved away first; then it begins another life, and gets the other tier's."""
    until(lambda: lives(site, "east")[-1] == "default", "it lives in the other tier", 120, 0.2)
    until(lambda: holds(site, "rich") == {"west": SHARDS}, "its shards are elsewhere", 60, 0.2)
    until(lambda: told(site)["clicks"] is None, "there is plenty again", 60, 0.2)
    # A new container is filled over time; at a tenth that is six minutes, so only some have come.
    until(lambda: holds(site, "default").get("east", 0) > 0, "it has shards", 240, 0.2)


def test_two_managers_do_no_harm(site: Installation) -> None:
    before = told(site)
    late = serve(site, "capacity-manager", "default", "-again")
    until(lambda: late.log.exists() and "caught up" in late.log.read_text(), "it reads")
    assert told(site) == before


def test_the_lender_gets_its_container_back_when_it_needs_it(site: Installation) -> None:
    ask(site, "views", 4, tier="rich")
    until(lambda: lives(site, "east")[-1] == "rich", "it is at home again", 180, 0.2)
    until(lambda: set(holds(site, "default")) == {"home"}, "it holds nothing of the other tier", 60)
    assert lives(site, "east") == ["rich", "default", "rich"]


def test_the_audit_makes_all_of_it_again(site: Installation) -> None:
    """Of both tiers: each has a row, and so a logic, of its own."""
    log = Log(site.settings)
    found = [one for one in log.audit() if one.read.topic == "tiers.v1"]
    assert [(one.verdict, one.sentence) for one in found if one.verdict != "same"] == []
    made = Counter(one.read.record.logic for one in found)
    assert made.keys() == {of(tier).logic for of in TIERED.values() for tier in ("default", "rich")}
    assert all(count > 5 for count in made.values()), made
    sizes = [
        sum(len(value or b"") for name, value in message.headers or [] if name == "ce_evidence")
        for message in log.messages(["tiers.v1"])
    ]
    assert max(sizes) < 8_192
