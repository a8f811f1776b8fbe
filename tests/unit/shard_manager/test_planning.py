"""When a tier is planned anew, and what its plans say."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.shard_manager.core.planning import UNPLACED_TOLD, balance_due, orphans
from components.shard_manager.decide import RUNBOOK, UNPLACED, wake_ms
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    PlacementPlanned,
    ShardAddRequested,
    ShardDropRequested,
)
from events.wire.codec import encode
from projections.plans import read_moves
from projections.timing import Timing
from tests.unit.shard_manager.fleets import Tale, calm, of, placed

ROOT = Path(__file__).parents[3]
NOWHERE = "no container that takes shards is in a region it may be in"
CALM_S = Timing().calm_ms // 1000
REST_MS = Timing().rest_ms


def plans(bodies: list[Body], *triggers: str) -> list[PlacementPlanned]:
    return [one for one in of(PlacementPlanned, bodies) if one.trigger in triggers]


# --- shards that nobody holds


def test_shards_that_nobody_holds_are_planned_at_once_and_once() -> None:
    tale = Tale(6)
    tale.start("c0", "c1", "c2")
    said = tale.speak()
    (plan,) = of(PlacementPlanned, said)
    assert (plan.plan_id, plan.trigger, plan.moves) == ("default#1", "orphans", 6)
    assert (plan.shards, plan.containers, plan.unplaced) == (6, 3, 0)
    assert plan.explanation == "6 shards have no container"
    assert {move.shard for move in read_moves(plan.moves_json)} == set(range(6))
    assert len(of(ShardAddRequested, said)) == 6
    assert tale.speak() == []
    assert tale.counts() == {"c0": 2, "c1": 2, "c2": 2}


def test_what_fits_nowhere_is_tried_once_for_each_news_and_not_for_ever() -> None:
    tale = Tale(2)
    tale.start("c0")
    tale.drain("c0")
    assert [one.trigger for one in of(PlacementPlanned, tale.settle())] == ["orphans"]
    assert tale.settle() == []
    tale.start("c9", tier="other")
    assert len(plans(tale.settle(), "orphans")) == 1
    assert tale.settle() == []
    tale.undrain("c0")
    said = tale.settle()
    assert len(plans(said, "orphans")) == 1
    assert tale.counts()["c0"] == 2


def test_what_fits_nowhere_is_tried_again_after_a_while_without_news() -> None:
    """The only container was silent for a while, and is heard again: that is no news."""
    tale = calm(1, 2)
    tale.mute.add("c0")
    tale.wait(25)
    tale.dropped("c0", 0)
    tale.settle()
    assert set(tale.fleet.unplaced) == {0}
    tale.mute.clear()
    news, again_s = tale.fleet.news, tale.fleet.timing.silence_ms // 1000
    tale.wait(again_s - 1)
    assert set(tale.fleet.unplaced) == {0}
    tale.wait(1)
    assert tale.fleet.news == news
    assert tale.fleet.held(0)
    assert not tale.fleet.unplaced


def test_without_a_container_there_is_one_alert_until_there_is_one() -> None:
    tale = Tale(3)
    tale.settle()
    tale.wait(3 * CALM_S)
    tale.jump(Timing().plan_ms)
    (alert,) = of(AlertRaised, tale.said)
    assert (alert.alert, alert.subject, alert.severity) == (UNPLACED, "default", "critical")
    assert alert.cause == f"3 shards have no container; shard 0: {NOWHERE}"
    assert alert.runbook == RUNBOOK
    assert (ROOT / RUNBOOK).suffix == ".md"
    assert dict(tale.fleet.unplaced) == dict.fromkeys(range(3), NOWHERE)
    tale.start("c0")
    tale.settle()
    (cleared,) = of(AlertCleared, tale.said)
    assert (cleared.alert, cleared.explanation) == (UNPLACED, "every shard has a container")
    assert UNPLACED not in tale.fleet.alerts
    assert not tale.fleet.unplaced


@pytest.mark.parametrize("more", [0, 1])
def test_a_plan_names_so_many_of_those_that_fit_nowhere_and_counts_all(more: int) -> None:
    tale = Tale(UNPLACED_TOLD + more)
    tale.settle()
    plan = of(PlacementPlanned, tale.said)[0]
    assert plan.unplaced == UNPLACED_TOLD + more
    assert len(json.loads(plan.measures_json)["unplaced"]) == UNPLACED_TOLD
    (alert,) = of(AlertRaised, tale.said)
    assert alert.cause.startswith("at least 500 shards" if more else "500 shards")
    assert tale.settle() == []
    tale.start("c0")
    tale.settle()
    assert tale.counts()["c0"] == UNPLACED_TOLD + more
    assert len(of(AlertCleared, tale.said)) == 1


def test_a_shard_that_is_held_where_it_should_not_be_is_not_without_a_container() -> None:
    """The last container is drained: its shards have nowhere to go, and stay."""
    tale = calm(1)
    tale.drain("c0")
    tale.wait(CALM_S + 1)
    assert [one.alert for one in of(AlertRaised, tale.said) if one.alert == UNPLACED] == []
    assert len(tale.fleet.unplaced) == 0
    assert tale.counts() == {"c0": 6}


def test_a_life_that_ends_waits_for_its_silence_and_not_for_ever() -> None:
    tale = placed()
    tale.mute.add("c1")
    tale.wait(125)
    assert len(plans(tale.said, "orphans")) >= 2
    assert tale.counts()["c1"] == 0
    assert not tale.fleet.open


# --- when


def test_balance_waits_until_it_is_calm() -> None:
    """Containers come together: what is news is planned once, so long after the last of it."""
    tale = calm()
    tale.start("c3")
    tale.jump(CALM_S * 1000 - 1)
    tale.start("c4")
    tale.jump(CALM_S * 1000 - 1)
    assert plans(tale.said, "news") == []
    tale.jump(1)
    (plan,) = plans(tale.said, "news")
    assert json.loads(plan.measures_json)["all"] is True
    assert plan.containers == 5
    tale.wait(3 * CALM_S)
    assert len(plans(tale.said, "news")) == 1


def test_without_news_a_tier_is_looked_at_from_time_to_time() -> None:
    tale = placed()
    tale.jump(CALM_S * 1000)
    (first,) = plans(tale.said, "news")
    assert first.explanation == "all is where it should be"
    planned_ms = tale.fleet.planned_ms
    tale.jump(planned_ms + Timing().plan_ms - tale.now_ms - 1)
    assert plans(tale.said, "loads") == []
    assert wake_ms(tale.fleet, tale.now_ms) == tale.now_ms + 1
    tale.jump(1)
    assert len(plans(tale.said, "loads")) == 1
    tale.jump(1)
    assert len(plans(tale.said, "loads")) == 1


def test_a_tier_is_not_looked_at_while_something_is_under_way() -> None:
    tale = calm()
    tale.idle.add("c0")
    tale.start("c0")
    tale.settle()
    assert set(tale.fleet.open) == {s for s, name in tale.holders().items() if name == "c0"}
    tale.jump(CALM_S * 1000 + 1)
    assert plans(tale.said, "news") == []
    for shard in list(tale.fleet.open):
        tale.added("c0", shard)
    tale.settle()
    assert len(plans(tale.said, "news")) == 1


def test_who_comes_soon_after_the_first_gets_shards_soon() -> None:
    """What was placed and has never moved need not rest."""
    tale = placed(1, 12, '{"moves_max":1000,"load_max":1000}')
    tale.start("c1", "c2")
    tale.jump(CALM_S * 1000)
    assert tale.counts() == {"c0": 4, "c1": 4, "c2": 4}


def test_a_shard_that_moved_rests_and_is_looked_at_again_when_it_has() -> None:
    tale = placed(2, 8, '{"moves_max":1000,"load_max":1000}')
    tale.mute.add("c1")
    tale.wait(75)
    assert tale.counts() == {"c0": 8, "c1": 0}, "those of c1 have moved, and rest"
    tale.mute.clear()
    tale.weigh("c0", {s: float(one.generation) for s, one in tale.fleet.grants.items()})
    tale.start("c1")
    tale.said.clear()
    tale.jump(CALM_S * 1000)
    (plan,) = plans(tale.said, "news")
    assert {why for _, why, *_ in json.loads(plan.measures_json)["out"]} >= {"immovable"}
    assert tale.fleet.left == "out"
    moved = {s for s, one in tale.fleet.grants.items() if one.generation > 1}
    tale.said.clear()
    tale.jump(tale.fleet.planned_ms + REST_MS - tale.now_ms - 1)
    assert plans(tale.said, "loads") == []
    tale.jump(1)
    assert len(plans(tale.said, "loads")) == 1
    assert {one.shard for one in of(ShardDropRequested, tale.said)} & moved
    assert tale.fleet.left == ""


def test_who_is_emptied_goes_on_with_each_next_budget() -> None:
    tale = calm(2, 20, '{"moves_max":100,"load_max":1000}')
    tale.drain("c0")
    held = [tale.counts()["c0"]]
    for _ in range(6):
        tale.wait(CALM_S + 1)
        held.append(tale.counts()["c0"])
    assert held == [10, 8, 6, 4, 2, 0, 0], "two of twenty in a plan"
    assert tale.fleet.left == ""


def test_who_is_filled_goes_on_with_each_next_budget() -> None:
    """The first container of a tier gets all shards; who comes later must not wait for their share
    until the few that a plan may move have rested."""
    tale = placed(1, 20, '{"moves_max":200,"load_max":1000}')
    tale.start("c1")
    held = []
    for _ in range(4):
        tale.wait(CALM_S + 1)
        held.append(tale.counts()["c0"])
    assert held == [16, 12, 10, 10], "four of twenty in a plan"
    assert tale.fleet.left == ""


def test_what_is_too_large_for_every_budget_is_not_tried_after_each_calm() -> None:
    tale = calm(2, 20, '{"moves_max":1000,"load_max":1}')
    tale.start("c2")
    for _ in range(3):
        tale.wait(CALM_S + 1)
    (plan,) = plans(tale.said, "news")
    assert plan.moves == 0
    assert tale.fleet.left == "out"


# --- how much


@pytest.mark.parametrize(("share", "moves"), [(100, 2), (150, 3), (1, 1)])
def test_a_plan_moves_so_many_shards_at_most(share: int, moves: int) -> None:
    tale = calm(2, 20, f'{{"moves_max":{share},"load_max":1000}}')
    tale.start("c2")
    tale.wait(CALM_S + 1)
    (plan,) = plans(tale.said, "news")
    assert plan.moves == moves
    assert len(of(ShardDropRequested, tale.said)) == moves
    assert plan.explanation.startswith(f"{moves} moves bring all containers into band")


def test_a_plan_moves_so_much_of_the_load_at_most() -> None:
    for share, moves in ((100, 2), (300, 6)):
        tale = calm(2, 20, f'{{"moves_max":1000,"load_max":{share}}}')
        tale.start("c2")
        tale.wait(CALM_S + 1)
        (plan,) = plans(tale.said, "news")
        assert plan.moves <= moves
        assert plan.moves >= moves - 1


def test_one_job_moves_no_more_than_it_may() -> None:
    tale = calm(2, 20, '{"moves_max":1000,"load_max":1000,"moves_per_job_max":1}')
    for shard, name in sorted(tale.holders().items()):
        tale.weigh(name, {shard: 0.5}, job="one")
    tale.start("c2")
    tale.wait(CALM_S + 1)
    (plan,) = plans(tale.said, "news")
    assert plan.moves == 1


def test_orphans_are_moved_whatever_the_budget() -> None:
    tale = placed(3, 30, '{"moves_max":1,"load_max":1}')
    tale.mute.add("c0")
    tale.wait(64)
    assert tale.counts()["c0"] == 0


def test_shards_that_do_nothing_are_shared_out_by_count() -> None:
    tale = placed(4, 40)
    assert set(tale.counts().values()) == {10}


def test_a_plan_brings_containers_into_band_by_what_was_reported() -> None:
    tale = calm(2, 10, '{"moves_max":1000,"load_max":1000}')
    mine = [shard for shard, name in tale.holders().items() if name == "c0"]
    tale.weigh_all(0.1)
    tale.weigh("c0", dict.fromkeys(mine, 1.0), 2)
    tale.jump(Timing().plan_ms)
    (plan,) = plans(tale.said, "news", "loads")
    spread = json.loads(plan.measures_json)["spread"]["cpu_cores"]
    assert spread[0] > 1100 > spread[2] >= spread[3] > 900 > spread[1]
    drops = of(ShardDropRequested, tale.said)
    assert {one.container for one in drops} == {"c0", "c1"} or len(drops) == 2
    assert all(one.shard in mine for one in drops if one.container == "c0")
    assert any("mean cpu_cores" in one.reason for one in drops)


# --- the same again


def test_the_digest_names_where_every_shard_is_to_be() -> None:
    first, second = placed(), placed()
    ours = of(PlacementPlanned, first.said)[0]
    assert ours == of(PlacementPlanned, second.said)[0]
    assert ours.digest != of(PlacementPlanned, placed(4).said)[0].digest
    assert len(ours.digest) == 16


def script() -> str:
    return (
        "import hashlib\n"
        "from tests.unit.shard_manager.test_planning import story\n"
        "print(hashlib.sha256(b''.join(story())).hexdigest())"
    )


def story() -> list[bytes]:
    """Much of what can happen, as bytes."""
    tale = placed(5, 40, '{"moves_max":500,"load_max":500}')
    tale.jump(REST_MS)
    for name in ("c0", "c1", "c3"):
        mine = [shard for shard, at in tale.holders().items() if at == name]
        tale.weigh(name, {shard: 0.1 * (at + 1) for at, shard in enumerate(mine)}, job=name)
    tale.drain("c4")
    tale.wait(CALM_S + 1)
    tale.mute.add("c2")
    tale.wait(64)
    tale.start("c5", "c6")
    tale.jump(REST_MS)
    tale.ask("no-plan", "nothing")
    tale.settle()
    tale.mute |= {"c0", "c1", "c3", "c5"}
    tale.wait(64)
    return [encode(body) for body in tale.said]


@pytest.mark.parametrize("hash_seed", ["1", "77"])
def test_another_process_says_the_same(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script()],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == hashlib.sha256(b"".join(story())).hexdigest()


def test_orphans_are_none_where_all_is_well() -> None:
    tale = placed()
    assert orphans(tale.fleet, tale.now_ms) == frozenset()
    assert balance_due(tale.fleet, tale.now_ms) == ""
