"""Warms up on a log, answers at instants, begins again, and is compared with a naive fold.

Arguments: bootstrap address, a directory for the cache, how many instants, and how many of them are
folded from the first record as well. One JSON line tells it all.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import peak_mb, resident_mb, say
from components.runtime.process.garbage import collect_seldom
from turbine.read.sources.log import Log
from turbine.read.state.cache import Cache
from turbine.read.state.opening import open_cache
from turbine.read.state.past import view_at
from turbine.read.state.reader import ViewReader
from turbine.read.state.view import View
from turbine_client.settings import Settings


def main(bootstrap: str, directory: str, instants: int, naive: int) -> None:
    log = Log(Settings(bootstrap=bootstrap, directory=Path(directory)))
    collect_seldom()
    since = time.perf_counter()
    cache = open_cache(log)
    before_mb = resident_mb()
    reader, said = _warm(log, cache)
    say(f"{before_mb:.0f} MB before, {resident_mb():.0f} MB after, {peak_mb():.0f} MB at most")
    said["warm_up_s"] = time.perf_counter() - since
    say(f"{said['records']} records in {said['warm_up_s']:.1f} s")
    rng, now = random.Random(0), reader.view
    first_ms = now.at_ms - said.pop("span_ms")
    drawn = [rng.randint(first_ms, now.at_ms) for _ in range(instants)]
    said |= _answer(log, cache, drawn)
    said["cache_mb"] = sum(one.stat().st_size for one in cache.directory.iterdir()) / 1e6
    said["peak_mb"] = peak_mb()
    cache.close()
    since = time.perf_counter()
    cache = open_cache(log)
    again = ViewReader(log, cache)
    said["resume_s"] = time.perf_counter() - since
    differences = int(_plain(again.view) != _plain(now))
    said["naive_s"] = []
    for at_ms in drawn[:naive]:
        end = log.source.times(reader.places, at_ms + 1)
        since = time.perf_counter()
        whole = view_at(log, end)
        said["naive_s"].append(time.perf_counter() - since)
        differences += _plain(whole) != _plain(view_at(log, end, cache))
    print(json.dumps(said | {"differences": differences}), flush=True)


def _warm(log: Log, cache: Cache) -> tuple[ViewReader, dict[str, Any]]:
    reader = ViewReader(log, cache)
    first_ms = 0
    for _ in reader.catch_up(log.source.ends(reader.places)):
        first_ms = first_ms or reader.view.at_ms
    reader.close()
    view = reader.view
    return reader, {
        "records": view.records,
        "span_ms": view.at_ms - first_ms,
        "frames": len(cache.frames),
    }


def _answer(log: Log, cache: Cache, instants: list[int]) -> dict[str, list[float]]:
    times, cpu = list[float](), list[float]()
    places = log.places(log.counts)
    for at_ms in instants:
        since, before = time.perf_counter(), time.process_time()
        wanted = {at for at in places if at in cache.frames[-1].seen}
        end = log.source.times(sorted(wanted), at_ms + 1)
        view = view_at(log, end, cache)
        name = min(view.jobs, default="")
        assert name, f"nothing is known at {at_ms}"
        assert view.jobs[name].job.name == name
        times.append(time.perf_counter() - since)
        cpu.append(time.process_time() - before)
    return {"at_s": times, "at_cpu_s": cpu}


def _plain(view: View) -> dict[str, Any]:
    told = {name: getattr(view, name) for name in View.__slots__}
    told["jobs"] = dict(view.jobs)
    told["at"] = {at: offset for at, offset in view.at.items() if offset}
    return told


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
