"""What the policy `turbine` says of rates, sizes and gains, in the same words everywhere. Pure."""

from __future__ import annotations

from components.auto_scaler.core.policies.common.sizing import threads_most
from components.auto_scaler.core.policies.turbine.shapes import tasks_most
from events.generated.records import Constraint
from events.sentences.words import count_text
from projections.scaling.actions import JobSize
from projections.scaling.decision_memory import Open
from projections.scaling.seen import JobFacts

EXACT = 1e-6
"""Of a rate: what differs by less has only been added up in another order."""
OF_ALL = " (threads of all tasks)"
"""What a constraint of ours counts."""


def rate_told(rate: float) -> str:
    """The rate in records a second, with its unit."""
    return f"{rate:,.0f} records/s" if abs(rate) >= 10 else f"{rate:.2f} records/s"


def size_told(size: JobSize) -> str:
    """Its tasks and their threads."""
    return f"{count_text(size.tasks, 'task')} of {count_text(size.threads, 'thread')}"


def waiting_told(comes: float, lag: float) -> str:
    """Why more is needed than comes in, where a backlog has to be read as well."""
    return f" ({rate_told(comes)} come in, {lag:,.0f} records wait)" if lag >= 1 else ""


def gain_told(opened: Open, could: float, least: float) -> str:
    """What a change has brought, held against what it was to bring."""
    wanted = opened.expected - opened.could
    said = f"{rate_told(could)} can be read, {rate_told(opened.could)} could be before"
    if wanted <= 0:
        return f"{said}, and {rate_told(opened.expected)} were expected"
    share = (could - opened.could) / wanted
    said = f"{said}, and {rate_told(opened.expected)} were expected"
    if share >= 1:
        return said
    return f"{said}: that is {100 * share:.0f} % of the gain, and {100 * least:.0f} % are enough"


def became(
    job: JobFacts, size: JobSize, threads: float, rates: tuple[float, float], share: float
) -> tuple[Constraint, ...]:
    """What became of the number of threads on its way to a size; `rates` are what is needed and
    what the size reads."""
    whole, each = float(size.tasks * size.threads), threads_most(job, share)
    if rates[1] < rates[0] * (1 - EXACT) and (size.tasks, size.threads) == (tasks_most(job), each):
        name, note = _limit(job, size.tasks)
        cores = f"{100 * share:.0f} % of {job.container_cores:g} cores"
        note += f", each of at most {count_text(each, 'thread')}, {cores}"
        return (Constraint(name, threads, whole, note + OF_ALL),)
    if whole == threads:
        return ()
    note = f"nothing cheaper than {size_told(size)} reads as much{OF_ALL}"
    return (Constraint("shape", threads, whole, note),)


def _limit(job: JobFacts, most: int) -> tuple[str, str]:
    """What keeps a job from more tasks, as `tasks_most` has it."""
    tasks = count_text(most, "task")
    if most == job.tasks_max:
        return "limits.tasks", f"the job's own limit is {tasks}"
    if most == job.partitions:
        return "partitions", f"{count_text(most, 'partition')} can be read by {tasks}"
    return "granted", f"the tier's room is {tasks}"
