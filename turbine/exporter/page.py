"""The tables of docs/monitoring.md: `python -m turbine.exporter.page docs/monitoring.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from turbine.exporter.catalogue import OF_FLEET, OF_PROCESS, Family
from turbine.exporter.files import Rule, rules

_BETWEEN = re.compile(r"(<!-- ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def of_families(families: tuple[Family, ...]) -> str:
    """The families as a table."""
    lines = ["| family | type | labels | what it says |", "| --- | --- | --- | --- |"]
    for one in families:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        lines.append(f"| `{one.name}` | {one.sort} | {labels} | {one.means} |")
    return "\n".join(lines)


def of_rules(some: tuple[Rule, ...]) -> str:
    """The rules of a group as a table."""
    lines = ["| alert | when | for | severity | runbook |", "| --- | --- | --- | --- | --- |"]
    for rule in some:
        expr, page = rule.expr.replace("|", "\\|"), rule.runbook
        link = f"[{page}](runbooks/{page}.md)"
        lines.append(f"| {rule.name} | `{expr}` | {rule.lasting} | {rule.severity} | {link} |")
    return "\n".join(lines)


TABLES = {
    "fleet": of_families(OF_FLEET),
    "process": of_families(OF_PROCESS),
    **{name: of_rules(some) for name, some in rules().items()},
}


def written(page: str) -> str:
    """The page with its tables as they are now, each between its marks."""

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}{TABLES[found[2]]}\n{found[3]}"

    return _BETWEEN.sub(table, page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
