"""Rules of containers' lives, leases and shards, one left out at a time."""

from __future__ import annotations

from dataclasses import replace

from simulation.mutations.mutant import Mutant, left_out

LIVES = "projections/lives.py"
HOLD = "projections/hold.py"
FLEET = "projections/fleet.py"
TIMING = "projections/timing.py"
MANAGER = "components/shard_manager/decide.py"
CONTAINERS = "simulation/containers.py"

LEASES = (
    left_out(
        "no fence at the sink",
        CONTAINERS,
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
        CONTAINERS,
        "1 + max(self.epoch, self._greatest_epoch())",
        "max(1, self._greatest_epoch())",
    ),
    left_out(
        "a shard that is another's runs on",
        HOLD,
        "        ours = Wish(wish.generation, False, at_once=True)\n",
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
    ),
)

SHARDS = (
    left_out(
        "a shard is given away before it is dropped",
        FLEET,
        "if grant is None or self.told.get(shard, Told()).dropped >= grant.generation:",
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
        "self.told.get(shard, Told()).dropped >= grant.generation:",
        "self.told.get(shard, Told()).dropped:",
    ),
    left_out(
        "a life that is over may say what it dropped",
        FLEET,
        "(life is not None and body.epoch <= life.over)",
        "False",
    ),
    left_out(
        "a shard changes hands at the same generation",
        MANAGER,
        "generation=1 + (grant.generation if grant is not None else 0),",
        "generation=grant.generation if grant is not None else 1,",
    ),
    left_out(
        "what is given to a container that began anew is not looked at",
        FLEET,
        "        row = row._replace(open=row.open.update(held))\n",
        "        pass\n",
    ),
    left_out(
        "a fail-over is asked for again and again",
        MANAGER,
        "if any(one.container == life.name for one in row.requests.values()):",
        "if False:",
    ),
    left_out(
        "a request is owed after its effect was read",
        FLEET,
        "            row = row._replace(requests=_without(row.requests, body.decision_id))\n",
        "",
    ),
    left_out(
        "a drop that takes too long is waited for",
        MANAGER,
        "for turn in (_fail_over, _escalate, _place, _even_out):",
        "for turn in (_fail_over, _place, _even_out):",
    ),
    left_out(
        "nobody is failed over",
        MANAGER,
        "for turn in (_fail_over, _escalate, _place, _even_out):",
        "for turn in (_escalate, _place, _even_out):",
    ),
)

PLACING: tuple[Mutant, ...] = tuple(
    replace(mutant, cast="shard-manager") for mutant in (*LEASES, *SHARDS)
)
