"""Who looks at processes from beside: what it takes for a task, and when for awake."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.exclusivity_watch import Stat, Watch, left_in, parse_stat, stat_of

ROOT, ENGINE, TASK, OTHER = 10, 11, 12, 99


class Machine:
    """Processes as the system would show them."""

    def __init__(self) -> None:
        self.table = {
            1: Stat("init", "S", 0, 0),
            ROOT: Stat("python", "S", 1, 5),
            ENGINE: Stat("engine", "S", ROOT, 6),
            TASK: Stat("j/0", "S", ENGINE, 7),
            OTHER: Stat("j/0", "R", 1, 8),
        }
        self.roots = {"a": ROOT}
        self.watch = Watch(lambda: self.roots, self.table.get, lambda: sorted(self.table))

    def set(self, pid: int, **more: object) -> None:
        self.table[pid] = self.table[pid]._replace(**more)  # type: ignore[arg-type]  # named by the test


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_tasks_are_found_by_descent_and_nobody_else(machine: Machine) -> None:
    machine.watch.look(100)
    assert sorted(machine.watch.living) == [ROOT, ENGINE, TASK]
    assert [one.pid for one in machine.watch.tasks("a").values()] == [TASK]
    assert machine.watch.tasks("b") == {}
    engine = machine.watch.named("a", "engine")
    assert engine is not None
    assert engine.pid == ENGINE


def test_a_fork_that_has_its_engines_name_still_is_no_engine(machine: Machine) -> None:
    machine.set(TASK, name="engine")
    machine.watch.look(100)
    assert machine.watch.tasks("a") == {}
    machine.table.pop(ENGINE)
    machine.set(TASK, parent=ROOT)  # it was adopted
    machine.watch.look(120)
    assert machine.watch.named("a", "engine") is None


def test_a_root_that_was_taken_for_a_stranger_is_found_with_its_children(machine: Machine) -> None:
    machine.roots = {}
    children = {pid: machine.table.pop(pid) for pid in (ENGINE, TASK)}
    machine.watch.look(100)
    machine.roots = {"a": ROOT}
    machine.watch.look(120)
    machine.table |= children
    machine.watch.look(140)
    assert set(machine.watch.tasks("a")) == {"j/0"}


def spans(machine: Machine) -> list[tuple[int, int]]:
    [task] = [one for one in machine.watch.seen() if one.pid == TASK]
    return task.spans


def test_awake_is_what_two_looks_agree_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0
    monkeypatch.setattr("benchmarks.exclusivity_watch.own_ms", lambda: now)
    for now, state in [(20, "S"), (40, "R"), (60, "T"), (80, "T"), (100, "D"), (120, "S")]:
        machine.set(TASK, state=state)
        machine.watch.look(now)
    assert spans(machine) == [(20, 40), (100, 120)]
    assert machine.watch.gaps_ms == [20] * 5
    assert not machine.watch.tasks("a")["j/0"].stopped


@pytest.mark.parametrize("how", ["gone", "zombie", "another"])
def test_an_end_is_seen(machine: Machine, how: str) -> None:
    machine.watch.look(20)
    if how == "gone":
        del machine.table[TASK]
    elif how == "zombie":
        machine.set(TASK, state="Z")
    else:
        machine.set(TASK, began=50, parent=1)  # its number was given to a stranger
    machine.watch.look(40)
    assert machine.watch.tasks("a") == {}
    assert [one.alive for one in machine.watch.seen() if one.pid == TASK] == [False]


def test_who_outlives_the_supervisor_is_watched_on(machine: Machine) -> None:
    machine.watch.look(20)
    machine.table.pop(ROOT)
    machine.roots = {}
    machine.set(ENGINE, parent=1)
    machine.watch.look(40)
    assert set(machine.watch.tasks("a")) == {"j/0"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"7 (a b) c) T 3 " + b"0 " * 17 + b"99 0 0", Stat("a b) c", "T", 3, 99)),
        (b"", None),
        (b"7 (cut", None),
        (b"7 (short) S 1 2", None),
    ],
)
def test_what_the_system_says(text: bytes, found: Stat | None) -> None:
    assert parse_stat(text) == found


def test_real_processes(tmp_path: Path) -> None:
    """Stopped, woken, ended, and found by what stands on the command line."""
    command = [sys.executable, "-c", "import time; time.sleep(60)", str(tmp_path)]
    with subprocess.Popen(command) as child:
        watch = Watch(lambda: {"a": child.pid})
        try:
            watch.look(1)
            os.kill(child.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED)
            watch.look(2)
            assert watch.living[child.pid].stopped
            assert list(left_in(str(tmp_path))) == [child.pid]
        finally:
            child.kill()
    watch.look(3)
    assert child.pid not in watch.living
    assert stat_of(child.pid) is None
    assert list(left_in(str(tmp_path))) == []
