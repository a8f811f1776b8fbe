"""Which logics this build can run, so that what any of them decided can be made again.

A decision names the logic that made it: fold, decide and policy by one version. When a component's
logic changes so that the same records would call for other bytes, its version changes, and the old
functions stay here for as long as the log holds what they said. They live in a module beside the
new ones (`components/<name>/logic_<version>.py`), and cost nothing but their folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from components.auto_scaler.core.logic_1 import component as auto_scaler_1
from components.auto_scaler.decide import component as auto_scaler
from components.capacity_manager.decide import component as capacity_manager
from components.capacity_manager.decide import component_of as capacity_manager_of
from components.job_service.core.logic_1 import component as job_service_1
from components.job_service.decide import component as job_service
from components.runtime.core.audit.audit import Family
from components.runtime.core.component import Component
from components.shard_manager.decide import component as shard_manager
from components.shard_manager.decide import component_of as shard_manager_of
from components.state_syncer.core.logic_1 import component as state_syncer_1
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service

OLDER: dict[str, tuple[Component[Any], ...]] = {
    "job-service": (job_service_1,),
    "state-syncer": (state_syncer_1,),
    "auto-scaler": (auto_scaler_1,),
}
"""By component, the newest first: logics of the past whose decisions may still be in the log."""


def families(
    newest: tuple[Component[Any], ...], older: dict[str, tuple[Component[Any], ...]]
) -> tuple[Family, ...]:
    """Each component by all its logics; no two of them may have one version."""
    out = tuple((one, *older.get(one.name, ())) for one in newest)
    for family in out:
        logics = [one.logic for one in family]
        assert len(set(logics)) == len(logics), f"{family[0].name} has a logic twice: {logics}"
        assert all(one.name == family[0].name for one in family), f"not of one component: {logics}"
    return out


NEWEST: tuple[Component[Any], ...] = (
    job_service,
    state_syncer,
    task_service,
    auto_scaler,
    shard_manager,
    capacity_manager,
)
"""The components of this build."""
AUDITED = families(NEWEST, OLDER)
"""The components whose decisions this build can make again, where there is the first tier alone."""
TIERED: dict[str, Callable[[str], Component[Any]]] = {
    "shard-manager": shard_manager_of,
    "capacity-manager": capacity_manager_of,
}


def audited_with(tiers: Iterable[str]) -> tuple[Family, ...]:
    """The same where the log has these tiers: each has rows, and so logics, of its own."""
    first = {one.logic for one in NEWEST}
    of = {name: [make(tier) for tier in sorted(set(tiers))] for name, make in TIERED.items()}
    more = {name: tuple(one for one in ones if one.logic not in first) for name, ones in of.items()}
    names = more.keys() | OLDER.keys()
    return families(NEWEST, {name: (*more.get(name, ()), *OLDER.get(name, ())) for name in names})
