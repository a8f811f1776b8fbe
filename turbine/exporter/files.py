"""The board and the alert rules of a fleet, as Grafana and Prometheus read them.

Both lie beside this module and are changed there. Tests hold what they ask for against the families
of the exporter, and the rules of `turbine-log` against the alerts that components raise.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import yaml

HOME = Path(__file__).parent
BOARD, RULES = "turbine.json", "turbine-rules.yaml"
RUNBOOKS = "docs/runbooks"
"""Where the pages of the runbooks are, as the file of the rules has it."""


class Rule(NamedTuple):
    """One alert of Prometheus, as its file has it."""

    name: str
    expr: str
    lasting: str  # how long it has to hold
    severity: str
    runbook: str  # name of its page
    summary: str


def documents(runbooks: str = RUNBOOKS) -> dict[str, str]:
    """The texts of both files by their names, with the runbooks at another place."""
    board, rules = ((HOME / name).read_text(encoding="utf-8") for name in (BOARD, RULES))
    base = json.dumps(f"{runbooks.rstrip('/')}/")[:-1]  # a text of JSON is one of YAML
    return {BOARD: board, RULES: rules.replace(f'"{RUNBOOKS}/', base)}


def rules() -> dict[str, tuple[Rule, ...]]:
    """The rules of each group, in the order of the file."""
    groups = yaml.safe_load(documents()[RULES])["groups"]
    return {
        group["name"]: tuple(
            Rule(
                rule["alert"],
                rule["expr"],
                rule["for"],
                rule["labels"]["severity"],
                PurePosixPath(rule["annotations"]["runbook_url"]).stem,
                rule["annotations"]["summary"],
            )
            for rule in group["rules"]
        )
        for group in groups
    }
