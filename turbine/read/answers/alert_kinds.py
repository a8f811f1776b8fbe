"""Which alerts there are: those that components raise in the log, each with who raises it. Pure.

An alert is a record: it is raised once and cleared once, whoever looks. A rule of Prometheus only
passes it on to whoever is on call, with the page of its runbook.
"""

from __future__ import annotations

from typing import NamedTuple

from components.auditor.decide import ALERT as AUDIT_DIFFERS
from components.auto_scaler.core.words import SEVERITY
from components.capacity_manager.decide import SHORTAGE
from components.shard_manager.decide import UNPLACED
from events.generated.records import Severity
from projections.fleet_folds import MASS_FAILURE
from projections.scaling.row import OWN_ALERTS
from projections.syncs import FAILING, QUARANTINED, UNLISTED
from turbine.read.state.view import AlertView

SEVERITIES = ("critical", "warning", "info", "unknown")
"""The gravest first."""


def gravest(one: AlertView) -> tuple[int, int, str]:
    """The order of alerts: the gravest, then the newest."""
    return SEVERITIES.index(one.severity), -one.since_ms, one.key


class Kind(NamedTuple):
    """One alert that stands in the log while it holds."""

    name: str
    severity: Severity
    component: str
    means: str

    @property
    def runbook(self) -> str:
        """Its page, as records name it."""
        return f"docs/runbooks/{self.name}.md"


MEANS = {
    "straggler": "one task lags for where it runs, not for what it reads",
    "hot-partition": "few tasks lag, for they are given more than the others",
    "stuck-partition": "nothing is read of a partition that has records",
    "dependency-slow": "all tasks wait for something that they call",
    "out-of-memory": "a task ran out of memory, and has the most that one may have",
    "scaling-advised": "a policy that only advises would change the size of a job",
}

RAISED: tuple[Kind, ...] = (
    Kind(QUARANTINED, "critical", "state-syncer", "a job's config was given up after three tries"),
    Kind(FAILING, "critical", "state-syncer", "tasks fail for good, or again and again"),
    Kind(UNLISTED, "critical", "task-service", "no list of tasks can be made of a job's config"),
    *(
        Kind(name, SEVERITY.get(name, "warning"), "auto-scaler", MEANS[name])
        for name in sorted(OWN_ALERTS)
    ),
    Kind(UNPLACED, "critical", "shard-manager", "shards have no container: their tasks do not run"),
    Kind(MASS_FAILURE, "critical", "shard-manager", "so many containers are silent that none is"
         " failed over before a person says so"),
    Kind(AUDIT_DIFFERS, "critical", "auditor", "a decision, made again, comes out otherwise"),
    Kind(SHORTAGE, "critical", "capacity-manager", "jobs reserve more than their tier holds"),
)  # fmt: skip
"""Alerts of the journals: they stand until they are cleared."""
UNREADABLE = Kind(
    "unreadable-decision",
    "critical",
    "publisher",
    "a decision stands that a build cannot read, and its job is frozen for that build",
)
"""Told to the world alone: it holds for one build, and the log of all has no such thing."""
BY_NAME = {kind.name: kind for kind in RAISED}
OTHER = "other"
"""Of what another build raises: label values are bounded."""
