"""Plans are carried out: how many records at once, in which order, and what became of it since."""

from __future__ import annotations

import pytest

from components.runtime.core.step import AT_ONCE
from components.shard_manager.core.moving import reason_of
from events.generated.records import (
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
)
from projections.plans import Planned, read_moves, write_moves
from tests.unit.shard_manager.fleets import Tale, of, placed


def moved(tale: Tale, shard: int, to: str) -> None:
    """An operator's plan sends the shard there; nobody answers yet."""
    generation = tale.fleet.grants[shard].generation
    tale.ask("by-hand", write_moves([Planned(shard, generation, to)]))
    tale.settle(answers=False)
    assert tale.fleet.grants[shard].to == to


# --- how many at once


def test_a_plan_is_carried_out_so_many_records_at_a_time() -> None:
    tale = Tale(2 * AT_ONCE + 50)
    tale.start("c0", "c1")
    rounds = [tale.speak() for _ in range(4)]
    assert [len(one) for one in rounds] == [AT_ONCE, AT_ONCE, 51, 0]
    assert isinstance(rounds[0][0], PlacementPlanned)
    assert len(of(PlacementPlanned, tale.said)) == 1
    assert sorted(one.shard for one in of(ShardAddRequested, tale.said)) == list(range(450))


def test_what_a_plan_calls_urgent_begins_first() -> None:
    tale = placed(3, 30, '{"flights":1,"moves_max":1000}')
    shards = [shard for shard, name in tale.holders().items() if name == "c0"]
    order = [shards[4], shards[0], shards[2]]
    tale.ask("by-hand", write_moves([Planned(shard, 1, "c1") for shard in order]))
    drops = of(ShardDropRequested, tale.settle())
    assert [one.shard for one in drops] == order


@pytest.mark.parametrize("flights", [1, 3])
def test_one_container_gives_and_gets_so_many_at_once(flights: int) -> None:
    tale = placed(3, 30, f'{{"flights":{flights}}}')
    mine = [shard for shard, name in tale.holders().items() if name == "c0"]
    moves = [Planned(shard, 1, "c1" if at % 2 else "c2") for at, shard in enumerate(mine)]
    tale.ask("by-hand", write_moves(moves))
    first = of(ShardDropRequested, tale.settle(answers=False))
    assert [one.shard for one in first] == mine[:flights]
    tale.dropped("c0", mine[0])
    tale.settle(answers=False)  # it is on its way to the other: one less from here
    assert len(of(ShardDropRequested, tale.said)) == flights + 1


def test_a_container_that_gets_many_holds_up_those_who_give() -> None:
    tale = placed(3, 30, '{"flights":2}')
    some = [next(s for s, name in tale.holders().items() if name == one) for one in ("c0", "c1")]
    more = [shard for shard, name in tale.holders().items() if name == "c0"][1]
    tale.ask("by-hand", write_moves([Planned(shard, 1, "c2") for shard in (*some, more)]))
    assert [one.shard for one in of(ShardDropRequested, tale.settle(answers=False))] == some


# --- what moved since


def test_a_move_whose_shard_has_moved_since_is_skipped() -> None:
    tale = placed(3, 30, '{"flights":1}')
    first, second = [shard for shard, name in tale.holders().items() if name == "c0"][:2]
    tale.ask("by-hand", write_moves([Planned(first, 1, "c1"), Planned(second, 1, "c1")]))
    tale.settle(answers=False)
    # The second is given to another while it waits for its turn.
    tale.told(ShardAddRequested("default", second, 2, "c2", 1, "", "r", tale.now_ms + 120_000))
    tale.added("c2", second)
    tale.dropped("c0", first)
    tale.settle()
    assert tale.holders()[first] == "c1"
    assert tale.holders()[second] == "c2"
    assert [one.shard for one in of(ShardDropRequested, tale.said)] == [first]


