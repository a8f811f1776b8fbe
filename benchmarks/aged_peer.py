"""The peer of `aged`: the same container, which takes nothing that was kept and folds from 0."""

from __future__ import annotations

import os
import sys
from unittest.mock import patch

from components.task_manager.last_lives import KeptLife
from turbine.ops.container import main


def start_from_0() -> int:
    """As where nobody ever kept anything."""
    rows, lives = "components.task_manager.reader.look", "components.task_manager.last_lives"
    with (
        patch(rows, lambda *_: {}),
        patch(f"{lives}.look", lambda *_: KeptLife()),
        patch(f"{lives}.keep_since", lambda *_: None),  # it would tell others to read as far
    ):
        return main()


if __name__ == "__main__":
    code = start_from_0()
    sys.stderr.flush()
    os._exit(code)  # as the container itself: threads that wait for a broker are not waited for
