"""The scaling policy that docs/scaling.md shows, as `pip` would leave it in a folder."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"


def distribution(folder: Path, points: str = "steps = steps:Steps") -> Path:
    """The folder, in which whoever has it on its path finds the policy."""
    shown = PAGE.read_text(encoding="utf-8").partition("## A policy of your own")[2]
    (folder / "steps.py").write_text(shown.partition("```python\n")[2].partition("```")[0])
    about = folder / "steps_policy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: steps-policy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[turbine.policies]\n{points}\n")
    return folder
