"""How a container's start grows with the log, beside a start that folds it from 0."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from statistics import median
from typing import Any

from benchmarks.aged_author import JOBS, TASKS
from benchmarks.children import ChildFailed, end, python, running, start
from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from components.runtime.core.standing import places_of, standing
from components.runtime.core.store import POSITIONS
from events.topics import CONTAINERS, place, rows_topic
from turbine_client.reading import ends_now, read_span

YOUNG, OLD = 1_000_000, 5_000_000
QUICK_SHARE = 10
STARTS, PEERS_STARTS = 5, 3
"""One after the other, with nothing else under way; the median counts."""
WAIT_S = 600.0
PAUSE_S = 0.02
NAME = "aged"


def measure(quick: bool) -> Result:
    """Starts on a log of one age, then the same log grows, and starts again."""
    young, old = (n // QUICK_SHARE if quick else n for n in (YOUNG, OLD))
    with install() as site, ExitStack() as stack:
        site.serve("clock")
        site.serve("publisher")
        authors = [*_authors(site, stack)]
        begin(site, "container", NAME)  # a life that the next ones follow
        found = [_at(site, authors, young), _at(site, authors, old - young)]
    return Result("aged", _figures(found), _peers(found), [*_notes(found)])


def _authors(site: Installation, stack: ExitStack) -> Iterator[Any]:
    cores = os.cpu_count() or 1
    for number in range(cores):
        command = python("benchmarks.aged_author", site.settings.bootstrap, number, cores)
        yield stack.enter_context(running(f"author-{number}", command, site.directory))


def _at(site: Installation, authors: list[Any], more: int) -> dict[str, Any]:
    for author in authors:
        author.stdin.write(f"{more // len(authors)}\n".encode())
        author.stdin.flush()
    for author in authors:
        if not author.stdout.readline():
            raise ChildFailed(f"an author ended before it had written; see {site.directory}")
    lives = [place(CONTAINERS, p) for p in range(site.settings.partitions)]
    journals = [at for p in range(site.settings.partitions) for at in places_of(p)]
    ends = ends_now(site.settings, [*lives, *journals])
    say(f"{sum(ends.values())} records are in the log")
    await_kept(site, {at: ends[at] for at in journals})
    ways = {"known": ("container", NAME), "new": ("container", ""), "peer": ("peer", NAME)}
    found: dict[str, Any] = {"records": sum(ends.values())}
    for way, (kind, name) in ways.items():
        times = PEERS_STARTS if way == "peer" else STARTS
        runs = [begin(site, kind, name or f"new-{time.time_ns()}") for _ in range(times)]
        found[way] = runs
        took = ", ".join(f"{one['start_s']:.2f} s" for one in runs)
        say(f"{way}: {took}; {runs[-1]}")
    return found


def await_kept(site: Installation, ends: Mapping[str, int]) -> None:
    """Returns when the publisher has kept all that stood: a fleet's is never far behind."""
    limit = time.monotonic() + WAIT_S
    topic = rows_topic(standing.name).short
    spans: dict[str, tuple[int, int | None]] = {
        place(topic, p): (0, None) for p in range(site.settings.partitions)
    }
    seen: dict[str, int] = {}
    while any(seen.get(at, 0) < end for at, end in ends.items()):
        if time.monotonic() > limit:
            raise ChildFailed(f"the publisher kept nothing of the end in {WAIT_S:g} s")
        time.sleep(1)
        for poll in read_span(site.settings, spans, **{"isolation.level": "read_committed"}):
            for message in poll:
                spans[message.place] = (message.offset + 1, None)
                if message.key == POSITIONS.encode():
                    seen |= json.loads(message.value or b"{}")["seen"]
    say("all of it is kept")


def begin(site: Installation, kind: str, name: str) -> dict[str, Any]:
    """From the process's first instant until it has all that stood; in a new directory."""
    module = {"container": "turbine.ops.container", "peer": "benchmarks.aged_peer"}[kind]
    home = site.directory / f"{name}-{time.time_ns()}"
    more = ["--directory", home, "--bootstrap", site.settings.bootstrap, "--logs-host", "off"]
    log = home.with_suffix(".log")
    with log.open("ab") as out:
        since = time.monotonic()
        process = start(python(module, name, *more), site.directory, out)
        try:
            while not (told := _told(log.read_text())).get("caught up"):
                if process.poll() is not None or time.monotonic() > since + WAIT_S:
                    raise ChildFailed(f"{name} did not catch up: {log.read_text()[-2000:]}")
                time.sleep(PAUSE_S)
            took_s = time.monotonic() - since
        finally:
            end(process)
    begun, caught = told["life begins"], told["caught up"]
    return {"start_s": took_s, "epoch": begun["epoch"], "records": caught["records"]}


def _told(text: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in text.splitlines(True) if line.endswith("}\n")]
    return {line["event"]: line for line in lines}


def _median(runs: list[dict[str, Any]]) -> float:
    return median([float(one["start_s"]) for one in runs])


def _figures(found: list[dict[str, Any]]) -> dict[str, float]:
    young, old = found
    return {
        "records": old["records"],
        "container_start_s_young": _median(young["known"]),
        "container_start_s": _median(old["known"]),
        "new_container_start_s": _median(old["new"]),
        "container_start_ratio": _median(old["known"]) / _median(young["known"]),
        "new_container_start_ratio": _median(old["new"]) / _median(young["new"]),
        "records_folded": max(one["records"] for one in old["known"]),
    }


def _peers(found: list[dict[str, Any]]) -> dict[str, float]:
    young, old = found
    return {
        "from_0_s_young": _median(young["peer"]),
        "from_0_s": _median(old["peer"]),
        "from_0_ratio": _median(old["peer"]) / _median(young["peer"]),
    }


def _notes(found: list[dict[str, Any]]) -> Iterator[str]:
    young, old = found
    yield (
        f"{young['records']} and then {old['records']} records of a journal, a tier and containers,"
        f" about {JOBS} jobs with {TASKS} tasks each at both ages; the publisher had kept all"
    )
    yield (
        f"a start is a process of its own, in a new directory, until it has all that stands;"
        f" medians of {STARTS}, of the peer {PEERS_STARTS}; new ones have names that are in no log"
    )
    yield "from 0 is the same process, to which nothing is told of what was kept"
    epochs = [one["epoch"] for each in found for one in each["known"]]
    yield f"the known one's lives had the numbers {', '.join(map(str, epochs))}"
