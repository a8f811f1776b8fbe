"""How many changes a second one worker decides when they all come at once."""

from __future__ import annotations

import time

from benchmarks.children import ChildFailed, ask, python
from benchmarks.figures import say
from benchmarks.installation import Installation
from events.topics import BY_SHORT, CHANGES, JOURNAL, place
from turbine.read.sources.log import Log
from turbine_client.publish import VERDICTS
from turbine_client.reading import ends_now
from turbine_client.subscribe import Subscriber

JOBS = 500
PREFIX = "bulk"
WAIT_S = 300.0
PAUSE_S = 0.25


def measure_throughput(site: Installation, changes: int) -> tuple[dict[str, float], list[str]]:
    """From the first proposal's append time to that of the last standing decision about one."""
    journal = [place(JOURNAL, p) for p in range(site.settings.partitions)]
    follower = Subscriber(site.settings, kinds=VERDICTS)
    before, cpu = ends_now(site.settings, journal), site.cpu_s()
    say(f"{changes} changes over {JOBS} jobs, as fast as they go")
    sent = send(site, BY_SHORT[CHANGES["base"]].name, changes)
    await_growth(site, journal, sum(before.values()) + changes)
    used = {name: (site.cpu_s()[name] - s) * 1000 / changes for name, s in cpu.items()}
    published_ms = _await_outcomes(follower, changes)
    figures = _read_back(site, changes, published_ms)
    figures["sent_per_s"] = changes / sent
    figures |= {f"cpu_ms_per_change_{name.replace('-', '_')}": ms for name, ms in used.items()}
    note = (
        f"{changes} changes over {JOBS} jobs (the first of each creates it) by a plain producer in"
        f" a process of its own, unconditional and valid; {int(figures['rejected'])} were rejected"
    )
    return figures, [note]


def send(site: Installation, topic: str, changes: int) -> float:
    """Puts the changes on the topic; how many seconds that took."""
    author = python("benchmarks.bulk_author", site.settings.bootstrap, topic, PREFIX, JOBS, changes)
    seconds: float = ask("bulk-author", author, site.directory)["seconds"]
    return seconds


def await_growth(site: Installation, places: list[str], end: int) -> None:
    """Returns when the places hold that many records.

    Looks at offsets only: a reader of the records would take CPU from who is measured.
    """
    limit = time.monotonic() + WAIT_S
    while (there := sum(ends_now(site.settings, places).values())) < end:
        if time.monotonic() > limit:
            raise ChildFailed(f"{places[0]} and its like hold {there} of {end} in {WAIT_S:g} s")
        time.sleep(PAUSE_S)


def _await_outcomes(follower: Subscriber, changes: int) -> int:
    """The append time of the last outcome, once there is one for each change."""
    heard: dict[str, int] = {}
    limit = time.monotonic() + WAIT_S
    while len(heard) < changes:
        if time.monotonic() > limit:
            raise ChildFailed(f"only {len(heard)} of {changes} outcomes came in {WAIT_S:g} s")
        heard |= {
            one.change_id: one.at_ms for one in follower.poll(0.5) if one.job.startswith(PREFIX)
        }
    follower.close()
    return max(heard.values())


def _read_back(site: Installation, changes: int, published_ms: int) -> dict[str, float]:
    log = Log(site.settings)
    asked = [r for r in log.read([CHANGES["base"]]) if r.record.key.startswith(PREFIX)]
    found = [one for one in log.decisions() if one.read.record.key.startswith(PREFIX)]
    standing = [one.read for one in found if one.stands]
    verdicts = {read.record.cause for read in standing}
    assert verdicts == {read.record.id for read in asked}, "verdicts and changes differ"
    first, last = min(r.at_ms for r in asked), max(r.at_ms for r in standing)
    return {
        "changes_per_s": changes / ((last - first) / 1000),
        "published_per_s": changes / ((published_ms - first) / 1000),
        "decided": len(standing),
        "void": len(found) - len(standing),
        "rejected": sum(read.record.kind == "JobConfigRejected" for read in standing),
    }
