"""What operators ask for is done as it stands, or refused in a sentence that says what to do."""

from __future__ import annotations

import json

import pytest

from events.generated.records import (
    Body,
    PlacementPlanned,
    PlacementRejected,
    ShardAddRequested,
    ShardDropRequested,
)
from projections.ingress import FIRST_ROOM
from projections.plans import Planned, write_moves
from tests.unit.shard_manager.fleets import Tale, of, placed


def refused(tale: Tale, moves_json: str, plan_id: str = "by-hand") -> PlacementRejected:
    """The refusal, which is all that is said."""
    name = tale.ask(plan_id, moves_json)
    said = tale.settle(answers=False)
    assert [type(body) for body in said] == [PlacementRejected], said
    (one,) = of(PlacementRejected, said)
    assert one.change_id == name
    assert len(one.explanation) < 2_000
    return one


def away(tale: Tale, shard: int) -> str:
    return tale.other(tale.holders()[shard])


def plans(bodies: list[Body]) -> list[PlacementPlanned]:
    return [one for one in of(PlacementPlanned, bodies) if one.trigger == "operator"]


# --- done


def test_a_plan_is_carried_out_as_it_stands() -> None:
    tale = placed()
    goal = away(tale, 0)
    asked = tale.ask("by-hand", write_moves([Planned(0, 1, goal)]))
    (plan,) = plans(tale.settle())
    assert (plan.plan_id, plan.moves, plan.trigger) == ("by-hand", 1, "operator")
    assert plan.explanation == "ops asked for it: why"
    assert json.loads(plan.measures_json)["change_id"] == asked
    (drop,) = of(ShardDropRequested, tale.said)
    assert (drop.shard, drop.to_container, drop.plan_id) == (0, goal, "by-hand")
    assert tale.holders()[0] == goal
    assert tale.fleet.ingress["default"].waiting == ()


def test_the_same_request_twice_is_one() -> None:
    tale = placed()
    read = tale.log[-1]
    tale.ask("by-hand", write_moves([Planned(0, 1, away(tale, 0))]))
    read = tale.log[-1]
    tale.settle()
    tale.read(read.place, read.record.key, read.record.body)  # type: ignore[arg-type]  # it has one
    assert tale.settle() == []


def test_a_shard_that_nobody_holds_may_be_given_by_hand() -> None:
    tale = Tale(1)
    tale.start("c0", "c1")
    tale.ask("by-hand", write_moves([Planned(0, 0, "c1")]))
    tale.settle()
    assert tale.fleet.held(0)


def test_one_request_is_answered_at_a_time() -> None:
    """What is said of one changes the world of the next: both want the same shard."""
    tale = placed()
    home = tale.holders()[0]
    goals = [name for name in ("c0", "c1", "c2") if name != home]
    for at, goal in enumerate(goals):
        tale.ask(f"by-hand-{at}", write_moves([Planned(0, 1, goal)]))
    said = tale.settle()
    assert [one.plan_id for one in plans(said)] == ["by-hand-0"]
    assert [one.reason for one in of(PlacementRejected, said)] == ["world-moved"]
    assert tale.holders()[0] == goals[0]


def test_a_confirmation_moves_nothing_by_itself() -> None:
    tale = placed(4, 4)
    tale.mute |= {"c0", "c1", "c2"}
    tale.wait(64)
    assert tale.fleet.brake is not None
    tale.mute |= {"c3"}
    asked = tale.ask(tale.fleet.brake.plan_id)
    (plan,) = plans(tale.speak())
    assert plan.explanation == "ops says that these containers are gone"
    told = json.loads(plan.measures_json)
    assert (told["change_id"], told["confirms"]) == (asked, tale.fleet.brake.plan_id)
    assert tale.fleet.brake.released


# --- refused


def test_a_plan_that_nobody_made() -> None:
    one = refused(placed(), "{}", "default#7")
    assert one.reason == "unknown-plan"
    assert one.explanation == "there is no plan default#7 that waits to be confirmed"


def test_a_confirmation_of_what_is_over() -> None:
    tale = placed(4, 4)
    tale.mute |= {"c0", "c1", "c2"}
    tale.wait(64)
    assert tale.fleet.brake is not None
    old = tale.fleet.brake.plan_id
    tale.mute.clear()
    tale.wait(10)
    assert refused(tale, "{}", old).reason == "unknown-plan"


@pytest.mark.parametrize(
    ("moves", "trouble"),
    [
        ([Planned(6, 0, "c1")], "the tier has no shard 6"),
        ([Planned(0, 0, "c1")], "shard 0 was given to another"),
        ([Planned(0, 2, "c1")], "shard 0 was given to another"),
        ([Planned(0, 1, "c9")], "c9 takes no shards now"),
    ],
)
def test_a_world_that_moved(moves: list[Planned], trouble: str) -> None:
    one = refused(placed(), write_moves(moves))
    assert one.reason == "world-moved"
    assert one.explanation == f"the world moved since the plan was made: {trouble}; make it again"


def test_a_container_that_is_drained_or_quiet_takes_none() -> None:
    tale = placed()
    goal = away(tale, 0)
    tale.drain(goal)
    assert f"{goal} takes no" in refused(tale, write_moves([Planned(0, 1, goal)])).explanation
    tale = placed()
    tale.mute.add(goal)
    tale.wait(27)
    assert f"{goal} takes no" in refused(tale, write_moves([Planned(0, 1, goal)])).explanation


