"""The task manager: supervises one container's engine as its lease and the log tell (Turbine IV-A).

It wires the pure parts to processes and to the broker. Nothing in its loop waits for a broker, an
engine or a task: what may take long is in threads and processes of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import structlog

from components.runtime.core.standing import standing
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.surveying import fail
from components.runtime.process.exits import EXIT_REFUSED_WRITE, EXIT_UNREADABLE
from components.runtime.process.loop import StopSignal, turn_until_stopped
from components.task_manager.core.catalogue import Target
from components.task_manager.core.chains import CHAIN, KeptChain
from components.task_manager.core.due import Due
from components.task_manager.core.hosting import TaskSupervisor
from components.task_manager.core.known import ContainerKnowledge
from components.task_manager.core.loads import ContainerLoads, Sampled
from components.task_manager.core.runs import Begin, Kill, StopRun
from components.task_manager.engine import SHARED, EngineProcess
from components.task_manager.engines import Engines
from components.task_manager.exits import (
    EXIT_FAILED_OVER,
    EXIT_FROZEN,
    EXIT_REASSIGNED,
    EXIT_UNGUARDED,
)
from components.task_manager.fact_writer import Voice
from components.task_manager.guard import poll_ms_of
from components.task_manager.heartbeat import ContainerIdentity, Pulse
from components.task_manager.place import ContainerDirectory
from components.task_manager.reader import ContainerReader
from events.generated.records import (
    Body,
    ContainerState,
    Position,
    ShardAdded,
    ShardDropped,
    ShardLoadsReported,
    TaskLoadReported,
)
from events.topics import CONTAINERS, JOURNAL, LIVES, LOADS, TASKS, rows_topic
from projections.hold import ContainerHold
from tasks.core.protocol import Ended, Started, WorkOrder
from tasks.core.protocol import RunLoads as LoadsEvent
from tasks.deadline import Deadline, own_ms
from tasks.process_tree import adopt_orphans, signal_group
from turbine_client.settings import Settings

HEAP_LEAST_MB, AROUND_HEAP_MB = 512, 384
"""Of a process for one task: what it may use is the heap, and Python and Java around it."""
TURN_S = 0.05
LEAVE_MS = 10_000
"""For tasks to stop in order when the container is told to end; a supervisor waits 20 s."""
DRAIN_S = 5.0
NEEDED = (CONTAINERS, JOURNAL, LIVES, LOADS, TASKS, rows_topic(standing.name).short)
WAITING_BEAT_MS = 1_000
TAKE_MOST = 2_000
"""Of what has come to stand, in one turn: a catch-up must not hold up a heartbeat."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ContainerOptions:
    """What a container is started with."""

    member: ContainerIdentity
    place: ContainerDirectory
    engine: str


