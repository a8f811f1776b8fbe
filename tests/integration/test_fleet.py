"""Shards on a real broker: they are shared out, and given away when their container is silent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.children import Supervised, python
from benchmarks.containers import define_tier
from benchmarks.installation import Installation, install
from infra.waiting import until
from projections.fleet import TierFleet
from turbine.read.sources.log import Log

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SHARDS, TENTH = 24, 100


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    with install(partitions=4) as found:
        define_tier(found.settings, SHARDS, TENTH)
        found.serve("clock")
        found.serve("shard-manager", instance="shard-manager-0")
        for number in range(3):
            name = f"c{number}"
            address = found.settings.bootstrap
            command = python("benchmarks.containers", address, 1, number, TENTH)
            found.processes[name] = Supervised(name, command, found.directory)
        yield found


def fleet(site: Installation) -> TierFleet:
    row = Log(site.settings).fleet("default")
    assert row is not None
    return row


def homes(site: Installation) -> dict[str, int]:
    """How many shards run on each container, as the log tells it."""
    row, found = fleet(site), dict[str, int]()
    for shard, grant in row.grants.items():
        if shard not in row.open:
            found[grant.container] = found.get(grant.container, 0) + 1
    return found


def test_shards_are_shared_out_evenly(site: Installation) -> None:
    each = SHARDS // 3
    wanted = {f"c{n}": each for n in range(3)}
    until(lambda: homes(site) == wanted, "all shards run, as many on each", 60)


def test_two_managers_do_no_harm(site: Installation) -> None:
    before = fleet(site).grants
    site.serve("shard-manager", instance="shard-manager-1")
    log = site.processes["shard-manager-1"].log
    until(lambda: log.exists() and "caught up" in log.read_text(), "it reads", 60)
    assert fleet(site).grants == before


def test_a_silent_container_is_failed_over_while_a_manager_dies(site: Installation) -> None:
    before = fleet(site)
    site.processes["c2"].stop()
    site.processes["shard-manager-0"].kill()
    until(lambda: homes(site) == {"c0": 12, "c1": 12}, "its shards run elsewhere", 60)
    row = fleet(site)
    assert not row.lives["c2"].lives
    for shard, grant in row.grants.items():
        was = before.grants[shard]
        moved = was.container == "c2"
        assert grant.generation == was.generation + moved
        assert (grant.container == was.container) is not moved


def test_every_decision_about_the_tier_comes_out_again(site: Installation) -> None:
    """From its evidence, whichever manager made it, byte for byte."""
    found = [one for one in Log(site.settings).audit() if one.component == "shard-manager"]
    assert {one.read.record.kind for one in found} >= {"ShardAddRequested", "ContainerFailedOver"}
    assert [one for one in found if one.verdict != "same"] == []
