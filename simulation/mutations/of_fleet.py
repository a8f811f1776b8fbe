"""Rules of containers' lives, leases and shards, one left out at a time."""

from __future__ import annotations

from dataclasses import replace

from simulation.mutations.mutant import Mutant, left_out

LIVES = "projections/liveness.py"
HOLD = "projections/hold.py"
FLEET = "projections/fleet.py"
TIMING = "projections/timing.py"
FOLDS = "projections/fleet_folds.py"
MANAGER = "components/shard_manager/decide.py"
GOING = "components/shard_manager/core/failover.py"
MOVING = "components/shard_manager/core/moving.py"
PLANNING = "components/shard_manager/core/planning.py"
WORLD = "components/shard_manager/core/world.py"
CONTAINER = "simulation/container.py"
SINK = "simulation/sink.py"

LEASES = (
    left_out(
        "no fence at the sink",
        SINK,
        "taken = one.generation >= self.floor.get(one.shard, 0)",
        "taken = True",
    ),
    left_out(
        "a container holds on for longer than the manager waits",
        TIMING,
        "lease_ms: int = 40_000",
        "lease_ms: int = 75_000",
    ),
    left_out(
        "a lease that ran out is still held",
        HOLD,
        "return not self.over and self.lease_ms is not None and now_ms < self.lease_ms",
        "return not self.over and self.lease_ms is not None",
    ),
    left_out(
        "a container does not heed its own fail-over",
        HOLD,
        "return life is not None and (life.over >= self.epoch or life.epoch > self.epoch)",
        "return False",
    ),
    left_out(
        "heartbeats of another life renew the lease",
        HOLD,
        "if now.beat != read.offset or body.epoch != row.epoch:",
        "if False:",
    ),
    left_out(
        "two lives have one number",
        CONTAINER,
        "1 + self._greatest_epoch()",
        "max(1, self._greatest_epoch())",
    ),
    left_out(
        "a shard that is another's runs on",
        HOLD,
        "        ours = DesiredShard(wish.generation, False, at_once=True, passed=True)\n",
        "        ours = wish\n",
        aimed="tests/unit/projections/test_hold.py::"
        "test_it_stops_at_once_what_was_given_to_another_and_says_so_of_its_own_generation",
        why="nothing is given to another before this one gave it up or lost its lease",
    ),
    left_out(
        "a fail-over counts although a heartbeat came before it",
        LIVES,
        " or body.last_heartbeat_offset != life.beat:",
        ":",
    ),
    left_out(
        "a stopped clock counts as silence",
        LIVES,
        "self.sum_ms + min(max(gap, 0), gap_ms)",
        "self.sum_ms + max(gap, 0)",
    ),
    left_out(
        "a life that is over goes on with its next heartbeat",
        LIVES,
        "    if body.epoch != life.epoch or not life.lives:\n        return life\n"
        "    return life._replace(beat=",
        "    if body.epoch != life.epoch:\n        return life\n"
        "    return life._replace(over=0, beat=",
    ),
    left_out(
        "heartbeats of an older life count",
        LIVES,
        "    if body.epoch != life.epoch or not life.lives:\n        return life\n"
        "    return life._replace(beat=",
        "    if not life.lives:\n        return life\n    return life._replace(beat=",
        aimed="tests/unit/projections/test_lives.py::"
        "test_a_heartbeat_of_an_older_life_that_comes_late_says_nothing_of_the_newer_one",
        why="it makes the newer life be heard for longer, never for less: its shards are given away"
        " later, and its own lease counts its own heartbeats alone",
    ),
)

SHARDS = (
    left_out(
        "a shard is given away before it is dropped",
        FLEET,
        "if grant is None or self.told.get(shard, ShardGenerations()).dropped >= grant.generation:",
        "if grant is None or grant.stage != ADD:",
    ),
    left_out(
        "a shard is given away while a lease may last",
        FLEET,
        "return life.over >= grant.epoch and self.silence_ms(life) >= self.timing.silence_ms",
        "return life.over >= grant.epoch",
    ),
    left_out(
        "a shard is given away once a fail-over is asked for",
        FLEET,
        "        return life.over >= grant.epoch and",
        "        if any(one.container == life.name for one in self.requests.values()):\n"
        "            return True\n"
        "        return life.over >= grant.epoch and",
    ),
    left_out(
        "what an older life dropped frees a newer grant",
        FLEET,
        "self.told.get(shard, ShardGenerations()).dropped >= grant.generation:",
        "self.told.get(shard, ShardGenerations()).dropped:",
        aimed="tests/unit/projections/test_fleet_folds.py::"
        "test_what_was_dropped_once_is_not_given_up_by_its_next_holder",
        why="histories notice it, too: by moves without an end, which take very long",
    ),
    left_out(
        "a life that is over may say what it dropped",
        FOLDS,
        "(life is not None and body.epoch <= life.over)",
        "False",
        aimed="tests/unit/projections/test_fleet_folds.py::test_a_life_that_is_over_drops_nothing",
        why="its word is true, for it is said once nothing of the shard lives there; but whether it"
        " counts is for the order of its partition to say, which has ended that life",
    ),
    left_out(
        "a shard changes hands at the same generation",
        MOVING,
        "generation=1 + (grant.generation if grant is not None else 0),",
        "generation=grant.generation if grant is not None else 1,",
    ),
    left_out(
        "what is given to a container that began anew is not looked at",
        FOLDS,
        "_heard(row, read)._replace(open=row.open.update(row.holdings.get(name, NO_SHARDS)))",
        "_heard(row, read)",
    ),
    left_out(
        "a fail-over is asked for again and again",
        GOING,
        "if any(one.container == life.name for one in row.requests.values()):",
        "if False:",
        aimed="tests/unit/shard_manager/test_going.py::"
        "test_a_fail_over_is_asked_for_once_until_it_is_read_back",
        why="a second one about the same life changes nothing: it is noise on the chain",
    ),
    left_out(
        "a request is owed after its effect was read",
        FOLDS,
        "            row = row._replace(requests=_without(row.requests, body.decision_id))\n",
        "",
    ),
    left_out(
        "a drop that takes too long is waited for",
        MANAGER,
        "        escalate,\n        hand_over,",
        "        hand_over,",
        aimed="tests/unit/shard_manager/test_going.py::"
        "test_a_drop_that_takes_too_long_is_a_kill_and_then_a_fail_over",
        why="containers kill by themselves what does not stop; only a broken one would wait",
    ),
    left_out(
        "nobody is failed over",
        MANAGER,
        "        fail_over,\n        escalate,\n        hand",
        "        escalate,\n        hand",
        aimed="tests/unit/shard_manager/test_going.py::"
        "test_a_silent_container_is_failed_over_once_and_its_shards_go_elsewhere",
        why="every container of the simulator begins another life in the end, and gets back what it"
        " had",
    ),
)

