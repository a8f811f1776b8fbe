"""Until when what stands in a layer holds, and what each end takes back. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from events.job_config.strict_json import split_path, write_path
from projections.jobs import LayerState
from turbine.read.differences import Difference, differences
from turbine.read.plain import made, means


@dataclass(frozen=True, slots=True)
class LayerEnd:
    """An instant at which temporary changes end, and what that changes in their layer."""

    expires_ms: int
    change_id: Annotated[str, means("Of the change that ends, the newest of several.")]
    author: str
    other_ids: Annotated[tuple[str, ...], means("Of older changes that end with it.")]
    differences: tuple[Difference, ...]


def ends_of(layer: LayerState) -> tuple[LayerEnd, ...]:
    """The ends that lie ahead, soonest first, each with what it changes."""
    found, before = [], json.loads(layer.config_json)
    for end in layer.ends:
        after = json.loads(end.config_json)
        found.append(made(LayerEnd, end, differences=tuple(differences(before, after))))
        before = after
    return tuple(found)


def until_by_path(layer: LayerState) -> dict[str, int]:
    """When the value at a path of the layer becomes another first; others hold for good."""
    found: dict[str, int] = {}
    for end in ends_of(layer):
        for other in end.differences:
            found.setdefault(other.path, end.expires_ms)
    return found


def until(ends: dict[str, int], path: str) -> int | None:
    """The end of a value: its own, or that of the object in which it lies."""
    keys = split_path(path)
    heads = (write_path(keys[:length]) for length in range(1, len(keys) + 1))
    return min((ends[head] for head in heads if head in ends), default=None)
