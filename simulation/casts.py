"""Which components live in one seed: a seed with all of them would be long and meet little more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.job_service.decide import component as job_service
from components.runtime.component import Component
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service
from events.topics import JOURNAL
from projections.jobs import Job
from projections.syncs import Sync
from simulation.small_scaler import component as small_scaler

Cast = Mapping[str, Component[Any]]

SCALING: Cast = {one.name: one for one in (job_service, small_scaler)}
"""Two authors on one journal, one of which asks the other."""
SYNCING: Cast = {one.name: one for one in (job_service, state_syncer, task_service)}
"""From expected to running."""
COMPONENTS: Cast = {**SCALING, **SYNCING}

journal_view: Component[Job] = replace(job_service, inputs=frozenset({JOURNAL}))
"""What anyone sees of the jobs who reads the journal alone."""
lists_view: Component[Sync] = replace(state_syncer, inputs=frozenset({JOURNAL}))
"""What a task manager sees: the lists that stand, and the steps of plans."""


def cast_of(seed: int) -> Cast:
    """One seed in three brings jobs from expected to running."""
    return SYNCING if seed % 3 == 2 else SCALING
