"""How fast every decision of a log is made again, in how much memory, and what is found by it."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.audit_planted import PLANTED, found_of
from benchmarks.audit_quiet import quiet_cores
from benchmarks.audit_story import DAY_S, Script
from benchmarks.children import answers, ask, python, running
from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from benchmarks.replay import timed_by_author

PARTITIONS = 4
ROUNDS, QUICK_ROUNDS = 3, 1
FLEET = 1_000
"""Jobs of the day."""
JOBS = 100
"""Of each partition, of the log that is mostly decisions."""
ROLLOUTS = 5_000
"""Of each partition; each is a proposal and three decisions."""
GROWN = 4
"""How many times as long the log is in which memory is looked at again."""


@dataclass(frozen=True, slots=True)
class Log:
    """What a log was made of, and what its audits said."""

    kinds: Counter[str]
    runs: list[Any]

    def median(self, what: str) -> float:
        """Of the rounds."""
        return float(median(said[what] for said in self.runs))

    def per_s(self, what: str, seconds: str = "seconds") -> float:
        """A median rate."""
        return float(median(said[what] / said[seconds] for said in self.runs))


def measure(quick: bool) -> Result:
    """Decisions, then the same four times as long, then a day, each on a broker of its own."""
    part = 10 if quick else 1
    rounds = QUICK_ROUNDS if quick else ROUNDS
    rollouts = ROLLOUTS // part
    decisions = _audited("decisions", _rollouts(rollouts), rounds, profile=True)
    grown = _audited("four times as many", _rollouts(GROWN * rollouts), 1)
    day = _audited("a day", _day(part), 1)
    found = found_of()
    say(f"planted: {sum(found.values())} of {len(PLANTED)} found")
    logs = {"decisions": decisions, "grown": grown, "day": day}
    quiet = quiet_cores(part)
    figures = {
        "decisions_per_s": decisions.per_s("decisions"),
        "records_per_s": day.per_s("records"),
        "mismatches": sum(
            said["decisions"] - said["verdicts"].get("same", 0)
            for log in logs.values()
            for said in log.runs
        ),
        "planted_found": sum(found.values()),
        "planted": len(PLANTED),
        "decisions_per_cpu_s": decisions.per_s("decisions", "cpu_s"),
        "records_per_cpu_s": day.per_s("records", "cpu_s"),
        "peak_mb": decisions.median("peak_mb"),
        "peak_mb_grown": grown.median("peak_mb"),
        "peak_mb_day": day.median("peak_mb"),
        **({} if quiet is None else {"quiet_cores": quiet}),
    }
    return Result("audit", figures, {}, list(_notes(logs, found, part)))


def _rollouts(each: int) -> Script:
    """Versions are rolled out, and nobody reports a load."""
    per_s = 5.0
    return _script(JOBS, round(each / per_s), per_s, loads=False)


def _day(part: int) -> Script:
    """Each job's load once a minute, and two rollouts of each a day."""
    jobs = FLEET // PARTITIONS
    return _script(jobs, DAY_S // part, 2 * jobs / DAY_S, loads=True, tasks=1)


def _script(
    jobs: int, seconds: int, rollouts_per_s: float, *, loads: bool, tasks: int = 4
) -> Script:
    start_ms = int(time.time() - seconds - 60) * 1000
    return Script(jobs, seconds, rollouts_per_s, loads, start_ms, tasks)


def _audited(name: str, script: Script, rounds: int, *, profile: bool = False) -> Log:
    with install(topics=timed_by_author(), partitions=PARTITIONS) as site:
        kinds = _write(site, script)
        say(f"{name}: {kinds.total()} records written")
        runs = []
        for number in range(rounds):
            runs.append(said := _read(site, "audit"))
            rate = said["decisions"] / said["seconds"]
            say(
                f"{name}, round {number + 1}: {said['records']} records, {rate:,.0f} decisions/s,"
                f" {said['decisions'] / said['cpu_s']:,.0f} a CPU second, {said['peak_mb']:.0f} MB"
            )
            assert said["records"] == kinds.total(), f"{said['records']} of {kinds.total()} read"
        if profile:
            runs[-1]["top"] = _read(site, "profile")["top"]
    return Log(kinds, runs)


def _write(site: Installation, script: Script) -> Counter[str]:
    """Writes the log with a process a core."""
    cores, kinds = os.cpu_count() or 1, Counter[str]()
    told = json.dumps(asdict(script))
    with ExitStack() as stack:
        started = []
        for first in range(min(cores, PARTITIONS)):
            command = python(
                *("benchmarks.audit_story", site.settings.bootstrap, PARTITIONS, first, cores, told)
            )
            name = f"story-{first}"
            started.append((name, stack.enter_context(running(name, command, site.directory))))
        for name, process in started:
            for found in answers(name, process, site.directory):
                kinds.update(found)
    return kinds


def _read(site: Installation, way: str) -> Any:
    command = python("benchmarks.audit_reader", site.settings.bootstrap, PARTITIONS, way)
    return ask(f"audit-{way}", command, site.directory)


def _notes(logs: Mapping[str, Log], found: Mapping[str, bool], part: int) -> Iterator[str]:
    for name, log in logs.items():
        mix = ", ".join(f"{kind} {n}" for kind, n in log.kinds.most_common())
        said = log.runs[0]
        share = 100 * said["decisions"] / said["records"]
        yield f"{name}: {said['records']} records, {share:.0f} % decisions: {mix}"
    yield (
        f"the day is {24 / part:g} h of {FLEET} jobs of one task or more in {PARTITIONS}"
        " partitions, with a tick a second in each; containers and shards are not in it"
    )
    missed = [name for name, known in found.items() if not known]
    yield f"planted: {', '.join(found)}" + (f"; not found: {missed}" if missed else "")
    top = logs["decisions"].runs[-1].get("top", [])
    yield "own time under cProfile: " + "; ".join(top)
