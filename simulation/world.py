"""One seed's cast in one process: its components, authors and faults, on virtual time."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import partial

from components.runtime.core.step import Stepper
from events.generated.records import ClockTicked
from events.topics import (
    ALERTS,
    CHANGES,
    CLOCK,
    CONTAINERS,
    JOURNAL,
    OPERATOR,
    TASKS,
    TIERS,
    place,
)
from events.wire.codec import Record, encode
from projections.jobs import Job
from simulation.authors import Authors
from simulation.casts import cast_of, journal_view
from simulation.containers import SimulatedContainers
from simulation.faults import Faults, Swarm
from simulation.log import PARTITION, TICKS, Keep, SimulatedLog
from simulation.process import BUILDS, Emit, SimulatedProcess
from simulation.tasks import SimulatedTasks
from simulation.traffic import Traffic
from turbine.lab.kernel import Streams, VirtualClock

HORIZON_MS = 7_200_000
TICK_MS = 1_000
ROUNDS_MOST = 1_000
TICK = Record("", "", "ClockTicked", b"", None)
NEWEST_BUILD = len(BUILDS)
START_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class SentRecord:
    """What an instance tried to say, whatever became of it."""

    component: str
    topic: str
    record: Record


class SimulatedWorld:
    """One seed: build it, `run` it, `heal` it, then let the checkers judge it."""

    def __init__(
        self, seed: int, horizon_ms: int = HORIZON_MS, *, containers: int | None = None
    ) -> None:
        self.seed, self.horizon_ms = seed, horizon_ms
        self.containers_most = containers  # None: a few, by chance
        self.clock = VirtualClock(START_MS)
        self.streams = Streams(seed)
        self.swarm = Swarm.draw(self.streams.fork("swarm"))
        self.log = SimulatedLog(
            self.clock, over_the_wire=self.swarm.over_the_wire, heard=self._heard
        )
        self.cast = cast_of(seed)
        self.newest_build = NEWEST_BUILD
        self.keeps = {name: Keep() for name in self.cast}
        self.processes: list[SimulatedProcess] = []
        self.everyone: list[SimulatedProcess] = []  # the dead too: what they read is accounted for
        self.sent: list[SentRecord] = []
        self.forged: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.calm = False  # faults are over
        self.number = 0
        self._send = self.streams.fork("send")
        self._poll = self.streams.fork("poll")
        self._read_at = 0
        self._view: Stepper[Job] = Stepper(
            journal_view, [place(JOURNAL, PARTITION)], self.log.possible
        )
        self.authors = Authors(self)
        self.managers = SimulatedTasks(self)
        self.traffic = Traffic(self)
        self.containers = SimulatedContainers(self)
        self.faults = Faults(self)

    # --- what everyone may know

    def job(self, key: str) -> Job:
        """The job as the journal tells it at this moment."""
        at = place(JOURNAL, PARTITION)
        for offset in range(self._read_at, self.log.end(at)):
            self._view.read(self.log.read(at, offset, journal_view.folds, NEWEST_BUILD))
        self._read_at = self.log.end(at)
        if ticks := self.log.lines[TICKS]:
            self._view.tick(TICKS, ticks[-1].offset, ticks[-1].at_ms)
        self._view.flush()
        held = self._view.held.get(key)
        return held.row if held is not None and held.row is not None else Job(key)

    def vector(self, key: str) -> dict[str, int]:
        """The evidence of one who reads the journal alone."""
        self.job(key)
        held = self._view.held.get(key)
        return dict(held.vector) if held is not None else {}

    def last(self, key: str) -> str | None:
        """The last standing decision about the key."""
        self.job(key)
        held = self._view.held.get(key)
        return held.last.get(JOURNAL) if held is not None else None

    # --- processes

    def spawn(self, name: str, build: int, *, rewind: bool = False) -> SimulatedProcess:
        """Another instance of the component; whoever owned its keys is a zombie from now on."""
        self.number += 1
        process = SimulatedProcess(
            self.cast[name],
            self.log,
            self.keeps[name],
            self.number,
            build,
            self.streams.fork(f"process {self.number}"),
            self.deliver,
            self.counts,
            self.swarm.bounds,
            rewind,
        )
        if not self.calm:
            self._tell(name)
        self.processes.append(process)
        self.everyone.append(process)
        self._schedule(process)
        return process

    def _tell(self, name: str) -> None:
        """Most of those who are replaced hear of it soon; the others go on as zombies."""
        for process in self.processes:
            if process.component.name == name and self._send.random() < self.swarm.told:
                delay_ms = self._send.expovariate(1 / 10_000)
                self.clock.after(delay_ms, partial(self.kill, process))

    def kill(self, process: SimulatedProcess) -> None:
        """Between two of its acts, wherever it stands."""
        if process.alive and not self.calm:
            process.alive = False
            self.processes.remove(process)

    def doom(self, process: SimulatedProcess, acts: int) -> None:
        """It will do as many more acts, and no more."""
        process.acts_left = acts

    def flow(self, process: SimulatedProcess) -> None:
        """Nothing is stalled any more."""
        process.stalled.clear()
        if process.asleep and not process.idle:
            process.asleep = False
            self._schedule(process)

    def _schedule(self, process: SimulatedProcess) -> None:
        gap_ms = self._poll.expovariate(1 / self.swarm.poll_ms)
        self.clock.at(
            max(int(self.clock.now_ms + gap_ms), process.frozen_until_ms),
            lambda: self._turn(process),
        )

    def _turn(self, process: SimulatedProcess) -> None:
        if self.calm or not process.alive:
            return
        if process.frozen_until_ms <= self.clock.now_ms:
            for _ in range(self._poll.choice([1, 2, 5, 20])):
                if not process.step():
                    break
                if process.doomed:
                    self.kill(process)
                    self.faults.begin_again(process.component.name)
                    return
            process.asleep = process.idle
        if not process.asleep:
            self._schedule(process)

    def _heard(self, at: str) -> None:
        """Whoever had nothing to do polls again because of this line. Gaps between polls have no
        memory, so the next one comes as if those that would have found nothing had been made."""
        for process in self.processes:
            if process.asleep and process.minds(at):
                process.wake(at)
                self._schedule(process)

    def deliver(self, process: SimulatedProcess, emit: Emit) -> None:
        """What the network makes of a write: it arrives, gets lost, comes late, or comes twice."""
        name = process.component.name
        build = NEWEST_BUILD if process.build > 1 and _new_words(emit.record) else 1
        self.sent.append(SentRecord(name, emit.topic, emit.record))
        chance = 1.0 if self.calm else self._send.random()
        if chance < self.swarm.lost:
            self.counts["write lost"] += 1
            return
        if chance < self.swarm.lost + self.swarm.late:
            self.counts["write late"] += 1
            delay_ms = self._send.expovariate(1 / 60_000)
            self.clock.after(delay_ms, lambda: self._arrive(emit, build))
            if self._send.random() < 0.5:
                return  # late; else it is there now, and comes once more
        self.log.append(emit.topic, emit.record, build)

    def _arrive(self, emit: Emit, build: int) -> None:
        self.log.append(emit.topic, emit.record, build)

    # --- the two hours

    def run(self) -> None:
        """Everything goes on for the horizon, with faults."""
        for name in self.cast:
            self.spawn(name, 1)
        self.clock.after(1, self._tick)
        if "job-service" in self.cast:
            self.authors.begin()
            self.managers.begin()
            self.traffic.begin()
        else:
            self.containers.begin()
        self.faults.begin()
        self.clock.run_until(START_MS + self.horizon_ms)

    def _tick(self) -> None:
        if self.calm:
            return
        if self.clock.now_ms >= self.faults.no_ticks_until_ms:
            self.tick()
        self.clock.after(TICK_MS, self._tick)

    def tick(self) -> None:
        """The clock's word, in each of its topics."""
        self.log.append(CLOCK, TICK)
        if "shard-manager" in self.cast:
            number = self.log.end(place(CONTAINERS, PARTITION))
            body = ClockTicked(number)
            record = Record("", f"tick-{number}", "ClockTicked", encode(body), body)
            self.log.append(CONTAINERS, record)

    def heal(self) -> list[SimulatedProcess]:
        """No more faults: one instance of each component goes on until the log is still."""
        self.calm = True
        self.containers.operator.settle()
        self.clock.run_until(self.clock.now_ms + 400_000)  # late writes arrive
        live = {p.component.name: p for p in self.processes if p.build == NEWEST_BUILD}
        self.processes = []
        for process in live.values():
            process.stalled.clear()
            process.acts_left = None
        for name in self.cast:  # one that lives on waits for what was lost; else a new one
            if name in live:
                self.processes.append(live[name])
            else:
                self.spawn(name, NEWEST_BUILD)
        still, before, began_ms = 0, -1, self.clock.now_ms
        while still < 25 or self.clock.now_ms < began_ms + self.traffic.settles_ms:
            assert self.clock.now_ms < began_ms + 4 * 7_200_000, "never still"
            _finish(self.processes)
            still = still + 1 if self.said() == before else 0
            before = self.said()
            self.clock.run_until(self.clock.now_ms + self.traffic.pace_ms)
            self.tick()
            if "job-service" in self.cast:
                self.authors.settle()
                self.managers.settle()
                self.traffic.settle()
        _finish(self.processes)  # containers never cease to beat
        return self.processes

    def lose_everything(self) -> list[SimulatedProcess]:
        """All that was kept is gone once more: nothing may be said again."""
        self.processes = []
        for keep in self.keeps.values():
            keep.lose()
        fresh = [self.spawn(name, NEWEST_BUILD) for name in self.cast]
        _finish(fresh)
        return fresh

    def said(self) -> int:
        """How many records there are but for ticks and loads."""
        spoken = (JOURNAL, TIERS, ALERTS, OPERATOR, TASKS, *CHANGES.values())
        return sum(self.log.end(place(topic, PARTITION)) for topic in spoken)

    def digest(self) -> str:
        """The hash of all that lies in the log."""
        hasher = hashlib.sha256()
        for at, lines in sorted(self.log.lines.items()):
            for line in lines:
                record = line.record
                evidence = sorted(record.evidence.items())
                head = (at, line.at_ms, record.key, record.id, record.parent, evidence)
                hasher.update(repr((head, record.tick_ms, record.value)).encode())
        return hasher.hexdigest()[:16]


def _finish(processes: list[SimulatedProcess]) -> None:
    """Until none has anything to do: what one says is read by the others."""
    rounds = 0
    while sum(process.finish() for process in processes):
        rounds += 1
        assert rounds < ROUNDS_MOST, "they answer each other without end"


def _new_words(record: Record) -> bool:
    """Words that only the newer build knows: some of every kind of decision."""
    return record.kind in ("OverrideExpired", "ScalingDeclined") or (
        record.kind == "JobConfigRejected" and b"stale" in record.value
    )
