"""The baseline StreamOps: lag says when, DS2's model says how much, stragglers are moved (5). Pure.

The paper leaves its thresholds to each job; a description says of a default that it is ours. A job
is one operator, a task's busy share its useful time ratio. The CPU of containers and the nodes of
tasks are not seen here: balance is of useful time alone, and stragglers are moved without a look at
whether they share a node. A request is made on a schedule, and at once while lag is high.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from components.auto_scaler.core.policies.common.baseline import resized, within
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.ds2.model import counted, exact, true_rate
from components.auto_scaler.core.policies.streamops import rules
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    Clamped,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from events.job_config.policies.settings import PolicySettings
from events.job_config.policies.streamops import StreamOpsSettings
from projections.scaling.actions import (
    ALERT,
    MOVE,
)
from projections.scaling.seen import JobFacts, Minute, Profile

HIGH, LOW = "lag is high", "lag is low"
OVERLOADED, UNDERLOADED = "most tasks are overloaded", "most tasks are underloaded"
STRAGGLERS, SKEW = "few tasks are slower than their peers", "few tasks are given more than others"


class StreamOpsMinute(NamedTuple):
    """One minute of the time that is looked at."""

    at_ms: int
    rate: float
    busy: float | None  # mean of the tasks
    lag: float | None


class StreamOpsMemory(NamedTuple):
    """The minutes since the job was changed last, as far back as is looked."""

    tasks: int = 0
    rows: tuple[StreamOpsMinute, ...] = ()
    loads: tuple[rules.TaskLoad, ...] = ()  # of the newest minute
    asked_ms: int | None = None  # the last request by schedule
    due: bool = False  # it was made with the newest minute


class Model(NamedTuple):
    """What the model is given, and what it makes of it."""

    arrived: float
    each: float  # true rate of one task
    raw: int


class StreamOps(ScalingPolicy[StreamOpsMemory]):
    """Detect, diagnose and resolve by the rules of ByteDance's control plane."""

    name: ClassVar[str] = "streamops"
    model: ClassVar[type[PolicySettings]] = StreamOpsSettings

    def __init__(self, settings: StreamOpsSettings) -> None:
        self.settings: StreamOpsSettings = settings
        self._window_ms = settings.window_s * 1000

    def begin(self, job: JobFacts) -> StreamOpsMemory:
        return StreamOpsMemory(tasks=job.tasks)

    def learn(self, memory: StreamOpsMemory, job: JobFacts, minute: Minute) -> StreamOpsMemory:
        # Other tasks are another job: a window across a change would mix the rates of both.
        rows = memory.rows if memory.tasks == job.tasks else ()
        since = minute.at_ms - self._window_ms
        first = next((at for at, row in enumerate(rows) if row.at_ms >= since), len(rows))
        asked = minute.at_ms if memory.asked_ms is None else memory.asked_ms
        due = minute.at_ms - asked >= self.settings.schedule_s * 1000
        return StreamOpsMemory(
            job.tasks,
            (*rows[first:], StreamOpsMinute(minute.at_ms, minute.rate, minute.busy, minute.lag)),
            loads_of(minute),
            minute.at_ms if due else asked,
            due,
        )

    def detect(self, memory: StreamOpsMemory, job: JobFacts, now_ms: int) -> str:  # noqa: ARG002 - the rows are the job's
        lag = memory.rows[-1].lag if memory.rows else None
        if lag is None:
            return ""
        settings = self.settings
        if lag >= settings.lag_high:
            return HIGH if memory.due or settings.on_high_lag else ""
        return LOW if memory.due and lag <= settings.lag_low else ""

    def diagnose(
        self,
        memory: StreamOpsMemory,
        job: JobFacts,  # noqa: ARG002 - its base has it
        symptom: str,
        profile: Profile,  # noqa: ARG002 - StreamOps knows no usual days
    ) -> str:
        settings, loads = self.settings, memory.loads
        if not loads:
            return ""
        even = rules.balanced(
            [one.useful for one in loads], settings.balance_spread, settings.balance_share
        )
        if not even:
            return self._uneven(memory) if symptom == HIGH else ""
        if symptom == HIGH:
            n1 = rules.tasks_of(settings.overloaded_share, len(loads))
            rises = (self._lag_rate(memory) or 0.0) > 0
            many = rules.overloaded(loads, settings.overloaded_ratio) >= n1
            return OVERLOADED if rises and many else ""
        n2 = rules.tasks_of(settings.underloaded_share, len(loads))
        many = rules.underloaded(loads, settings.underloaded_ratio) >= n2
        return UNDERLOADED if many else ""

    def resolve(
        self,
        memory: StreamOpsMemory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - StreamOps knows no usual days
        now_ms: int,  # noqa: ARG002 - the newest row is now
    ) -> tuple[StreamOpsMemory, ScalingVerdict]:
        if found[1] in (STRAGGLERS, SKEW):
            return memory, self._told(memory, found)
        model = self._model(memory, job)
        if model is None:
            told = f"{found[1]}, and the model lacks {self.settings.window_s} s of known rates"
            return memory, stay(told, *found, raw=job.tasks)
        told = (
            f"{plain(model.arrived)} records a second at {plain(model.each)} a task "
            f"need {model.raw} tasks for {job.tasks}"
        )
        out = found[1] == OVERLOADED
        if model.raw == job.tasks or (model.raw > job.tasks) != out:
            # The diagnosis is of one direction; a model that says the other contradicts it.
            weighed = (Alternative(f"{model.raw} tasks", f"the diagnosis is that {found[1]}"),)
            return memory, stay(told, *found, raw=model.raw, alternatives=weighed)
        wanted = within(job, Clamped(model.raw), job.partitions)
        return memory, resized(job, wanted, found, explanation=told, raw=model.raw)

    def _uneven(self, memory: StreamOpsMemory) -> str:
        found = rules.uneven(memory.loads, self.settings.z_score)
        if found is None:
            return ""
        if found.faster:
            return SKEW
        few = rules.tasks_of(self.settings.stragglers_share, len(memory.loads))
        return STRAGGLERS if len(found.tasks) <= few else ""

    def _told(self, memory: StreamOpsMemory, found: tuple[str, str]) -> ScalingVerdict:
        slow = rules.uneven(memory.loads, self.settings.z_score)
        assert slow is not None, "a cause was found in it"
        tasks = ", ".join(map(str, slow.tasks))
        if found[1] == SKEW:
            told = f"tasks {tasks} work more and read more than others: share out their input"
            weighed: tuple[Alternative, ...] = (
                Alternative(MOVE, "their rate is higher than that of others"),
            )
            return ScalingVerdict(ALERT, *found, told, memory.tasks, alternatives=weighed)
        told = f"tasks {tasks} work more and read no more than others: move them to other nodes"
        # A verdict moves one task. The others are still found, and moved, at the next request.
        first, *others = slow.tasks
        weighed = (
            Alternative("scale-up", "tasks are not balanced"),
            *(Alternative(f"move task {one}", f"task {first} is moved first") for one in others),
        )
        return ScalingVerdict(MOVE, *found, told, memory.tasks, alternatives=weighed, task=first)

    def _lag_rate(self, memory: StreamOpsMemory) -> float | None:
        """Over the window; None before it is full, and where lag is not known at an end."""
        first, last = memory.rows[0], memory.rows[-1]
        if last.at_ms - first.at_ms < self._window_ms or first.lag is None or last.lag is None:
            return None
        return rules.lag_rate(last.lag, first.lag, self.settings.window_s)

    def _model(self, memory: StreamOpsMemory, job: JobFacts) -> Model | None:
        growth = self._lag_rate(memory)
        # The first row only bounds the window: what was read in it was read before.
        inside = memory.rows[1:]
        busy = [row.busy for row in inside if row.busy is not None]
        if growth is None or len(busy) < len(inside):
            return None
        output = sum(row.rate for row in inside) / len(inside)
        true = true_rate(output, rules.useful_time(busy) / len(inside))
        arrived = output + growth
        return Model(arrived, true / job.tasks, counted(exact(arrived, true, job.tasks)))


def loads_of(minute: Minute) -> tuple[rules.TaskLoad, ...]:
    """Of all tasks; none where one does not tell how busy it was."""
    loads = tuple(
        rules.TaskLoad(part.task, part.busy, part.rate)
        for part in minute.parts
        if part.busy is not None
    )
    return loads if len(loads) == len(minute.parts) else ()
