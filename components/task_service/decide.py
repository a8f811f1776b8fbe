"""Publishes the list of task specs that should stand for a job (Turbine IV). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from components.runtime.core.component import Component
from components.task_service.core.specs import SpecsProblem, head_of, parts_of, specs_of
from components.task_service.core.wanted import WantedList, wanted_list
from events.generated.records import AlertCleared, AlertRaised, Body, TaskSpecsPublished
from events.job_config.config import Invalid
from events.job_config.reset import reset_of
from events.job_config.strict_json import canonical_json
from events.job_config.text import config_of
from events.topics import JOURNAL, OPERATOR, TASKS
from projections.syncs import FOLDED_KINDS, UNLISTED, Sync, dump, fold, load

RUNBOOK = "docs/runbooks/no-task-specs.md"


def decide(row: Sync, _: int) -> Iterator[Body]:
    """The next list, or why there can be none."""
    wanted = wanted_list(row)
    if wanted is None:
        return
    text = wanted.config_json
    parts = [_empty(row, wanted)] if text is None else _listed(row, wanted, text)
    if not isinstance(parts, SpecsProblem):
        yield from parts
        if row.unlisted:
            said = "the list of its tasks stands again"
            yield AlertCleared(subject=row.name, alert=UNLISTED, explanation=said)
        return
    details = canonical_json({"plan": wanted.plan_id, "path": parts.path})
    if row.unlisted != details:
        yield AlertRaised(
            subject=row.name,
            alert=UNLISTED,
            severity="critical",
            cause=f"the tasks of {row.name} cannot be listed: {parts}",
            runbook=RUNBOOK,
            details_json=details,
        )


def _empty(row: Sync, wanted: WantedList) -> TaskSpecsPublished:
    return TaskSpecsPublished(
        job=row.name,
        plan_id=wanted.plan_id,
        generation=wanted.generation,
        part=1,
        parts=1,
        tasks=0,
        versions=wanted.versions,
        tier="",
        operator="",
        guarantee="",
        specs=(),
    )


def _listed(
    row: Sync, wanted: WantedList, config_json: str
) -> list[TaskSpecsPublished] | SpecsProblem:
    config = config_of(config_json)
    if isinstance(config, Invalid):
        return SpecsProblem(config.path, str(config))
    head = head_of(
        row.name,
        config,
        wanted.versions,
        wanted.generation,
        plan_id=wanted.plan_id,
        # A wish to read anew holds from when it stands, and for all lists that follow.
        reset=reset_of(row.reset),
    )
    specs = specs_of(head, config)
    return specs if isinstance(specs, SpecsProblem) else list(parts_of(head, specs))


component: Component[Sync] = Component(
    name="task-service",
    logic="task-service/1",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TASKS, OPERATOR}),
    folds=FOLDED_KINDS,
    says=frozenset({"TaskSpecsPublished", "AlertRaised", "AlertCleared"}),
    fold=fold,
    decide=decide,
    effects=lambda _: (),
    wake_ms=lambda *_: None,
    dump=dump,
    load=load,
)
