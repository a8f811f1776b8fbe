"""A scaler in the small: the second author on the journal, so that the protocol is tried by two.

It wants one task for every ten records a second. What it decides owes a proposal on its ingress
topic, which the job service answers; a proposal that came too late to count is given up with an
alert. The rules of real scaling are not its business.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from components.runtime.core.component import Component, Effect
from events.generated.records import (
    AlertRaised,
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    OverrideExpired,
    ScalingDecided,
    ScalingDeclined,
    TaskLoadReported,
)
from events.topics import ALERTS, CHANGES, JOURNAL, LOADS
from events.wire.codec import Read
from projections.ingress import Ingress, admit, answer, dump_ingress, load_ingress
from turbine_client.identity import change_id as name_change
from turbine_client.identity import effect_id, valid_until_ms

ASKS = CHANGES["scaler"]
PATIENCE_MS = 20_000
RECORDS_PER_TASK = 10
UNHEARD = Ingress()


@dataclass(frozen=True, slots=True)
class UnreadEffect:
    """An effect that was not read back yet: as a record's fields, so that it can be kept."""

    topic: str
    id: str
    about: str


@dataclass(frozen=True, slots=True)
class SmallScalerRow:
    """What the scaler knows of a job."""

    name: str
    generation: int = 0  # all changes of the job's layers together; a load tells which it ran
    alive: bool = False
    version: int = 0
    tasks: int | None = None
    heard: tuple[int, int, float] = (0, 0, 0.0)  # the greatest of (generation, count, rate)
    open: tuple[str, int, int] | None = None  # change id, expected version, tasks
    lapsed: bool = False  # the proposal came too late to count; there will be no verdict
    owed: tuple[UnreadEffect, ...] = ()
    retry_ms: int = 0  # at most one proposal of ours is valid at a time: no flood of our own
    ingress: Ingress = UNHEARD


def fold(row: SmallScalerRow | None, read: Read) -> SmallScalerRow:
    """The row after the record."""
    row, record = row or SmallScalerRow(read.record.key), read.record
    match record.body:
        case TaskLoadReported() as load:
            heard = (load.generation.specs, load.count, load.records_in_per_s)
            return replace(row, heard=max(row.heard, heard, key=lambda one: one[:2]))
        case ConfigChangeProposed() as body:
            ingress, counts = admit(row.ingress, record.id, body, len(record.value), read.at_ms)
            ours = row.open is not None and record.id == row.open[0] and _owes(row, record.id)
            return replace(
                _sent(row, record.id), ingress=ingress, lapsed=row.lapsed or (ours and not counts)
            )
        case AlertRaised():
            return _sent(row, record.id)
        case ScalingDecided() as body:
            tasks = body.final_tasks
            owed = UnreadEffect(ASKS, body.change_id, f"{body.expected_version} {tasks}")
            opened = (body.change_id, body.expected_version, tasks)
            return replace(row, open=opened, lapsed=False, owed=(*row.owed, owed))
        case ScalingDeclined() as body:
            alert = UnreadEffect(ALERTS, effect_id(record.id, "alert"), body.explanation)
            retry_ms = valid_until_ms(body.change_id or "") + 1
            return replace(row, open=None, owed=(*row.owed, alert), retry_ms=retry_ms)
        case _:
            return _heard_of_job(row, record.body)


def _heard_of_job(row: SmallScalerRow, body: Body | None) -> SmallScalerRow:
    match body:
        case JobConfigChanged(layer="scaler"):
            row = _answered(_newer(row, body.versions), body.change_id)
            return replace(row, version=body.version, tasks=_tasks(body.layer_json))
        case JobConfigChanged():
            return replace(_newer(row, body.versions), alive=row.alive or body.layer == "base")
        case JobConfigRejected(ingress="scaler"):
            if row.open is not None and body.change_id == row.open[0]:
                row = replace(row, retry_ms=valid_until_ms(body.change_id) + 1)
            return _answered(row, body.change_id)
        case OverrideExpired():
            return _newer(row, body.versions)
        case JobDeleted():
            row = _newer(row, body.versions)
            return replace(row, alive=False, version=body.versions.scaler, tasks=None)
        case _:
            return row


