"""Which components live in one seed: a seed with all of them would be long and meet little more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.auto_scaler.decide import component as auto_scaler
from components.job_service.decide import component as job_service
from components.runtime.core.component import Component
from components.shard_manager.decide import component as shard_manager
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service
from events.topics import JOURNAL, TIERS
from projections.jobs import LAYER_KINDS, Job
from projections.syncs import Sync
from simulation.small_scaler import component as small_scaler

Cast = Mapping[str, Component[Any]]

SCALING: Cast = {one.name: one for one in (job_service, small_scaler)}
"""Two authors on one journal, one of which asks the other."""
SYNCING: Cast = {one.name: one for one in (job_service, state_syncer, task_service)}
"""From expected to running."""
AUTO_SCALING: Cast = {**SYNCING, auto_scaler.name: auto_scaler}
"""The same with who sizes the jobs by what their tasks report."""
PLACING: Cast = {shard_manager.name: shard_manager}
"""Containers that come and go, and who holds each shard."""
CASTS: Mapping[str, Cast] = {
    "scaling": SCALING,
    "syncing": SYNCING,
    "auto scaling": AUTO_SCALING,
    "placing": PLACING,
}
COMPONENTS: Cast = {**SCALING, **AUTO_SCALING, **PLACING}

journal_view: Component[Job] = replace(job_service, inputs=frozenset({JOURNAL}), folds=LAYER_KINDS)
"""What anyone sees of the jobs who reads the journal alone."""
lists_view: Component[Sync] = replace(state_syncer, inputs=frozenset({JOURNAL}))
"""What a task manager sees: the lists that stand, and the steps of plans."""


def cast_of(seed: int) -> Cast:
    """Of six seeds one brings jobs from expected to running, one sizes them too, and one has a
    fleet of containers."""
    return {2: SYNCING, 4: PLACING, 5: AUTO_SCALING}.get(seed % 6, SCALING)


def journal_of(cast: Cast) -> str:
    """The topic of the decisions of the cast."""
    return TIERS if cast is PLACING else JOURNAL
