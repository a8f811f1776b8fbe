"""The state syncer as a Faust worker."""

from __future__ import annotations

from components.runtime.agents import run
from components.runtime.settings import Settings
from components.state_syncer.decide import component


def serve(settings: Settings, instance: str | None) -> None:
    """Runs one worker until it is told to stop."""
    run(component, settings, instance)
