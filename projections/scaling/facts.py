"""What a job's expected config says to whoever sizes it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from events.job_config.config import PROCESS_MB, Invalid
from events.job_config.strict_json import canonical_json
from events.job_config.text import config_of
from projections.scaling.actions import JobSize

TASKS, THREADS, CORES, MEMORY = (
    "tasks",
    "threads_per_task",
    "resources.cpu_cores",
    "resources.memory_mb",
)
ASSIGNMENT, PAUSED = "assignment", "paused"
SIZED = (TASKS, THREADS, CORES, MEMORY)
KEYS = (*SIZED, ASSIGNMENT, PAUSED)
"""All that the scaler may ask for, by its path in a config."""

SETTINGS_CHARS = 16_384
"""Of a policy's settings, which no policy comes near: the row of each job holds them."""
INPUTS_MOST = 256


class Facts(NamedTuple):
    """Of a config that is accepted."""

    size: JobSize
    inputs: tuple[tuple[str, int | None], ...]  # topics, with how many partitions they have
    slo_s: float
    tasks_max: int
    memory_least: int  # MiB
    staging_rate: float | None
    priority: int
    paused: bool
    policy: str
    mode: str
    settings_json: str
    interval_ms: int

    @property
    def partitions(self) -> int | None:
        """Of the widest input; None where nobody knows."""
        known = [count for _, count in self.inputs if count is not None]
        return max(known) if len(known) == len(self.inputs) and known else None


def facts_of(expected_json: str) -> Facts | None:
    """None where the config is one that this build cannot make anything of."""
    config = config_of(expected_json)
    if isinstance(config, Invalid):
        return None
    settings_json = canonical_json(config.policy.settings)
    if len(settings_json) > SETTINGS_CHARS or len(config.inputs) > INPUTS_MOST:
        return None
    return Facts(
        size=JobSize(
            config.tasks,
            config.threads_per_task,
            float(config.resources.cpu_cores),
            config.resources.memory_mb,
        ),
        inputs=tuple((one.topic, one.partitions) for one in config.inputs),
        slo_s=float(config.slo.lag_seconds),
        tasks_max=config.limits.tasks,
        memory_least=PROCESS_MB if config.isolation == "process" else 1,
        staging_rate=config.staging_rate,
        priority=config.priority,
        paused=config.paused,
        policy=config.policy.name,
        mode=config.policy.mode,
        settings_json=settings_json,
        interval_ms=config.policy.interval_ms,
    )


def keys_of(layer_json: str) -> frozenset[str]:
    """Which of the scaler's keys a layer sets, or hides."""
    layer = json.loads(layer_json)
    return frozenset(key for key in KEYS if _names(layer, key.split(".")))


def _names(layer: Any, path: list[str]) -> bool:
    """A value in a map's place hides all that the map would hold."""
    for name in path:
        if not isinstance(layer, Mapping):
            return True
        if name not in layer:
            return False
        layer = layer[name]
    return True


def change_to(wanted: JobSize, have: JobSize) -> dict[str, Any]:
    """What has to be set for the one to become the other."""
    made: dict[str, Any] = {}
    for path, value, before in zip(SIZED, wanted, have, strict=True):
        if value == before:
            continue
        *above, name = path.split(".")
        place = made
        for one in above:
            place = place.setdefault(one, {})
        place[name] = value
    return made


def without(wanted: JobSize, have: JobSize, keys: frozenset[str]) -> JobSize:
    """The size, but for what others have their say in."""
    pairs = zip(SIZED, wanted, have, strict=True)
    return JobSize(*[before if path in keys else value for path, value, before in pairs])  # type: ignore[arg-type]  # each in its place


def differing(wanted: JobSize, have: JobSize) -> frozenset[str]:
    """The paths in which they differ."""
    pairs = zip(SIZED, wanted, have, strict=True)
    return frozenset(path for path, value, before in pairs if value != before)
