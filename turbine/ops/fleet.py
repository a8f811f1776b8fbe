"""Runs the components as processes of this machine: starts them, starts them again, ends them.

For laptops and demos; a cluster has a supervisor of its own. In the settings' directory:

fleet.lock   the flock that the supervisor and every process of the fleet hold, with the
             supervisor's process id: it is free when, and only when, nothing of the fleet lives
fleet.json   who runs, under which process id, started how often
api.json     where the dashboard and the API are, as the process that serves them wrote it
logs/        what each process says
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time  # noqa: TID251 - back-off and patience with processes are real time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from components.runtime.process.local import Flags
from components.runtime.process.loop import StopSignal
from turbine.failures import end_process
from turbine.ops.members import (
    ADDRESS,
    ENGINES,
    FleetState,
    Hosts,
    Member,
    MemberState,
    address_of,
    members,
)
from turbine_client.errors import TurbineError, Unavailable
from turbine_client.settings import FLEET, settings_by, take_flags

HOSTS = Hosts()
PAUSE_MAX_S = 30.0
STEADY_S = 60.0
"""A process that lived this long was well; its next failure is a first one."""
TURN_S = 0.2
STOP_S = 25.0
"""Longer than the deadline that a component sets itself for its last rows; for each of three:
containers, deciders, clock."""
KILLED_S = 60.0  # SIGKILL needs no consent; what takes longer is a disk that hangs
LOG_BYTES = 16 * 1024 * 1024


class FleetRuns(Unavailable):
    """Another fleet lives in the directory."""


class Process(Protocol):
    """What is asked of a started process; `subprocess.Popen` is one."""

    pid: int

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(slots=True)
class Post:
    """A member as it is now."""

    member: Member
    process: Process | None = None
    since_s: float = 0.0
    starts: int = 0
    failures: int = 0  # in a row
    next_s: float = field(default=-1.0)  # not before that


def pause_s(failures: int) -> float:
    """How long to wait after so many failures in a row: 1, 2, 4 … 30 seconds."""
    return float(min(PAUSE_MAX_S, 2.0 ** min(failures - 1, 10)))


class Supervisor:
    """Keeps members running. Processes, time and words come from outside."""

    def __init__(
        self,
        members: Iterable[Member],
        spawn: Callable[[Member], Process],
        now: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        self.posts = [Post(member) for member in members]
        self._spawn, self._now, self._say = spawn, now, say

    def turn(self) -> bool:
        """Looks at every process once; True when one of them was started or has ended."""
        moved = False
        for post in self.posts:
            moved = self._bury(post) or moved
            if post.process is None and self._now() >= post.next_s:
                post.process, post.since_s = self._spawn(post.member), self._now()
                post.starts += 1
                moved = True
        return moved

    def _bury(self, post: Post) -> bool:
        code = None if post.process is None else post.process.poll()
        if code is None:
            return False
        now_s = self._now()
        post.failures = 1 if now_s - post.since_s >= STEADY_S else post.failures + 1
        wait_s = pause_s(post.failures)
        post.process, post.next_s = None, now_s + wait_s
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
        self._say(f"{post.member.label} {how}; it is started again in {wait_s:g} s")
        return True

    def stop(self, wait: Callable[[float], object]) -> None:
        """Ends all, containers first and the clock last; no process is left."""
        for rank in sorted({post.member.rank for post in self.posts}):
            alive = [
                post
                for post in reversed(self.posts)
                if post.member.rank == rank and post.process is not None
            ]
            self._end(alive, wait)

    def _end(self, alive: list[Post], wait: Callable[[float], object]) -> None:
        for post in alive:
            assert post.process is not None
            post.process.terminate()
        limit_s = self._now() + STOP_S
        while any(_runs(post) for post in alive) and self._now() < limit_s:
            wait(TURN_S)
        for post in alive:
            if post.process is not None and _runs(post):
                self._say(f"{post.member.label} did not end in {STOP_S:g} s and is killed")
                post.process.kill()
        while any(_runs(post) for post in alive):
            wait(TURN_S)


def _runs(post: Post) -> bool:
    return post.process is not None and post.process.poll() is None


# --- one directory, one fleet


@contextmanager
def held(directory: Path) -> Iterator[int]:
    """Holds the directory's lock; gives its descriptor, which every process of the fleet gets."""
    directory.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory / "fleet.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetRuns(
                f"a fleet (process {os.pread(lock, 20, 0).decode() or '?'}) already runs in"
                f" {directory}; end it with `turbine down`, or name another directory"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield lock
    finally:
        os.close(lock)


