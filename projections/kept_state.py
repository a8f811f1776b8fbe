"""What a job keeps from one batch to the next, and which configs it cannot go along to. Pure.

State lies by partition, and whoever reads a partition goes on with it: pauses, other numbers of
tasks, packages, arguments and inputs leave it where it is. So does a deletion: who is created again
goes on with it. What would leave it behind is refused at the change, and by the state syncer before
anything stops where the log did not tell it by then; a reset leaves it behind on purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from events.generated.records import Body, JobDeleted, SyncCommitted, SyncPlanned, TaskStarted
from events.job_config.config import Invalid, JobConfig, SqlOperator
from events.job_config.spelling import plain_sql
from events.job_config.strict_json import shorten
from events.job_config.text import config_of

PAUSED, DELETED = "paused", "deleted"
STATE_STAYS = "state-stays"
"""The reason with which it is refused, whoever does."""
KINDS = frozenset({"SyncPlanned", "SyncCommitted", "JobDeleted", "TaskStarted"})


class StatefulJob(NamedTuple):
    """What a job runs that may keep state, or ran before it was deleted, and whether it does."""

    config_json: str = ""  # what was last brought into effect; "" of a job that never ran
    reset: str = ""  # the wish to read anew that was in effect then (`wish_of`)
    wish: str = ""  # the last one
    state: tuple[int, bool] = (0, False)  # a generation, and whether its tasks keep any

    @property
    def anew(self) -> bool:
        """Is it to read anew what it has read, and so to begin without state?"""
        return self.wish not in ("", self.reset)


class Stay(NamedTuple):
    """One thing of a config for which state would be left behind."""

    path: str
    value: str
    sentence: str


def apply_kept(kept: StatefulJob, body: Body) -> StatefulJob:
    """After a record of the journal or of tasks. Those of tasks fold as a maximum."""
    match body:
        case TaskStarted(keeps_state=bool(keeps)):
            return kept._replace(state=max(kept.state, (body.generation.specs, keeps)))
        case SyncPlanned():
            return kept._replace(wish=wish_of(body.reset_json))
        case SyncCommitted():
            state, wish = state_after(kept.state, kept.reset, body), wish_of(body.reset_json)
            if body.state == DELETED:
                return kept._replace(wish=wish, state=state)
            return StatefulJob(body.running_json, wish, wish, state)
        case JobDeleted():
            return kept._replace(wish="")
        case _:
            return kept


def wish_of(reset_json: str) -> str:
    """A wish to read anew, told apart from others: one may name thousands of offsets."""
    return hashlib.sha256(reset_json.encode()).hexdigest()[:16] if reset_json else ""


def state_after(state: tuple[int, bool], reset: str, body: SyncCommitted) -> tuple[int, bool]:
    """A job that is reset while it stands still keeps nothing until it runs again, for its next
    tasks begin lines of batches of other names. The next tasks are listed two generations up at
    the least."""
    if body.state == PAUSED and wish_of(body.reset_json) not in ("", reset):
        return max(state, (body.generation + 1, False))
    return state


def stays_behind(kept: StatefulJob, config_json: str, was_json: str = "") -> Stay | None:
    """Why the job's state could not go along to the config; None: it can, or there is none. What
    was so of the config before is not the fault of who changes something else."""
    if not kept.state[1] or kept.config_json in ("", config_json) or kept.anew:
        return None
    was = set(_stays(kept.config_json, was_json)) if was_json else frozenset[Stay]()
    return next((one for one in _stays(kept.config_json, config_json) if one not in was), None)


def _stays(before_json: str, after_json: str) -> Iterator[Stay]:
    """By the path in the config."""
    before, after = config_of(before_json), config_of(after_json)
    if isinstance(before, Invalid) or isinstance(after, Invalid):
        return
    program = _program(after)
    if _program(before) != program:
        yield Stay(
            "operator",
            program,
            "operator: the job keeps state, and another operator or query would take it for what it"
            " is not; let the old one stand and bring new code as a version of its package, or make"
            " the new one a job of another name",
        )
    old, new = before.checkpoint.root.rstrip("/"), after.checkpoint.root.rstrip("/")
    if old != new:
        said = f"the job keeps state, which lies in {shorten(old)}; let that stand"
        yield Stay("checkpoint.root", new, f"checkpoint.root: {said}")
    if len(after.inputs) > 1:
        yield from _scattered(after)


def _program(config: JobConfig) -> str:
    """As the engine names what it keeps."""
    operator = config.operator
    return plain_sql(operator.sql) if isinstance(operator, SqlOperator) else operator


def _scattered(config: JobConfig) -> Iterator[Stay]:
    """State of equal numbers of all inputs is one."""
    assigned = config.assignment_in_force
    if assigned is not None:
        homes = [{place.rpartition("/")[2] for place in share} for share in assigned]
        if sum(map(len, homes)) > len(set().union(*homes)):
            yield Stay(
                "assignment",
                "",
                "assignment: the job keeps state, for which equal numbers of all inputs have to"
                " meet in one task; assign them so",
            )
        return
    counts = [one.partitions for one in config.inputs if one.partitions is not None]
    if len(counts) == len(config.inputs) and config.tasks > max(counts):
        yield Stay(
            "tasks",
            str(config.tasks),
            f"tasks: the job keeps state of {len(counts)} inputs, whose equal numbers have to meet"
            f" in one task; set it to at most {max(counts)}",
        )
