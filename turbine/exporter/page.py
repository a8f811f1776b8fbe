"""The tables of docs/monitoring.md: `python -m turbine.exporter.page docs/monitoring.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from turbine.exporter import catalogue, rules

TABLES = {
    "fleet": catalogue.table(catalogue.OF_FLEET),
    "process": catalogue.table(catalogue.OF_PROCESS),
    **{name: rules.table(some) for name, some in rules.GROUPS},
}
_BETWEEN = re.compile(r"(<!-- ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def written(page: str) -> str:
    """The page with its tables as they are now, each between its marks."""

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}{TABLES[found[2]]}\n{found[3]}"

    return _BETWEEN.sub(table, page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
