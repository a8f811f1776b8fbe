"""The typed config of a job: which fields it has, what each may be, and what fits together. Pure.

`JobConfig` reads what the layers of a job add up to. `validate_config` says of any JSON whether it
is one, and if not, which field is wrong and what was expected there, always in the same words:
they end up in decisions that are derived again and compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from events.job_config.invalid import Explainer, Invalid, conflict
from events.job_config.places import PLACE_TOLD, PLACES, Place
from events.job_config.policies.chosen import STOOD, Policy
from events.job_config.policies.settings import LEAST, TASKS_MAX
from events.job_config.strict_json import NUMBER_MAX, Json, shorten

__all__ = ["COMPLEX_FIELDS", "TASKS_MAX", "Invalid", "JobConfig", "validate_config"]

UNPRIVILEGED_TASKS = 32
"""Tasks that a job may ask for by itself, so that one out of control leaves others room (VI-B)."""
PROCESS_MB = 896
"""Of memory that a Spark for one task takes: the least heap that it begins with, and all around."""
PARTITIONS_MAX = 100_000
"""Of all inputs of a job together: each is handed to a task by number, and lies in a record."""

# Names become parts of paths, topics and metrics, so they hold nothing that any of these reads as
# syntax, and none begins with a dot.
_TOPIC = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,248}"
_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]{0,99}"
_TOPICS = rf"^{_TOPIC}$"
_PARTITIONS = rf"^{_TOPIC}/(0|[1-9][0-9]{{0,5}})$"
_FUNCTIONS = rf"^{_IDENTIFIER}(\.{_IDENTIFIER}){{0,9}}:{_IDENTIFIER}$"
_LABELS = r"^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$"
_PACKAGES = r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$"
_VERSIONS = r"^[A-Za-z0-9]([A-Za-z0-9._+!-]{0,126}[A-Za-z0-9])?$"
_ARGUMENTS = r"^[^\x00]{0,4096}$"
_SAID = r"\S"

_EXPECTED_BY_PATTERN = {
    _TOPICS: "a topic's name, up to 249 letters, digits, '.', '_', '-', not beginning with '.'",
    _PARTITIONS: 'a partition such as "clicks/0"',
    _FUNCTIONS: 'a function such as "package.module:function", or {"sql": "SELECT …"}',
    _LABELS: "a name of up to 64 of a-z, 0-9, '.', '_', '-' between letters or digits",
    _PACKAGES: "a package's name, letters, digits, '.', '_', '-' between letters or digits",
    _VERSIONS: 'a version such as "1.4.2"',
    PLACES: PLACE_TOLD,
    _ARGUMENTS: "text of at most 4096 characters without NUL",
    _SAID: 'a query such as "SELECT …"',
}

Topic = Annotated[str, Field(pattern=_TOPICS)]
Label = Annotated[str, Field(pattern=_LABELS)]
Share = Annotated[
    tuple[Annotated[str, Field(pattern=_PARTITIONS)], ...],
    Field(strict=False, min_length=1, max_length=100_000),
]
# JSON has lists only, so a tuple is read from one; what is in it is strict again.
_LIST = Field(strict=False, max_length=1024)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _complex(why: str) -> dict[str, Any]:
    """Marks a field that the state syncer cannot just copy while tasks run (III-B)."""
    return {"sync": "complex", "why": why}


class SqlOperator(_Part):
    """An operator written as a query."""

    sql: str = Field(pattern=_SAID, description="the query over views named after the inputs")


class Input(_Part):
    """One topic that is read."""

    topic: Topic = Field(description="the name of the topic")
    partitions: int | None = Field(
        default=None,
        ge=1,
        le=PARTITIONS_MAX,
        description="how many partitions the topic has, a count; `turbine apply` fills it in where"
        " the broker can tell",
    )
    format: Literal["bytes", "text", "json", "avro"] = Field(
        default="bytes", description="how the operator gets the values of the records"
    )


class Output(_Part):
    """Where the results go: a topic, or a directory when the guarantee is `files`."""

    topic: Topic | None = Field(default=None, description="the topic that is written to")
    path: Place | None = Field(default=None, description="the directory that files are written to")


class Package(_Part):
    """The code of the job."""

    name: str = Field(pattern=_PACKAGES, description="the name of the package")
    version: str = Field(pattern=_VERSIONS, description="the version of the package")


class Checkpoint(_Part):
    """The place where tasks keep their progress."""

    root: Place = Field(description="the directory under which every task has its own")


class Resources(_Part):
    """What one task may use."""

    cpu_cores: float = Field(
        default=0.25, ge=LEAST, le=1024, description="CPU of one task, in cores"
    )
    memory_mb: int = Field(default=256, ge=1, le=2**24, description="memory of one task, in MiB")
    disk_mb: int = Field(
        default=0, ge=0, le=2**30, description="disk of one task, in MiB; 0 for none"
    )


class Slo(_Part):
    """The promise of the job: how far it may be behind."""

    lag_seconds: float = Field(
        default=90.0,
        gt=0,
        le=10**7,
        description="how far behind its input the job may be, in seconds",
    )


class Limits(_Part):
    """What nobody who sizes the job may go beyond."""

    tasks: int = Field(
        default=UNPRIVILEGED_TASKS, ge=1, le=TASKS_MAX, description="most tasks of the job, a count"
    )
    privileged: bool = Field(
        default=False, description=f"whether `limits.tasks` may be above {UNPRIVILEGED_TASKS}"
    )


class Schedule(_Part):
    """The pace of the tasks: how often a batch begins, and what it holds."""

    # No engine ends by itself: a job that asked for an end and got none would be misled.
    mode: Literal["continuous"] = Field(
        default="continuous", description="for ever; there is no other"
    )
    # A second lets some fifty tasks share one engine; without a pause idle ones keep it busy.
    batch_interval_ms: int = Field(
        default=1000,
        ge=0,
        le=3_600_000,
        description="least milliseconds between the starts of two batches; 0 for no pause",
    )
    batch_records: int = Field(
        default=100_000,
        ge=1,
        le=10_000_000,
        description="most records of a batch, a count; fewer where each takes its time",
    )


def _kind(operator: object) -> str:
    return "query" if isinstance(operator, dict | SqlOperator) else "function"


Operator = Annotated[
    Annotated[str, Field(pattern=_FUNCTIONS), Tag("function")]
    | Annotated[SqlOperator, Tag("query")],
    Discriminator(_kind),
]


class JobConfig(_Part):
    """One streaming job, as its layers add up to."""

    operator: Operator = Field(
        description='what each task runs, "package.module:function" or {"sql": "SELECT …"}',
        json_schema_extra=_complex("another operator reads another layout of the state"),
    )
    inputs: Annotated[tuple[Input, ...], _LIST] = Field(
        min_length=1,
        description='the topics that are read, such as [{"topic": "clicks"}]',
        json_schema_extra=_complex("partitions of the inputs are assigned anew"),
    )
    output: Output | None = Field(
        default=None,
        description="where results go; absent if the operator writes none",
        json_schema_extra=_complex("a new sink is made ready before tasks write to it (III-B)"),
    )
    guarantee: Literal["exactly_once", "at_least_once", "files"] = Field(
        default="exactly_once",
        description="how often a record counts in the output, and by which sink",
        json_schema_extra=_complex("each guarantee keeps its offsets in another place"),
    )
    package: Package = Field(description='the code, such as {"name": "clicks", "version": "1.4.2"}')
    arguments: Annotated[tuple[Annotated[str, Field(pattern=_ARGUMENTS)], ...], _LIST] = Field(
        default=(),
        description="arguments of each task; ${name} stands for what the task service knows",
    )
    checkpoint: Checkpoint = Field(
        description='where progress is kept, such as {"root": "/checkpoints"}',
        json_schema_extra=_complex("checkpoints move while no task writes them"),
    )
    tasks: int = Field(
        default=1,
        ge=1,
        le=TASKS_MAX,
        description="parallel tasks of the job, a count",
        json_schema_extra=_complex("partitions of the inputs are assigned anew (III-B)"),
    )
    threads_per_task: int = Field(
        default=1, ge=1, le=1024, description="threads of one task, a count"
    )
    resources: Resources = Field(default=Resources(), description="what one task may use")
    slo: Slo = Field(default=Slo(), description="what the job promises")
    limits: Limits = Field(
        default=Limits(), description="what nobody who sizes the job may go beyond"
    )
    priority: int = Field(
        default=50,
        ge=0,
        le=100,
        description="rank when capacity is short, from 0 to 100; higher is first",
    )
    tier: Label = Field(
        default="default",
        description="the tier whose containers run the job",
        json_schema_extra=_complex("tasks move to shards whose owners are counted anew"),
    )
    allowed_regions: Annotated[tuple[Label, ...], _LIST] = Field(
        default=(),
        description="regions in which tasks may run; empty for all of the tier",
        json_schema_extra=_complex("tasks move to shards whose owners are counted anew"),
    )
    schedule: Schedule = Field(default=Schedule(), description="when the tasks work")
    state_granularity: Literal["task", "partition"] = Field(
        default="task",
        description="has no effect any more: state always lies by partition",
    )
    isolation: Literal["shared", "process"] = Field(
        default="shared",
        description="whose Spark a task runs in: one that it shares with others, or its own",
    )
    staging_rate: float | None = Field(
        default=None,
        gt=0,
        le=NUMBER_MAX,
        description="bytes per second one thread kept up with in staging; absent if unknown (V-B)",
    )
    assignment: (
        Annotated[tuple[Share, ...], Field(strict=False, min_length=1, max_length=TASKS_MAX)] | None
    ) = Field(
        default=None,
        description='for each task its partitions, such as [["clicks/0"], ["clicks/1"]]',
        json_schema_extra=_complex("partitions of the inputs are assigned anew"),
    )
    paused: bool = Field(default=False, description="whether all tasks stand still")
    policy: Policy = Field(default=Policy(), description="who decides about the size of the job")

    @property
    def assignment_in_force(self) -> tuple[tuple[str, ...], ...] | None:
        """The explicit assignment if it is for these tasks and inputs; else tasks are balanced.

        One that does not fit is passed over, not refused: the scaler made it for the number of
        tasks it asked for, and must not stand in the way of an oncall who asks for another.
        """
        if self.assignment is None or len(self.assignment) != self.tasks:
            return None
        topics = {one.topic for one in self.inputs}
        named = {place.rpartition("/")[0] for task in self.assignment for place in task}
        return self.assignment if named <= topics else None

    @model_validator(mode="after")
    def _fits_together(self) -> JobConfig:
        found = list(_conflicts(self))
        if found:
            raise conflict(*found[0], more=found[1:])
        return self


COMPLEX_FIELDS: Mapping[str, str] = {
    name: str(field.json_schema_extra["why"])
    for name, field in JobConfig.model_fields.items()
    if isinstance(field.json_schema_extra, dict) and field.json_schema_extra["sync"] == "complex"
}
"""Fields whose change stops the tasks first, and why; all others are just copied (III-B)."""


def validate_config(merged: Mapping[str, Json], *, stood: bool = False) -> JobConfig | Invalid:
    """The config, or its first problem by path. Total: no JSON makes it raise.

    `stood`: it was accepted once, perhaps where other policies are installed than here.
    """
    plain = dict(merged) if isinstance(merged, Mapping) else merged
    try:
        return JobConfig.model_validate(plain, context=STOOD if stood else None)
    except ValidationError as error:
        return EXPLAINER.explain(error)


EXPLAINER = Explainer(JobConfig, _EXPECTED_BY_PATTERN, unions=frozenset({("operator",)}))


def _conflicts(config: JobConfig) -> Iterator[tuple[str, str, str]]:
    """What does not fit together, by path: the path, what was expected, what was found."""
    regions = [(f"allowed_regions.{at}", one) for at, one in enumerate(config.allowed_regions)]
    yield from _repeated(regions, "each region once")
    if config.assignment is not None:
        places = [
            (f"assignment.{task}.{at}", place)
            for task, assigned in enumerate(config.assignment)
            for at, place in enumerate(assigned)
        ]
        yield from _repeated(places, "each partition with one task only")
    partitions = sum(one.partitions or 0 for one in config.inputs)
    if partitions > PARTITIONS_MAX:
        yield "inputs", f"at most {PARTITIONS_MAX} partitions in all", str(partitions)
    topics = [(f"inputs.{at}.topic", one.topic) for at, one in enumerate(config.inputs)]
    yield from _repeated(topics, "each topic once")
    limits = config.limits
    if limits.tasks > UNPRIVILEGED_TASKS and not limits.privileged:
        expected = f"at most {UNPRIVILEGED_TASKS}, or limits.privileged to be true"
        yield "limits.tasks", expected, str(limits.tasks)
    memory_mb = config.resources.memory_mb
    if config.isolation == "process" and memory_mb < PROCESS_MB:
        expected = f"at least {PROCESS_MB}, as isolation is process"
        yield "resources.memory_mb", expected, str(memory_mb)
    yield from _output_conflicts(config.guarantee, config.output)
    if config.tasks > limits.tasks:
        yield "tasks", f"at most limits.tasks, which is {limits.tasks}", str(config.tasks)


def _output_conflicts(guarantee: str, output: Output | None) -> Iterator[tuple[str, str, str]]:
    path = None if output is None else output.path
    topic = None if output is None else output.topic
    because = f"as the guarantee is {guarantee}"
    if guarantee == "files":
        if path is None:
            yield "output.path", f"a directory, {because}", "nothing"
        if topic is not None:
            yield "output.topic", f"nothing, {because}", shorten(topic)
    elif output is not None:
        if path is not None:
            yield "output.path", f"nothing, {because}", shorten(path)
        if topic is None:
            yield "output.topic", f"a topic, {because}", "nothing"


def _repeated(values: Sequence[tuple[str, str]], expected: str) -> Iterator[tuple[str, str, str]]:
    seen: set[str] = set()
    for path, value in values:
        if value in seen:
            yield path, expected, f"{shorten(value)} again"
        seen.add(value)
