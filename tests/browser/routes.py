"""Knows the pages of the dashboard, and what each says of the fleet that is nowhere."""

from __future__ import annotations

FACTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fleet": (
        "",
        (
            "of tasks not running",
            "Worst offenders",
            "job-quarantined",
            "3 jobs waiting",
            "The last day",
            "What changed in the last hour",
            "1 to look at",
        ),
    ),
    "jobs": ("jobs", ("clicks.002", "4 min", "50 of 100", "Next page")),
    "job": ("jobs/clicks.000", ("Over time", "scale-up to 8 tasks", "overridden by hand")),
    "tasks": ("jobs/clicks.000?tab=tasks", ("6 tasks by lag", "restarting", "3 min 2 s")),
    "logs": ("jobs/clicks.000?tab=logs&task=5", ("Its last failure", "clicks.py", "line 59")),
    "config": ("jobs/clicks.000?tab=config", ("package.version", "provisioner", "ends in 46 min")),
    "decisions": ("jobs/clicks.000?tab=decisions", ("ScalingDeclined", "same reason \u00d7 8")),
    "why-not": ("jobs/clicks.000?tab=why-not", ("Why is it not scaled?", "turbine")),
    "decision": (
        "decisions/decision-3",
        ("lag-rises", "slow-down", "not taken: memory-up", "8 records", "loads.v1/4"),
    ),
    "decision of a sync": (
        "decisions/decision-1",
        ("What it rests on", "TaskStarted", "tasks.v1/4:77", "SyncStepDone"),
    ),
    "placement": ("placement", ("1 of 24 out of band", "0.61 to 1.34", "c-23", "draining")),
    "moves": ("placement?view=moves", ("c-09", "added", "3.1 s")),
    "shards": ("placement?view=shards", ("100 of 256", "held")),
    "journal": ("journal", ("same reason \u00d7 8", "auto-scaler", "void")),
    "what-if": ("whatif?job=clicks.000", ("Nothing is sent to the fleet", "settings of turbine")),
    "scoreboard": (
        "scoreboard",
        ("all traces", "evening peak", "that Turbine comes with"),
    ),
    "contract": ("contract", ("turbine.outcomes.v1", "change_id", "How to")),
    "platform": ("platform", ("auto-scaler", "foreign-partitioner", "14 s")),
    "runbook": ("runbooks/tasks-failing", ("operator-error", "Offsets that are gone")),
    "runbook-of": (
        "runbooks/job-quarantined?job=clicks.003",
        ("turbine describe job clicks.003",),
    ),
}
"""By name: the route, and words that are to be read there."""

ROUTES = {name: route for name, (route, _) in FACTS.items()}
EMPTY = {
    "": "No job was ever asked for",
    "jobs": "There are no jobs at this instant",
    "journal": "Nothing was decided up to this instant",
    "scoreboard": "There is none; start it with",
    "jobs/nobody": "there is no job nobody",
}
"""What is said where there is nothing."""
ASKS = {
    "": "fleet",
    "jobs": "jobs",
    "jobs/clicks.000": "jobs",
    "decisions/decision-3": "decisions",
    "placement": "tiers",
    "journal": "journal",
    "scoreboard": "scoreboard",
    "contract": "contract",
    "platform": "platform",
}
"""By route, the first word of what is asked of the API for it."""
