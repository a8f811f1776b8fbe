"""How fast a whole log is folded, and how far that is from only reading and decoding it."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from statistics import median
from types import MappingProxyType
from typing import Any

from benchmarks.children import answers, ask, python, running
from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from benchmarks.recorded import JOBS
from events.topics import TOPICS, Topic

SECONDS, QUICK_SECONDS = 3_040, 300
"""Of recorded time: at 165 records a second, half a million and fifty thousand."""
ROUNDS = 3


def measure(quick: bool) -> Result:
    """Each way in turns, so that a neighbour's load falls on all; medians of the rounds."""
    seconds = QUICK_SECONDS if quick else SECONDS
    with install(topics=timed_by_author()) as site:
        kinds = write_recording(site, seconds)
        records = sum(kinds.values())
        runs: dict[str, list[Any]] = defaultdict(list)
        for number in range(ROUNDS):
            for way in ("bare", "folded", "decoded"):
                said = _read(site, way)
                assert said["records"] == records, f"{way} read {said['records']} of {records}"
                runs[way].append(said)
            say(f"round {number + 1} of {ROUNDS}: {_rates(runs, -1)}")
        profile = _read(site, "profile")
    return Result("replay", _figures(runs), _peers(runs), [*_notes(kinds, seconds, profile)])


def timed_by_author() -> list[Topic]:
    """Topics that keep the times of the recording: written in a minute, it tells of an hour."""
    config = {"message.timestamp.type": "CreateTime"}
    return [replace(one, config=MappingProxyType({**one.config, **config})) for one in TOPICS]


def write_recording(site: Installation, seconds: int) -> Counter[str]:
    """Writes the log with a process a core."""
    start_ms = int(time.time() - seconds - 60) * 1000
    cores, kinds = os.cpu_count() or 1, Counter[str]()
    with ExitStack() as stack:
        started = []
        for first in range(cores):
            command = python(
                "benchmarks.recorded", site.settings.bootstrap, first, cores, seconds, start_ms
            )
            name = f"recorded-{first}"
            started.append((name, stack.enter_context(running(name, command, site.directory))))
        for name, process in started:
            for found in answers(name, process, site.directory):
                kinds.update(found)
    say(f"{sum(kinds.values())} records written")
    return kinds


def _read(site: Installation, way: str) -> Any:
    command = python("benchmarks.replay_reader", site.settings.bootstrap, way)
    return ask(f"reader-{way}", command, site.directory)


def _per_s(runs: dict[str, list[Any]], way: str) -> float:
    return float(median(said["records"] / said["seconds"] for said in runs[way]))


def _cpu_s(runs: dict[str, list[Any]], way: str) -> float:
    return float(median(said["cpu_s"] for said in runs[way]))


def _rates(runs: dict[str, list[Any]], at: int) -> str:
    rates = {way: said[at]["records"] / said[at]["seconds"] for way, said in runs.items()}
    return ", ".join(f"{way} {rate:,.0f}/s" for way, rate in rates.items())


def _figures(runs: dict[str, list[Any]]) -> dict[str, float]:
    bare = _per_s(runs, "bare")
    cpu = _cpu_s(runs, "folded")
    return {
        "records_per_s": _per_s(runs, "folded"),
        "ratio_to_bare_loop": _per_s(runs, "folded") / bare,
        "ratio_with_loads_decoded": _per_s(runs, "decoded") / bare,
        "peak_mb": median(said["peak_mb"] for said in runs["folded"]),
        "cpu_us_per_record": 1e6 * cpu / runs["folded"][0]["records"],
        "ratio_of_cpu_to_bare_loop": _cpu_s(runs, "bare") / cpu,
    }


def _peers(runs: dict[str, list[Any]]) -> dict[str, float]:
    cpu = _cpu_s(runs, "bare")
    return {
        "bare_records_per_s": _per_s(runs, "bare"),
        "bare_peak_mb": median(said["peak_mb"] for said in runs["bare"]),
        "bare_cpu_us_per_record": 1e6 * cpu / runs["bare"][0]["records"],
    }


def _notes(kinds: Counter[str], seconds: int, profile: Any) -> Iterator[str]:
    total = sum(kinds.values())
    mix = ", ".join(f"{name} {100 * n / total:.1f} %" for name, n in kinds.most_common())
    yield f"{total} records of {seconds} s in 16 partitions of {JOBS} jobs each: {mix}"
    yield (
        "bare decodes every value and reads no header; folded skips the values of loads by their"
        " header, as the shells do; with_loads_decoded decodes those as well"
    )
    yield f"peak_mb is of a fresh process that folds all; medians of {ROUNDS} rounds in turns"
    yield f"own time under cProfile ({profile['seconds']:.1f} s): " + "; ".join(profile["top"])
