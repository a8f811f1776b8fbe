"""The commands of a fleet on a real broker, with containers that hold shards and run nothing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.children import Supervised, python
from benchmarks.installation import Installation, install
from events.topics import CONTAINERS as CONTAINERS_TOPIC
from infra.waiting import until
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine.read.moments import show_time
from turbine.read.sources.log import Log

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SHARDS, TENTH, CONTAINERS = 12, 100, 3
CREATE = [
    "tier", "create", "default", "--shards", str(SHARDS), "--region", "local",
    "--set", f"time_per_mille={TENTH}", "--set", "moves_max=1000", "--set", "load_max=1000",
]  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    with install(partitions=4) as found:
        found.serve("clock")
        found.serve("shard-manager", instance="shard-manager-0")
        for number in range(CONTAINERS):
            name = f"c{number}"
            address = found.settings.bootstrap
            command = python("benchmarks.containers", address, 1, number, TENTH)
            found.processes[name] = Supervised(name, command, found.directory)
        # Who comes after the tier gets its share by moves, and these tests begin without any.
        until(lambda: started(found) == CONTAINERS, "all containers live")
        yield found


def started(site: Installation) -> int:
    """How many containers have told that they began."""
    reads = Log(site.settings).read({CONTAINERS_TOPIC})
    return sum(read.record.kind == "ContainerStarted" for read in reads)


@pytest.fixture(autouse=True)
def _here(
    site: Installation, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No settings of the machine that runs the tests, but for the broker."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", site.settings.bootstrap)


def turbine(*line: str) -> Ended:
    """A command that has to end with 0."""
    ended = run(*line)
    assert ended.code == Code.OK, ended
    return ended


def told(*line: str) -> Any:
    return json.loads(turbine(*line, "-o", "json").out)


def homes() -> dict[str, int]:
    """How many shards run on each container."""
    found = dict.fromkeys((f"c{n}" for n in range(CONTAINERS)), 0)
    for row in told("get", "shards"):
        if row["stage"] == "held":
            found[row["container"]] += 1
    return found


def test_a_tier_is_created_once_and_its_shards_run() -> None:
    ended = run("get", "containers")
    assert (ended.code, ended.out) == (Code.NOT_FOUND, "")
    assert ended.sentence.startswith("there is no tier default; `turbine tier create default")
    assert turbine(*CREATE).out.startswith(f"tier default is created: {SHARDS} shards")
    assert turbine(*CREATE).out.startswith(f"tier default exists already: {SHARDS} shards")
    assert run(*CREATE[:3], "--shards", "5").code == Code.FAILED
    each = SHARDS // CONTAINERS
    wanted = {f"c{n}": each for n in range(CONTAINERS)}
    until(lambda: homes() == wanted, "all shards run, as many on each", pause_s=0.2)
    first = told("get", "moves", "--last", "1")[0]
    assert (first["from"], first["stage"], first["reason"]) == (None, "added", "nobody holds it")
    assert first["took_ms"] is not None


def test_a_container_is_emptied_and_its_shards_say_why_they_moved() -> None:
    before = {row["shard"] for row in told("get", "shards", "--container", "c2")}
    ended = turbine("drain", "container", "c2", "--reason", "disk", "--author", "ana", "--wait")
    assert ended.out == "c2: is drained and holds nothing\n"
    until(lambda: homes() == {"c0": 6, "c1": 6, "c2": 0}, "they run elsewhere", pause_s=0.2)
    [row] = [row for row in told("get", "containers") if row["container"] == "c2"]
    assert (row["state"], row["drain"]) == ("drained", {"author": "ana", "reason": "disk"})
    shard = str(min(before))
    why = told("why", "shard", shard)
    assert why["move"]["from"] == "c2"
    assert why["move"]["reason"].startswith("c2 is being emptied")
    assert {one["container"]: one["verdict"] for one in why["judged"]}["c2"] == "draining"
    decision = why["decision"]["id"]
    assert told("why", decision)["body"]["shard"] == int(shard)
    plan = told("placement", "show", why["move"]["plan"])
    assert plan["stages"] == {"added": len(before)}
    assert told("describe", "container", "c2")["last_moves"][-1]["from"] == "c2"


def test_a_plan_is_shown_applied_once_and_refused_when_it_is_stale(site: Installation) -> None:
    assert turbine("undrain", "container", "c2", "--reason", "new disk").out == (
        "c2: gets shards again\n"
    )
    # Nobody decides for now, so that the plan that is shown is not overtaken by the manager's own.
    site.processes["shard-manager-0"].stop()
    turbine("drain", "container", "c0", "--reason", "rest")
    shown = told("placement", "plan")
    assert {move["from"] for move in shown["moves"]} == {"c0"}
    late = run("placement", "apply", shown["plan"], "--reason", "now", "--timeout", "100ms")
    assert late.code == Code.TIMEOUT
    [change] = re.findall(r"`turbine why (\S+)` asks again", late.sentence)
    assert run("why", change).code == Code.TIMEOUT
    site.serve("shard-manager", instance="shard-manager-1")
    until(lambda: run("why", change).code == Code.OK, "it is answered", pause_s=0.2)
    assert told("why", change)["body"]["plan_id"] == shown["plan"]
    done = {"added": len(shown["moves"])}
    until(lambda: told("placement", "show", shown["plan"])["stages"] == done, "it is carried out")
    again = run("placement", "apply", shown["plan"], "--reason", "again")
    assert again.code == Code.CONFLICT
    assert again.sentence.startswith(f"the world moved since {shown['plan']} was shown: ")
    moves = told("get", "moves", "--plan", shown["plan"])
    assert {(move["shard"], move["to"]) for move in moves} == {
        (move["shard"], move["to"]) for move in shown["moves"]
    }


def test_the_past_can_be_asked_for() -> None:
    moves = told("get", "moves", "--last", str(10 * SHARDS))
    drained = next(move for move in moves if move["from"] == "c2")
    before = show_time(drained["asked_ms"] - 1)
    rows = told("get", "shards", "--container", "c2", "--at", before)
    assert len(rows) == SHARDS // CONTAINERS
    assert {(row["container"], row["stage"], row["generation"]) for row in rows} == {
        ("c2", "held", 1)
    }
    shard = str(drained["shard"])
    assert told("why", "shard", shard, "--at", before)["move"]["reason"] == "nobody holds it"
    assert len(told("get", "moves", "--last", str(10 * SHARDS), "--at", before)) == SHARDS
    assert run("get", "containers", "--at", "1h ago").code == Code.NOT_FOUND
