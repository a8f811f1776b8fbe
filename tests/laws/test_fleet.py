"""Laws of a tier's row: what lies in different places may be read in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from components.shard_manager.core.row_json import dump, load
from components.shard_manager.decide import UNPLACED, component, decide, wake_ms
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
from events.wire.codec import VALUE_BYTES_MAX, Read, Record, encode
from projections.fleet import TierFleet
from projections.fleet_folds import MASS_FAILURE, apply, fold
from projections.plans import Planned, write_moves
from projections.shards import mask_of_shard
from tests.kit.examples import at_most
from tests.laws.orders import in_any_order
from tests.unit.shard_manager.fleets import Tale

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
    st.builds(
        ContainerReassigned,
        names,
        st.sampled_from(("default", "rich")),
        small,
        st.just("d1"),
        st.just(""),
    ),
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


def folded(reads: list[Read]) -> TierFleet:
    row: TierFleet | None = None
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
    assert first.tenants == second.tenants
    now_ms = 10_000_000
    mine = [encode(body) for body in decide(first, now_ms)]
    assert mine == [encode(body) for body in decide(second, now_ms)]


@settings(deadline=None)
@given(st.lists(facts, max_size=14), st.lists(decisions, max_size=8))
def test_a_row_comes_back_as_it_was_kept(said: list[Body], decided: list[Body]) -> None:
    row = folded([*chain_of(decided), *reads_of(said, 0)])
    assert load(dump(row)) == row._replace(bounds=Map())


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


# --- whole stories: containers live and die, an operator drains and asks, the manager decides


CONTAINERS = ("c0", "c1", "c2", "c3")
HOMES = {"c2": "containers.v1/1", "c3": "containers.v1/1"}
LATER_MS = (30_000, 61_000, 121_000, 600_000, 1_800_000)
some = st.sampled_from(CONTAINERS)
steps = st.one_of(
    st.tuples(st.just("start"), some, st.sampled_from(("north", "south", "east"))),
    st.tuples(st.sampled_from(("mute", "unmute", "idle", "unidle", "drain", "undrain")), some),
    st.tuples(st.just("state"), some, st.sampled_from(("serving", "draining"))),
    st.tuples(st.just("wait"), st.integers(1, 70)),
    st.tuples(st.just("jump"), st.sampled_from(LATER_MS)),
    st.tuples(st.just("weigh"), some, st.sampled_from((0.0, 0.5, 4.0, 1e300))),
    st.tuples(st.just("move"), st.integers(0, 7), some),
    st.tuples(st.just("lend"), some, st.sampled_from(("default", "rich"))),
    st.tuples(st.just("confirm")),
    st.tuples(st.just("round")),
)
tiers = st.tuples(
    st.integers(1, 7),
    st.sampled_from(((), ("north",), ("north", "south"))),
    st.sampled_from(
        (
            "{}",
            '{"placement":"hashed"}',
            '{"moves_max":1000,"load_max":1000,"flights":1}',
            '{"brake":1000,"time_per_mille":500}',
        )
    ),
)


def _start(tale: Tale, name: str, region: str) -> None:
    tale.start(name, region=region)


def _state(tale: Tale, name: str, state: str) -> None:
    if name in tale.epochs and tale.fleet.lives[name].lives:
        tale.beat(name, state)


def _weigh(tale: Tale, name: str, cores: float) -> None:
    if name in tale.epochs:
        held = [shard for shard, home in tale.holders().items() if home == name]
        tale.weigh(name, dict.fromkeys(held, cores), number=len(tale.log))


def _lend(tale: Tale, name: str, tier: str) -> None:
    tale.life(ContainerReassigned(name, tier, len(tale.log), "d", "why"))


def _move(tale: Tale, shard: int, name: str) -> None:
    grant = tale.fleet.grants.get(shard)
    planned = Planned(shard, grant.generation if grant is not None else 0, name)
    tale.ask("by-hand", write_moves([planned]))


def _confirm(tale: Tale) -> None:
    if tale.fleet.brake is not None:
        tale.ask(tale.fleet.brake.plan_id)


TURNS: dict[str, Callable[..., object]] = {
    "start": _start,
    "state": _state,
    "weigh": _weigh,
    "lend": _lend,
    "move": _move,
    "confirm": _confirm,
    "mute": lambda tale, name: tale.mute.add(name),
    "unmute": lambda tale, name: tale.mute.discard(name),
    "idle": lambda tale, name: tale.idle.add(name),
    "unidle": lambda tale, name: tale.idle.discard(name),
    "drain": Tale.drain,
    "undrain": Tale.undrain,
    "wait": Tale.wait,
    "jump": Tale.jump,
    "round": Tale.speak,
}


def a_story(tier: tuple[int, tuple[str, ...], str], story: list[tuple[Any, ...]]) -> Tale:
    tale = Tale(*tier, homes=HOMES)
    tale.start("c0", "c2", region="north")
    for step in story:
        TURNS[step[0]](tale, *step[1:])
    return tale


stories = st.builds(a_story, tiers, st.lists(steps, max_size=14))
told = settings(deadline=None, max_examples=at_most(40))


TELLS = (ShardAdded, ShardDropped, ContainerFailedOver)


def reordered(log: list[Read], data: Any) -> list[Read]:
    """A container does as it is asked, so it had read the chain."""
    return in_any_order(log, data, CHAIN, lambda read: isinstance(read.record.body, TELLS))


@settings(deadline=None, max_examples=25)
@given(tiers, st.lists(steps.filter(lambda step: step[0] != "wait"), max_size=10), st.data())
def test_a_story_may_be_read_in_any_order_that_its_evidence_allows(
    tier: Any, story: list[tuple[Any, ...]], data: Any
) -> None:
    tale = a_story(tier, story)
    other = folded(reordered(tale.log, data))
    # The bounds say when somebody may be silent, not who is: they may be lower.
    row = tale.fleet._replace(bounds=Map())
    assert other._replace(bounds=Map()) == row
    said = [encode(body) for body in decide(other, tale.now_ms)]
    assert said == [encode(body) for body in tale.would_emit()]


@told
@given(stories)
def test_a_row_of_a_story_comes_back_from_text_and_decides_the_same(tale: Tale) -> None:
    text = json.dumps(dump(tale.fleet))
    back = load(json.loads(text))
    assert back == tale.fleet._replace(bounds=back.bounds)  # these are made again
    assert json.dumps(dump(back)) == text
    assert [encode(body) for body in decide(back, tale.now_ms)] == [
        encode(body) for body in tale.would_emit()
    ]


@told
@given(stories)
def test_deciders_look_ahead_as_the_fold_will(tale: Tale) -> None:
    ahead = tale.fleet
    bodies = tale.would_emit()
    for body in bodies:
        assert len(encode(body)) <= VALUE_BYTES_MAX
        ahead = apply(ahead, body, tale.now_ms)
        tale.told(body)
    # Of a request that is not said yet the id is not known.
    names = sorted(one.container for one in tale.fleet.requests.values())
    assert names == sorted(one.container for one in ahead.requests.values())
    assert ahead._replace(requests=Map()) == tale.fleet._replace(requests=Map())


@told
@given(stories)
def test_what_is_said_comes_to_an_end_and_no_shard_has_two_owners(tale: Tale) -> None:
    tale.settle()
    assert tale.would_emit() == []
    given_to = [
        (body.shard, body.generation) for body in tale.said if isinstance(body, ShardAddRequested)
    ]
    assert len(set(given_to)) == len(given_to)
    for kind in (UNPLACED, MASS_FAILURE):
        raised = sum(isinstance(one, AlertRaised) and one.alert == kind for one in tale.said)
        cleared = sum(isinstance(one, AlertCleared) and one.alert == kind for one in tale.said)
        assert raised - cleared in (0, 1)
    assert bool(tale.fleet.unplaced) == (UNPLACED in tale.fleet.alerts)


@told
@given(stories, st.integers(1, 2_000_000))
def test_what_only_time_calls_for_is_waited_for(tale: Tale, later_ms: int) -> None:
    tale.settle()
    at_ms = wake_ms(tale.fleet, tale.now_ms)
    if any(True for _ in decide(tale.fleet, tale.now_ms + later_ms)):
        assert at_ms is not None
        assert at_ms <= tale.now_ms + later_ms


@settings(deadline=None, max_examples=20)
@given(tiers, st.lists(steps, max_size=12))
def test_in_the_end_every_shard_has_a_container(tier: Any, story: list[tuple[Any, ...]]) -> None:
    """When all faults are over, and one container of each region lives on."""
    tale = a_story(tier, story)
    tale.mute.clear()
    tale.idle.clear()
    for name in CONTAINERS:
        tale.undrain(name)
        _lend(tale, name, "default")
    for name, region in zip(CONTAINERS, ("north", "south", "north", "south"), strict=True):
        tale.start(name, region=region)
    tale.settle()
    tale.wait(90)
    tale.jump(600_000)
    tale.wait(40)
    row = tale.fleet
    assert not row.open
    assert not row.unplaced
    assert not row.alerts
    assert all(row.held(shard) for shard in range(row.shards))
    for shard, name in tale.holders().items():
        assert mask_of_shard(shard, row.each) & row.region_bit(row.lives[name])
