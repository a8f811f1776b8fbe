"""The life of one job that is sized in good order, told by those who would have told it."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from events.generated.records import (
    Body,
    Generation,
    JobConfigChanged,
    OverrideExpired,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    TaskLoadReported,
)
from events.job_config.merge import change_layer, merge_layers
from events.job_config.strict_json import canonical_json
from events.topics import LAYERS
from simulation.checkers.history import History
from simulation.checkers.scaling import OLD_MS
from tests.simulation.job_story import BASE, Story, written

MINUTE_MS = 60_000


class Sizing(Story):
    """A job that is sized, told by those who would have told it; time passes between words."""

    def __init__(self) -> None:
        super().__init__()
        self.layers: dict[str, dict[str, Any]] = {layer: {} for layer in LAYERS}
        self.at_ms = 1_000
        self.times: list[int] = []
        self.specs = 0
        self._counts = count(1)
        self.is_created()
        self.layers["base"] = BASE
        self.runs(2)

    def say(self, body: Body) -> None:
        self.times.append(self.at_ms)
        super().say(body)

    def waits(self, ms: int) -> None:
        self.at_ms += ms

    def history(self) -> History:
        return written(tuple(self.script), self.times)

    # --- the job service, the state syncer

    def sets(self, layer: str, change_id: str = "9.someone", **plain: Any) -> None:
        """A change is accepted; what is None in it stays as a tombstone."""
        self.lays(layer, change_layer(self.layers[layer], plain, ()), change_id)

    def lays(self, layer: str, plain: dict[str, Any], change_id: str = "9.someone") -> None:
        """The layer becomes that."""
        self.layers[layer] = plain
        version = getattr(self.versions, layer) + 1
        self.versions = replace(self.versions, **{layer: version})
        self.config = merge_layers([self.layers[one] for one in LAYERS])
        self.say(
            JobConfigChanged(
                job="orders",
                layer=layer,  # type: ignore[arg-type]  # one of the four
                change_id=change_id,
                version=version,
                versions=self.versions,
                layer_json=canonical_json(plain),
                expected_json=canonical_json(self.config),
                author="ann",
                reason="",
            )
        )

    def expires(self) -> None:
        self.layers["oncall"] = {}
        self.versions = replace(self.versions, oncall=self.versions.oncall + 1)
        self.config = merge_layers([self.layers[one] for one in LAYERS])
        told = (self.versions.oncall, self.versions, canonical_json(self.config), 1)
        self.say(OverrideExpired("orders", "oncall", *told))

    def deleted(self) -> None:
        super().deleted()
        self.layers = {layer: {} for layer in LAYERS}

    def in_effect(self) -> None:
        self.commits("running", simple=True)

    # --- the tasks

    def runs(self, tasks: int) -> None:
        """Tasks of another shape, each heard once."""
        self.specs += 2
        for task in range(tasks):
            self.hears(task, tasks)

    def hears(self, task: int, tasks: int, specs: int | None = None) -> None:
        self.say(
            TaskLoadReported(
                job="orders",
                task=task,
                generation=Generation(specs or self.specs, 1),
                epoch=1,
                count=next(self._counts),
                window_ms=MINUTE_MS,
                records_in_per_s=1.0,
                bytes_in_per_s=1.0,
                records_out_per_s=1.0,
                bytes_out_per_s=1.0,
                tasks=tasks,
                threads=1,
            )
        )

    # --- the scaler

    def decides(self, name: str, set_: dict[str, Any] | None = None, **more: Any) -> None:
        told: dict[str, Any] = {
            "action": "scale-up",
            "symptom": "lag",
            "diagnosis": "demand",
            "explanation": "more comes in than is read",
            "policy": "turbine",
            "set_json": canonical_json({"tasks": 4} if set_ is None else set_),
        }
        version = self.versions.scaler
        decided = ScalingDecided(
            job="orders",
            change_id=name,
            expected_version=version,
            raw_tasks=4,
            final_tasks=4,
            **{**told, **more},
        )
        self.say(decided)

    def shrinks(self, name: str, **more: Any) -> None:
        self.decides(name, {"tasks": 2}, **{"action": "scale-down", "symptom": "idle", **more})

    def declines(self, name: str | None = None, **more: Any) -> None:
        told = {"policy": "turbine", "explanation": "why", "reason": "rejected", **more}
        self.say(ScalingDeclined(job="orders", change_id=name, **told))

    def verifies(self, name: str) -> None:
        self.say(ScalingVerified("orders", name, "it helped"))

    def reverts(self, name: str, back: str | None) -> None:
        self.say(ScalingReverted("orders", name, "it did not help", "{}", back))

    # --- chapters

    def changes(self, name: str, tasks: int) -> None:
        """A change is decided, accepted, in effect, and heard of."""
        self.decides(name, {"tasks": tasks})
        self.sets("scaler", name, tasks=tasks)
        self.in_effect()
        self.runs(tasks)

    def is_taken_back(self, name: str, tasks: int) -> None:
        self.reverts(name, f"{name}.back")
        self.sets("scaler", f"{name}.back", tasks=tasks)
        self.in_effect()
        self.runs(tasks)


def good() -> Sizing:
    """All that may befall a job that is sized, in good order."""
    job = Sizing()
    job.changes("9.grow", 4)
    job.declines(reason="well")
    job.verifies("9.grow")
    job.waits(OLD_MS + 1)
    for task in range(4):
        job.hears(task, 4)
    job.waits(OLD_MS)
    job.shrinks("9.shrink")
    job.sets("scaler", "9.shrink", tasks=2)
    job.in_effect()
    job.runs(2)
    job.is_taken_back("9.shrink", 4)
    job.decides("9.refused")
    job.declines("9.refused")
    job.decides("9.shown", mode="advise")
    job.decides("9.shown too", mode="observe")
    job.sets("oncall", resources={"cpu_cores": 2}, slo={})
    job.decides("9.memory", {"resources": {"memory_mb": 512}}, action="memory-up")
    job.sets("scaler", "9.memory", resources={"memory_mb": 512})
    job.in_effect()
    job.verifies("9.memory")
    job.expires()
    job.decides("9.cores", {"resources": {"cpu_cores": 1}})
    job.sets("scaler", "9.cores", resources={"cpu_cores": 1})
    job.in_effect()
    job.reverts("9.cores", None)
    job.waits(OLD_MS + 1)
    job.shrinks("9.short", symptom="tier-short")
    job.sets("oncall", tasks=7)
    job.deleted()
    job.wants()
    job.changes("9.anew", 4)
    return job
