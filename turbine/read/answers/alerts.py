"""Alerts: what needs a person, now and of late. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from turbine.read.answers.alert_kinds import gravest
from turbine.read.plain import made, means
from turbine.read.state.view import AlertView, View

CLEARED_MOST = 100


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that needs a person."""

    alert: Annotated[str, means("Which kind, such as job-quarantined.")]
    subject: Annotated[str, means("The job or tier that it is about.")]
    severity: str
    cause: str
    runbook: Annotated[str, means("The page that says what to do.")]
    since_ms: int
    cleared_ms: Annotated[int | None, means("When it was over; null while it stands.")]
    explanation: Annotated[str, means("Why it is over.")]
    id: Annotated[str, means("Of the decision that raised it.")]
    position: str
    source: Annotated[str, means("The component that raised it.")]


@dataclass(frozen=True, slots=True)
class Alerts:
    """Alerts that stand, and the last that were cleared, the newest first."""

    open: tuple[Alert, ...]
    cleared: tuple[Alert, ...]


def alert_of(found: AlertView) -> Alert:
    """One of a view's alerts."""
    return made(Alert, found, alert=found.kind)


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
