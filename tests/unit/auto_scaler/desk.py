"""One job as the auto scaler holds it, with the rest of the fleet played by hand.

The job service and the state syncer are played in the small: what the scaler proposes is accepted
and brought into effect, unless a test wants it otherwise. Tasks report what they are told to.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any, TypeVar

from components.auto_scaler.decide import ASKS, decide, effects
from components.runtime.core.component import Effect
from events.generated.records import (
    Body,
    CapacityGranted,
    ConfigChangeProposed,
    Generation,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    OverrideExpired,
    PartitionLag,
    PreemptionRequested,
    ScalingDecided,
    SyncCommitted,
    TaskLoadReported,
)
from events.job_config.merge import change_layer, merge_layers
from events.job_config.strict_json import canonical_json
from events.topics import GRANTS, JOURNAL, LAYERS, LOADS
from events.wire.codec import Read, Record, encode
from projections.scaling.fold import fold
from projections.scaling.row import ScalingRow

NOW_MS = 1_600_000_020_000
MINUTE_MS = 60_000
SMALLEST: dict[str, Any] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": 16}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 4,
}
B = TypeVar("B", bound=Body)


def load_of(task: int, *, tasks: int, count: int, specs: int = 2, **more: Any) -> TaskLoadReported:
    """A report; what is not said is unknown."""
    given: dict[str, Any] = {
        "job": "orders",
        "task": task,
        "generation": Generation(specs, 1),
        "epoch": 1,
        "count": count,
        "window_ms": MINUTE_MS,
        "records_in_per_s": 0.0,
        "bytes_in_per_s": 0.0,
        "records_out_per_s": 0.0,
        "bytes_out_per_s": 0.0,
        "tasks": tasks,
        "threads": 1,
        "container": f"c{task % 2}",
    }
    return TaskLoadReported(**{**given, **more})


class Desk:
    """What is told and asked, in the log's order; `said` is all that was decided."""

    def __init__(self, row: ScalingRow | None = None) -> None:
        self.row = row or ScalingRow("orders")
        self.now_ms = NOW_MS
        self.said: list[Body] = []
        self.layers: list[dict[str, Any]] = [{}, {}, {}, {}]
        self.versions = [0, 0, 0, 0]
        self.specs = 2
        self.reads: list[Read] = []
        self._offsets = count()
        self._counts = count(1)

    # --- the log

    def tell(self, topic: str, body: Body, name: str = "") -> None:
        """A record that is read."""
        offset = next(self._offsets)
        name = name or f"r{offset}"
        record = Record(
            "orders", name, type(body).__name__, encode(body), body, tick_ms=self.now_ms
        )
        read = Read(f"{topic}/0", topic, offset, self.now_ms, record)
        self.reads.append(read)
        self.row = fold(self.row, read)

    def decide(self) -> list[Body]:
        """What is said now; it stands at once, and nothing is left to say."""
        said = list(decide(self.row, self.now_ms))
        for body in said:
            self.tell(JOURNAL, body)
        assert list(decide(self.row, self.now_ms)) == [], "it does not come to rest"
        self.said += said
        return said

    def last(self, kind: type[B]) -> B:
        """The last record of that kind."""
        return next(body for body in reversed(self.said) if isinstance(body, kind))

    def kinds(self) -> list[str]:
        """What was said since the last look."""
        kinds = [type(body).__name__ for body in self.said]
        self.said.clear()
        return kinds

    # --- the job service, the state syncer

    def wants(self, layer: str = "base", **config: Any) -> None:
        """Somebody's change is accepted; what is None is cleared."""
        self.accept(layer, config, (), "9.someone")

    def accept(self, layer: str, set_: dict[str, Any], clear: tuple[str, ...], name: str) -> None:
        """As the job service would."""
        at = LAYERS.index(layer)
        gone = [*clear, *(key for key, value in set_.items() if value is None)]
        made = {key: value for key, value in set_.items() if value is not None}
        self.layers[at] = change_layer(self.layers[at], made, gone)
        self.versions[at] += 1
        body = JobConfigChanged(
            job="orders",
            layer=layer,  # type: ignore[arg-type]  # one of the four
            change_id=name,
            version=self.versions[at],
            versions=LayerVersions(*self.versions),
            layer_json=canonical_json(self.layers[at]),
            expected_json=canonical_json(merge_layers(self.layers)),
            author="ann",
            reason="",
        )
        self.tell(JOURNAL, body)

    def expires(self, **left: Any) -> None:
        """An oncall override is over, and that is left of its layer."""
        self.layers[3] = left
        self.versions[3] += 1
        expected = canonical_json(merge_layers(self.layers))
        versions = LayerVersions(*self.versions)
        told = versions.oncall, versions, expected, 1, "9.someone", canonical_json(left)
        self.tell(JOURNAL, OverrideExpired("orders", "oncall", *told))

    def deleted(self) -> None:
        """The job is gone."""
        self.layers = [{}, {}, {}, {}]
        self.versions = [one + 1 for one in self.versions]
        versions = LayerVersions(*self.versions)
        self.tell(JOURNAL, JobDeleted("orders", "9.gone", versions, author="ann", reason=""))

    def commit(self, state: str = "") -> None:
        """What is expected is brought into effect."""
        plain = merge_layers(self.layers)
        state = state or ("paused" if plain.get("paused") else "running")
        self.tell(
            JOURNAL,
            SyncCommitted(
                job="orders",
                plan_id="p",
                kind="complex",
                versions=LayerVersions(*self.versions),
                generation=self.specs,
                running_json=canonical_json(plain),
                state=state,
                tasks=int(plain.get("tasks", 1)),
            ),
        )

    def owed(self) -> list[Effect]:
        return list(effects(self.row))

    def ask(self) -> ConfigChangeProposed:
        """The proposal that is owed is read back."""
        [effect] = self.owed()
        assert (effect.topic, isinstance(effect.body, ConfigChangeProposed)) == (ASKS, True)
        body = effect.body
        assert isinstance(body, ConfigChangeProposed)
        self.tell(ASKS, body, effect.id)
        assert self.owed() == []
        return body

    def accepts(self) -> None:
        """What was decided is proposed and accepted."""
        body = self.ask()
        self.accept("scaler", json.loads(body.set_json), tuple(body.clear), body.change_id)

    def carry_out(self) -> None:
        """The same, and it is in effect; its tasks run anew."""
        before = self.tasks
        self.accepts()
        self.specs += 2 * (self.tasks != before)
        self.commit()

    def refuse(self, reason: str = "stale") -> None:
        """The proposal is rejected."""
        body = self.ask()
        self.tell(
            JOURNAL,
            JobConfigRejected(
                job="orders",
                ingress="scaler",
                change_id=body.change_id,
                reason=reason,
                explanation="no",
                path="",
                version=self.versions[2],
                author="auto-scaler",
            ),
        )

    # --- the capacity manager

    def grants(self, tasks_max: int | None, until_ms: int | None = None) -> None:
        grant = CapacityGranted("orders", "g", "default", (), "so it is", tasks_max, 50, until_ms)
        self.tell(GRANTS, grant)

    def preempts(self, action: str = "stop", tasks_max: int | None = None) -> None:
        self.tell(
            GRANTS, PreemptionRequested("orders", "p", "default", action, "no room", tasks_max)
        )

    # --- the tasks

    @property
    def tasks(self) -> int:
        return int(merge_layers(self.layers).get("tasks", 1))

    def minute(self, rate: float, pace_ms: int = MINUTE_MS, **more: Any) -> None:
        """A minute passes, in which the job reads so much with all its tasks alike."""
        self.now_ms += pace_ms
        number = next(self._counts)
        rate *= 1 + number % 7 / 10_000  # the same to the last digit would be frozen metrics
        for task in range(self.tasks):
            own = {
                "threads": int(merge_layers(self.layers).get("threads_per_task", 1)),
                "records_in_per_s": rate / self.tasks,
                "bytes_in_per_s": 100 * rate / self.tasks,
                "lag_records": 0,
                "lag_ms": 0,
                "busy_share": 0.5,
                "memory_bytes": 225 * 2**20,
                **{key: one(task) if callable(one) else one for key, one in more.items()},
            }
            own = {"tasks": self.tasks, **own}
            body = load_of(task, count=number, specs=self.specs, **own)
            self.tell(LOADS, body)

    def minutes(self, number: int, rate: float, **more: Any) -> list[Body]:
        """Many minutes, with a look after each."""
        said: list[Body] = []
        for _ in range(number):
            self.minute(rate, **more)
            said += self.decide()
        return said

    def runs(self, **config: Any) -> Desk:
        """The job was created, and runs."""
        self.wants("base", **(SMALLEST | config))
        self.commit()
        return self

    def grows(self) -> ScalingDecided:
        """A load that is far beyond its tasks; the decision that comes of it."""
        self.minutes(12, 4_000.0, busy_share=0.9)
        self.said.clear()
        self.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
        return self.last(ScalingDecided)


def split(task: int, tasks: int, came: dict[int, float], lag: int = 0) -> tuple[PartitionLag, ...]:
    """The partitions of a task where they are dealt round, with what is read of each."""
    return tuple(
        PartitionLag("clicks", at, lag, None, 1000 * lag, rate)
        for at, rate in sorted(came.items())
        if at % tasks == task
    )
