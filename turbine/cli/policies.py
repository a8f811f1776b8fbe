"""`describe policy`: what a scaling policy lets itself be told."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from events.job_config.policies.table import SETTINGS
from events.job_config.strict_json import canonical_json, shorten
from turbine.cli.columns import listed
from turbine.cli.options import Shown
from turbine.cli.output import show
from turbine.failures import Code, Failed
from turbine.read.answers.policies import rows_of


def describe_policy(
    name: Annotated[str, Argument(metavar="NAME", help="Such as turbine, flink or keda.")],
    output: Shown = "table",
) -> int:
    """Show the settings of a scaling policy: defaults, what they may be, what they mean."""
    if name not in SETTINGS:
        known = ", ".join(SETTINGS)
        raise Failed(Code.NOT_FOUND, f"there is no policy {shorten(name)}; use one of {known}")
    rows = rows_of(name)
    return show(
        {"policy": name, "settings": rows},
        output,
        lambda: listed(
            rows,
            "SETTING, DEFAULT, VALUES, MEANING",
            {"DEFAULT": lambda row: canonical_json(row["default"])},
        ),
    )
