"""`python -m benchmarks NAME [--json] [--quick]`: figures, each beside a peer or a limit."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from importlib import import_module

from benchmarks.children import ROOT, ChildFailed, end, python, start
from benchmarks.figures import Result, describe_machine, load, say, table
from infra.kafka.errors import BrokerFailed, Unavailable

MODULES = {
    "verdicts": "benchmarks.verdicts",
    "change-latency": "benchmarks.change_latency",
    "replay": "benchmarks.replay",
    "simulation": "benchmarks.simulation",
    "merge": "benchmarks.merge",
    "sync": "benchmarks.sync",
    "placement": "benchmarks.placement",
}
"""Each has `measure(quick)`. Loaded when it runs: one benchmark must not weigh on another."""


def main(arguments: list[str] | None = None) -> int:
    """0; 1 where a benchmark of several failed, 2 where one cannot run here."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=[*MODULES, "all"])
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, to try it")
    given = parser.parse_args(arguments)
    if given.name == "all":
        return _run_all(quick=given.quick, as_json=given.json)
    before = load()
    try:
        result: Result = import_module(MODULES[given.name]).measure(given.quick)
    except (BrokerFailed, Unavailable, ChildFailed) as failed:
        sys.stderr.write(f"benchmarks: {given.name}: {failed}\n")
        return 2
    if given.json:
        print(result.to_json(describe_machine(before)))
    else:
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
