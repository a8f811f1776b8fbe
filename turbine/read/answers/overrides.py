"""Until when what stands in a layer holds, and what each end takes back. Pure."""

from __future__ import annotations

import json
from typing import Any

from events.job_config.strict_json import split_path, write_path
from projections.jobs import LayerState
from turbine.read.differences import differences

Row = dict[str, Any]


def ends_of(layer: LayerState) -> list[Row]:
    """The ends that lie ahead as JSON, soonest first, each with what it changes."""
    found, before = [], json.loads(layer.config_json)
    for one in layer.ends:
        after = json.loads(one.config_json)
        found.append(
            {
                "expires_ms": one.expires_ms,
                "change_id": one.change_id,
                "author": one.author,
                "other_ids": [*one.other_ids],
                "differences": [other.to_plain() for other in differences(before, after)],
            }
        )
        before = after
    return found


def until_by_path(layer: LayerState) -> dict[str, int]:
    """When the value at a path of the layer becomes another first; others hold for good."""
    found: dict[str, int] = {}
    for one in ends_of(layer):
        for other in one["differences"]:
            found.setdefault(other["path"], one["expires_ms"])
    return found


def until(ends: dict[str, int], path: str) -> int | None:
    """The end of a value: its own, or that of the object in which it lies."""
    keys = split_path(path)
    heads = (write_path(keys[:length]) for length in range(1, len(keys) + 1))
    return min((ends[head] for head in heads if head in ends), default=None)
