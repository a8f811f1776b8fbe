"""What tasks report minute by minute in one seed: a plant behind each job, and metrics that lie.

The plant has the size of the tasks that run; what they say comes late, twice, or never, and some of
it is frozen or old. Nobody else knows how the job is: the scaler has to make do with it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from events.generated.records import Generation, TaskLoadReported
from events.topics import LOADS
from events.wire.codec import Record, encode
from projections.scaling.actions import JobSize
from projections.scaling.seen import MINUTE_MS, Minute, Part
from projections.syncs import Sync
from simulation.tasks import SHARD
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.plant import Plant

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

PER_THREAD = 10.0
"""Records a second that one thread reads."""
PARTITIONS = 8
LIES = ("frozen", "vanished", "late", "dependency", "straggler", "hot", "poison")
LOST, TWICE, LATE = 0.01, 0.03, 0.02
USUAL_MS, SETTLES_MS = 300_000, 5_400_000
USUAL_PACE_MS, PACE_MS = 5_000, 20_000
STEADY = 25.0
"""Records a second in the end: what three tasks read, and two do not."""


@dataclass(slots=True)
class JobTraffic:
    """One job's records, and who reads them."""

    plant: Plant | None = None
    generation: int = 0
    unread: float = 0.0  # records a second that came while no task ran
    rate: float = STEADY
    counts: Counter[tuple[int, int]] = field(default_factory=Counter)  # by task and generation


class Traffic:
    """Of all jobs of the seed that are scaled."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.rng = world.streams.fork("traffic")
        self.flows: dict[str, JobTraffic] = {}
        self._said = 0
        self._last_ms = 0

    @property
    def flows_at_all(self) -> bool:
        """Does anyone in this seed scale by it?"""
        return "auto-scaler" in self.world.cast

    def begin(self) -> None:
        """A minute after the other."""
        if self.flows_at_all:
            self.world.clock.after(MINUTE_MS, self._pass)

    def _pass(self) -> None:
        if self.world.calm:
            return
        self.minute()
        self.world.clock.after(MINUTE_MS, self._pass)

    @property
    def settles_ms(self) -> int:
        """How long a seed goes on without faults: a scaler that was held back tries again."""
        return SETTLES_MS if self.flows_at_all else USUAL_MS

    @property
    def pace_ms(self) -> int:
        """From one look at what is said then to the next."""
        return PACE_MS if self.flows_at_all else USUAL_PACE_MS

    def settle(self) -> None:
        """After the faults: the same comes in minute by minute, and all of it is told."""
        if self.flows_at_all and self.world.clock.now_ms >= self._last_ms + MINUTE_MS:
            self.minute()

    def minute(self) -> None:
        """What comes in a minute is read, and told."""
        self._last_ms = self.world.clock.now_ms
        for key in self.world.authors.keys:
            self._flow(key, self.flows.setdefault(key, JobTraffic()))

    # --- one job

    def _flow(self, key: str, flow: JobTraffic) -> None:
        flow.rate = STEADY if self.world.calm else self._drift(flow.rate)
        row = self.world.managers.row(key)
        running = self._running(key, row)
        size = _size_of(row, len(running))
        if size is None:
            flow.unread += flow.rate
            return
        generation = max(running.values())
        if flow.plant is None:
            flow.plant = Plant(self._nature(), size, self.rng)
        elif generation != flow.generation or size != flow.plant.size:
            flow.plant.resize(size)
        flow.generation = generation
        if self.world.calm:
            flow.plant.nature = replace(flow.plant.nature, faults=())
        told = flow.plant.step(flow.rate + flow.unread)
        flow.unread = 0.0
        if told is not None:
            self._tell(key, flow, told, size)

    def _drift(self, rate: float) -> float:
        """Mostly the same, now and then another level."""
        if self.rng.random() < 0.04:
            return self.rng.uniform(2.0, 12 * PER_THREAD)
        return min(20 * PER_THREAD, max(1.0, rate * self.rng.gauss(1.0, 0.03)))

    def _nature(self) -> Nature:
        faults = tuple(self._fault(kind) for kind in LIES if self.rng.random() < 0.3)
        return Nature(
            PER_THREAD, PARTITIONS, noise=0.03, restart_s=10.0, base_mb=100.0, faults=faults
        )

    def _fault(self, kind: str) -> Fault:
        first = self.rng.randrange(5, 100)
        amount = {"late": 3.0, "dependency": 8.0, "straggler": 0.3, "hot": 10.0}.get(kind, 0.0)
        return Fault(kind, first, first + self.rng.randrange(5, 20), amount, at=0)  # type: ignore[arg-type]  # one of `LIES`

    def _running(self, key: str, row: Sync) -> dict[int, int]:
        """The tasks that run as the newest list says, with their generation."""
        site, listed = self.world.managers.sites.get(key), row.listed
        if site is None or listed is None:
            return {}
        return {
            task: one.generation
            for task, one in sorted(site.running.items())
            if one.generation == listed.generation
        }

    # --- what is told

    def _tell(self, key: str, flow: JobTraffic, told: Minute, size: JobSize) -> None:
        parts: Sequence[Part] = told.parts or (
            Part(0, told.rate, told.busy, told.lag, told.lag_s, told.memory_mb),
        )
        for part in parts:
            record = self._record(key, flow, part, told, size)
            chance = 1.0 if self.world.calm else self.rng.random()
            if chance < LOST:
                self.world.counts["load lost"] += 1
                continue
            say = partial(self._say, record)
            late = chance < LOST + LATE
            self.world.counts["load late"] += late
            delay_ms = self.rng.uniform(0, 300_000 if late else MINUTE_MS / 2)
            self.world.clock.after(0 if self.world.calm else delay_ms, say)
            if LOST + LATE <= chance < LOST + LATE + TWICE:
                self.world.counts["load said again"] += 1
                self.world.clock.after(self.rng.uniform(0, 200_000), say)

    def _say(self, record: Record) -> None:
        self.world.log.append(LOADS, record)

    def _record(
        self, key: str, flow: JobTraffic, part: Part, told: Minute, size: JobSize
    ) -> Record:
        flow.counts[part.task, flow.generation] += 1
        self._said += 1
        body = TaskLoadReported(
            job=key,
            task=part.task,
            generation=Generation(specs=flow.generation, shard=SHARD),
            epoch=1,
            count=flow.counts[part.task, flow.generation],
            window_ms=MINUTE_MS,
            records_in_per_s=part.rate,
            bytes_in_per_s=part.rate * 100,
            records_out_per_s=part.rate,
            bytes_out_per_s=part.rate * 100,
            lag_records=None if part.lag is None else round(part.lag),
            lag_ms=None if part.lag_s is None else round(part.lag_s * 1000),
            memory_bytes=None if part.memory_mb is None else round(part.memory_mb * 2**20),
            busy_share=part.busy,
            oom=told.oom,
            tasks=size.tasks,
            threads=size.threads,
        )
        return Record(
            key=key,
            id=f"traffic-{self._said}",
            kind="TaskLoadReported",
            value=encode(body),
            body=body,
            evidence=self.world.vector(key),
        )


def _size_of(row: Sync, running: int) -> JobSize | None:
    """What the job has, if all its tasks run; None: nothing is read."""
    if row.running is None or not running or row.listed is None or running < row.listed.tasks:
        return None
    config = json.loads(row.running.config_json or "{}")
    resources = config.get("resources") or {}
    return JobSize(
        running,
        config.get("threads_per_task", 1),
        float(resources.get("cpu_cores", 0.25)),
        int(resources.get("memory_mb", 256)),
    )