def test_a_move_to_a_container_that_takes_nothing_now_is_skipped() -> None:
    tale = placed(3, 30, '{"flights":1}')
    first, second = [shard for shard, name in tale.holders().items() if name == "c0"][:2]
    tale.ask("by-hand", write_moves([Planned(first, 1, "c2"), Planned(second, 1, "c1")]))
    tale.settle(answers=False)
    tale.drain("c1")
    tale.dropped("c0", first)
    tale.settle()
    assert (tale.holders()[first], tale.holders()[second]) == ("c2", "c0")


def test_one_shard_is_never_given_twice_at_once() -> None:
    """Two of one generation would both be its owners."""
    tale = Tale(1)
    tale.start("c0", "c1")
    tale.ask("by-hand", '{"to":["c0","c1"],"moves":[[0,0,0],[0,0,1]]}')
    given = of(ShardAddRequested, tale.settle())
    assert len({one.generation for one in given}) == len(given)
    tale = placed(3, 1)
    (home,) = tale.holders().values()
    away = [name for name in ("c0", "c1", "c2") if name != home]
    tale.ask("by-hand", write_moves([Planned(0, 1, name) for name in away]))
    assert len(of(ShardDropRequested, tale.settle(answers=False))) <= 1


# --- to whom


def test_a_shard_that_was_given_up_goes_to_whom_it_was_promised() -> None:
    tale = placed()
    home = tale.holders()[0]
    goal = tale.other(home)
    moved(tale, 0, goal)
    tale.dropped(home, 0)
    (given,) = of(ShardAddRequested, tale.settle())
    assert (given.container, given.generation, given.from_container) == (goal, 2, home)
    assert given.reason == f"{home} has given it up"
    assert given.deadline_ms == tale.now_ms + tale.fleet.timing.add_ms


@pytest.mark.parametrize("why", ["drained", "quiet", "gone"])
def test_or_by_a_new_plan_to_another(why: str) -> None:
    tale = placed()
    home = tale.holders()[0]
    goal = tale.other(home)
    tale.idle.add(home)
    moved(tale, 0, goal)
    if why == "drained":
        tale.drain(goal)
    else:
        tale.mute.add(goal)
        seconds = 27 if why == "quiet" else 70
        tale.wait(seconds, decides=why == "gone")
    tale.idle.clear()
    before = len(tale.said)
    tale.dropped(home, 0)
    tale.settle()
    assert tale.holders()[0] not in ("", goal)
    if why != "gone":
        assert of(PlacementPlanned, tale.said[before:])[0].trigger == "orphans"


def test_a_new_life_of_a_container_gets_its_shards_back() -> None:
    tale = placed()
    before = tale.counts()
    tale.start("c1")
    back = of(ShardAddRequested, tale.settle())
    assert {one.container for one in back} == {"c1"}
    assert {(one.epoch, one.generation) for one in back} == {(2, 2)}
    assert {one.reason for one in back} == {"its container began another life"}
    assert tale.counts() == before
    assert of(PlacementPlanned, tale.said)[1:] == []


def test_a_new_life_that_is_to_be_empty_gets_nothing_back() -> None:
    tale = placed()
    tale.drain("c1")
    tale.start("c1")
    tale.settle()
    assert tale.counts()["c1"] == 0


@pytest.mark.parametrize("stage", ["drop", "kill"])
def test_who_begins_anew_keeps_what_its_promised_owner_cannot_take(stage: str) -> None:
    """A drop from c0 to c1 was asked for; c1 is drained, and c0 begins another life."""
    tale = placed(2, 2)
    home = tale.holders()[0]
    goal = tale.other(home)
    tale.idle.add(home)
    moved(tale, 0, goal)
    if stage == "kill":
        tale.jump(tale.fleet.timing.drop_ms + 1)
        assert len(of(ShardForceKilled, tale.said)) == 1
    tale.drain(goal)
    tale.start(home)
    tale.idle.clear()
    tale.settle()
    assert tale.fleet.held(0)
    assert tale.holders()[0] == home


