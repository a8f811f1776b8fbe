"""What is done to the fleet, one fault after the other, and until when each is waited for."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.exclusivity_fleet import MANAGERS, Fleet
from benchmarks.exclusivity_heard import Heard
from benchmarks.exclusivity_relay import DOWN, UP
from benchmarks.exclusivity_watch import Seen
from benchmarks.figures import say
from tasks.deadline import own_ms

RECOVER_S, WELL_S, MOVE_S = 45.0, 60.0, 10.0
AMID_S = (0.0, 0.3)
"""From the first task that stopped to the kill: of its move, and of those that follow it."""
PAUSE_S = 0.05
CALM_S = (0.3, 1.5)
"""Between two faults, so that they find the fleet in all of its states."""


class Kind(NamedTuple):
    """One kind of fault."""

    name: str
    times: int
    act: str
    hold_s: float = 0.0  # from the fault to its healing; a kill is not healed
    ways: tuple[str, ...] = ()
    stays: bool = False  # nothing may be given away because of it

    @property
    def kills(self) -> bool:
        """Does it kill, or does it stop or cut for a while?"""
        return not self.hold_s


SHORT_S, BEYOND_S, LONG_S = 2.0, 5.0, 9.0
"""Less than the lease of 4 s; beyond it, and less than the silence of 6 s; and beyond both."""

KINDS = (
    Kind("kill-task", 24, "task", stays=True),
    Kind("kill-engine", 16, "engine", stays=True),
    Kind("kill-supervisor", 16, "supervisor"),
    Kind("kill-guard", 10, "guard"),
    Kind("kill-container", 14, "container"),
    Kind("kill-shard-manager", 20, "manager", stays=True),
    Kind("freeze-2s", 8, "freeze", SHORT_S, stays=True),
    Kind("freeze-5s", 5, "freeze", BEYOND_S, stays=True),
    Kind("freeze-9s", 5, "freeze", LONG_S),
    Kind("freeze-supervisor-9s", 4, "freeze-supervisor", LONG_S),
    Kind("cut-2s", 4, "cut", SHORT_S, (UP, DOWN), stays=True),
    Kind("cut-9s", 4, "cut", LONG_S, (UP, DOWN)),
    Kind("cut-to-log-9s", 3, "cut", LONG_S, (UP,)),
    Kind("cut-from-log-9s", 3, "cut", LONG_S, (DOWN,)),
)
QUICK_SHARE = 0.1


def sequence(kinds: Iterable[Kind], share: float, dice: random.Random) -> list[Kind]:
    """All that is to be done, in an order that the seed decides; each kind at least once."""
    found = [kind for kind in kinds for _ in range(max(1, round(kind.times * share)))]
    dice.shuffle(found)
    return found


@dataclass(slots=True)
class Fault:
    """One fault, and what came of it."""

    kind: Kind
    container: str
    tasks: list[str]  # that were hit
    at_ms: int
    healed_ms: int = 0
    over_ms: int = 0
    recovered_s: dict[str, float] = field(default_factory=dict)  # the longest without an effect
    more: str = ""

    @property
    def missing(self) -> list[str]:
        """Tasks that were not heard of again."""
        return [task for task in self.tasks if task not in self.recovered_s]


class Faults:
    """Hurts a fleet. Used from one thread."""

    def __init__(self, fleet: Fleet, heard: Heard, dice: random.Random) -> None:
        self._fleet, self._heard, self._dice = fleet, heard, dice
        self.done: list[Fault] = []

    def play(self, kind: Kind) -> Fault:
        """One fault; returns when all is well again, or it took too long."""
        self.await_well()
        time.sleep(self._dice.uniform(*CALM_S))
        container = self._victim()
        fault = Fault(kind, container, sorted(self._fleet.watch.tasks(container)), 0)
        self.done.append(fault)
        self._do(fault)
        fault.healed_ms = own_ms()
        self._await_recovered(fault)
        fault.over_ms = own_ms()
        return fault

    def _victim(self) -> str:
        """A container that runs something."""
        watch = self._fleet.watch
        return self._dice.choice([one for one in self._fleet.names if watch.tasks(one)])

    # --- what is done

    def _do(self, fault: Fault) -> None:
        """Hurts, and heals what is healed after its time, whatever happens meanwhile."""
        watch, container = self._fleet.watch, fault.container
        match fault.kind.act:
            case "task":
                fault.tasks = [self._dice.choice(fault.tasks)]
                self._kill(fault, [watch.tasks(container)[fault.tasks[0]]])
            case "engine" | "guard" as name:
                found = watch.named(container, name)
                self._kill(fault, [] if found is None else [found])
            case "supervisor":
                fault.at_ms = own_ms()
                self._fleet.containers[container].kill()
            case "container":
                self._kill(fault, watch.of(container))
            case "manager":
                self._kill_manager(fault)
            case "freeze":
                self._freeze(fault, watch.of(container))
            case "freeze-supervisor":
                root = self._fleet.containers[container].pid
                self._freeze(fault, [one for one in watch.of(container) if one.pid == root])
            case "cut":
                self._cut(fault)
            case act:
                raise AssertionError(act)

    def _kill(self, fault: Fault, victims: Sequence[Seen]) -> None:
        fault.at_ms = own_ms()
        for one in victims:
            send(one.pid, signal.SIGKILL)

    def _kill_manager(self, fault: Fault) -> None:
        """One of both, while shards move: a plan of a drain moves a tenth of all shards."""
        container, before = fault.container, len(fault.tasks)
        self._fleet.drain(container)
        try:
            self._until(lambda: len(self._fleet.watch.tasks(container)) < before, MOVE_S)
            time.sleep(self._dice.uniform(*AMID_S))
            manager = self._dice.choice(MANAGERS)
            fault.at_ms, fault.more = own_ms(), manager
            self._fleet.site.processes[manager].kill()
        finally:
            self._fleet.undrain(container)

    def _freeze(self, fault: Fault, victims: Sequence[Seen]) -> None:
        fault.at_ms = own_ms()
        try:
            for one in victims:
                send(one.pid, signal.SIGSTOP)
            time.sleep(fault.kind.hold_s)
        finally:
            woken = list(victims)
            self._dice.shuffle(woken)  # a machine that wakes wakes its processes in any order
            for one in woken:
                send(one.pid, signal.SIGCONT)

    def _cut(self, fault: Fault) -> None:
        """What is held arrives late, or never."""
        reset = self._dice.random() < 0.5
        fault.more = "held bytes are lost" if reset else "held bytes arrive late"
        fault.at_ms = own_ms()
        try:
            self._fleet.links.hold(fault.container, *fault.kind.ways)
            time.sleep(fault.kind.hold_s)
        finally:
            self._fleet.links.hold(fault.container, reset=reset)

    # --- how it goes on

    def _await_recovered(self, fault: Fault) -> None:
        """Until each task that was hit has an effect that was begun after the fault was over."""

        def all_back() -> bool:
            for task in fault.missing:
                found = self._heard.first_since(task, fault.healed_ms)
                if found is not None:
                    silent_ms = self._heard.silence_ms(task, fault.at_ms, found.heard_ms)
                    fault.recovered_s[task] = silent_ms / 1000
            return not fault.missing

        if not self._until(all_back, RECOVER_S):
            say(f"not back after {fault.kind.name} of {fault.container}: {fault.missing}")

    def await_well(self) -> bool:
        """Until every container is complete and every task lives and is not stopped."""
        fleet = self._fleet

        def well() -> bool:
            found = fleet.watch.tasks()
            whole = all(
                fleet.watch.named(name, part) is not None
                for name in fleet.names
                for part in ("engine", "guard")
            )
            living = [one for one in found.values() if not one.stopped]
            return whole and len(living) == len(fleet.tasks)

        if self._until(well, WELL_S):
            return True
        found = fleet.watch.tasks()
        lost = sorted(set(fleet.tasks) - set(found))
        say(f"not well after {WELL_S:g} s; tasks that do not live: {lost}")
        return False

    def _until(self, holds: Callable[[], bool], wait_s: float) -> bool:
        limit = time.monotonic() + wait_s
        while not holds():
            if time.monotonic() > limit:
                return False
            time.sleep(PAUSE_S)
        return True


def send(pid: int, number: signal.Signals) -> None:
    """To a process that may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
