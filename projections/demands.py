"""What a job asks of its tier, and what its scaler would give it if there were room. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from events.generated.records import ScalingDecided, ScalingDeclined
from events.job_config.config import TASKS_MAX, JobConfig, Limits, Resources
from events.job_config.strict_json import NUMBER_MAX
from projections.capacity import Demand
from projections.loads import units_of

MIB = 1024 * 1024
GRANTED = frozenset({"grant", "granted"})
"""How policies name the constraint by which a tier's room keeps a job small."""
_USUAL = {name: field.default for name, field in JobConfig.model_fields.items()}
_LIMITS, _EACH = Limits(), Resources()


def demand_of(expected_json: str, tier: str) -> Demand | None:
    """What the job asks of this tier; None: nothing, as it is another's or is deleted.

    A config that stands was found valid when it was accepted; what is nevertheless no number of
    its field counts as if it were not there.
    """
    plain = _object(expected_json)
    if not plain or plain.get("tier", _USUAL["tier"]) != tier:
        return None
    each, limits = plain.get("resources"), plain.get("limits")
    each, limits = (one if isinstance(one, dict) else {} for one in (each, limits))
    return Demand(
        tasks=_count(_number(plain, "tasks", _USUAL["tasks"])),
        each=(
            units_of(_number(each, "cpu_cores", _EACH.cpu_cores), 0),
            units_of(_number(each, "memory_mb", _EACH.memory_mb) * MIB, 1),
            units_of(_number(each, "disk_mb", _EACH.disk_mb) * MIB, 2),
            0,
        ),
        most=_count(_number(limits, "tasks", _LIMITS.tasks)),
        priority=int(_number(plain, "priority", _USUAL["priority"])),
        privileged=limits.get("privileged", _LIMITS.privileged) is True,
        paused=plain.get("paused", _USUAL["paused"]) is True,
    )


def _object(text: str) -> dict[str, Any]:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def _number(plain: dict[str, Any], name: str, usual: float) -> float:
    found = plain.get(name, usual)
    if (
        not isinstance(found, int | float)
        or isinstance(found, bool)
        or not abs(found) <= NUMBER_MAX
    ):
        return usual
    return found


def wish_of(body: ScalingDecided | ScalingDeclined) -> int:
    """Tasks that the job would have if its tier had room; 0 where nothing says so.

    What was decided and is not in the config yet is a wish too: else a grant would be taken back
    before it is used. A policy that only watches, or advises, wants nothing.
    """
    if body.mode != "act":
        return 0
    before = [one.before for one in body.constraints if one.name in GRANTED]
    wanted = max((_count(one) for one in before), default=0)
    return max(wanted, _count(body.final_tasks)) if isinstance(body, ScalingDecided) else wanted


def _count(tasks: float) -> int:
    return math.ceil(min(max(tasks, 0), TASKS_MAX))
