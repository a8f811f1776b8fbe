"""Runs seeds of the simulation: reads a number a line, and answers each with a line."""

from __future__ import annotations

import json
import sys

from simulation.run import run_seed


def main() -> None:
    for line in sys.stdin:
        outcome = run_seed(int(line))
        said = {
            "seed": outcome.seed,
            "digest": outcome.digest,
            "faults": outcome.faults,
            "failed": bool(outcome.violations),
        }
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
