"""Asks axe-core what stands in the way of people who read by ear, by keys, or with tired eyes.

It lies beside this file, with its licence and its hash: fetched by npm it would be skipped where
npm or its registry is out of reach, and a check that is skipped is none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SOURCE = Path(__file__).parent / "vendor" / "axe.min.js"
WORST = ("serious", "critical")


def faults(page: Page) -> list[str]:
    """What is seriously wrong with the page as it stands, a line each."""
    # Run by the debugger's side, where the page's own policy does not forbid it.
    page.evaluate(SOURCE.read_text() + "\n;undefined")
    told: dict[str, Any] = page.evaluate("async () => await axe.run(document)")
    return [
        f"{one['id']}: {one['help']} at {each['target']} {each.get('failureSummary', '')[:300]}"
        for one in told["violations"]
        if one["impact"] in WORST
        for each in one["nodes"][:3]
    ]
