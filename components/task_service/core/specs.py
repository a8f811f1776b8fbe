"""From a job's running config to the specs of its tasks, and to the records that list them. Pure.

What the tasks need is worked out here for good: who reads a spec expands, assigns and looks up
nothing any more (Turbine IV).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from components.task_service.core.assignment import assign
from components.task_service.core.substitution import Unfit, substitute
from events.generated.records import (
    LayerVersions,
    TaskSpec,
    TaskSpecsPublished,
)
from events.job_config.config import PARTITIONS_MAX, JobConfig, SqlOperator
from events.job_config.reset import Reset
from events.job_config.strict_json import Json, canonical_json

PART_BYTES = 200 * 1024
"""Of one record of the list: an event is at most 256 KiB, and sizes are reckoned, not measured."""
PARTS_MAX = 199
"""Of one list: a decision is at most 200 records, and the end of an alert may belong to it."""
_HEAD_BYTES = 512
"""What the head of a record has beside its texts: numbers, lengths, the plan's id."""
_SPEC_BYTES, _LIST_BYTES, _LENGTH_BYTES = 64, 10, 5
"""What a spec, a list and a text have at most beside what is in them: Avro writes a number in 10
bytes at most, and one below 2^31 in 5."""
_SMALL, _SMALL_BYTES = 2**20, 3
"""A partition's number below the first takes that many bytes."""
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SpecsProblem:
    """Why there can be no specs: the path in the config, and a sentence with the remedy."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def specs_of(head: TaskSpecsPublished, config: JobConfig) -> tuple[TaskSpec, ...] | SpecsProblem:
    """The spec of every task, by index.

    The sizes are looked at as the specs are made, so that a list that no record can hold costs no
    more than one that is as long as it may be.
    """
    room = _room(head)
    specs: list[TaskSpec] = []
    part, used = 1, 0
    for spec in _specs(head, config):
        if isinstance(spec, SpecsProblem):
            return spec
        size = bytes_of(spec)
        if size > room:
            return _too_large(spec, size, room)
        part, used = _fit(part, used, size, room)
        if part > PARTS_MAX:
            return _too_many(config)
        specs.append(spec)
    return tuple(specs)


def parts_of(head: TaskSpecsPublished, specs: Sequence[TaskSpec]) -> Iterator[TaskSpecsPublished]:
    """The list of specs, cut into records; without specs one record that says so.

    Every part repeats what holds for all tasks, so a reader of some tasks needs their part alone.
    """
    room = _room(head)
    parts: list[list[TaskSpec]] = [[]]
    part, used = 1, 0
    for spec in specs:
        part, used = _fit(part, used, bytes_of(spec), room)
        if part > len(parts):
            parts.append([])
        parts[-1].append(spec)
    for at, some in enumerate(parts, 1):
        yield replace(head, part=at, parts=len(parts), tasks=len(specs), specs=tuple(some))


# --- one task


def _specs(head: TaskSpecsPublished, config: JobConfig) -> Iterator[TaskSpec | SpecsProblem]:
    explicit = config.assignment_in_force
    counts = _counts(config, explicit)
    if isinstance(counts, SpecsProblem):
        yield counts
        return
    known = known_of(head.job, config, head.versions, head.generation)
    for task, inputs in enumerate(assign(counts, config.tasks, explicit)):
        # State lies beside it, by partition: it stays where it is when tasks come and go.
        checkpoint = f"{config.checkpoint.root.rstrip('/')}/{head.job}/{task}"
        known |= {"task": str(task), "checkpoint": checkpoint}
        argv = substitute(config.arguments, known)
        if isinstance(argv, Unfit):
            yield SpecsProblem(f"arguments.{argv.argument}", str(argv))
            return
        yield TaskSpec(
            task=task,
            argv=argv,
            inputs=inputs,
            checkpoint=checkpoint,
            cpu_cores=config.resources.cpu_cores,
            memory_bytes=config.resources.memory_mb * _MIB,
            threads=config.threads_per_task,
        )


def known_of(
    job: str, config: JobConfig, versions: LayerVersions, generation: int
) -> dict[str, str]:
    """What arguments may name; `task` and `checkpoint` are another for each task."""
    return {
        "job": job,
        "task": "",
        "tasks": str(config.tasks),
        "generation": str(generation),
        "package.name": config.package.name,
        "package.version": config.package.version,
        "checkpoint": "",
        "tier": config.tier,
        "threads": str(config.threads_per_task),
        "cpu_cores": canonical_json(config.resources.cpu_cores),
        "memory_mb": str(config.resources.memory_mb),
        "version.base": str(versions.base),
        "version.provisioner": str(versions.provisioner),
        "version.scaler": str(versions.scaler),
        "version.oncall": str(versions.oncall),
        **{f"input.{at}.topic": one.topic for at, one in enumerate(config.inputs)},
    }


def _counts(
    config: JobConfig, explicit: Sequence[Sequence[str]] | None
) -> list[tuple[str, int]] | SpecsProblem:
    """Each topic with the number of its partitions."""
    # Kafka numbers partitions from 0 without a gap: one that is named stands for those below it.
    named: defaultdict[str, int] = defaultdict(int)
    for places in explicit or ():
        for place in places:
            topic, _, number = place.rpartition("/")
            named[topic] = max(named[topic], int(number) + 1)
    counts: list[tuple[str, int]] = []
    for at, one in enumerate(config.inputs):
        count = one.partitions or named.get(one.topic)
        if count is None:
            path = f"inputs.{at}.partitions"
            return SpecsProblem(path, f"{path} is not set; say how many partitions {one.topic} has")
        counts.append((one.topic, count))
    total = sum(count for _, count in counts)
    if total > PARTITIONS_MAX:
        said = f"inputs have {total} partitions in all, and a job may read {PARTITIONS_MAX}"
        return SpecsProblem("inputs", f"{said}; make it several jobs")
    return counts


# --- records


def head_of(
    job: str,
    config: JobConfig,
    versions: LayerVersions,
    generation: int,
    *,
    plan_id: str = "",
    reset: Reset | None = None,
) -> TaskSpecsPublished:
    """What holds for all tasks: the record of the list, without its specs."""
    query = config.operator.sql if isinstance(config.operator, SqlOperator) else None
    return TaskSpecsPublished(
        job=job,
        plan_id=plan_id,
        generation=generation,
        part=1,
        parts=1,
        tasks=config.tasks,
        versions=versions,
        tier=config.tier,
        # No function has this name: functions have a colon.
        operator="sql" if isinstance(config.operator, SqlOperator) else config.operator,
        guarantee=config.guarantee,
        specs=(),
        regions=config.allowed_regions,
        priority=config.priority,
        package=config.package.name,
        package_version=config.package.version,
        config_json=canonical_json(_seen_by_tasks(config, query, reset)),
    )


def _seen_by_tasks(config: JobConfig, query: str | None, reset: Reset | None) -> dict[str, Json]:
    """What tasks need of the config and no spec holds; never what only its deciders look at."""
    seen: dict[str, Json] = {
        "disk_mb": config.resources.disk_mb,
        "inputs": [
            {"topic": one.topic, "format": one.format, "partitions": one.partitions}
            for one in config.inputs
        ],
        "schedule": {
            "mode": config.schedule.mode,
            "batch_interval_ms": config.schedule.batch_interval_ms,
            "batch_records": config.schedule.batch_records,
        },
    }
    if config.isolation != "shared":
        seen["isolation"] = config.isolation
    if query is not None:
        seen["sql"] = query
    if reset is not None:
        seen["reset"] = reset.to_plain()
    if config.output is not None:
        output = {"topic": config.output.topic, "path": config.output.path}
        seen["output"] = {name: value for name, value in output.items() if value is not None}
    return seen


def _room(head: TaskSpecsPublished) -> int:
    """Bytes that a record has for specs."""
    texts = (
        head.job,
        head.tier,
        head.operator,
        head.guarantee,
        *head.regions,
        head.package,
        head.package_version,
        head.config_json,
    )
    return PART_BYTES - _HEAD_BYTES - _texts_bytes(texts)


def _fit(part: int, used: int, size: int, room: int) -> tuple[int, int]:
    """The part that takes the next spec, and how full it is then."""
    if used and used + size > room:
        return part + 1, size
    return part, used + size


def bytes_of(spec: TaskSpec) -> int:
    """At least as many as the spec takes in a record; to encode it takes longer and says no more
    than is asked."""
    texts = [*spec.argv, spec.checkpoint]
    size = _SPEC_BYTES
    for one in spec.inputs:
        texts.append(one.topic)
        size += _numbers_bytes(one.partitions)
    return size + _texts_bytes(texts)


def _numbers_bytes(partitions: Sequence[int]) -> int:
    each = _SMALL_BYTES if max(partitions, default=0) < _SMALL else _LENGTH_BYTES
    return _LIST_BYTES + each * len(partitions)


def _texts_bytes(texts: Collection[str]) -> int:
    """Of all of them at once: it is asked about every task of every list."""
    return _LENGTH_BYTES * len(texts) + len("".join(texts).encode())


def _too_large(spec: TaskSpec, size: int, room: int) -> SpecsProblem:
    """One spec that no record holds, and what makes it so large."""
    shares = (
        (_texts_bytes(spec.argv), "arguments", "shorten the arguments"),
        (
            _texts_bytes([one.topic for one in spec.inputs])
            + sum(_numbers_bytes(one.partitions) for one in spec.inputs),
            "tasks",
            "ask for more tasks, which read less each",
        ),
    )
    _, path, remedy = max(shares)
    said = f"the specs of task {spec.task} take {size} bytes, and a record has {max(0, room)} left"
    return SpecsProblem(path, f"{path}: {said}; {remedy}")


def _too_many(config: JobConfig) -> SpecsProblem:
    said = f"the specs of {config.tasks} tasks do not fit in {PARTS_MAX} records"
    return SpecsProblem("tasks", f"tasks: {said}; ask for fewer tasks or shorten the arguments")
