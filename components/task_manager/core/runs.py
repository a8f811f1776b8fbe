"""One task that a container holds: what is to be done about it, and where in life it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from components.task_manager.core.catalogue import Target


class Begin(NamedTuple):
    """A run is to be started."""

    run: int
    target: Target


class StopRun(NamedTuple):
    """A run is to end in order."""

    run: int


class Kill(NamedTuple):
    """A run is to end at once."""

    run: int


Act = Begin | StopRun | Kill


class RunStage(Enum):
    """Where a run is in its life. Of the first three, processes live."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    RESTING = "resting"  # it failed, or is to run another program: it is started again
    LOST = "lost"  # it can never run as it is wanted


ALIVE = frozenset({RunStage.STARTING, RunStage.RUNNING, RunStage.STOPPING})


@dataclass(slots=True)
class TaskRun:
    """A task that is held here, with its start of the moment."""

    number: int
    target: Target
    attempt: int = 1
    stage: RunStage = RunStage.STARTING
    failures: int = 0  # in a row
    since_ms: int = 0  # it starts, or runs
    next_ms: int = 0  # it is not started before that
    keeps_state: bool | None = None  # as its engine has said of its last start
    kill_ms: int | None = None  # until then it has time to stop in order, then to be killed
    killed: bool = False

    @property
    def alive(self) -> bool:
        """May a process of it live?"""
        return self.stage in ALIVE