class TaskManager:
    """One life of one container. Used from the main thread, which its processes die with."""

    def __init__(self, settings: Settings, options: ContainerOptions) -> None:
        self._settings, self._options = settings, options
        self._count = partitions_for(settings, NEEDED)
        member, place = options.member, options.place
        adopt_orphans()
        self._deadline = Deadline.create(place.deadline)
        self._pulse = Pulse(settings, self._count, member)
        past = self._pulse.past()
        self._reader = ContainerReader(settings, self._count, self._pulse.tier)
        self._reader.start()
        self._voice = Voice(settings, self._count)
        self.epoch = 1 + max(place.epoch, past.epoch)
        place.begin(self.epoch)
        self._pulse.keep(self.epoch, past.tenancy, wait=True)
        self._known = ContainerKnowledge(member.name, self.epoch, self._pulse.tier)
        self._known.hold = self._known.hold._replace(tenancy=past.tenancy)
        self._host = TaskSupervisor(member.name, self.epoch, self._known.periods)
        self._loads = ContainerLoads(member.name, self.epoch, own_ms())
        self._due = Due(own_ms())
        self._pace()
        self._guard = self._start_guard()
        self._engines = Engines(self._start_engine)
        self._engine_starts = self._engine_next_ms = self._engine_since_ms = 0
        self._dirty, self._told = True, False
        self._state: ContainerState = "frozen"
        log.info("life begins", container=member.name, epoch=self.epoch, pid=os.getpid())

    # --- a turn

    def turn(self) -> None:
        """Life first, then what runs, then what is to be told."""
        self._tend()
        now_ms = own_ms()
        if self._reader.caught_up and self._holds(now_ms):
            self._settle(now_ms, self._known.hold)
            self._measure(now_ms)

    def _tend(self) -> None:
        self._live(own_ms())
        self._check()
        self._beat(own_ms())
        self._listen(own_ms())
        self._tend_engine(own_ms())

    def _live(self, now_ms: int) -> None:
        """Reads what was said of this life, and what was decided; the lease follows from it."""
        known = self._known
        held, had = known.hold.lease_ms, known.hold.tenancy
        for read in self._pulse.poll(TURN_S):
            known.live(read)
        if known.hold.tenancy is not had:
            self._pulse.keep(self.epoch, known.hold.tenancy)
        self._reader.now_ms = self._pulse.now_ms
        for one in self._reader.take(TAKE_MOST):
            if isinstance(one, KeptChain):
                known.begin(one.key, one.row, one.vector)
            else:
                known.learn(one.read, one.vector)
            self._dirty = True
        self._deadline.lease_ms = None if known.hold.over else known.hold.lease_ms
        if known.hold.lease_ms != held:
            self._pace()
            if held is None or held <= now_ms:
                self._host.thawed(now_ms)
                self._dirty = True

    def _pace(self) -> None:
        known = self._known
        self._deadline.pace(known.hold.timing.frozen_ms, poll_ms_of(known.scale))
        self._host.periods = known.periods

    def _holds(self, now_ms: int) -> bool:
        return self._known.hold.holds(now_ms)

    def _check(self) -> None:
        """Whether it can go on; whatever ends it ends all of its processes."""
        if self._known.hold.over:
            self._end(EXIT_FAILED_OVER, f"life {self.epoch} was failed over")
        idle = self._reader.caught_up and not any(run.alive for run in self._host.runs.values())
        if idle and self._known.hold.leaves(self._known.tier):
            self._voice.drain(DRAIN_S)
            self._end(EXIT_REASSIGNED, "another tier has it, and it holds nothing here")
        if self._deadline.killed:
            self._end(EXIT_FROZEN, "the lease could not be renewed for too long")
        if self._guard.poll() is not None:
            self._end(EXIT_UNGUARDED, f"the guard ended with code {self._guard.returncode}")
        if self._reader.failure is not None:
            self._end(EXIT_UNREADABLE, str(self._reader.failure))
        if self._voice.failure is not None:
            self._end(EXIT_REFUSED_WRITE, str(self._voice.failure))

    def _end(self, code: int, sentence: str) -> None:
        for group in self._deadline.groups:  # nobody waits: what cannot die yet keeps the lock
            signal_group(group, signal.SIGKILL)
        fail(code, sentence)

    def _beat(self, now_ms: int) -> None:
        self._pulse.drop_failures()
        hold, known = self._known.hold, self._known
        # Before the tier is known nobody can say how soon its shard manager takes us for silent.
        every_ms = hold.timing.heartbeat_ms if known.catalogue is not None else WAITING_BEAT_MS
        if not self._due.comes("beat", every_ms, now_ms):
            return
        unheard = hold.life is None or hold.life.epoch < self.epoch
        if unheard:
            self._pulse.start(self.epoch)
        if self._due.comes("again", hold.timing.again_ms, now_ms):
            self._live_on(hold)
        if self._state != "stopping":
            self._state = "serving" if self._holds(now_ms) else "frozen"
        chain = Position(CHAIN, self._reader.seen(CHAIN))
        host = self._host
        self._pulse.beat(self.epoch, self._state, host.held(), host.running(), chain)
        if self._reader.caught_up and self._known.catalogue is None and not self._told:
            self._told = True
            log.warning("the tier is not defined; waiting for it", tier=self._known.tier)

    def _live_on(self, hold: ContainerHold) -> None:
        """Says again what others know of this life: it may last longer than the log keeps it."""
        self._pulse.start(self.epoch)
        self._pulse.keep(self.epoch, hold.tenancy)
        if hold.tenancy is not None:
            self._pulse.belong(hold.tenancy)
        self._say(self._host.again())

    # --- the engine

    def _listen(self, now_ms: int) -> None:
        ready = self._engines.ready
        for event in self._engines.hear():
            match event:
                case Started() | Ended():
                    self._say(self._host.heard(event, now_ms))
                    if isinstance(event, Started):
                        self._loads.begin(event.run, now_ms)
                    self._dirty = True
                case LoadsEvent():
                    self._say(self._loads.take(self._sampled(event), now_ms))
        self._dirty = self._dirty or self._engines.ready != ready

    def _sampled(self, event: LoadsEvent) -> Iterator[Sampled]:
        for number, counts in sorted(event.runs.items()):
            run = self._host.run_of(number)
            if run is not None:
                yield Sampled(number, run.target, counts, event.partitions.get(number, ()))

    def _tend_engine(self, now_ms: int) -> None:
        """One shared engine at a time; one that ended is followed by another after a while."""
        engines, periods = self._engines, self._known.periods
        if not engines.live:
            if now_ms >= self._engine_next_ms:
                self._engine_since_ms = now_ms
                engines.begin()
            return
        how = engines.ended()
        if how is None and self._holds(now_ms) and self._host.hangs(now_ms):
            how = "it does not end what it is told to"
        if how is None:
            return
        engines.end_shared()
        steady = now_ms - self._engine_since_ms >= periods.steady_ms
        self._engine_starts = 1 if steady else self._engine_starts + 1
        pause_ms = periods.pause_after(self._engine_starts)
        self._engine_next_ms = now_ms + pause_ms
        log.error("the engine ended", why=how, pause_ms=pause_ms)
        self._say(self._host.engine_died(now_ms, pause_ms, spared=engines.alone))
        self._dirty = True

    def _start_engine(self, work: WorkOrder | None) -> EngineProcess:
        """For all tasks that share it, or for one; its memory is the task's then."""
        one, settings, name = self._options, self._settings, SHARED
        if work is not None:
            name = f"{SHARED}-{work.run}"
            if work.memory_bytes is not None:
                heap_mb = max(HEAP_LEAST_MB, work.memory_bytes // 2**20 - AROUND_HEAP_MB)
                settings = replace(settings, spark={**settings.spark, "heap.mb": str(heap_mb)})
        return EngineProcess(one.engine, settings, one.place, self._deadline, name=name)

    def _start_guard(self) -> subprocess.Popen[bytes]:
        place = self._options.place
        command = [sys.executable, "-P", "-m", "components.task_manager.guard"]
        return subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
            [*command, "--deadline", str(place.deadline), "--die-with", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            pass_fds=[place.lock],
            process_group=0,
        )

    # --- what runs

    def _settle(self, now_ms: int, hold: ContainerHold) -> None:
        wake_ms = self._host.wake_ms()
        again = self._due.comes("reconcile", self._known.periods.reconcile_ms, now_ms)
        catalogue = self._known.catalogue
        if catalogue is None or not (
            self._dirty or again or (wake_ms is not None and now_ms >= wake_ms)
        ):
            return
        self._dirty = False
        engines = self._engines
        for one in self._host.settle(hold, catalogue, now_ms, ready=engines.ready):
            match one:
                case Begin(run, target):
                    engines.start(work_of(run, target, self._options.member.name, self.epoch))
                case StopRun(run):
                    engines.stop(run)
                case Kill(run):
                    engines.kill(run)
                case _:
                    self._say([one])

    def _say(self, bodies: Iterable[Body]) -> None:
        for body in bodies:
            if not isinstance(body, TaskLoadReported | ShardLoadsReported):
                log.info("said", kind=type(body).__name__, **_gist(body))
            if isinstance(body, ShardAdded | ShardDropped):
                known = {CHAIN: self._reader.seen(CHAIN)}
                self._voice.say(CONTAINERS, body.container, body, known)
            elif isinstance(job := getattr(body, "job", None), str):
                topic = LOADS if isinstance(body, TaskLoadReported) else TASKS
                known = {} if topic == LOADS else self._known.vector(job)
                self._voice.say(topic, job, body, known)
            else:
                self._voice.say(CONTAINERS, self._options.member.name, body, {})

    def _measure(self, now_ms: int) -> None:
        periods, catalogue = self._known.periods, self._known.catalogue
        if self._due.comes("loads", periods.load_ms, now_ms):
            self._engines.ask_loads()
        if catalogue is not None and self._due.comes("shards", periods.shard_load_ms, now_ms):
            held = {one: catalogue.entries(one[0]) for one in self._host.held()}
            self._say(self._loads.shards(self._known.tier, held, now_ms))

    # --- its end

    def close(self) -> None:
        """Told to end: it gives up its shards in order, so that others have them at once."""
        log.info("leaving", epoch=self.epoch)
        self._state = "stopping"
        self._due.now("beat")
        limit_ms = own_ms() + min(LEAVE_MS, self._known.periods.stop_ms)
        # First of all this is read back: or it might be given what it has just given up.
        while self._holds(own_ms()) and not self._heard_stopping() and own_ms() < limit_ms:
            self._tend()
        while self._leave(late=own_ms() >= limit_ms):
            self._tend()
        self._voice.drain(DRAIN_S)
        self._reader.close()
        self._engines.end()
        self._guard.terminate()
        self._guard.wait()
        self._pulse.close()

    def _heard_stopping(self) -> bool:
        life = self._known.hold.life
        return life is not None and life.epoch == self.epoch and life.state == "stopping"

    def _leave(self, *, late: bool) -> bool:
        """Asks all to stop; False: there is nothing left to wait for."""
        now_ms = own_ms()
        if not (self._reader.caught_up and self._holds(now_ms)):
            return False  # its word counts for nothing; the shard manager hears that it is silent
        hold = self._known.hold
        wishes = hold.wishes.mutate()
        for shard, wish in hold.wishes.items():
            wishes[shard] = wish._replace(wanted=False, at_once=wish.at_once or late)
        self._dirty = True
        self._settle(now_ms, hold._replace(wishes=wishes.finish()))
        return any(run.alive for run in self._host.runs.values())


def work_of(run: int, target: Target, container: str, epoch: int) -> WorkOrder:
    """What an engine is told about a task."""
    entry, generation = target.entry, target.generation
    spec, head = entry.program
    return WorkOrder(
        run=run,
        job=entry.job,
        task=entry.task,
        specs=generation.specs,
        shard=generation.shard,
        shard_number=target.shard,
        container=container,
        epoch=epoch,
        operator=head.operator,
        guarantee=head.guarantee,
        argv=spec.argv,
        inputs=tuple((one.topic, one.partitions) for one in spec.inputs),
        checkpoint=spec.checkpoint,
        config_json=head.config_json,
        memory_bytes=spec.memory_bytes,
        cpu_cores=spec.cpu_cores,
        package=head.package,
        package_version=head.package_version,
        threads=spec.threads,
    )


def _gist(body: Body) -> dict[str, Any]:
    """Of a fact, what a person looks for in a log."""
    names = ("job", "task", "shard", "generation", "attempt", "cause", "explanation", "pause_ms")
    found = {name: getattr(body, name) for name in names if hasattr(body, name)}
    if not isinstance(found.get("generation", 0), int):
        found["generation"] = f"{found['generation'].specs}.{found['generation'].shard}"
    return found


def serve(settings: Settings, stop: StopSignal, options: ContainerOptions) -> int:
    """Lives until it is told to end; the exit code."""
    return turn_until_stopped(lambda: TaskManager(settings, options), stop)
