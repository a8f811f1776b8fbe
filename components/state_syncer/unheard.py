"""What need not be waited for, as nobody has begun it: tasks of a tier that has no container. Pure.

A container that holds a shard answers for each of its tasks, for those that it has not begun, too.
So of tasks that nobody has spoken of for a round after their list was emptied nobody holds the
shard. Should one be begun all the same, then whoever comes after it has a higher generation, and
its claim fences the one before.
"""

from __future__ import annotations

import json

from events.config import JobConfig
from projections.syncs import START, STOP, Plan, Sync
from projections.waits import never_begun

QUIET_MS = 30_000
"""A round of the syncer, and as long as a container leaves a task to stop in order."""
_TIER = JobConfig.model_fields["tier"].default


def passed_over(row: Sync, plan: Plan, now_ms: int) -> frozenset[int]:
    """Tasks whose stop is not waited for."""
    if plan.step != STOP or now_ms < row.told_ms + QUIET_MS:
        return frozenset()
    return frozenset(never_begun(row))


def quiet_ms(row: Sync) -> int | None:
    """From when on they are not waited for; None where there are none."""
    if row.plan is None or row.plan.step != STOP or next(never_begun(row), None) is None:
        return None
    return row.told_ms + QUIET_MS


def moves_on(row: Sync, plan: Plan) -> bool:
    """Is a start that nobody has heard of to happen elsewhere by now?"""
    if plan.step != START or any(one.specs >= plan.generation for one in row.tasks.values()):
        return False
    return _place(plan.config_json) != _place(row.expected_json)


def _place(config_json: str) -> tuple[str, list[str]]:
    config = json.loads(config_json)
    return config.get("tier", _TIER), sorted(config.get("allowed_regions", ()))
