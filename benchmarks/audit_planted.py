"""Ten ways in which a fold or a decider stops being a function of the log, each planted in a copy
of the job service, and whether the audit finds it.

As a program: `make DIR` writes a log by each copy, `audit DIR` makes its decisions again and tells
in one JSON line what was found. Two processes, as the worker and whoever audits it are.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.children import ask, python
from benchmarks.recorded import Line, Recording
from components.job_service.decide import component as job_service
from components.runtime.core.audit.audit import Audit
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.core.component import Component
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from events.generated.records import Body, JobConfigChanged
from events.topics import CLOCK
from events.wire.codec import Read
from projections.jobs import Job

PARTITIONS = 2
SECONDS = 12
START_MS = 1_700_000_000_000
REGION = "PLANTED_REGION"
WORDS = ("north", "south", "east", "west", "above", "below", "left", "right")
WEIGHTS = dict(zip(WORDS, (1e16, -1e16, 0.1, 0.2, 0.3, 1e9, -1e9, 0.7), strict=True))


class _Thing:
    """Equal to nothing but itself, so its hash is where it lies."""

    def __init__(self, name: str) -> None:
        self.name = name


class Worker:
    """What a process has beside the log, and must not use."""

    def __init__(self) -> None:
        self.folded = 0
        self.newest = ""
        self._numbers = count()

    def fold(self, row: Job | None, read: Read) -> Job:
        """The job service's, by a worker that remembers what else it did."""
        self.folded += 1
        self.newest = f"{read.record.key} at {read.offset}"
        return job_service.fold(row, read)

    def shared_default(self, job: str, seen: list[str] = []) -> str:  # noqa: B006 - it is the plant
        """Every call finds what the calls before it left."""
        seen.append(job)
        return str(len(seen))


PLANTED: Mapping[str, Callable[[Worker, Job], str]] = {
    "clock": lambda _worker, _job: str(time.time_ns()),
    "chance": lambda _worker, _job: str(random.random()),
    "hash of a text": lambda _worker, job: str(hash(job.name)),
    "order of a set": lambda _worker, _job: "-".join(set(WORDS)),
    "order of a sum of floats": lambda _worker, _job: repr(sum(WEIGHTS[one] for one in set(WORDS))),
    "order of a dict of ids": lambda _worker, _job: _by_id(),
    "environment": lambda _worker, _job: os.environ[REGION],
    "hidden state": lambda worker, _job: str(worker.folded),
    "shared default": lambda worker, job: worker.shared_default(job.name),
    "beyond the evidence": lambda worker, _job: worker.newest,
}
"""What each of them adds to the author of a change."""


def _by_id() -> str:
    things = [_Thing(name) for name in WORDS]
    known = {id(one): one for one in things}
    return "-".join(known[at].name for at in sorted(known, key=lambda at: at // 16 % 61))


def plant(name: str) -> Component[Job]:
    """A copy of the job service in which that is wrong; "" for one that is as it should be."""
    worker, told = Worker(), PLANTED.get(name)

    def decide(row: Job, now_ms: int) -> Iterator[Body]:
        for body in job_service.decide(row, now_ms):
            if told is not None and isinstance(body, JobConfigChanged):
                yield replace(body, author=f"{body.author} {told(worker, row)}")
            else:
                yield body

    return replace(job_service, fold=worker.fold, decide=decide)


def make(name: str) -> list[Line]:
    """What a worker said that had another partition before."""
    component = plant(name)
    for _ in Recording(0, PARTITIONS, START_MS, component).lines(2):
        continue
    return list(Recording(1, PARTITIONS, START_MS, component).lines(SECONDS))


def audit(name: str, lines: Iterable[Line]) -> list[AuditFinding]:
    """What the audit says, by its own copy of the same."""
    hearing = AuditProgress(lambda *_: True)
    audit = Audit([[plant(name)]], PARTITIONS, hearing)
    offsets: dict[str, int] = {}
    for line in lines:
        message = _message(line, offsets)
        if line.topic == CLOCK:
            hearing.tick(message.place, message.offset, message.at_ms)
            continue
        found = take_in(message, PARTITIONS, audit.kinds)
        assert not isinstance(found, DeadLetter), found.sentence
        if message.place in audit.places:
            audit.read(found)
    return list(audit.findings(whole=True))


def _message(line: Line, offsets: dict[str, int]) -> Message:
    headers: list[tuple[str, bytes | None]] = list(line.headers)
    key = line.key.encode()
    message = Message(line.topic, line.partition, 0, line.at_ms, key, line.value, headers)
    offset = offsets.get(message.place, 0)
    offsets[message.place] = offset + 1
    return message._replace(offset=offset)


def found_of() -> dict[str, bool]:
    """Each planted thing, and whether the audit found it; nothing may be found where none is."""
    with TemporaryDirectory(prefix="turbine-planted-") as name:
        directory = Path(name)
        for number, what in enumerate(("make", "audit"), 1):
            more = {"PYTHONHASHSEED": str(number), REGION: f"region-{number}"}
            command = python("benchmarks.audit_planted", what, directory)
            said = ask(what, command, directory, more=more)
    assert not said[""], f"nothing was planted, and the audit says {said['']}"
    return {name: bool(said[name]) for name in PLANTED}


def main(what: str, directory: Path) -> None:
    said: dict[str, str] = {}
    for name in ("", *PLANTED):
        path = directory / f"{name or 'none'}.jsonl"
        if what == "make":
            path.write_text("".join(_to_line(one) for one in make(name)))
            continue
        lines = [_of_line(one) for one in path.read_text().splitlines()]
        found = audit(name, lines)
        assert found, "there is nothing to audit"
        differing = [one for one in found if one.verdict != "same"]
        # What was said in one breath after it names another parent.
        first = next((one for one in differing if one.field == "author" and one.byte), None)
        assert first is not None or not differing, differing[0].sentence
        said[name] = "" if first is None else first.sentence
    print(json.dumps(said), flush=True)


def _to_line(line: Line) -> str:
    headers = [(name, base64.b64encode(value).decode()) for name, value in line.headers]
    value = base64.b64encode(line.value).decode()
    plain = (line.topic, line.partition, line.at_ms, line.key, value, headers)
    return json.dumps(plain) + "\n"


def _of_line(text: str) -> Line:
    topic, partition, at_ms, key, value, headers = json.loads(text)
    told = [(name, base64.b64decode(one)) for name, one in headers]
    return Line(topic, partition, at_ms, key, base64.b64decode(value), told)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
