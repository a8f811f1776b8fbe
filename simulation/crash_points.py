"""Kills one component at each of its acts in turn, and lets it come back (crash-point enumeration).

A story without other faults is played to its end once for every act: before the first record is
emitted, after it, before it is read back, between two of the entries that keep a row. Wherever the
component dies, the same decisions stand in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from events.generated.records import (
    RECORDS,
    Body,
    ConfigChangeProposed,
    JobDeleteRequested,
    PauseRequested,
    ResumeRequested,
    SyncFailed,
    SyncStepStarted,
)
from events.job_config.strict_json import canonical_json
from events.topics import CHANGES, CLOCK, JOURNAL, OPERATOR, place
from events.wire.codec import Record, encode
from simulation.authors import SMALLEST
from simulation.bounds import USUAL
from simulation.casts import SYNCING, Cast, lists_view
from simulation.log import PARTITION, TICKS, Keep, SimulatedLog
from simulation.process import BUILDS, Emit, SimulatedProcess, read_on, reader
from simulation.tasks import SimulatedTasks
from turbine.lab.kernel import Streams, VirtualClock
from turbine_client.identity import change_id

JOB = "orders"
TICK = Record("", "", "ClockTicked", b"", None)
BEGIN_MS, SCENE_MS = 1_000_000, 100_000
ROUNDS_MOST, QUIET = 90, 4
"""Ticks of a scene, and those without a word after which it is over."""


@dataclass(slots=True)
class _Authors:
    keys: tuple[str, ...] = (JOB,)


@dataclass(slots=True)
class CrashStage:
    """All components of the cast, one instance each; one of them dies once."""

    cast: Cast
    victim: str = ""
    acts: int | None = None  # of the victim, until it dies
    scene: int = 0
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(BEGIN_MS))
    streams: Streams = field(default_factory=lambda: Streams(1))
    counts: Counter[str] = field(default_factory=Counter)
    authors: _Authors = field(default_factory=_Authors)
    calm: bool = True
    newest_build: int = len(BUILDS)
    died: bool = False
    heard: Callable[[str], None] | None = None  # is told the place of each record that comes in
    slow: bool = False  # tasks do what lists tell only once nobody else has anything to say
    log: SimulatedLog = field(init=False)
    keeps: dict[str, Keep] = field(init=False)
    processes: list[SimulatedProcess] = field(init=False, default_factory=list)
    managers: SimulatedTasks = field(init=False)
    _number: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.log = SimulatedLog(self.clock, over_the_wire=False, heard=self.heard)
        self.keeps = {name: Keep() for name in self.cast}
        self.managers = SimulatedTasks(self)  # type: ignore[arg-type]  # what it uses of a world is here
        for name in self.cast:
            self._spawn(name)

    def _spawn(self, name: str) -> None:
        self._number += 1
        process = SimulatedProcess(
            self.cast[name],
            self.log,
            self.keeps[name],
            self._number,
            self.newest_build,
            self.streams.fork(f"process {self._number}"),
            self._deliver,
            self.counts,
            USUAL,
        )
        if name == self.victim and not self.died:
            process.acts_left = self.acts
        self.processes.append(process)

    def _deliver(self, _: SimulatedProcess, emit: Emit) -> None:
        self.log.append(emit.topic, emit.record)

    def play(self, story: list[Callable[[CrashStage], None]]) -> list[Body]:
        """The story to its end; what stands then, without the instants that a crash may move."""
        for scene in story:
            # At the same instant whatever went before, so that ids are the same as well.
            self.scene += 1
            self.clock.now_ms = BEGIN_MS + self.scene * SCENE_MS
            scene(self)
            quiet = 0
            for _ in range(ROUNDS_MOST):
                end = self._said()
                self._round()
                if not self.slow or self._said() == end:
                    self.managers.settle()
                quiet = quiet + 1 if self._said() == end else 0
                if quiet > QUIET:
                    break
            else:
                raise AssertionError("the stage does not come to rest")
        return [_timeless(body) for body in self._standing()]

    def _round(self) -> None:
        self.clock.now_ms += 1_000
        self.log.append(CLOCK, TICK)
        for process in list(self.processes):
            while not process.doomed and process.step():
                pass
            if process.doomed:
                self.died = True
                self.processes.remove(process)
                self._spawn(process.component.name)

    def _said(self) -> int:
        return sum(len(lines) for at, lines in self.log.lines.items() if at != TICKS)

    def _standing(self) -> Iterator[Body]:
        at = place(JOURNAL, PARTITION)
        heard: list[tuple[Body | None, bool]] = []
        owner = reader(replace(lists_view, folds=frozenset(RECORDS)), self.log)
        owner._observer = lambda read, stands: heard.append((read.record.body, stands))
        read_on(owner, self.log, [TICKS, at])
        return (body for body, stands in heard if stands and body is not None)


def _timeless(body: Body) -> Body:
    """A plan that is made a second later has its deadline a second later."""
    if isinstance(body, SyncStepStarted):
        return replace(body, deadline_ms=None)
    if isinstance(body, SyncFailed):
        return replace(body, retry_ms=None)
    return body


# --- the story


def wants(stage: CrashStage, author: str = "ann", **config: Any) -> None:
    """Somebody changes the base layer."""
    proposes(stage, "base", author=author, **(SMALLEST | config))


def proposes(
    stage: CrashStage,
    layer: str,
    *,
    author: str = "ann",
    expected_version: int | None = None,
    for_ms: int | None = None,
    **config: Any,
) -> None:
    """Somebody changes a layer, perhaps for some time only."""
    name = change_id(stage.clock.now_ms + 60_000, f"{author}{stage.scene}")
    body = ConfigChangeProposed(
        change_id=name,
        job=JOB,
        author=author,
        set_json=canonical_json(config),
        expected_version=expected_version,
        reason="because",
        expires_ms=None if for_ms is None else stage.clock.now_ms + for_ms,
    )
    _ask(stage, CHANGES[layer], name, body)


def asks(stage: CrashStage, kind: Any, author: str = "ann", **more: Any) -> None:
    """An operator asks for something."""
    name = change_id(stage.clock.now_ms + 60_000, f"ask{author}{stage.scene}")
    _ask(stage, OPERATOR, name, kind(change_id=name, job=JOB, author=author, reason="why", **more))


def _ask(stage: CrashStage, topic: str, name: str, body: Body) -> None:
    stage.log.append(topic, Record(JOB, name, type(body).__name__, encode(body), body))


STORY: list[Callable[[CrashStage], None]] = [
    partial(wants, tasks=2),
    partial(wants, tasks=2, priority=7),
    partial(wants, tasks=3),
    partial(asks, kind=PauseRequested),
    partial(wants, tasks=3, priority=7),
    partial(wants, tasks=4, priority=7),
    partial(asks, kind=ResumeRequested),
    partial(asks, kind=JobDeleteRequested),
    partial(wants, tasks=1),
]
"""Start, copy, reshape, pause, copy and reshape while paused, resume, delete, create anew."""


def play(victim: str = "", acts: int | None = None) -> tuple[list[Body], CrashStage]:
    """The story, in which the victim dies after so many acts; what stands in the end."""
    stage = CrashStage(SYNCING, victim, acts)
    return stage.play(STORY), stage