def lives(directory: Path) -> bool:
    """Does anything of a fleet live there?"""
    try:
        lock = os.open(directory / "fleet.lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who ask at once do not take each other for a fleet.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def read_state(directory: Path) -> FleetState | None:
    """Who runs there, as the supervisor wrote it last; None where nobody does."""
    if not lives(directory):
        return None
    try:
        state: FleetState = json.loads((directory / FLEET).read_text())
    except FileNotFoundError:  # the supervisor is just starting
        return {"pid": 0, "bootstrap": "", "members": []}
    return state


def running(directory: Path) -> Sequence[MemberState]:
    """The processes of the fleet that lives there; none where none does."""
    state = read_state(directory)
    return () if state is None else state["members"]


def write_state(directory: Path, bootstrap: str, posts: Iterable[Post]) -> None:
    """Whole or not at all, whenever this process dies."""
    members: list[MemberState] = [
        {
            "name": post.member.label,
            "components": list(post.member.components),
            "pid": post.process.pid if post.process is not None else None,
            "starts": post.starts,
            "log": str(log_of(directory, post.member.label)),
        }
        for post in posts
    ]
    state: FleetState = {"pid": os.getpid(), "bootstrap": bootstrap, "members": members}
    written = directory / f"{FLEET}.new"
    written.write_text(json.dumps(state, indent=2) + "\n")
    written.replace(directory / FLEET)


def await_address(directory: Path, wait_s: float) -> str | None:
    """The same, once it is served; None where that takes too long."""
    limit_s = time.monotonic() + wait_s
    while (found := address_of(directory)) is None and time.monotonic() < limit_s:
        time.sleep(TURN_S)
    return found


def log_of(directory: Path, label: str) -> Path:
    """Where a process of the fleet writes what it says."""
    return directory / "logs" / f"{label}.log"


def open_log(directory: Path, label: str) -> int:
    """For appending; one that has grown large is put aside first, in place of the one before."""
    path = log_of(directory, label)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


# --- running


def spawner(directory: Path, flags: Flags, lock: int) -> Callable[[Member], Process]:
    """Starts a member as a process that dies with this one, however this one dies (on Linux)."""

    flags = replace(flags, fleet=directory)  # whatever their environment says of one

    def spawn(member: Member) -> Process:
        command = member.command(directory)
        log = open_log(directory, member.label)
        try:
            return subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
                [*command, *flags.arguments(), "--die-with", str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock],
                # Ctrl-C in a terminal is for the supervisor, which then ends all in order.
                start_new_session=True,
            )
        finally:
            os.close(log)

    return spawn


def run_fleet(
    directory: Path,
    bootstrap: str,
    flags: Flags,
    say: Callable[[str], None],
    stop: StopSignal,
    *,
    hosts: Hosts = HOSTS,
    webhooks: bool = False,
) -> None:
    """Supervises until it is told to stop; FleetRuns where another does."""
    with held(directory) as lock:
        posts, told = members(hosts, webhooks=webhooks), ""
        (directory / ADDRESS).unlink(missing_ok=True)  # of one that was killed
        fleet = Supervisor(posts, spawner(directory, flags, lock), time.monotonic, say)
        try:
            while not stop.wanted:
                if fleet.turn():
                    write_state(directory, bootstrap, fleet.posts)
                found = address_of(directory)
                if found is not None and found != told:
                    told = found
                    say(f"dashboard and API: {found}")
                stop.wait(TURN_S)
        finally:
            fleet.stop(time.sleep)
            (directory / FLEET).unlink(missing_ok=True)


def detach_fleet(
    directory: Path, flags: Flags, wait_s: float = 60.0, *, hosts: Hosts = HOSTS
) -> FleetState:
    """A supervisor that outlives this command; returns when all its processes are started."""
    if lives(directory):
        raise FleetRuns(f"a fleet already runs in {directory}")
    command = [sys.executable, "-P", "-m", "turbine.ops.fleet"]
    command += ["--containers", str(hosts.containers), "--engine", hosts.engine]
    log = open_log(directory, "fleet")
    try:
        child = subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
            [*command, *replace(flags, fleet=directory).arguments()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)
    limit_s = time.monotonic() + wait_s
    while time.monotonic() < limit_s and child.poll() is None:
        state = read_state(directory)
        if state and state["members"] and all(one["pid"] for one in state["members"]):
            return state
        time.sleep(TURN_S / 4)
    child.kill()
    child.wait()
    raise FleetRuns(f"the fleet in {directory} did not come up; see {log_of(directory, 'fleet')}")


def end_fleet(directory: Path, wait_s: float = 3 * STOP_S + 10) -> bool:
    """Ends the fleet that lives there; False where none did. No process of it is left."""
    if not lives(directory):
        return False
    pid = int((directory / "fleet.lock").read_text() or "0")
    _signal([pid], signal.SIGTERM)
    if not _free_within(directory, wait_s):
        # The supervisor first: it would start again what is killed.
        _signal([pid, *(one["pid"] for one in running(directory))], signal.SIGKILL)
        if not _free_within(directory, KILLED_S):
            raise FleetRuns(f"the fleet in {directory} outlives SIGKILL; see {directory / FLEET}")
    (directory / FLEET).unlink(missing_ok=True)
    return True


def _signal(pids: Iterable[int | None], number: signal.Signals) -> None:
    for pid in pids:
        if pid:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _free_within(directory: Path, wait_s: float) -> bool:
    limit_s = time.monotonic() + wait_s
    while lives(directory):
        if time.monotonic() > limit_s:
            return False
        time.sleep(TURN_S / 4)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Supervises in this process; what it has to say goes to standard error."""
    parser = argparse.ArgumentParser(prog="python -m turbine.ops.fleet", description=__doc__)
    take_flags(parser)
    parser.add_argument("--containers", type=int, default=HOSTS.containers)
    parser.add_argument("--engine", choices=sorted(ENGINES), default=HOSTS.engine)
    given = parser.parse_args(arguments)

    def say(sentence: str) -> None:
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {sentence}\n")

    try:
        settings = settings_by(given)
        directory = settings.directory
        flags = Flags(given.bootstrap, given.config)
        stop = StopSignal().listen()
        hosts = Hosts(given.containers, given.engine)
        told = bool(settings.webhooks)
        run_fleet(directory, settings.bootstrap, flags, say, stop, hosts=hosts, webhooks=told)
    except TurbineError as bad:
        return end_process(bad)
    return 0


if __name__ == "__main__":
    sys.exit(main())
