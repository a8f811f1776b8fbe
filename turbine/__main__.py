"""`python -m turbine`: the command line, where no console script is on the path."""

from __future__ import annotations

import sys

from turbine.cli import main

sys.exit(main())
