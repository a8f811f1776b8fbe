"""The tables of docs/monitoring.md: `python -m turbine.exporter.page docs/monitoring.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from prometheus_client import Counter, Gauge

from components.runtime.process import metrics
from turbine.exporter.catalogue import OF_FLEET, Family, counter, gauge
from turbine.exporter.files import Rule, rules

_BETWEEN = re.compile(r"(<!-- ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def of_process() -> tuple[Family, ...]:
    """The families that every component has, which says them of itself with `--metrics-port`."""
    declared = [one for one in vars(metrics).values() if isinstance(one, Counter | Gauge)]
    return tuple(
        counter(f"{told.name}_total", told.documentation, *one._labelnames)
        if isinstance(one, Counter)
        else gauge(told.name, told.documentation, *one._labelnames)
        for one in declared
        for told in one.describe()
    )


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
    "process": of_families(of_process()),
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
