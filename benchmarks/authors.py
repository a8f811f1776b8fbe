"""One author among several who want things of the same jobs, in every way that people do.

Arguments: bootstrap address, number of the author, number of authors, changes of this author,
number of jobs, requests a second of this author. The first line on standard output says "ready";
the author begins when it reads a line. Each request that was sent is then a JSON line: its id, its
kind, and when it was sent.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from benchmarks.configs import base_config, next_version
from benchmarks.pace import due
from events.generated.records import JobConfigChanged, JobDeleted
from turbine_client.identity import change_id
from turbine_client.publish import VERDICTS, Publisher
from turbine_client.settings import Settings
from turbine_client.subscribe import Subscriber

VALID_MS = 300_000
EXPIRES_MS = 5_000
HOT_JOBS = 20
"""A fifth of the requests go to these, so that authors meet there and lose races."""
HOT = 0.2
# Out of a hundred. "cas" names the version that its author saw last, and may lose a race by it.
KINDS = {
    "whole": 22,
    "cas": 30,
    "blind": 20,
    "stale": 6,
    "invalid": 6,
    "oncall": 6,
    "expiring": 4,
    "delete": 2,
    "repeated": 4,
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one author does of the whole."""

    author: int
    authors: int
    count: int
    jobs: int
    per_s: float


@dataclass(slots=True)
class Versions:
    """The versions of base layers that an author has seen: what a person looks at first."""

    seen: dict[str, int] = field(default_factory=dict)
    stop: Event = field(default_factory=Event)

    def follow(self, settings: Settings) -> None:
        """Until told to stop."""
        follower = Subscriber(settings, kinds=VERDICTS)
        while not self.stop.is_set():
            for outcome in follower.poll(0.2):
                match outcome.body:
                    case JobConfigChanged(job=job, layer="base", version=version):
                        self.seen[job] = version
                    case JobDeleted(job=job, versions=versions):
                        self.seen[job] = versions.base
        follower.close()


@dataclass(frozen=True, slots=True)
class Wish:
    """One request, so that it can be sent again as it was."""

    kind: str
    job: str
    change_id: str
    change: dict[str, Any]
    more: dict[str, Any]

    def send(self, publisher: Publisher) -> None:
        """Returns when the broker has it; nobody waits for the verdict here."""
        if self.kind == "delete":
            publisher.delete(self.job, reason="gone", wait_s=0, change_id=self.change_id)
        else:
            publisher.propose(
                self.job, self.change, create=True, change_id=self.change_id, **self.more
            )


def wishes(part: Part, versions: Versions) -> Iterator[Wish]:
    """What the author wants, one after the other; repeated ones come on top of the count."""
    rng = random.Random(part.author)
    last: Wish | None = None
    for number in range(part.count):
        # The first wish about each job creates it: else most of what follows would be refused.
        create = number * part.authors + part.author
        if create < part.jobs:
            last = _wish("whole", _job(create), number, part.author, versions)
        else:
            kind = rng.choices([*KINDS], [*KINDS.values()])[0]
            if kind == "repeated" and last is not None:
                yield last
                kind = "cas"
            job = rng.randrange(min(HOT_JOBS, part.jobs) if rng.random() < HOT else part.jobs)
            last = _wish(kind, _job(job), number, part.author, versions)
        yield last


def _job(number: int) -> str:
    return f"verdicts-{number:03}"


def _wish(kind: str, job: str, number: int, author: int, versions: Versions) -> Wish:
    now_ms = int(time.time() * 1000)
    name = change_id(now_ms + VALID_MS, f"{author}-{number}")
    change: dict[str, Any] = next_version(number)
    more: dict[str, Any] = {}
    match kind:
        case "whole":
            change = base_config(number)
        case "cas":
            more = {"expected_version": versions.seen.get(job, 0)}
        case "stale":
            more = {"expected_version": versions.seen.get(job, 0) + 1_000}
        case "invalid":
            change = {"tasks": "many"}
        case "oncall" | "expiring":
            change = {"tasks": 2 + number % 30}
            more = {"layer": "oncall", "reason": "backlog"}
            if kind == "expiring":
                more |= {"expires_ms": now_ms + EXPIRES_MS}
    return Wish(kind, job, name, change, more)


def main(bootstrap: str, part: Part) -> None:
    settings, versions = Settings(bootstrap=bootstrap), Versions()
    ear = Thread(target=versions.follow, args=(settings,), daemon=True)
    ear.start()
    with Publisher(settings, author=f"author-{part.author}") as publisher:
        print(json.dumps("ready"), flush=True)
        sys.stdin.readline()
        # Repeated ones come on top, so the pace is kept for at most twice as many.
        paced = zip(due(part.per_s, 2 * part.count), wishes(part, versions), strict=False)
        for _, wish in paced:
            at_ms = time.time() * 1000
            wish.send(publisher)
            said = {"id": wish.change_id, "kind": wish.kind, "at_ms": at_ms}
            print(json.dumps(said), flush=True)
    versions.stop.set()
    ear.join()


if __name__ == "__main__":
    whole = [int(text) for text in sys.argv[2:6]]
    main(sys.argv[1], Part(whole[0], whole[1], whole[2], whole[3], float(sys.argv[6])))