def test_a_shard_that_is_on_its_way() -> None:
    tale = placed()
    moves = write_moves([Planned(0, 1, away(tale, 0))])
    tale.ask("by-hand", moves)
    tale.settle(answers=False)
    assert "shard 0 is being moved" in refused(tale, moves).explanation


def test_one_shard_twice() -> None:
    tale = placed()
    home = tale.holders()[0]
    goals = [name for name in ("c0", "c1", "c2") if name != home]
    one = refused(tale, write_moves([Planned(0, 1, goal) for goal in goals]))
    assert "0" in one.explanation


def test_a_container_in_a_region_where_the_shard_may_not_be() -> None:
    tale = Tale(1, ("north", "south"))
    tale.start("c0", region="north")
    tale.start("c1", region="south")
    tale.settle()
    one = refused(tale, write_moves([Planned(0, 1, "c1")]))
    assert "region" in one.explanation
    tale.start("c2", region="north")
    tale.ask("by-hand", write_moves([Planned(0, 1, "c2")]))
    tale.settle()
    assert tale.holders()[0] == "c2"


def test_a_request_for_another_tier_is_not_ours() -> None:
    tale = placed()
    tale.ask("by-hand", write_moves([Planned(0, 1, away(tale, 0))]), tier="other")
    assert of(ShardDropRequested, tale.settle()) == []


@pytest.mark.parametrize(
    "moves_json",
    [
        "no moves",
        "",
        "[]",
        "7",
        '{"to":"c1"}',
        '{"to":[1]}',
        '{"moves":{}}',
        '{"moves":[7]}',
        '{"moves":[[0,1]]}',
        '{"to":["c1"],"moves":[[0,1,1]]}',
        '{"to":["c1"],"moves":[[0,1,-1]]}',
        '{"to":["c1"],"moves":[["0",1,0]]}',
        '{"to":["c1"],"moves":[[-1,1,0]]}',
        '{"to":["c1"],"moves":[[0,1,0.5]]}',
        '{"to":["c1"],"moves":[[true,1,0]]}',
        '{"to":["c1"],"moves":[[0,true,0]]}',
        '{"to":["c1"],"moves":[[0,1,0,"over","",1,7]]}',
        '{"to":["c1"],"moves":[[0,1,0,"over","",1,-2]]}',
        '{"to":["c1"],"moves":[[0,1,0,"over","",null,-1]]}',
        pytest.param(f'{{"moves":[["{"é" * 60_000}"]]}}', id="long"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param(f'{{"moves":[[{"1" * 5_000},0,0]]}}', id="digits"),
    ],
)
def test_moves_that_cannot_be_read(moves_json: str) -> None:
    one = refused(placed(), moves_json)
    assert one.reason == "invalid"
    assert one.explanation.startswith(("moves_json ", "move ", '"to" '))
    assert one.explanation.endswith("; make the plan again")


def test_what_cannot_be_read_is_told_in_our_own_words() -> None:
    """Another Python words the errors of its parser in another way, and finds them elsewhere."""
    for text in ("no moves", '{"moves":[1,]}', '{"to"'):
        said = refused(placed(), text).explanation
        assert not any(word in said for word in ("Expecting", "Illegal", "char "))


@pytest.mark.parametrize(
    "moves_json",
    [
        pytest.param('{"to":["GOAL"],"moves":[[0,1,0,"over","",1%s,-1]]}' % ("0" * 400), id="far"),
        '{"to":["\\ud800"],"moves":[[0,1,0]]}',
        '{"to":["GOAL"],"moves":[[0,1,0,"over","\\ud800",1,-1]]}',
        '{"to":["GOAL","\\ud800"],"moves":[[0,1,0,"over","",1,1]]}',
        pytest.param(
            '{"to":["GOAL","%s"],"moves":[[0,1,0,"over","",1,1]]}' % ("é" * 50_000), id="long-name"
        ),
    ],
)
def test_no_request_ends_the_manager(moves_json: str) -> None:
    """Done or refused: what it says can be written and carried out."""
    tale = placed()
    tale.ask("by-hand", moves_json.replace("GOAL", away(tale, 0)))
    said = tale.settle()
    assert len(of(PlacementRejected, said)) + len(plans(said)) == 1
    assert tale.fleet.ingress["default"].waiting == ()


def test_a_long_name_of_a_plan_does_not_either() -> None:
    tale = placed()
    tale.ask("p" * 200_000)
    (one,) = of(PlacementRejected, tale.settle())
    assert one.reason in ("unknown-plan", "invalid")


WHOLE = FIRST_ROOM.requests


def test_more_requests_than_can_be_kept() -> None:
    tale = placed()
    for at in range(WHOLE + 1):
        tale.ask(f"p{at}")
    refusals = of(PlacementRejected, tale.settle(answers=False))
    refusals += of(PlacementRejected, tale.settle(answers=False)) if len(refusals) < WHOLE else []
    assert [one.reason for one in refusals[:WHOLE]] == ["unknown-plan"] * WHOLE
    assert refusals[WHOLE].reason == "overloaded"
    said = "more was asked for at once than can be kept; ask again later"
    assert refusals[WHOLE].explanation == said


def test_a_request_whose_validity_passed_before_it_was_answered() -> None:
    tale = placed()
    first = tale.ask("p1")
    tale.now_ms += 300_001
    tale.ask("p2")  # the topic's own time moves with what is said there
    refusals = of(PlacementRejected, tale.settle())
    assert [one.reason for one in refusals] == ["overloaded", "unknown-plan"]
    assert refusals[0].change_id == first
    assert refusals[0].explanation == "its validity passed before it was answered; ask again"
    assert of(ShardAddRequested, tale.said[7:]) == []
