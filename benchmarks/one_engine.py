"""One Spark engine without a fleet: its lease never ends, and its orders come from a benchmark."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.children import ChildFailed
from components.runtime.process.local import ask_spark
from components.task_manager.engine import EngineProcess
from components.task_manager.place import hold
from infra import waiting
from tasks.core.protocol import Ended, Event, RunLoads, Started, WorkOrder
from tasks.deadline import Deadline, own_ms
from turbine.ops.members import ENGINES
from turbine_client.settings import Settings

READY_S = 120.0
PAUSE_S = 0.01
DAY_MS = 86_400_000


@dataclass(slots=True)
class OneEngine:
    """The engine, and what it has said."""

    process: EngineProcess
    started: dict[int, float] = field(default_factory=dict)  # run to when that was heard
    ended: dict[int, Ended] = field(default_factory=dict)
    loads: Mapping[int, Mapping[str, int | None]] | None = None
    _runs: int = 0

    def start(
        self,
        job: str,
        task: int,
        inputs: Sequence[tuple[str, Sequence[int]]],
        config: Mapping[str, Any],
        **more: Any,
    ) -> int:
        """Begins a run; its number."""
        self._runs += 1
        plain: dict[str, Any] = {
            "run": self._runs,
            "job": job,
            "task": task,
            "specs": 1,
            "shard": 1,
            "shard_number": 0,
            "container": "bench",
            "epoch": 1,
            "operator": "spark_streaming.operators.rows:passed",
            "guarantee": "exactly_once",
            "argv": (),
            "inputs": tuple((topic, tuple(numbers)) for topic, numbers in inputs),
            "checkpoint": "",
            "config_json": json.dumps(config),
            "memory_bytes": None,
            "cpu_cores": None,
            "package": "bench",
            "package_version": "1",
            "threads": 1,
        }
        self.process.start(WorkOrder(**{**plain, **more}))
        return self._runs

    def hear(self) -> list[Event]:
        """What was said since; a bad end of a run or of the engine is that of the benchmark."""
        found = self.process.hear()
        for event in found:
            match event:
                case Started():
                    self.started[event.run] = time.monotonic()
                case Ended():
                    self.ended[event.run] = event
                    if event.how != "stopped":
                        raise ChildFailed(f"run {event.run} {event.how}: {event.explanation}")
                case RunLoads():
                    self.loads = event.runs
        how = self.process.ended()
        if how is not None:
            raise ChildFailed(f"the engine ended: {how}")
        return found

    def until(self, holds: Callable[[], bool], what: str, wait_s: float = READY_S) -> None:
        """Hears until it is so."""

        def heard() -> bool:
            if holds():
                return True
            self.hear()
            return False

        waiting.until(heard, what, wait_s, PAUSE_S, ChildFailed)


@contextmanager
def one_engine(settings: Settings, directory: Path) -> Iterator[OneEngine]:
    """An engine that is ready; none of its processes is left at the end."""
    ask_spark(at_once=False)
    place = hold(directory, "bench")
    deadline = Deadline.create(place.deadline)
    deadline.lease_ms = own_ms() + DAY_MS
    engine = OneEngine(EngineProcess(ENGINES["spark"], settings, place, deadline))
    try:
        engine.until(lambda: engine.process.ready, "the engine is ready")
        yield engine
    finally:
        engine.process.end()
