"""How soon a change runs: from its publication to the start of every task at the new version."""

from __future__ import annotations

from benchmarks.figures import Result, say, share
from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet, until
from events.generated.records import ConfigChangeProposed, TaskStarted
from events.topics import CHANGES, TASKS, place
from events.wire.codec import decode
from turbine_client.reading import ends_now, read_span

NAMES, JOB, TASKS_OF_JOB, INPUTS = ("east", "west"), "copy", 4, 4
TIMES, QUICK_TIMES = 60, 6


def measure(quick: bool) -> Result:
    """An argument changes again and again, which each task takes up by a start of its own."""
    with spark_fleet(NAMES, {"in": INPUTS, "out": INPUTS}) as fleet:
        config = config_of("in", INPUTS, "out", TASKS_OF_JOB, fleet.site.directory / "checkpoints")
        fleet.submit(JOB, config)
        times = [
            change(fleet, {**config, "arguments": [f"--number={number}"]}, number)
            for number in range(QUICK_TIMES if quick else TIMES)
        ]
    figures = {
        "change_to_running_ms_p50": share(times, 0.5),
        "change_to_running_ms_p99": share(times, 0.99),
        "change_to_running_ms_max": max(times),
        "changes": len(times),
    }
    notes = [
        f"{len(NAMES)} containers with Spark, a job of {TASKS_OF_JOB} tasks",
        "times of the broker, from the proposal's record to the last TaskStarted at its version",
    ]
    return Result("running", figures, {}, notes)


def change(fleet: SparkFleet, config: dict[str, object], number: int) -> float:
    """One change; milliseconds until all tasks run it."""
    settings = fleet.site.settings
    doors = [place(CHANGES["base"], p) for p in range(settings.partitions)]
    facts = [place(TASKS, p) for p in range(settings.partitions)]
    begin = ends_now(settings, [*doors, *facts])
    version = fleet.ask(JOB, config)
    started: dict[int, int] = {}
    asked_ms = [0]

    def all_run() -> bool:
        for poll in read_span(settings, {at: (offset, None) for at, offset in begin.items()}):
            for message in poll:
                body = decode(message.value or b"")
                if isinstance(body, ConfigChangeProposed):
                    asked_ms[0] = message.at_ms
                elif isinstance(body, TaskStarted) and base_of(body) == version:
                    started.setdefault(body.task, message.at_ms)
        return len(started) == TASKS_OF_JOB

    until(all_run, f"every task runs change {number}")
    took = max(started.values()) - asked_ms[0]
    say(f"change {number} runs after {took} ms")
    return float(took)


def base_of(body: TaskStarted) -> int:
    """The version of the base layer that it runs; 0: it does not say."""
    return 0 if body.versions is None else body.versions.base
