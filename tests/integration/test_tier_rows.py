"""A shard manager's snapshots on a real broker: a start reads the newest one and the tail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from benchmarks.children import python
from benchmarks.containers import define_tier
from components.runtime.process.exits import EXIT_UNREADABLE
from components.shard_manager.decide import component
from events.topics import BY_SHORT, CONTAINERS, DEAD_LETTERS, ROWS_SHARD_MANAGER, TIERS, place
from infra.kafka.directory import free_port
from infra.waiting import WAIT_S, until, within
from projections.fleet import TierFleet as Tier
from tests.integration.processes import PARTITIONS, ROOT, Fleet, Process, fleet_on
from turbine.ops.forgetting import forget, kept_of
from turbine.read.sources.log import Log
from turbine_client.clients import (
    admin,
    producer,
)
from turbine_client.reading import ends_now, read_span, starts_now

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SHARDS, TENTH = 12, 100
PLACES = [place(TIERS, 0), *(place(CONTAINERS, p) for p in range(PARTITIONS))]
LETTERS, ROWS = place(DEAD_LETTERS, 0), BY_SHORT[ROWS_SHARD_MANAGER]
SERVE = """
import sys
from components.runtime.process.logs import configure_logs
from components.runtime.process.loop import StopSignal
from turbine_client.settings import Settings
from components.runtime.tier.shell import serve
from components.shard_manager.decide import component
configure_logs()
settings, every_s = Settings(bootstrap=sys.argv[1]), float(sys.argv[2])
sys.exit(serve(settings, StopSignal().listen(), component, every_s=every_s))
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A clock, and two containers that live on."""
    with fleet_on(tmp_path_factory.mktemp("tier-rows")) as fleet:
        define_tier(fleet.settings, SHARDS, TENTH)
        fleet.start("clock")
        containers(fleet, 2, 0)
        yield fleet


@pytest.fixture(autouse=True)
def no_manager_lives_on(fleet: Fleet) -> Iterator[None]:
    """A test that fails would leave one to keep what the next test takes for unkept."""
    yield
    fleet.end("shard-manager")


def run(fleet: Fleet, name: str, command: list[str]) -> Process:
    """A program of ours that is no component, as one of the fleet's processes."""
    fleet.started += 1
    log = fleet.directory / f"{fleet.started}-{name}.log"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TURBINE_")}
    with log.open("wb") as out:
        environment = kept | {"PYTHONPATH": str(ROOT)}
        child = subprocess.Popen(
            command, cwd=fleet.directory, env=environment, stdout=out, stderr=out
        )
    fleet.processes.append(Process(name, name, child, log, 0))
    return fleet.processes[-1]


def containers(fleet: Fleet, count: int, first: int) -> Process:
    address = fleet.settings.bootstrap
    return run(fleet, f"c{first}", python("benchmarks.containers", address, count, first, TENTH))


def manager(fleet: Fleet, every_s: float) -> Process:
    """A shard manager that has caught up."""
    command = [sys.executable, "-c", SERVE, fleet.settings.bootstrap, str(every_s)]
    process = run(fleet, "shard-manager", command)
    process.awaits("caught up")
    return process


def told(process: Process, event: str) -> dict[str, Any]:
    """What it said with that word last."""
    return [line for line in process.lines() if line.get("event") == event][-1]


def keeps(process: Process) -> None:
    """Returns when it has kept all that was said up to now."""
    before = process.said("kept")
    until(lambda: process.said("kept") >= before + 2, "it keeps what it knows")


def homes(fleet: Fleet) -> Counter[str]:
    """How many shards run on each container."""
    row = Log(fleet.settings).fleet("default")
    assert row is not None
    return Counter(grant.container for shard, grant in row.grants.items() if shard not in row.open)


def known(row: Tier | None) -> dict[str, object]:
    """What the log says of containers and shards."""
    assert row is not None
    fields = ("ticks", "lives", "grants", "told", "holdings", "open")
    return {name: getattr(row, name) for name in fields}


def from_nothing(log: Log, end: dict[str, int]) -> dict[str, object]:
    """The same without any snapshot."""
    owner = log._fold(component, None, end, component.folds, None)
    return known(owner.held["default/placement"].row)


def letters(fleet: Fleet) -> list[str]:
    """The places of what lies among the dead letters."""
    polls = read_span(fleet.settings, {LETTERS: (0, None)})
    found = [dict(one.headers or [])["dead_letter_id"] for poll in polls for one in poll]
    return [(name or b"").decode() for name in found]


def bury(fleet: Fleet) -> None:
    """A record that nobody can read, and its letter."""
    before = len(letters(fleet))
    author = producer(fleet.settings)
    author.produce(BY_SHORT[CONTAINERS].name, key=b"nonsense", value=b"nonsense", partition=1)
    assert author.flush(within(WAIT_S)) == 0
    until(lambda: len(letters(fleet)) > before, "its letter is written")


