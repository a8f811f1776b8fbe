"""The job configs that benchmarks ask for: of the size that a real job's has."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def base_config(number: int) -> Json:
    """A whole config of twenty-some keys, as a base layer sets it when a job is created."""
    return {
        "operator": "clicks.sessions:count",
        "inputs": [{"topic": f"clicks-{number % 40}", "format": "json", "partitions": 16}],
        "output": {"topic": f"sessions-{number % 40}"},
        "guarantee": "exactly_once",
        "package": {"name": "clicks", "version": "1.4.2"},
        "arguments": ["--window", "60", "--job", "${job}"],
        "checkpoint": {"root": "/checkpoints"},
        "tasks": 4,
        "threads_per_task": 1,
        "resources": {"cpu_cores": 0.5, "memory_mb": 512, "disk_mb": 0},
        "slo": {"lag_seconds": 90.0},
        "limits": {"tasks": 32, "privileged": False},
        "priority": 50,
        "tier": "default",
        "schedule": {"mode": "continuous", "batch_interval_ms": 1000},
        "policy": {"name": "turbine", "mode": "act", "settings": {"margin": 1.3}},
    }


def next_version(number: int) -> Json:
    """The most usual change: another version of the package."""
    return {"package": {"version": f"1.5.{number}"}}
