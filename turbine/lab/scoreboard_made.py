"""How a scoreboard was made: of which traces, when, by which command.

Who is shown a board that was made elsewhere has to be able to make it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from shlex import join
from typing import Any

from turbine.lab.scoreboard import Question

Row = dict[str, Any]
DIRECTORY = "DIR"
"""Where traces lay is nobody else's business: one is known by what is in it."""


def made_of(asked: Sequence[Question], policies: Sequence[str], command: str, at_ms: int) -> Row:
    """How the rows were made, told beside them."""
    paths = {one["case"]: Path(one["path"]) for one in asked if "path" in one}
    cases = dict.fromkeys(one["case"] for one in asked)
    return {
        "at_ms": at_ms,
        "turbine": version("turbine"),
        "command": command,
        "policies": list(policies),
        "scenarios": [name for name in cases if name not in paths],
        "traces": [
            {"trace": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for name, path in sorted(paths.items())
        ],
    }


def command_of(options: Mapping[str, object]) -> str:
    """As it was typed, but for where files lay; an option without a value is left out."""
    words = ["turbine", "scoreboard"]
    for name, value in options.items():
        many = value if isinstance(value, list | tuple) else [value]
        for one in many:
            if one is True:
                words.append(name)
            elif one not in (None, False):
                shown = DIRECTORY if name == "--traces" else Path(str(one)).name
                words += [name, shown]
    return join([*words, "-o", "json"])
