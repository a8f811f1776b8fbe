"""`python -m benchmarks NAME [--json] [--quick]`: figures, each beside a peer or a limit."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.children import ROOT, ChildFailed, end, python, start
from benchmarks.figures import Result, describe_machine, listing, load, say, table
from infra.kafka.errors import BrokerFailed, JavaUnavailable
from turbine.ops.traffic import BadTrace

MODULES = {
    "verdicts": "benchmarks.verdicts",
    "change-latency": "benchmarks.change_latency",
    "replay": "benchmarks.replay",
    "at": "benchmarks.at",
    "aged": "benchmarks.aged",
    "simulation": "benchmarks.simulation",
    "merge": "benchmarks.merge",
    "sync": "benchmarks.sync",
    "placement": "benchmarks.placement",
    "fleet": "benchmarks.fleet",
    "exclusivity": "benchmarks.exclusivity",
    "exactly-once": "benchmarks.exactly_once",
    "task": "benchmarks.task",
    "density": "benchmarks.density",
    "rescale": "benchmarks.rescale",
    "windows": "benchmarks.windows",
    "failover": "benchmarks.failover",
    "running": "benchmarks.running",
    "history": "benchmarks.history",
    "scaler": "benchmarks.scaler",
    "scoreboard": "benchmarks.scoreboard",
    "api": "benchmarks.api",
    "whatif": "benchmarks.whatif",
    "audit": "benchmarks.audit",
    "contract": "benchmarks.contract",
    "first-hour": "benchmarks.first_hour",
    "volume": "benchmarks.volume",
    "house": "benchmarks.house",
}
"""Each has `measure(quick)`. Loaded when it runs: one benchmark must not weigh on another."""
REPEATED = frozenset({"windows"})
"""These have `measure(quick, runs)`."""
PLAYED = frozenset({"scoreboard", "whatif"})
"""These have `measure(quick, traces, days)`."""
TIMED = frozenset({"house"})
"""These have `measure(quick, targets)`."""


def main(arguments: list[str] | None = None) -> int:
    """0; 1 where a benchmark of several failed, 2 where one cannot run here."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=[*MODULES, "all"])
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, to try it")
    parser.add_argument("--runs", type=int, metavar="N", help="how often, of `windows`")
    played = " and ".join(f"`{one}`" for one in sorted(PLAYED))
    parser.add_argument("--traces", type=Path, metavar="DIR", help=f"of CSV, of {played}")
    parser.add_argument("--days", type=int, metavar="N", help=f"of a trace, of {played}")
    whole = "a target of make that `house` runs"
    parser.add_argument("--timed", action="append", choices=["check", "test"], help=whole)
    given = parser.parse_args(arguments)
    if given.timed and given.name not in TIMED:
        parser.error(f"--timed is of {', '.join(sorted(TIMED))} alone")
    if given.runs is not None and (given.name not in REPEATED or given.runs < 1):
        parser.error(f"--runs is a number above 0, of {', '.join(sorted(REPEATED))} alone")
    if given.days is not None and (given.name not in PLAYED or given.days < 1):
        parser.error(f"--days is a number above 0, of {', '.join(sorted(PLAYED))} alone")
    if given.traces is not None and (given.name not in PLAYED or not given.traces.is_dir()):
        parser.error(f"--traces is a directory of CSV files, of {', '.join(sorted(PLAYED))} alone")
    if given.name == "all":
        return _run_all(quick=given.quick, as_json=given.json)
    before = load()
    try:
        asked = {"runs": given.runs, "traces": given.traces, "days": given.days}
        asked["targets"] = given.timed
        more = {name: value for name, value in asked.items() if value is not None}
        result: Result = import_module(MODULES[given.name]).measure(given.quick, **more)
    except (BrokerFailed, JavaUnavailable, ChildFailed, BadTrace) as failed:
        sys.stderr.write(f"benchmarks: {given.name}: {failed}\n")
        return 2
    if given.json:
        print(result.to_json(describe_machine(before)))
    else:
        if result.rows:
            print(listing(result.rows), end="\n\n")
        print(table([result]), *result.notes, sep="\n")
    return 0


def _run_all(*, quick: bool, as_json: bool) -> int:
    """Each in a process of its own, so that none inherits the memory of the last."""
    results, failed = [], 0
    for name in MODULES:
        say(f"--- {name}")
        line = _last_line(name, quick=quick)
        if line is None:
            failed += 1
            continue
        if as_json:
            print(line, flush=True)
        said = json.loads(line)
        results.append(Result(name, said["figures"], said["peers"], said["notes"]))
    if not as_json:
        print(table(results))
    return 1 if failed else 0


def _last_line(name: str, *, quick: bool) -> str | None:
    command = python("benchmarks", name, "--json", *(["--quick"] if quick else []))
    process = start(command, ROOT, sys.stderr.buffer, piped=True)
    try:
        said, _ = process.communicate()
    finally:
        code = end(process)
    if code:
        say(f"{name} failed with code {code}")
        return None
    return said.decode().splitlines()[-1]


if __name__ == "__main__":
    # A benchmark that is asked to end leaves no broker's directory behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