def _newer(row: SmallScalerRow, versions: LayerVersions) -> SmallScalerRow:
    total = versions.base + versions.provisioner + versions.scaler + versions.oncall
    return replace(row, generation=total)


def _answered(row: SmallScalerRow, change_id: str) -> SmallScalerRow:
    ours = row.open is not None and row.open[0] == change_id
    return replace(row, ingress=answer(row.ingress, change_id), open=None if ours else row.open)


def _owes(row: SmallScalerRow, name: str) -> bool:
    return any(owed.id == name for owed in row.owed)


def _sent(row: SmallScalerRow, name: str) -> SmallScalerRow:
    return replace(row, owed=tuple(owed for owed in row.owed if owed.id != name))


def _tasks(layer_json: str) -> int | None:
    tasks = json.loads(layer_json).get("tasks")
    return tasks if isinstance(tasks, int) else None


def decide(row: SmallScalerRow, now_ms: int) -> Iterator[Body]:
    """Another size where the load calls for one; giving up where the proposal came too late."""
    generation, _, rate = row.heard
    want = max(1, -(-int(rate) // RECORDS_PER_TASK))
    if row.open is not None:
        if row.lapsed:
            why = f"proposal {row.open[0]} came too late to count"
            yield ScalingDeclined(row.name, "too-late", why, row.open[0])
    elif (
        row.alive and generation == row.generation and want != row.tasks and now_ms >= row.retry_ms
    ):
        yield _decision(row, want, now_ms + PATIENCE_MS)


def _decision(row: SmallScalerRow, want: int, until_ms: int) -> ScalingDecided:
    return ScalingDecided(
        job=row.name,
        change_id=name_change(until_ms, f"small-scaler.{row.version}.{want}"),
        expected_version=row.version,
        set_json=f'{{"tasks":{want}}}',
        symptom="load",
        diagnosis="capacity",
        raw_tasks=want,
        final_tasks=want,
    )


def effects(row: SmallScalerRow) -> Iterator[Effect]:
    """Proposals and alerts that standing decisions owe."""
    for owed in row.owed:
        if owed.topic == ALERTS:
            body: Body = AlertRaised(
                row.name, "proposal-lapsed", "warning", owed.about, "proposal-lapsed"
            )
        else:
            expected, tasks = owed.about.split()
            body = ConfigChangeProposed(
                change_id=owed.id,
                job=row.name,
                expected_version=int(expected),
                set_json=f'{{"tasks":{tasks}}}',
                author="small-scaler",
            )
        yield Effect(owed.topic, owed.id, body)


def wake_ms(row: SmallScalerRow, now_ms: int) -> int | None:
    """When the last proposal's validity has passed, another may be made."""
    return row.retry_ms if row.retry_ms > now_ms else None


def dump(row: SmallScalerRow) -> object:
    """Plain JSON of the row, for keeping."""
    return [
        row.name,
        row.generation,
        row.alive,
        row.version,
        row.tasks,
        row.heard,
        row.open,
        row.lapsed,
        [[owed.topic, owed.id, owed.about] for owed in row.owed],
        row.retry_ms,
        dump_ingress(row.ingress),
    ]


def load(plain: Any) -> SmallScalerRow:
    """What `dump` wrote."""
    name, generation, alive, version, tasks, heard, opened, lapsed, owed, retry_ms, ingress = plain
    return SmallScalerRow(
        name,
        generation,
        alive,
        version,
        tasks,
        (heard[0], heard[1], heard[2]),
        None if opened is None else (opened[0], opened[1], opened[2]),
        lapsed,
        tuple(UnreadEffect(*one) for one in owed),
        retry_ms,
        load_ingress(ingress),
    )


component: Component[SmallScalerRow] = Component(
    name="small-scaler",
    logic="small-scaler/1",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, LOADS, ASKS, ALERTS}),
    folds=frozenset(
        {
            "TaskLoadReported",
            "ConfigChangeProposed",
            "AlertRaised",
            "ScalingDecided",
            "ScalingDeclined",
            "JobConfigChanged",
            "JobConfigRejected",
            "JobDeleted",
            "OverrideExpired",
        }
    ),
    says=frozenset({"ScalingDecided", "ScalingDeclined"}),
    fold=fold,
    decide=decide,
    effects=effects,
    wake_ms=wake_ms,
    dump=dump,
    load=load,
)
