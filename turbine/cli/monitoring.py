"""`monitoring export`: the board and the alert rules of a fleet, for Grafana and Prometheus."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from turbine.cli.files import writing
from turbine.cli.output import tell, write
from turbine.exporter.board import board
from turbine.exporter.rules import rules
from turbine.failures import Code

BOARD, RULES = "turbine.json", "turbine-rules.yaml"


def export(*, out: Path | None = None, runbooks: str = "docs/runbooks") -> int:
    """Print Grafana's dashboard as JSON and Prometheus' alert rules as YAML.

    --out DIR: Into two files there; else on standard output.
    --runbooks BASE: Where the runbooks' pages are.
    """
    files = documents(runbooks)
    if out is None:
        for name, text in files.items():
            write(f"--- # {name}\n{text.rstrip()}")  # YAML, of which JSON is a part
        return Code.OK
    with writing(f"--out: {out}", "name a folder of yours"):
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text)
    tell(f"written: {', '.join(str(out / name) for name in files)}")
    return Code.OK


def documents(runbooks: str) -> dict[str, str]:
    """Both, by the names of their files."""
    head = "# Made by `turbine monitoring export`. Change turbine/exporter/rules.py instead.\n"
    told = yaml.safe_dump(rules(runbooks), sort_keys=False, allow_unicode=True, width=100)
    return {BOARD: json.dumps(board(), indent=2) + "\n", RULES: head + told}