def test_what_is_promised_is_not_planned_again_when_its_holder_is_failed_over() -> None:
    """It does not stop what it was to give up: it is waited for, and the promise is kept."""
    tale = placed()
    home = tale.holders()[0]
    goal = tale.other(home)
    tale.idle.add(home)
    moved(tale, 0, goal)
    tale.jump(tale.fleet.timing.drop_ms + 1)
    tale.jump(tale.fleet.timing.kill_ms + 1)
    assert len(of(ContainerFailOverRequested, tale.said)) == 1
    assert not tale.fleet.given_up(0)
    orphaned = [one for one in of(PlacementPlanned, tale.said) if one.trigger == "orphans"][-1]
    assert 0 not in {move.shard for move in read_moves(orphaned.moves_json)}
    tale.wait(65)
    assert tale.holders()[0] == goal


def test_a_quiet_container_is_given_nothing_until_it_is_heard() -> None:
    tale = Tale(6)
    tale.start("c0", "c1")
    tale.mute.add("c1")
    quiet_s = tale.fleet.timing.silence_ms // 3000 + 2
    tale.wait(quiet_s, decides=False)
    tale.settle()
    assert tale.counts() == {"c0": 6, "c1": 0}
    tale.mute.clear()
    tale.beat("c1")
    assert tale.fleet.takes("c1")
    loud = Tale(6)
    loud.start("c0", "c1")
    loud.mute.add("c1")
    loud.wait(quiet_s - 1, decides=False)
    loud.settle()
    assert loud.counts() == {"c0": 3, "c1": 3}


# --- plans that others left


def test_a_plan_whose_rest_never_came_holds_nobody_up() -> None:
    """Its author died, or another's word stands between: the second part is void."""
    tale = Tale(2)
    tale.start("c0", "c1")
    moves = write_moves([Planned(0, 0, "c0"), Planned(1, 0, "c0")])
    half = PlacementPlanned(
        "default", "default#1", "orphans", 4, 2, 2, 0, "", "x", moves_json=moves, parts=2
    )
    tale.told(half)
    tale.settle()
    assert sorted(tale.holders()) == [0, 1]


def test_a_stale_move_is_no_place_for_a_shard_that_nobody_holds() -> None:
    """It was planned, its holder came back and got it, and failed again."""
    tale = Tale(2)
    tale.start("c0", "c1")
    tale.idle.add("c0")
    tale.settle()
    shard = next(shard for shard, name in tale.holders().items() if name == "c0")
    tale.wait(125)
    assert len(of(ContainerFailOverRequested, tale.said)) == 1
    tale.start("c0")
    tale.settle()
    assert tale.fleet.grants[shard].epoch == 2
    tale.wait(250)
    assert tale.holders()[shard] == "c1"


# --- in words


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("illegal", "c0 is in a region where it may not be"),
        ("drain", "c0 is being emptied"),
        ("over", "c0 has 12.5 % of the mean cpu_cores more than the band allows"),
        ("under", "c1 has 12.5 % of the mean cpu_cores less than the band allows"),
        ("swap", "it changes places with another shard: c0 is out of band in cpu_cores"),
        ("fill", "c1 is nearly empty"),
        ("", "an operator asked for it"),
    ],
)
def test_a_move_says_why(reason: str, said: str) -> None:
    move = Planned(3, 1, "c1", reason, "cpu_cores", 125)
    assert reason_of(move, "c0") == said
    assert reason_of(move._replace(next_best="c2"), "c0") == f"{said}; next best was c2"


def test_what_is_dropped_twice_counts_once() -> None:
    tale = placed()
    home = tale.holders()[0]
    goal = tale.other(home)
    moved(tale, 0, goal)
    tale.dropped(home, 0)
    tale.life(ShardDropped(home, 1, "default", 0, 1))
    tale.settle()
    tale.life(ShardDropped(home, 1, "default", 0, 1))
    tale.settle()
    assert len(of(ShardAddRequested, tale.said)) == 7
    assert tale.fleet.held(0)