PLANS = (
    left_out(
        "a shard is sent to any region",
        FLEET,
        "return 1 << self.regions.index(life.region) if life.region in self.regions else 0",
        "return 255",
    ),
    left_out(
        "a container that is to be empty is given shards",
        FLEET,
        "return lent or life.name in self.drains or life.state in LEAVING",
        "return lent or life.state in LEAVING",
    ),
    left_out(
        "many are failed over at once",
        GOING,
        "braked = len(gone) > max(FEW, total * row.placing.brake // 1000)",
        "braked = False",
        aimed="tests/unit/shard_manager/test_going.py::"
        "test_the_brake_is_one_plan_that_is_held_and_one_alert",
        why="faults strike one by one: seldom are so many silent at once in a seed",
    ),
    left_out(
        "those that died together are counted one by one",
        GOING,
        "half_ms = row.timing.silence_ms // 2",
        "half_ms = row.timing.silence_ms",
        aimed="tests/unit/shard_manager/test_going.py::"
        "test_those_who_died_together_are_not_failed_over_one_by_one",
        why="faults strike one by one: seldom do many die together in a seed",
    ),
    left_out(
        "a brake is not released by a person",
        FOLDS,
        "row = row._replace(brake=row.brake._replace(released=True))",
        "pass",
        aimed="tests/unit/shard_manager/test_going.py",
        why="containers of the simulator come back before long, so all is well in the end",
    ),
    left_out(
        "a plan moves as much as it likes",
        WORLD,
        "moves_max=max(1, row.shards * placing.moves_max // 1000),",
        "moves_max=None,",
    ),
    left_out(
        "what was promised to a container is not given to it",
        MOVING,
        "if grant is None or not heir or not row.given_up(shard):",
        "if grant is None or heir != grant.container or not row.given_up(shard):",
    ),
    left_out(
        "a container's next life does not get back what it had",
        MOVING,
        "if grant is None or not heir or not row.given_up(shard):",
        "if grant is None or heir == grant.container or not row.given_up(shard):",
    ),
    left_out(
        "a container that comes is no news",
        FOLDS,
        "row = _heard(row, read)._replace(open=row.open.update(row.holdings.get(name, NO_SHARDS)))",
        "row = row._replace(open=row.open.update(row.holdings.get(name, NO_SHARDS)))",
        aimed="tests/unit/projections/test_fleet_folds.py::"
        "test_news_is_what_calls_for_another_plan",
        why="who comes gets its share all the same, with the next look at the loads",
    ),
    left_out(
        "a shard that nobody holds is in no plan",
        MANAGER,
        "        _place,\n",
        "",
        aimed="tests/unit/shard_manager/test_planning.py::"
        "test_shards_that_nobody_holds_are_planned_at_once_and_once",
        why="the next look at all shards places them as well, half a minute later",
    ),
    left_out(
        "a plan is carried out whatever has moved since",
        PLANNING,
        "if (grant.generation if grant is not None else 0) == move.generation:",
        "if True:",
        aimed="tests/unit/shard_manager/test_moving.py",
        why="another plan for the same shard replaces the first, so few moves are that old",
    ),
    left_out(
        "a silent container is given more",
        FLEET,
        "            and not self.quiet(life)\n",
        "",
        aimed="tests/unit/shard_manager/test_moving.py",
        why="it is failed over soon, and gives up what it was given meanwhile",
    ),
    left_out(
        "what fits nowhere is planned again and again",
        PLANNING,
        "stuck = NONE if again else row.unplaced",
        "stuck = NONE",
        aimed="tests/unit/shard_manager/test_planning.py",
        why="it costs records, and no shard its place",
    ),
    left_out(
        "an older report of a load replaces a newer one",
        FOLDS,
        "if known is None or (known.generation, known.number) < (one.generation, body.number):",
        "if True:",
        aimed="tests/unit/projections/test_fleet_folds.py::"
        "test_the_newest_generations_newest_report_counts",
        why="a copy that comes late is off by as much as loads vary between two reports",
    ),
    left_out(
        "a shard that was just moved is moved again",
        WORLD,
        "rested = grant.generation == 1 or now_ms - grant.since_ms >= row.timing.rest_ms",
        "rested = True",
        aimed="tests/unit/shard_manager/test_world.py",
        why="a restart more than needed, and no rule of the log",
    ),
)

PLACING: tuple[Mutant, ...] = tuple(
    replace(mutant, cast="shard-manager") for mutant in (*LEASES, *SHARDS, *PLANS)
)
