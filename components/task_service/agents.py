"""The task service as a Faust worker."""

from __future__ import annotations

from components.runtime.agents import run
from components.runtime.settings import Settings
from components.task_service.decide import component


def serve(settings: Settings, instance: str | None) -> None:
    """Runs one worker until it is told to stop."""
    run(component, settings, instance)
