"""Where each task was seen last and what failed, as the views have noted it. Pure."""

from __future__ import annotations

from typing import Any

from projections.reports import Report
from turbine.running import Sightings, failure_to_plain
from turbine.views.view import JobView


class Noted(Sightings):
    """One job's sightings, which its view knows already."""

    def __init__(self, seen: JobView) -> None:
        super().__init__()
        self._notes = seen.notes

    def seen(self, job: str, task: int, report: Report) -> tuple[str, int] | None:
        """The container and the instant of that report."""
        del job
        found = self._notes.seen.get(task)
        return (found[1], report.at_ms) if found is not None and found[0] == report else None

    def failures(self, job: str) -> list[dict[str, Any]]:
        """The last plans without effect, the newest last."""
        del job
        return [failure_to_plain(body, at_ms) for body, at_ms in self._notes.failures]
