"""No process of a benchmark outlives it, however it ends, and what is supervised comes back."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.children import ROOT, ChildFailed, Supervised, ask, environment, running

WAIT_S = 60.0
SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]
PARENT = """
import sys, time
from pathlib import Path
from benchmarks.children import Supervised, running
command = [sys.executable, "-c", "import time; time.sleep(600)"]
one = Supervised("one", command, Path(sys.argv[1]))
with running("two", command, Path(sys.argv[1])) as two:
    while one.pid is None:
        time.sleep(0.01)
    print(one.pid, two.pid, flush=True)
    time.sleep(600)
"""


def lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # nobody may be there to collect an orphan


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def writes(text: str, *, code: int = 0) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"]


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Supervised]:
    started = Supervised("one", SLEEPS, tmp_path)
    assert eventually(lambda: started.pid is not None)
    yield started
    started.stop()


def pid_of(one: Supervised) -> int:
    assert eventually(lambda: one.pid is not None)
    pid = one.pid
    assert pid is not None
    return pid


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux's")
def test_children_of_a_benchmark_that_is_killed_die_with_it(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(lives, pids))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: not any(map(lives, pids)))


def test_what_is_killed_comes_back_and_is_counted(one: Supervised) -> None:
    first = pid_of(one)
    assert one.kill()
    assert eventually(lambda: one.pid not in (None, first))
    assert not lives(first)
    assert (one.killed, one.fell) == (1, 0)


def test_what_falls_by_itself_is_told_from_what_was_killed(one: Supervised) -> None:
    first = pid_of(one)
    os.kill(first, signal.SIGTERM)
    assert eventually(lambda: one.pid not in (None, first))
    assert (one.killed, one.fell) == (0, 1)


def test_what_is_stopped_does_not_come_back(one: Supervised) -> None:
    first = pid_of(one)
    one.stop()
    assert one.pid is None
    assert not lives(first)
    assert not one.kill()
    assert (one.killed, one.fell) == (0, 0)


def test_a_block_that_fails_leaves_no_process(tmp_path: Path) -> None:
    pids: list[int] = []

    def fail() -> None:
        with running("one", SLEEPS, tmp_path) as process:
            pids.append(process.pid)
            assert lives(process.pid)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not lives(pids[0])


def test_the_last_line_is_the_answer(tmp_path: Path) -> None:
    assert ask("one", writes("1\n[2]"), tmp_path) == [2]


def test_a_bad_end_is_told_with_the_last_words(tmp_path: Path) -> None:
    said = [sys.executable, "-c", "import sys; sys.exit('no disk')"]
    with pytest.raises(ChildFailed, match=r"^one ended with code 1; it said: no disk$"):
        ask("one", said, tmp_path)


def test_an_answer_before_a_bad_end_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match=r"^one ended with code 3; it said: nothing$"):
        ask("one", writes("1", code=3), tmp_path)


def test_an_end_without_an_answer_is_told(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match=r"^one ended without an answer; it said: nothing$"):
        ask("one", [sys.executable, "-c", ""], tmp_path)


def test_settings_of_another_installation_do_not_reach_a_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TURBINE_BOOTSTRAP", "production:9092")
    found = environment({"PYTHONHASHSEED": "7"})
    assert not [name for name in found if name.startswith("TURBINE_")]
    assert (found["PYTHONHASHSEED"], found["PYTHONPATH"]) == ("7", str(ROOT))
