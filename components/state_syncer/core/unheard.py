"""What need not be waited for, as nobody is there who would answer: tasks of a tier that has no
container, or none any more. Pure.

A container that holds a shard answers for each of its tasks, for those that it has not begun, too.
So of tasks that nobody has spoken of for a round after their list was emptied nobody holds the
shard. Should one be begun all the same, then whoever comes after it has a higher generation, and
its claim fences the one before.

A job that is to run elsewhere does not wait for good for those where it ran: whoever lives there
stops its tasks or is given up, and what is silent has lost its lease.
"""

from __future__ import annotations

import json

from events.job_config.config import JobConfig
from projections.syncs import RUNNING, START, STOP, Sync, SyncPlan
from projections.waits import missing, never_begun

QUIET_MS = 30_000
"""A round of the syncer, and as long as a container leaves a task to stop in order."""
GONE_MS = 120_000
"""A container that is lost is failed over after a minute, and one that lives stops a task in less.
"""
_TIER = JobConfig.model_fields["tier"].default


def passed_over(row: Sync, plan: SyncPlan, now_ms: int) -> frozenset[int]:
    """Tasks whose stop is not waited for."""
    if plan.step != STOP or now_ms < row.told_ms + QUIET_MS:
        return frozenset()
    if _moves_away(row, plan) and now_ms >= row.told_ms + GONE_MS:
        return frozenset(at for at, _ in missing(row, plan))
    return frozenset(never_begun(row))


def quiet_ms(row: Sync, now_ms: int) -> int | None:
    """From when on more of them are not waited for; None where there are none."""
    plan = row.plan
    if plan is None or plan.step != STOP:
        return None
    if now_ms < row.told_ms + QUIET_MS and next(never_begun(row), None) is not None:
        return row.told_ms + QUIET_MS
    return row.told_ms + GONE_MS if _moves_away(row, plan) else None


def _moves_away(row: Sync, plan: SyncPlan) -> bool:
    """Have its tasks been told to stop where they ran, to run elsewhere?"""
    running, listed = row.running, row.listed
    if running is None or running.state != RUNNING or START not in plan.steps:
        return False
    told = listed is not None and not listed.tasks
    return told and _place(plan.config_json) != _place(running.config_json)


def moves_on(row: Sync, plan: SyncPlan) -> bool:
    """Is a start that nobody has heard of to happen elsewhere by now?"""
    if plan.step != START or any(one.specs >= plan.generation for one in row.tasks.values()):
        return False
    return _place(plan.config_json) != _place(row.expected_json)


def _place(config_json: str) -> tuple[str, list[str]]:
    config = json.loads(config_json)
    return config.get("tier", _TIER), sorted(config.get("allowed_regions", ()))
