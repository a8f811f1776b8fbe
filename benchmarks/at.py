"""How soon the log says what it said at any instant, beside a fold from its first record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.children import ask, python
from benchmarks.figures import Result, say, share
from benchmarks.installation import install
from benchmarks.recorded import JOBS, TASKS
from benchmarks.replay import timed_by_author, write_recording

SECONDS, QUICK_SECONDS = 6_150, 615
"""Of recorded time: at 165 records a second a million, and a tenth of that."""
INSTANTS, QUICK_INSTANTS = 200, 40
NAIVE = 4
"""Instants at which the peer answers as well, and is compared: each takes it a fold of half the
log."""


def measure(quick: bool) -> Result:
    """A fresh process warms up, answers, begins again from its cache, and is compared."""
    with install(topics=timed_by_author()) as site:
        kinds = write_recording(site, QUICK_SECONDS if quick else SECONDS)
        instants = QUICK_INSTANTS if quick else INSTANTS
        command = python(
            "benchmarks.at_reader", site.settings.bootstrap, site.directory, instants, NAIVE
        )
        said = ask("at-reader", command, site.directory)
    say(f"{said['differences']} of {NAIVE} answers differ from the fold from the first record")
    return Result("at", _figures(said), _peers(said), [*_notes(kinds, said)])


def _figures(said: Any) -> dict[str, float]:
    times = [1000 * one for one in said["at_s"]]
    return {
        "records": said["records"],
        "at_ms_p50": share(times, 0.50),
        "at_ms_p99": share(times, 0.99),
        "at_ms_max": max(times),
        "at_cpu_ms_p50": 1000 * share(said["at_cpu_s"], 0.50),
        "at_cpu_ms_p99": 1000 * share(said["at_cpu_s"], 0.99),
        "differences": said["differences"],
        "warm_up_s": said["warm_up_s"],
        "resume_s": said["resume_s"],
        "frames": said["frames"],
        "cache_mb": said["cache_mb"],
        "peak_mb": said["peak_mb"],
    }


def _peers(said: Any) -> dict[str, float]:
    return {"naive_ms_p50": 1000 * share(said["naive_s"], 0.50)}


def _notes(kinds: Counter[str], said: Any) -> Iterator[str]:
    total = sum(kinds.values())
    mix = ", ".join(f"{name} {100 * n / total:.1f} %" for name, n in kinds.most_common())
    yield (
        f"{total} records were written to a local broker, of {JOBS} jobs with {TASKS} tasks each in"
        f" 16 partitions: {mix}; no tier is among them"
    )
    yield (
        "an answer begins with the instant: where each place was then is asked of the broker, the"
        " nearest frame is opened, the tail is read and folded, one job is looked at; instants are"
        " drawn evenly over the whole log"
    )
    yield (
        "naive is the fold from the first record up to the same instant, in the same process; its"
        f" views are compared with all they say, at {len(said['naive_s'])} of the instants"
    )
    yield (
        "warm_up_s folds the whole log once and writes all frames; resume_s is another start from"
        " these; peak_mb is of the process before it folds anything for the peer"
    )
