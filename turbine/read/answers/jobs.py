"""Jobs: the list, with what each authority wants of them where that is asked for. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated

from events.job_config.merge import origins
from events.topics import LAYERS
from projections.jobs import Job
from turbine.read.answers.lines import JobLine
from turbine.read.answers.overrides import LayerEnd, ends_of
from turbine.read.plain import JsonObject, made, means, plain
from turbine.read.state.view import View

DECISIONS_SHOWN = 10
"""The last ones about a job that is shown in full."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one authority wants of a job, and who said so last."""

    version: int
    author: str
    reason: str
    change_id: str
    expires_ms: Annotated[int | None, means("When the first of its temporary changes ends.")]
    ends: tuple[LayerEnd, ...]
    config: JsonObject


@dataclass(frozen=True, slots=True)
class Layers:
    """What is expected of a job, and what each authority wants of it."""

    alive: bool
    versions: dict[str, int]
    expected: JsonObject
    origins: Annotated[dict[str, str], means("The layer that each value is from.")]
    layers: dict[str, Layer]


@dataclass(frozen=True, slots=True)
class ListedJob(JobLine):
    """A job in a list, with the whole of what is expected of it."""

    alive: bool
    versions: Annotated[dict[str, int], means("Of its layers.")]
    expected: JsonObject
    origins: Annotated[dict[str, str], means("The layer that each value is from.")]
    layers: dict[str, Layer]


def layers_of(job: Job) -> Layers:
    """What is wanted of a job, by whom; what a record holds as `…_json` is its value here."""
    configs = [json.loads(layer.config_json) for layer in job.layers]
    found = zip(LAYERS, job.layers, configs, strict=True)
    return Layers(
        alive=job.alive,
        versions=job.versions.to_plain(),
        expected=json.loads(job.expected_json),
        origins={path: LAYERS[at] for path, at in sorted(origins(configs).items())},
        layers={
            name: made(
                Layer,
                layer,
                ends=ends_of(layer),
                config=config,
            )
            for name, layer, config in found
        },
    )


def jobs(view: View, lines: Iterable[JobLine]) -> list[ListedJob]:
    """These jobs of a view, in the order of their lines."""
    return [_listed(view.jobs[line.job].job, line) for line in lines]


def _listed(job: Job, line: JobLine) -> ListedJob:
    found = layers_of(job)
    return made(ListedJob, line, **{one.name: getattr(found, one.name) for one in fields(found)})


def layers_row(job: Job) -> JsonObject:
    """A job's layers and what they add up to, as JSON under its name."""
    return {"job": job.name, **plain(layers_of(job))}
