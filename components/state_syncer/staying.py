"""What a job keeps from one batch to the next, and which configs it cannot go along to. Pure.

State lies by partition, and whoever reads a partition goes on with it: pauses, other numbers of
tasks, packages, arguments and inputs leave it where it is. What would leave it behind is refused
before anything stops; a reset leaves it behind on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.config import Invalid, JobConfig, SqlOperator
from events.config_text import config_of
from events.strict_json import shorten
from projections.syncs import DELETED, Sync

CHECK = "check"
"""What is told to have failed then; no plan has a step of that name."""


def stays_behind(row: Sync, config_json: str) -> str:
    """Why the job's state could not go along to the config, with the remedy; "": it can, or there
    is none."""
    running = row.running
    if not row.keeps_state or running is None or running.config_json == config_json:
        return ""
    if running.state == DELETED or running.reset != row.reset:
        return ""
    before, after = config_of(running.config_json), config_of(config_json)
    if isinstance(before, Invalid) or isinstance(after, Invalid):
        return ""
    found = next(_troubles(before, after), "")
    if not found:
        return ""
    return (
        f"{found}; or have all inputs read anew (`turbine reset job {row.name} --to earliest`),"
        " and the job begins so without its state"
    )


def _troubles(before: JobConfig, after: JobConfig) -> Iterator[str]:
    """By the path in the config."""
    if _program(before) != _program(after):
        yield (
            "operator: the job keeps state, and another operator or query would take it for what it"
            " is not; let the old one stand and bring new code as a version of its package, or make"
            " the new one a job of another name"
        )
    old, new = before.checkpoint.root.rstrip("/"), after.checkpoint.root.rstrip("/")
    if old != new:
        yield f"checkpoint.root: the job keeps state, which lies in {shorten(old)}; let that stand"
    if len(after.inputs) > 1:
        yield from _scattered(after)


def _program(config: JobConfig) -> str:
    """As the engine names what it keeps: blanks of a query mean nothing."""
    operator = config.operator
    return " ".join(operator.sql.split()) if isinstance(operator, SqlOperator) else operator


def _scattered(config: JobConfig) -> Iterator[str]:
    """State of equal numbers of all inputs is one."""
    assigned = config.assignment_in_force
    if assigned is not None:
        homes = [{place.rpartition("/")[2] for place in share} for share in assigned]
        if sum(map(len, homes)) > len(set().union(*homes)):
            yield (
                "assignment: the job keeps state, for which equal numbers of all inputs have to"
                " meet in one task; assign them so"
            )
        return
    counts = [one.partitions for one in config.inputs if one.partitions is not None]
    if len(counts) == len(config.inputs) and config.tasks > max(counts):
        yield (
            f"tasks: the job keeps state of {len(counts)} inputs, whose equal numbers have to meet"
            f" in one task; set it to at most {max(counts)}"
        )
