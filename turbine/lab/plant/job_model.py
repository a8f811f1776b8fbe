"""How a job behaves, whatever its size: what it reads, what it keeps, what goes wrong. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "dependency",  # what all tasks call answers only so much
    "straggler",  # one task's machine is slow, until the task is moved
    "hot",  # one partition gets many times its share
    "poison",  # nothing of one partition can be read
    "late",  # what is reported is of some minutes before
    "frozen",  # what is reported does not change
    "vanished",  # nothing is reported
    "keys",  # state grows by so many MiB a minute
]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, from one minute to another."""

    kind: Kind
    first: int
    last: int  # the first minute after it
    amount: float = 0.0  # records a second, a factor, minutes or MiB, as the kind has it
    at: int = 0  # which task or partition

    def holds(self, minute: int) -> bool:
        """Does it, in that minute?"""
        return self.first <= minute < self.last


STATELESS_S, STATEFUL_S = 10.0, 60.0
"""From a decision until all tasks run again. What runs takes up a change within 2 s (p99) and then
stands still for 4.5 s (p99); 10 s leave half as much again for who is busy. State has to move as
well: 60 s are what that may take."""


@dataclass(frozen=True, slots=True)
class Nature:
    """The nature of one job: what its work costs."""

    per_thread: float  # records a second that one thread reads at most, alone
    partitions: int = 64
    power: float = 1.0  # n threads read as much as n ** power: below 1 they get in each other's way
    noise: float = 0.0  # of what a thread reads, from minute to minute: a standard deviation
    weights: Sequence[float] = ()  # shares of the partitions; (): all the same
    restart_s: float = STATELESS_S  # for which no task runs when the size changes
    move_s: float = 30.0  # for which a task does not run when it is moved
    base_mb: float = 300.0
    mb_per_rate: float = 0.0  # of a task, for each record a second that it reads
    state_mb: float = 0.0  # of the whole job, shared by its tasks
    bytes_per_record: float = 100.0
    stateful: bool = False
    faults: tuple[Fault, ...] = ()
    lucks: Sequence[
        float
    ] = ()  # of each minute, in parts of what a thread usually reads; (): drawn

    def capacity(self, tasks: int, threads: int) -> float:
        """Records a second that all threads together read at most."""
        together: float = float(tasks * threads) ** self.power
        return self.per_thread * together