def test_who_comes_after_a_crash_reads_the_tail_and_decides_on(fleet: Fleet) -> None:
    third = containers(fleet, 1, 2)
    first = manager(fleet, every_s=1.0)
    until(lambda: homes(fleet) == {"c0": 4, "c1": 4, "c2": 4}, "all shards run", 60)
    bury(fleet)
    keeps(first)
    first.kill()

    total = sum(ends_now(fleet.settings, PLACES).values())
    second = manager(fleet, every_s=60.0)
    caught = told(second, "caught up")
    assert caught["from_kept"] is True
    assert caught["records"] < total / 2, "the tail, and not the log"
    bury(fleet)
    assert second.said("kept") == 0, "the letter lies beyond the newest snapshot"
    second.kill()

    third.kill()
    last = fleet.start("shard-manager", port=free_port())
    until(lambda: last.said("caught up"), "it has caught up")
    assert told(last, "caught up")["from_kept"] is True
    until(lambda: homes(fleet) == {"c0": 6, "c1": 6}, "its shards run elsewhere", 60)
    assert last.metric("turbine_records_read", component="shard-manager", became="folded") > 0
    assert last.metric("turbine_records_said_total", type="ContainerFailOverRequested") >= 1
    found = letters(fleet)
    assert len(found) == len(set(found)) == 2
    assert last.stop() == 0
    assert last.said("kept") >= 1, "a clean stop keeps what is left"


def test_a_reader_of_the_tier_goes_on_from_the_newest_snapshot(fleet: Fleet) -> None:
    log = Log(fleet.settings)
    end = log.ends(PLACES)
    reads: list[dict[str, int]] = []
    plain = log.read

    def read(*topics: Any, **more: Any) -> Any:
        reads.append(dict(more["start"]))
        return plain(*topics, **more)

    log.read = read  # type: ignore[method-assign]  # to hear where it begins
    assert known(log.fleet("default", end=end)) == from_nothing(Log(fleet.settings), end)
    assert reads[-1], "it began with a snapshot"
    begin = {place(TIERS, 0): 1}
    row = log.fleet("default", end=begin)
    assert reads[-1] == {}, "no snapshot is as old as that"
    assert known(row) == from_nothing(Log(fleet.settings), begin)
    assert row is not None
    assert (row.defined, len(row.grants)) == (True, 0)


def test_of_two_managers_one_comes_to_keep_alone(fleet: Fleet) -> None:
    pair = [manager(fleet, every_s=2.0) for _ in range(2)]
    counts, since = [0, 0], [0, 0]  # of each, and of each when the other one kept last

    def one_keeps_alone() -> bool:
        now = [one.said("kept") for one in pair]
        for i in (0, 1):
            if now[i] > counts[i]:
                since[1 - i] = now[1 - i]
        counts[:] = now
        return max(now[0] - since[0], now[1] - since[1]) >= 3

    # Whoever stalls for more than a period is taken for gone, so which of the two is not said.
    until(one_keeps_alone, "one keeps three times, and the other leaves it to that")
    for one in pair:
        assert one.stop() == 0


def test_what_expired_unread_ends_the_start_until_somebody_decides(fleet: Fleet) -> None:
    lives = PLACES[1:]
    ends = ends_now(fleet.settings, lives)

    def ticked() -> bool:
        now = ends_now(fleet.settings, lives)
        return all(now[at] > ends[at] + 1 for at in lives)

    until(ticked, "more is said than was kept")
    client = admin(fleet.settings)
    below = ends_now(fleet.settings, lives)
    cut = [TopicPartition(BY_SHORT[CONTAINERS].name, p, below[at]) for p, at in enumerate(lives)]
    for deleted in client.delete_records(cut).values():
        deleted.result(within(WAIT_S))
    assert starts_now(fleet.settings, lives) == below
    command = [sys.executable, "-c", SERVE, fleet.settings.bootstrap, "60"]
    process = run(fleet, "shard-manager", command)
    assert process.ends() == EXIT_UNREADABLE
    why = process.why()
    assert why.startswith(f"{lives[0]}: it had been read up to ")
    assert f"what lies below {below[lives[0]]} has expired" in why
    assert "`turbine rows forget shard-manager`" in why
    assert len(process.lines()) == 1, "one sentence"

    forget(fleet.settings, kept_of(fleet.settings, "shard-manager"), print)
    process = manager(fleet, every_s=60.0)
    assert told(process, "caught up")["from_kept"] is False
    until(lambda: process.said("kept"), "it keeps what is left")
    assert process.stop() == 0
