"""What the log says at an instant, for commands that show the fleet as it is or was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbine.cli.moments import Moment
    from turbine.log import Log
    from turbine.views.view import View


@contextmanager
def viewed(log: Log, moment: Moment | None) -> Iterator[View]:
    """Of now, or of then. Jobs are fetched as they are looked at, so what it is begun from stays
    open for as long."""
    from turbine.cli.moments import position_at
    from turbine.views.opening import open_cache
    from turbine.views.past import view_at
    from turbine.views.source import topics_of

    held = log.held() if moment is None else None
    if held is not None:
        yield held
        return
    topics = topics_of(log)
    end = log.ends(log.places(topics)) if moment is None else position_at(log, moment, topics)
    cache = open_cache(log)
    try:
        yield view_at(log, end, cache)
    finally:
        cache.close()
