"""`python -m turbine`: the command line, where no console script is on the path."""

from __future__ import annotations

import sys
from pathlib import Path

# Python puts the directory of who types it ahead of all: an events.py there would be taken for the
# room of that name. What lies beside this package goes before it.
sys.path.insert(0, str(Path(__file__).parents[1]))

from turbine.cli import main

sys.exit(main())
