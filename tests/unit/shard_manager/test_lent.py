"""Containers that are lent to another tier: emptied here, filled there, and back again."""

from __future__ import annotations

from events.generated.records import ContainerReassigned, ShardDropRequested
from tests.unit.shard_manager.fleets import Tale, calm


def reassigned(tale: Tale, name: str, tier: str, number: int) -> None:
    tale.life(ContainerReassigned(name, tier, number, "d", "why"))


def test_a_container_that_is_lent_is_emptied_as_one_that_is_drained() -> None:
    tale = calm(3, 6, '{"moves_max":1000,"load_max":1000}')
    reassigned(tale, "c0", "rich", 1)
    assert tale.fleet.closed(tale.fleet.lives["c0"])
    assert not tale.fleet.takes("c0")
    tale.wait(40)
    assert tale.counts()["c0"] == 0
    reasons = [body.reason for body in tale.said if isinstance(body, ShardDropRequested)]
    assert len(reasons) == 2
    assert all(one.startswith("c0 is being emptied") for one in reasons)
    tale.start("c0", tier="rich")  # its next life
    assert [life.name for life in tale.fleet.members()] == ["c1", "c2"]
    tale.jump(tale.fleet.timing.rest_ms)
    assert set(tale.holders().values()) == {"c1", "c2"}


def test_one_that_is_borrowed_takes_shards_until_it_is_called_back() -> None:
    tale = calm(2, 6, '{"moves_max":1000,"load_max":1000}')
    reassigned(tale, "r0", "default", 1)
    tale.start("r0")  # as it belongs here
    tale.wait(40)
    tale.jump(tale.fleet.timing.ramp_ms)
    assert tale.counts()["r0"] == 2
    reassigned(tale, "r0", "rich", 2)
    assert not tale.fleet.takes("r0")
    tale.jump(tale.fleet.timing.rest_ms)
    tale.wait(40)
    assert tale.counts()["r0"] == 0


def test_one_that_comes_back_is_a_member_again() -> None:
    tale = calm(2, 4, '{"moves_max":1000,"load_max":1000}')
    reassigned(tale, "c0", "rich", 1)
    tale.wait(40)
    tale.start("c0", tier="rich")
    reassigned(tale, "c0", "default", 2)
    reassigned(tale, "c0", "rich", 1)  # a late copy
    tale.start("c0")
    assert tale.fleet.takes("c0")
    tale.wait(40)
    assert tale.counts()["c0"] > 0
