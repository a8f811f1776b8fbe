"""What a command that asks for the past may start from: rows of a frame that another keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from components.runtime.component import Component
from components.runtime.settings import BadSettings
from components.runtime.store import Restored
from turbine.log import Log
from turbine.views.cache import IDENTITY, Cache, Framed, Spoilt
from turbine.views.opening import DIRECTORY, check, identity_of

R = TypeVar("R")

WORTH = 50_000
"""Records to be folded, from which on looking for a frame costs less than it saves."""


def rows_before(
    log: Log, name: str, view: Component[R], end: Mapping[str, int], worth: int = WORTH
) -> Restored[R]:
    """All rows of that name as they stood at the nearest frame; nothing where there is none that
    fits. Nothing is kept or thrown away here: that is for who follows the log."""
    ours = {at: n for at, n in end.items() if at.partition("/")[0] in view.inputs}
    if sum(ours.values()) < worth:
        return Restored()
    try:
        directory = log.settings.directory / DIRECTORY
    except BadSettings:  # a log in a file
        return Restored()
    if not (directory / IDENTITY).exists():
        return Restored()
    cache = Cache(directory, identity_of(log), reading=True)
    try:
        check(cache, log)
        frame = cache.nearest(end, view.inputs)
        if frame is None:
            return Restored()
        seen = {at: n for at, n in frame.seen.items() if at.partition("/")[0] in view.inputs}
        return Restored(Framed(cache, frame, whole=True).rows(name), seen)
    except Spoilt:
        return Restored()
    finally:
        cache.close()
