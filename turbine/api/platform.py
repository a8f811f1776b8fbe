"""`/platform`: how the control plane itself does, as far as its own log tells."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from turbine.api.asking import Seen
from turbine.api.problems import told
from turbine.read.answers import platform as of_platform

router = APIRouter(tags=["platform"], responses=told(422, 503))


@router.get("/platform", response_model=of_platform.Platform, summary="How the control plane does")
def platform(seen: Seen) -> Any:
    """Each component's last decision, how far running is from expected, what could not be read, and
    how far this server has read."""
    desk = seen.desk
    return of_platform.platform(seen.view, desk.reading.log, desk.feed.readers)
