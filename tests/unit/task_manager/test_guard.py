"""The guard: at the deadline all stands still, on renewal it goes on, after long it is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from components.task_manager.guard import FreezeGuard, pause_s, poll_ms_of
from tasks.deadline import Deadline, own_ms
from tasks.process_tree import end_group

GROUP, PATIENCE_MS, POLL_MS = 4_711, 600_000, 200


class Scene:
    """A guard that signals nobody."""

    def __init__(self, path: Path) -> None:
        self.deadline = Deadline.create(path)
        self.deadline.join(GROUP)
        self.deadline.pace(PATIENCE_MS, POLL_MS)
        self.sent: list[signal.Signals] = []
        self.guard = FreezeGuard(self.deadline, self._send)

    def _send(self, group: int, number: signal.Signals) -> None:
        assert group == GROUP
        self.sent.append(number)

    def look(self, now_ms: int) -> bool:
        self.sent.clear()
        return self.guard.look(now_ms)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "deadline")


def test_before_the_first_lease_nothing_runs(scene: Scene) -> None:
    assert scene.deadline.lease_ms is None
    assert scene.look(1_000)
    assert scene.sent == [signal.SIGSTOP]


def test_at_the_deadline_all_is_frozen_and_not_before(scene: Scene) -> None:
    scene.deadline.lease_ms = 5_000
    assert scene.look(4_999)
    assert scene.sent == []
    assert scene.look(5_000)
    assert scene.sent == [signal.SIGSTOP]
    assert scene.deadline.frozen_since_ms == 5_000
    scene.look(5_200)
    assert scene.sent == [signal.SIGSTOP], "an engine that was started meanwhile stands still too"
    assert scene.deadline.frozen_since_ms == 5_000


def test_on_renewal_all_goes_on_once(scene: Scene) -> None:
    scene.look(1_000)
    scene.deadline.lease_ms = 9_000
    scene.look(1_200)
    assert scene.sent == [signal.SIGCONT]
    assert scene.deadline.frozen_since_ms is None
    scene.look(1_400)
    assert scene.sent == []


def test_what_is_frozen_for_long_is_ended(scene: Scene) -> None:
    scene.look(1_000)
    assert scene.look(1_000 + PATIENCE_MS - 1)
    assert not scene.deadline.killed
    assert not scene.look(1_000 + PATIENCE_MS)
    assert scene.sent == [signal.SIGKILL]
    assert scene.deadline.killed


def test_without_an_engine_nobody_is_signalled(scene: Scene) -> None:
    scene.deadline.leave(GROUP)
    assert scene.look(1_000)
    assert scene.sent == []


def test_it_looks_at_the_deadline_itself(scene: Scene) -> None:
    assert pause_s(scene.deadline, 0) == 0.2
    scene.deadline.lease_ms = 1_050
    assert pause_s(scene.deadline, 1_000) == 0.05
    assert pause_s(scene.deadline, 100) == 0.2
    assert pause_s(scene.deadline, 1_050) == 0.2
    assert (poll_ms_of(1_000), poll_ms_of(100), poll_ms_of(1)) == (200, 20, 10)


def test_others_see_what_is_written(scene: Scene, tmp_path: Path) -> None:
    other = Deadline.open(tmp_path / "deadline")
    scene.deadline.lease_ms = 77
    assert (other.lease_ms, other.groups, other.patience_ms) == (77, [GROUP], PATIENCE_MS)
    assert other.holds(76)
    assert not other.holds(77)


# --- real processes


def until(holds: Callable[[], object], what: str) -> None:
    limit = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < limit, what
        time.sleep(0.005)


def state(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    return "Z"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process group that only waits."""
    code = "import os, time; os.fork(); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-S", "-c", code], process_group=0)
    yield child
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


SUPERVISOR = """
import os, subprocess, sys, time
guard = subprocess.Popen([sys.executable, "-m", "components.task_manager.guard",
                          "--deadline", sys.argv[1], "--die-with", str(os.getpid())])
print(guard.pid, flush=True)
time.sleep(60)
"""


def test_it_guards_a_group_although_its_supervisor_is_stopped_and_dies_with_it(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    deadline = Deadline.create(tmp_path / "deadline")
    deadline.join(sleeper.pid)
    deadline.pace(60_000, 10)
    deadline.lease_ms = own_ms() + 60_000
    command = [sys.executable, "-c", SUPERVISOR, str(tmp_path / "deadline")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        guard = int(supervisor.stdout.readline())
        os.kill(supervisor.pid, signal.SIGSTOP)
        deadline.lease_ms = own_ms()
        until(lambda: state(sleeper.pid) == "T", "it is frozen")
        deadline.lease_ms = own_ms() + 60_000
        until(lambda: state(sleeper.pid) == "S", "it goes on")
        supervisor.kill()
    until(lambda: state(guard) == "Z", "the guard is gone")


def test_a_group_is_ended_to_its_last_member(sleeper: subprocess.Popen[bytes]) -> None:
    def members() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(") ")[2].split()
                if int(fields[2]) == sleeper.pid and fields[0] != "Z":
                    found.append(path.parent.name)
        return found

    until(lambda: len(members()) == 2, "both are there")
    end_group(sleeper.pid)
    sleeper.returncode = 0
    until(lambda: members() == [], "none is left")
    end_group(sleeper.pid)  # nobody is in it: no matter
