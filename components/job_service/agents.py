"""The job service as a Faust worker."""

from __future__ import annotations

from components.job_service.decide import component
from components.runtime.agents import run
from components.runtime.settings import Settings


def serve(settings: Settings, instance: str | None) -> None:
    """Runs one worker until it is told to stop."""
    run(component, settings, instance)
