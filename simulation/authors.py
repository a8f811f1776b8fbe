"""Who asks for changes in one seed: people, services, clients that retry, racing on a few jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.generated.records import (
    Body,
    ConfigChangeProposed,
    Generation,
    JobDeleteRequested,
    OffsetResetRequested,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    TaskLoadReported,
)
from events.job_config.strict_json import Json, canonical_json
from events.topics import CHANGES, LAYERS, LOADS, OPERATOR
from events.wire.codec import Record, encode
from turbine_client.identity import change_id

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

KEYS = ("orders", "clicks", "billing")
SMALLEST: dict[str, Json] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": 8}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
}
ASK_MS, SCALED_MS = 25_000, 200_000
"""Between two requests."""
DEEP = "[" * 10_000 + "]" * 10_000


@dataclass(frozen=True, slots=True)
class AuthorRequest:
    """A request as its author sent it; a client may send it again, however late."""

    topic: str
    record: Record


class Authors:
    """Sends requests and load reports at random moments, good ones and bad ones."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.keys = KEYS
        self.rng = world.streams.fork("authors")
        self.programs = world.streams.fork("programs")
        self.requests: list[AuthorRequest] = []
        self._reports: Counter[str] = Counter()
        self._told: dict[str, int] = {}

    def begin(self) -> None:
        """Starts both streams."""
        self.world.clock.after(1_000, self._ask)
        self.world.clock.after(2_000, self._report)

    def _ask(self) -> None:
        world, rng = self.world, self.rng
        if world.calm:
            return
        if self.requests and rng.random() < 0.25:
            recent = self.requests[-12:] if rng.random() < 0.6 else self.requests
            again = rng.choice(recent)
            world.log.append(again.topic, again.record)
            world.counts["request sent again"] += 1
        else:
            key = rng.choice(self.keys)
            for number in range(rng.choice([1, 1, 1, 1, 1, 7])):
                self._request(key, number)
        world.clock.after(rng.expovariate(1 / self._pace_ms), self._ask)

    @property
    def _pace_ms(self) -> int:
        """Where jobs are sized by their minutes, some minutes have to be left alone."""
        return SCALED_MS if "auto-scaler" in self.world.cast else ASK_MS

    def _request(self, key: str, number: int) -> None:
        world, rng = self.world, self.rng
        ahead_ms = rng.choice([5_000, 30_000, 60_000, 300_000, 590_000, 20_000, -5_000, 700_000])
        name = change_id(world.clock.now_ms + ahead_ms, f"{len(self.requests)}.{number}")
        if rng.random() < 0.03:
            name = f"x{name}"
        chance = rng.random()
        if chance < 0.05:
            body: Body = JobDeleteRequested(change_id=name, job=key, author="ann", reason="done")
            topic = OPERATOR
        elif chance < 0.15 and "state-syncer" in world.cast:
            ask = rng.choice([PauseRequested, ResumeRequested, ResumeRequested, ReleaseRequested])
            body, topic = ask(change_id=name, job=key, author="ann", reason="because"), OPERATOR
        elif chance < 0.18 and "state-syncer" in world.cast:
            body, topic = self._reset(name, key), OPERATOR
        else:
            at = rng.choices(range(4), (4, 2, 1, 3))[0]
            body, topic = self._proposal(name, key, at), CHANGES[LAYERS[at]]
        record = Record(
            key=key,
            id=name,
            kind=type(body).__name__,
            value=encode(body),
            body=body,
            cause="",
        )
        self.requests.append(AuthorRequest(topic, record))
        world.log.append(topic, record)

    def _reset(self, name: str, key: str) -> OffsetResetRequested:
        to = self.rng.choice(["earliest", "latest", "86400000", '{"clicks":{"0":7}}', "yesterday"])
        return OffsetResetRequested(change_id=name, job=key, to=to, author="ann", reason="wrong")

    def _proposal(self, name: str, key: str, at: int) -> ConfigChangeProposed:
        rng, job = self.rng, self.world.job(key)
        version = job.layers[at].version + rng.choice([0, 0, 0, 0, 0, 1, -1])
        return ConfigChangeProposed(
            change_id=name,
            job=key,
            expected_version=version if rng.random() < 0.7 else None,
            set_json=self._wish(at),
            clear=tuple(
                rng.sample(["tasks", "resources.cpu_cores", "resources", "slo.lag_seconds"], 2)
            )
            if rng.random() < 0.2
            else (),
            author=rng.choice(["ann", "bob", "release"]),
            reason=rng.choice(["outage", "outage", "outage", ""]),
            expires_ms=self.world.clock.now_ms + rng.randrange(-5_000, 600_000)
            if rng.random() < (0.5 if at == 3 else 0.03)
            else None,
        )

    def _wish(self, at: int) -> str:
        rng = self.rng
        wish: dict[str, Json] = dict(SMALLEST) if at == 0 and rng.random() < 0.8 else {}
        if at == 0 and self.programs.random() < 0.05:
            wish["operator"] = "examples.counts:other"
        for _ in range(rng.randint(0, 2)):
            wish |= rng.choice(
                [
                    {"tasks": rng.randint(1, 32)},
                    {"tasks": rng.choice([-1, 0, 33, "ten"])},
                    {"priority": rng.randint(0, 9)},
                    {"resources": {"cpu_cores": rng.choice([0.5, 1.0, 2.0])}},
                    {"resources": {"cpu_cores": None}},
                    {"resources": {"memory_mb": rng.choice([512, 1024])}},
                    {"resources": {"disk_mb": 64}, "slo": {"lag_seconds": 30}},
                    {"resources": None},
                    {"tasks": None},
                ]
            )
        if rng.random() < 0.03:
            return rng.choice(["{", "[]", DEEP, '{"tasks":1,"tasks":2}', '{"tasks":NaN}'])
        return canonical_json(wish)

    def _report(self) -> None:
        if self.world.calm:
            return
        key = self.rng.choice(self.keys)
        behind = self.rng.choice([0, 0, 0, 1, 3])
        self._say_load(key, float(self.rng.randrange(1, 300)), max(0, self._standing(key) - behind))
        self.world.clock.after(self.rng.expovariate(1 / 20_000), self._report)

    def _standing(self, key: str) -> int:
        """All changes of the job's layers together: the small scaler's generation."""
        return sum(layer.version for layer in self.world.job(key).layers)

    def _say_load(self, key: str, rate: float, generation: int) -> None:
        """Its author reads the journal alone, and passes on what it knows."""
        self._reports[key] += 1
        body = TaskLoadReported(
            job=key,
            task=0,
            generation=Generation(specs=generation, shard=1),
            epoch=1,
            count=self._reports[key],
            window_ms=60_000,
            records_in_per_s=rate,
            bytes_in_per_s=rate * 100,
            records_out_per_s=rate,
            bytes_out_per_s=rate * 100,
        )
        record = Record(
            key=key,
            id=f"load-{key}-{self._reports[key]}",
            kind="TaskLoadReported",
            value=encode(body),
            body=body,
            evidence=self.world.vector(key),
        )
        self.world.log.append(LOADS, record)

    def settle(self) -> None:
        """After the faults: one true report for each state a job comes to rest in."""
        for key in self.keys:
            if self._told.get(key) != self._standing(key):
                self._told[key] = self._standing(key)
                self._say_load(key, 35.0, self._standing(key))
