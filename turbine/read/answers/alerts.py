"""Alerts: what needs a person, now and of late. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from turbine.monitoring.alerts import gravest
from turbine.views.view import AlertView, View

CLEARED_MOST = 100


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that needs a person."""

    alert: Annotated[str, Field(description="Which kind, such as job-quarantined.")]
    subject: Annotated[str, Field(description="The job or tier that it is about.")]
    severity: str
    cause: str
    runbook: Annotated[str, Field(description="The page that says what to do.")]
    since_ms: int
    cleared_ms: Annotated[int | None, Field(description="When it was over; null while it stands.")]
    explanation: Annotated[str, Field(description="Why it is over.")]
    id: Annotated[str, Field(description="Of the decision that raised it.")]
    position: str
    source: Annotated[str, Field(description="The component that raised it.")]


@dataclass(frozen=True, slots=True)
class Alerts:
    """Alerts that stand, and the last that were cleared, the newest first."""

    open: tuple[Alert, ...]
    cleared: tuple[Alert, ...]


def alert_of(found: AlertView) -> Alert:
    """One of a view's alerts."""
    return Alert(
        alert=found.kind,
        subject=found.subject,
        severity=found.severity,
        cause=found.cause,
        runbook=found.runbook,
        since_ms=found.since_ms,
        cleared_ms=found.cleared_ms,
        explanation=found.explanation,
        id=found.id,
        position=found.position,
        source=found.source,
    )


def alerts(view: View) -> Alerts:
    """All alerts that stand, and the last that were cleared."""
    cleared = tuple(alert_of(found) for found in view.cleared[:CLEARED_MOST])
    return Alerts(tuple(open_alerts(view)), cleared)


def open_alerts(view: View) -> list[Alert]:
    """The alerts that stand, the newest first."""
    found = sorted(view.alerts.values(), key=lambda each: (-each.since_ms, each.key))
    return [alert_of(each) for each in found]


def by_gravity(found: Iterable[AlertView]) -> list[Alert]:
    """The same, the gravest first."""
    return [alert_of(each) for each in sorted(found, key=gravest)]
