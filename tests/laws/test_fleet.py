"""Laws of a tier's row: what lies in different places may be read in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.shard_manager.decide import component, decide
from components.shard_manager.keeping import dump, load
from events.codec import Read, Record, encode
from events.records import (
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
from projections.fleet import Fleet, fold

NAMES, SHARDS = ("c0", "c1", "c2"), 3
HOME = {"c0": "containers.v1/0", "c1": "containers.v1/1", "c2": "containers.v1/1"}
CHAIN = "tiers.v1/0"
TIER = TierDefined("default", SHARDS, ("local",))

small = st.integers(1, 3)
names, shards = st.sampled_from(NAMES), st.integers(0, SHARDS - 1)
offsets = st.one_of(st.none(), st.integers(0, 20))
facts: st.SearchStrategy[Body] = st.one_of(
    st.builds(ContainerStarted, names, small, st.just("default"), st.just("local"), st.just(())),
    st.builds(
        ContainerHeartbeat, names, small, small, small, st.just("serving"), small, st.just("")
    ),
    st.builds(ShardAdded, names, small, st.just("default"), shards, small),
    st.builds(ShardDropped, names, small, st.just("default"), shards, small),
    st.builds(ContainerFailedOver, names, small, st.just("d1"), st.just(""), st.just(""), offsets),
    st.builds(ClockTicked, small),
)
decisions: st.SearchStrategy[Body] = st.one_of(
    st.builds(
        ShardAddRequested,
        st.just("default"),
        shards,
        small,
        names,
        small,
        st.just("p"),
        st.just("r"),
        offsets,
    ),
    st.builds(
        ShardDropRequested,
        st.just("default"),
        shards,
        small,
        names,
        small,
        st.just("p"),
        st.just("r"),
    ),
    st.builds(ShardForceKilled, st.just("default"), shards, small, names, small, st.just("late")),
    st.builds(
        ContainerFailOverRequested, st.just("default"), names, small, small, st.just("silent")
    ),
)


def reads_of(bodies: list[Body], partition: int) -> Iterator[Read]:
    """Facts and ticks where they lie, in order."""
    for offset, body in enumerate(bodies):
        name = getattr(body, "container", "")
        at = HOME.get(name, f"containers.v1/{partition}")
        record = Record(name, f"f{offset}", type(body).__name__, encode(body), body)
        yield Read(at, "containers.v1", offset, 1_000 * offset, record)


def chain_of(bodies: list[Body]) -> Iterator[Read]:
    for offset, body in enumerate([TIER, *bodies]):
        record = Record("default/placement", f"d{offset}", type(body).__name__, encode(body), body)
        yield Read(CHAIN, "tiers.v1", offset, 500 * offset, record)


def folded(reads: list[Read]) -> Fleet:
    row: Fleet | None = None
    for read in reads:
        row = fold(row, read)
    assert row is not None
    return row


@settings(deadline=None)
@given(st.lists(facts, max_size=14), st.lists(decisions, max_size=8), st.data())
def test_containers_partitions_may_be_read_in_any_order(
    said: list[Body], decided: list[Body], data: Any
) -> None:
    """What one says of another container's life lies in one place; places do not wait."""
    places: dict[str, list[Read]] = {}
    for read in reads_of(said, 0):
        places.setdefault(read.place, []).append(read)
    places[CHAIN] = list(chain_of(decided))
    orders = []
    for _ in range(2):
        queues = {at: list(reads) for at, reads in places.items()}
        order = [queues[CHAIN].pop(0)]  # all that is decided rests on the tier's record
        while live := sorted(at for at, queue in queues.items() if queue):
            order.append(queues[data.draw(st.sampled_from(live))].pop(0))
        orders.append(order)
    first, second = (folded(order) for order in orders)
    assert (first.lives, first.ticks, first.grants) == (second.lives, second.ticks, second.grants)
    assert (first.told, first.holdings) == (second.told, second.holdings)
    now_ms = 10_000_000
    mine = [encode(body) for body in decide(first, now_ms)]
    assert mine == [encode(body) for body in decide(second, now_ms)]


@settings(deadline=None)
@given(st.lists(facts, max_size=14), st.lists(decisions, max_size=8))
def test_a_row_comes_back_as_it_was_kept(said: list[Body], decided: list[Body]) -> None:
    row = folded([*chain_of(decided), *reads_of(said, 0)])
    assert load(dump(row)) == row


@settings(deadline=None)
@given(st.lists(facts, max_size=14), st.lists(decisions, max_size=8), st.integers(0, 10**7))
def test_deciding_is_total_and_what_is_due_is_said_at_once(
    said: list[Body], decided: list[Body], now_ms: int
) -> None:
    row = folded([*chain_of(decided), *reads_of(said, 0)])
    for body in decide(row, now_ms):
        assert type(body).__name__ in component.says
    at_ms = component.wake_ms(row, now_ms)
    assert at_ms is None or at_ms > now_ms
