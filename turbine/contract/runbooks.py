"""What to do about alerts, where the dashboard finds it: the pages of docs/runbooks in one file.

`python -m turbine.contract.runbooks` writes it; a test holds it against the pages. They lie beside
the page rather than behind a link, since at night the place that a link leads to may be down, too.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PAGES = HERE.parent / "docs" / "runbooks"
FILE = HERE / "dashboard" / "runbooks.json"


def text() -> str:
    """The file as it should be: each page by its name."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    return json.dumps(pages, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    """Writes the page's copy of all runbooks."""
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
