"""Which list of task specs should stand for a job at this moment. Pure, and of the row alone."""

from __future__ import annotations

from dataclasses import dataclass

from events.generated.records import LayerVersions
from projections.syncs import RUNNING, START, Sync
from projections.waits import standing


@dataclass(frozen=True, slots=True)
class WantedList:
    """A list that should stand and does not yet."""

    plan_id: str
    generation: int
    config_json: str | None  # None: nothing of the job may run
    versions: LayerVersions


def wanted_list(row: Sync) -> WantedList | None:
    """The next list to publish; None while the one that stands is the right one."""
    plan, listed, running = row.plan, row.listed, row.running
    if plan is not None and plan.step == START:
        if listed is not None and (listed.plan_id, listed.generation) == (plan.id, plan.generation):
            return None
        return WantedList(plan.id, plan.generation, plan.config_json, plan.versions)
    if plan is not None and not plan.step:
        return None  # the word that begins its first step is still to come
    if plan is not None:
        return _emptied(row, plan.id, plan.generation - 1, plan.versions)
    if running is None or running.state != RUNNING:
        at = running.versions if running is not None else row.versions
        return _emptied(row, running.plan_id if running is not None else "", None, at)
    if listed is not None and listed.tasks and listed.versions == running.versions:
        return None
    if (
        row.live is not None
        and row.live.generation != running.generation
        and next(standing(row), None) is not None
    ):
        # A plan failed after its tasks were told to start: they have another shape, and read what
        # those of the old one are to read again.
        return _emptied(row, running.plan_id, None, running.versions)
    # Tasks of the same shape go on under their generation and take up what was copied. After a
    # plan that failed they are told to run again, under a new one: those that stopped are over.
    same = listed is not None and listed.tasks and listed.generation == running.generation
    generation = running.generation if same else row.generation + 1
    return WantedList(running.plan_id, generation, running.config_json, running.versions)


def _emptied(
    row: Sync, plan_id: str, generation: int | None, versions: LayerVersions
) -> WantedList | None:
    if row.listed is None or row.listed.tasks == 0:
        return None
    at = row.generation + 1 if generation is None else generation
    return WantedList(plan_id, at, None, versions)
