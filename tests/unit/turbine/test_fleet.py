"""The supervisor starts again what ends, ever more slowly, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from components.runtime.process.local import Flags
from turbine.ops.container import _parser as container_arguments
from turbine.ops.fleet import (
    LOG_BYTES,
    STEADY_S,
    STOP_S,
    FleetRuns,
    Supervisor,
    end_fleet,
    held,
    lives,
    log_of,
    open_log,
    pause_s,
    read_state,
    write_state,
)
from turbine.ops.members import CONTAINER, DECIDERS, ENGINES, Hosts, Member, members
from turbine.serve import check_names

CLOCK, WORKER = Member(("clock",)), Member(("job-service",), "job-service-0")
HOST = Member(CONTAINER, "container-0", "spark")


@dataclass(slots=True)
class FakeProcess:
    """A process that does as the test says."""

    pid: int
    code: int | None = None
    stubborn: bool = False
    asked: list[str] = field(default_factory=list)

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.asked.append("terminate")
        if not self.stubborn:
            self.code = 0

    def kill(self) -> None:
        self.asked.append("kill")
        self.code = -9


class Machine:
    """Time and processes of a test."""

    def __init__(self, *members: Member) -> None:
        self.now_s = 1000.0
        self.said: list[str] = []
        self.started: dict[str, list[FakeProcess]] = defaultdict(list)
        self.fleet = Supervisor(members, self._spawn, lambda: self.now_s, self.said.append)

    def _spawn(self, member: Member) -> FakeProcess:
        one = FakeProcess(100 + sum(map(len, self.started.values())))
        self.started[member.label].append(one)
        return one

    def after(self, seconds: float) -> bool:
        """Lets time pass, then looks once."""
        self.now_s += seconds
        return self.fleet.turn()

    def now(self, label: str) -> FakeProcess:
        return self.started[label][-1]


def test_pauses_grow_to_half_a_minute() -> None:
    assert [pause_s(n) for n in (1, 2, 3, 4, 5, 6, 7, 1000)] == [1, 2, 4, 8, 16, 30, 30, 30]


def test_the_whole_fleet_is_started_the_clock_first_and_containers_last() -> None:
    assert [one.label for one in members(Hosts(3))] == [
        "clock",
        "publisher",
        "worker-0",
        "worker-1",
        "shard-manager",
        "capacity-manager",
        "api",
        "auditor",
        "container-0",
        "container-1",
        "container-2",
    ]
    assert members(Hosts(0)) == DECIDERS


def test_a_worker_is_one_process_of_four_components(tmp_path: Path) -> None:
    [worker] = [one for one in DECIDERS if one.label == "worker-1"]
    program = [sys.executable, "-P", "-m", "turbine.serve"]
    assert worker.command(tmp_path) == [
        *program, "job-service", "state-syncer", "task-service", "auto-scaler",
        "--instance", "worker-1",
    ]  # fmt: skip
    assert CLOCK.command(tmp_path) == [*program, "clock"]
    check_names(worker.components)


def test_a_container_has_a_place_of_its_own_and_understands_its_arguments(tmp_path: Path) -> None:
    command = HOST.command(tmp_path)
    assert command == [
        sys.executable, "-P", "-m", "turbine.ops.container", "container-0",
        "--directory", str(tmp_path / "containers" / "container-0"),
        "--tier", "default", "--region", "local", "--engine", "spark_streaming.main",
    ]  # fmt: skip
    assert find_spec(ENGINES["process"]) is not None
    assert find_spec(ENGINES["spark"]) is not None
    more = Flags("b:1", tmp_path / "t.toml").arguments()
    given = container_arguments().parse_args([*command[4:], *more, "--die-with", "7"])
    assert (given.name, given.bootstrap, given.die_with) == ("container-0", "b:1", 7)


def test_all_are_started_once() -> None:
    machine = Machine(CLOCK, WORKER)
    assert machine.after(0)
    assert not machine.after(1)
    assert {label: len(ones) for label, ones in machine.started.items()} == {
        "clock": 1,
        "job-service-0": 1,
    }


def test_what_ends_is_started_again_after_a_pause_and_the_rest_goes_on() -> None:
    machine = Machine(CLOCK, WORKER)
    machine.after(0)
    machine.now("job-service-0").code = -9
    assert machine.after(5)
    assert machine.said == ["job-service-0 was killed by signal 9; it is started again in 1 s"]
    assert not machine.after(0.9)
    assert machine.after(0.2)
    assert [len(machine.started[one]) for one in ("clock", "job-service-0")] == [1, 2]


def test_what_fails_again_waits_longer_and_what_was_well_begins_anew() -> None:
    machine = Machine(WORKER)
    machine.after(0)
    for wait_s in (1, 2, 4):
        machine.now(WORKER.label).code = 74
        machine.after(0.1)
        assert machine.said[-1].endswith(f"ended with 74; it is started again in {wait_s} s")
        machine.after(wait_s)
    machine.now_s += STEADY_S
    machine.now(WORKER.label).code = 1
    machine.after(0)
    assert machine.said[-1].endswith("it is started again in 1 s")


def test_stopping_asks_the_deciders_before_the_clock_and_kills_who_does_not_listen() -> None:
    machine = Machine(CLOCK, WORKER)
    machine.after(0)
    clock, worker = machine.now("clock"), machine.now("job-service-0")
    worker.stubborn = True
    began = machine.now_s

    def wait(seconds: float) -> None:
        machine.now_s += seconds

    machine.fleet.stop(wait)
    assert (clock.asked, worker.asked) == (["terminate"], ["terminate", "kill"])
    assert machine.now_s - began >= STOP_S
    assert machine.said == [f"job-service-0 did not end in {STOP_S:g} s and is killed"]


def test_each_kind_has_ended_before_the_next_is_asked() -> None:
    machine = Machine(CLOCK, WORKER, HOST)
    machine.after(0)
    order: list[list[str]] = []
    for [one] in machine.started.values():
        one.stubborn = True

    def wait(_: float) -> None:
        asked = [(label, one) for label, [one] in machine.started.items() if one.asked]
        order.append([label for label, one in asked if one.code is None])
        for _, one in asked:
            one.code = 0

    machine.fleet.stop(wait)
    assert order == [["container-0"], ["job-service-0"], ["clock"]]
    assert machine.said == []


def test_stopping_what_has_ended_asks_nobody() -> None:
    machine = Machine(WORKER)
    machine.after(0)
    machine.now(WORKER.label).code = 1
    machine.after(0)
    machine.fleet.stop(lambda _: pytest.fail("nothing to wait for"))
    assert machine.now(WORKER.label).asked == []


# --- the directory


def test_a_directory_holds_one_fleet(tmp_path: Path) -> None:
    assert not lives(tmp_path)
    with held(tmp_path):
        assert lives(tmp_path)
        with pytest.raises(FleetRuns) as refused, held(tmp_path):
            pass
        assert str(refused.value) == (
            f"a fleet (process {os.getpid()}) already runs in {tmp_path}; end it with"
            " `turbine down`, or name another directory"
        )
    assert not lives(tmp_path)


def test_a_fleet_lives_as_long_as_any_process_of_it(tmp_path: Path) -> None:
    with held(tmp_path) as lock:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock]
        )
    with child:
        assert lives(tmp_path)
        assert child.stdin is not None
        child.stdin.write(b"\n")
    assert not lives(tmp_path)


def test_the_state_names_who_runs(tmp_path: Path) -> None:
    machine = Machine(CLOCK, WORKER)
    machine.after(0)
    assert read_state(tmp_path) is None
    with held(tmp_path):
        assert read_state(tmp_path) == {"pid": 0, "bootstrap": "", "members": []}
        write_state(tmp_path, "b:1", machine.fleet.posts)
        state = read_state(tmp_path)
    assert state is not None
    assert (state["pid"], state["bootstrap"]) == (os.getpid(), "b:1")
    assert state["members"][1] == {
        "name": "job-service-0",
        "components": ["job-service"],
        "pid": 101,
        "starts": 1,
        "log": str(tmp_path / "logs" / "job-service-0.log"),
    }
    assert json.loads((tmp_path / "fleet.json").read_text()) == state
    assert read_state(tmp_path) is None, "whoever is gone has no state"


def test_ending_where_nothing_lives(tmp_path: Path) -> None:
    assert end_fleet(tmp_path) is False


def test_a_fleet_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    """A supervisor that hangs must not keep anybody from ending it."""
    deaf = (
        "import os, signal, sys; from pathlib import Path\n"
        "from turbine.ops.fleet import held\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "with held(Path(sys.argv[1])):\n"
        "    print('held', flush=True); signal.pause()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", deaf, str(tmp_path)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert end_fleet(tmp_path, wait_s=0.3)
        assert child.wait() == -9
    assert not lives(tmp_path)


def test_a_log_that_has_grown_large_is_put_aside(tmp_path: Path) -> None:
    path = log_of(tmp_path, "clock")
    os.close(open_log(tmp_path, "clock"))
    with path.open("wb") as file:
        file.truncate(LOG_BYTES + 1)
    os.close(open_log(tmp_path, "clock"))
    assert path.stat().st_size == 0
    assert path.with_suffix(".log.1").stat().st_size == LOG_BYTES + 1
