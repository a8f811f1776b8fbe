"""Knows a fleet that is nowhere: the same at each start, of any size, with any names, so that tests
see on the page what a real fleet shows rarely. Shapes are those of the API. Pure but for `now_ms`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

LAYERS = ("base", "provisioner", "scaler", "oncall")
COMPONENTS = ("job-service", "state-syncer", "task-service", "auto-scaler")
TIERS = ("default", "batch")
KINDS = ("ScalingDeclined", "JobConfigChanged", "SyncCommitted", "ScalingDecided", "AlertRaised")
CLASSES = dict(zip(KINDS, ("scaling", "config", "sync", "scaling", "alert"), strict=True))
MINUTE_MS = 60_000
STEADY = "its lag of 4 s is within the 60 s that it allows, and its tasks are 61 % busy"
DAMAGE = {3: "quarantined", 7: "failing", 11: "behind", 13: "syncing", 17: "paused"}


@dataclass(slots=True)
class Facts:
    """A fleet at a moment: whoever changes it, changes what the page shows next."""

    now_ms: int
    names: tuple[str, ...]
    text: str = "the input rises since 18:40 and 4 tasks cannot keep up"
    author: str = "ana"
    tasks_each: int = 6
    applied: list[Row] = field(default_factory=list)

    def alive(self, at_ms: int) -> list[str]:
        """Jobs are made one a second, the last one a moment ago."""
        first = self.now_ms - len(self.names) * 1000 - 20 * MINUTE_MS
        return [name for at, name in enumerate(self.names) if first + at * 1000 <= at_ms]

    def line(self, name: str, at_ms: int) -> Row:
        """A job in a list."""
        at = self.names.index(name)
        tasks = self.tasks_each + at % 9
        state = DAMAGE.get(at % 23, "running")
        bad = {"quarantined": 2, "failing": 1}.get(state, 0)
        running = 0 if state == "paused" else tasks - bad
        lag = None if at % 29 == 5 else round(2 + at % 7 + (240 if at % 31 == 2 else 0), 1)
        late = lag is not None and lag > 60
        state = "lagging" if late and state == "running" else state
        paused = [row for row in self.applied if row["job"] == name]
        return {
            "job": name,
            "state": "paused" if paused else state,
            "tasks": tasks,
            "running": running,
            "not_running": 0 if state == "paused" else tasks - running,
            "lagging": 3 if late else 0,
            "unhealthy": bad,
            "lag_seconds": lag,
            "lag_records": None if lag is None else int(lag * 1850),
            "rate_in": round(1850 * (1 + 0.4 * math.sin(at)), 1),
            "policy": "turbine",
            "mode": "advise" if at % 10 == 4 else "act",
            "tier": TIERS[at % 5 == 0],
            "priority": at % 4,
            "overrides": self._overrides(at),
            "alerts": 1 if bad else 0,
            "gravest": {"alert": "tasks-failing", "severity": "critical", "cause": self.text}
            if bad
            else None,
            "updated_ms": at_ms - at * 7000,
        }

    def _overrides(self, at: int) -> list[Row]:
        found = [{"path": "tasks", "layer": "scaler", "expires_ms": None}] if at % 3 == 0 else []
        if at % 12 == 0:
            ends = self.now_ms + 47 * MINUTE_MS
            found.append({"path": "tasks", "layer": "oncall", "expires_ms": ends})
        return found

    def lines(self, at_ms: int) -> list[Row]:
        """All of them."""
        return [self.line(name, at_ms) for name in self.alive(at_ms)]

    def fleet(self, at_ms: int) -> Row:
        """The three numbers and who makes them bad."""
        rows = self.lines(at_ms)
        wanted = sum(row["tasks"] for row in rows if row["state"] != "paused")

        def share(name: str) -> Row:
            many = sum(row[name] for row in rows)
            return {"count": many, "percent": round(100 * many / wanted, 3) if wanted else 0.0}

        bad = [row for row in rows if row["unhealthy"] or row["lagging"]]
        bad.sort(key=lambda row: (-row["unhealthy"], -row["lagging"], row["job"]))
        return {
            "at_ms": at_ms,
            "now_ms": at_ms,
            "totals": {
                "jobs": len(rows),
                "tasks_wanted": wanted,
                "tasks_running": sum(row["running"] for row in rows),
                "tasks_not_running": share("not_running"),
                "tasks_lagging": share("lagging"),
                "tasks_unhealthy": share("unhealthy"),
                "jobs_by_state": {},
            },
            "offenders": [row | {"why": self._why(row)} for row in bad[:20]],
            "alerts": self.alerts(at_ms),
            "tiers": [self.tier_line(name) for name in TIERS] if rows else [],
            "dead_letters": 2,
        }

    def _why(self, row: Row) -> str:
        said = f"{row['lagging'] or row['unhealthy']} of {row['tasks']} tasks "
        return f"{row['state']}, {said}{'lag' if row['lagging'] else 'fail'}"

    def alerts(self, at_ms: int) -> list[Row]:
        """One for each job that is in trouble."""
        kinds = {"quarantined": ("job-quarantined", "critical"), "failing": ("tasks-failing", "")}
        found = []
        for row in self.lines(at_ms):
            if row["state"] in kinds:
                alert, severity = kinds[row["state"]]
                at = self.names.index(row["job"])
                found.append(
                    {
                        "alert": alert,
                        "subject": row["job"],
                        "severity": severity or "warning",
                        "cause": self.text,
                        "runbook": f"docs/runbooks/{alert}.md",
                        "since_ms": at_ms - (at + 1) * 3 * MINUTE_MS,
                        "cleared_ms": None,
                        "id": f"decision-{at}",
                        "position": f"journal.v1/{at % 16}:{at}",
                    }
                )
        return found[:12]

    def resources(self) -> Row:
        """Of a tier."""
        return {
            "cpu": {"capacity": 96.0, "reserved": 61.5, "reserved_share": 0.6406, "used": 58.2,
                    "used_share": 0.6063, "left": 34.5, "lent": 0.0, "borrowed": 0.0,
                    "lacking": 0.0},
            "memory": {"capacity": 412e9, "reserved": 371e9, "reserved_share": 0.9005,
                       "used": 340e9, "used_share": 0.8252, "left": 41e9, "lent": 0.0,
                       "borrowed": 0.0, "lacking": 0.0},
        }  # fmt: skip

    def tier_line(self, tier: str) -> Row:
        """A tier in the fleet's summary."""
        return {
            "tier": tier,
            "state": "tight" if tier == "batch" else "normal",
            "containers": {"running": 23, "draining": 1} if tier == "default" else {"running": 8},
            "shards": {"held": 250, "adding": 4, "dropping": 2},
            "resources": self.resources(),
            "jobs": len(self.names),
            "jobs_waiting": 3 if tier == "batch" else 0,
            "preempted": [],
        }

    def journal(self, at_ms: int, job: str | None = None) -> list[Row]:
        """Decisions, newest first; those of the auto scaler repeat themselves."""
        names = [job] if job else self.alive(at_ms)[:60]
        found = []
        for at in range(240):
            name = names[at // 12 % len(names)] if names else ""
            kind = KINDS[0] if at % 12 < 8 else KINDS[1 + at % 4]
            found.append(self.entry(name, kind, at, at_ms - at * 20_000))
        return [row for row in found if row["job"]]

    def entry(self, job: str, kind: str, at: int, at_ms: int) -> Row:
        """One decision as an entry of the journal."""
        component = {"J": COMPONENTS[0], "S": COMPONENTS[3], "A": COMPONENTS[1]}[kind[0]]
        summary = f"settled: {STEADY}" if kind == KINDS[0] else f"{self.author}: {self.text}"
        return {
            "id": f"decision-{at}",
            "kind": kind,
            "job": job,
            "tier": None,
            "stands": at % 37 != 9,
            "position": f"journal.v1/{at % 16}:{10_000 - at}",
            "at_ms": at_ms,
            "change_id": f"{at_ms}.change",
            "component": "state-syncer" if kind == "SyncCommitted" else component,
            "summary": summary,
            "body": self.body(kind, job),
        }

    def body(self, kind: str, job: str) -> Row:
        """What a decision says."""
        base: Row = {"job": job, "explanation": self.text, "reason": ""}
        match kind:
            case "ScalingDecided":
                return base | {"action": "scale-up", "final_tasks": 8, "mode": "act"}
            case "ScalingDeclined":
                return base | {"reason": "settled", "explanation": STEADY}
            case "AlertRaised":
                return base | {"alert": "straggler", "subject": job, "cause": self.text}
            case "JobConfigChanged":
                return base | {"layer": "base", "version": 4, "author": self.author}
            case _:
                return base
