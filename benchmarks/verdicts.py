"""Does every change get one verdict, while authors race and workers are killed in the middle?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from subprocess import Popen
from typing import Any

from benchmarks.children import ChildFailed, answers, python, running
from benchmarks.figures import Result, say, share
from benchmarks.installation import Installation, install
from components.runtime.kafka.intake import DeadLetter, take_in
from events.generated.records import JobConfigChanged, JobDeleted, LayerVersions, OverrideExpired
from events.topics import LAYERS, OUTCOMES, place
from events.wire.codec import Read
from turbine.read.sources.log import Log, Standing
from turbine_client.publish import VERDICTS
from turbine_client.reading import read_span
from turbine_client.subscribe import Subscriber

WAIT_S = 120.0
KILL_AT = (0.35, 0.65)
"""When each worker is killed, as a share of the time in which changes come."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is asked, by how many, of how many jobs."""

    changes: int
    per_s: float
    jobs: int
    authors: int = 4


FULL, QUICK = Size(3_000, 100, 500), Size(300, 50, 50)


def measure(quick: bool) -> Result:
    """Authors in processes of their own, two workers, each killed once."""
    size = QUICK if quick else FULL
    with install(workers=2) as site:
        figures, notes = play(site, size)
    return Result("verdicts", figures, {}, notes)


def play(site: Installation, size: Size) -> tuple[dict[str, float], list[str]]:
    """Everything is asked and answered; then what the log says is judged."""
    follower = Subscriber(site.settings, kinds=VERDICTS)
    start = dict(follower.positions)
    with ExitStack() as stack:
        authors = [_author(site, size, number, stack) for number in range(size.authors)]
        pool = stack.enter_context(ThreadPoolExecutor(size.authors))
        asked = [pool.submit(_listen, *author, site) for author in authors]
        for _, process in authors:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        say(f"{size.changes} changes at {size.per_s:g}/s by {size.authors} authors")
        sent = _follow(site, size, follower, asked)
    follower.close()
    fell = sum(worker.fell for worker in site.workers)
    site.stop()  # what is judged stands still
    figures = judge(sent, outcomes_of(site, start), Log(site.settings).decisions())
    say("the audit makes every decision again")
    found = Counter(finding.verdict for finding in Log(site.settings).audit())
    figures["audited"] = sum(found.values())
    figures["audit_mismatches"] = figures["audited"] - found["same"]
    figures["workers_killed"] = sum(worker.killed for worker in site.workers)
    figures["workers_fell"] = fell
    figures["asked_again"] = sum(one["times"] - 1 for one in sent.values())
    kinds = Counter(one["kind"] for one in sent.values())
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    shares = " and ".join(f"{at:.0%}" for at in KILL_AT)
    return figures, [
        f"{size.changes} changes at {size.per_s:g}/s, {size.jobs} jobs, {size.authors} authors",
        f"asked: {told}",
        f"each worker was killed once (SIGKILL at {shares} of the time) and started again",
        "doubled: more than one verdict, to who reads the outcomes committed or in the journal",
    ]


def _author(
    site: Installation, size: Size, number: int, stack: ExitStack
) -> tuple[str, Popen[bytes]]:
    """An author that is ready to begin."""
    name, each = f"author-{number}", size.changes // size.authors
    rate = size.per_s / size.authors
    command = python(
        "benchmarks.authors", site.settings.bootstrap, number, size.authors, each, size.jobs, rate
    )
    process = stack.enter_context(running(name, command, site.directory))
    assert process.stdout is not None
    if b"ready" not in process.stdout.readline():
        raise ChildFailed(f"{name} did not start; see {site.directory / name}.log")
    return name, process


def _listen(name: str, process: Popen[bytes], site: Installation) -> dict[str, Any]:
    """All that the author asked for, by id, and how often; the first time counts."""
    asked: dict[str, Any] = {}
    for one in answers(name, process, site.directory):
        known = asked.setdefault(one["id"], {**one, "times": 0})
        known["times"] += 1
    return asked


def _follow(
    site: Installation, size: Size, follower: Subscriber, asked: list[Future[dict[str, Any]]]
) -> dict[str, Any]:
    """Kills each worker at its time; what was asked for, once all of it is answered or late."""
    begun, answered = time.monotonic(), set[str]()
    victims = list(zip(KILL_AT, site.workers, strict=True))
    done_at = 0.0
    while True:
        answered |= {outcome.change_id for outcome in follower.poll(0.1)}
        now = time.monotonic()
        if victims and now - begun > victims[0][0] * size.changes / size.per_s:
            if victims[0][1].kill():
                say(f"{victims.pop(0)[1].name} killed")
            continue
        if not all(one.done() for one in asked):
            continue
        done_at = done_at or now
        sent = {name: what for one in asked for name, what in one.result().items()}
        if not victims and (sent.keys() <= answered or now - done_at > WAIT_S):
            say(f"{len(answered & sent.keys())} of {len(sent)} changes have a verdict")
            return sent


def outcomes_of(site: Installation, start: Mapping[str, int]) -> list[Read]:
    """All that was told to the world since those positions, as who reads committed sees it."""
    partitions = site.settings.partitions
    spans: dict[str, tuple[int, int | None]] = {
        at: (start[at], None) for at in (place(OUTCOMES, p) for p in range(partitions))
    }
    heard = []
    for poll in read_span(site.settings, spans, **{"isolation.level": "read_committed"}):
        for message in poll:
            found = take_in(message, partitions, frozenset())
            assert not isinstance(found, DeadLetter), found.sentence
            heard.append(found)
    return heard


def judge(
    sent: Mapping[str, Any], outcomes: Iterable[Read], decisions: Iterable[Standing]
) -> dict[str, float]:
    """What was asked, beside what was told to the world and what stands in the journal."""
    told = [read for read in outcomes if _answers(read, sent)]
    found = list(decisions)
    standing = [one.read for one in found if one.stands]
    decided = [read.record for read in standing if _answers(read, sent)]
    by_world = Counter(read.record.cause for read in told)
    by_journal = Counter(record.cause for record in decided)
    waited = [read.at_ms - sent[read.record.cause]["at_ms"] for read in told]
    return {
        "changes": len(sent),
        "verdicts_missing": len(sent.keys() - (by_world.keys() & by_journal.keys())),
        "verdicts_doubled": sum(by_world[name] > 1 or by_journal[name] > 1 for name in sent),
        "version_gaps": version_gaps(standing),
        "accepted": sum(record.kind != "JobConfigRejected" for record in decided),
        "rejected": sum(record.kind == "JobConfigRejected" for record in decided),
        "decisions": len(standing),
        "void": len(found) - len(standing),
        "median_wait_s": share(waited, 0.5) / 1000 if waited else 0.0,
        "longest_wait_s": max(waited, default=0.0) / 1000,
    }


def _answers(read: Read, sent: Mapping[str, Any]) -> bool:
    return read.record.kind in VERDICTS and read.record.cause in sent


def version_gaps(standing: Iterable[Read]) -> int:
    """Standing decisions that do not count their layers on by one, in the journal's order."""
    known: dict[tuple[str, str], int] = {}
    gaps = 0
    for read in standing:
        for layer, version in _versions(read):
            key = (read.record.key, layer)
            gaps += version != known.get(key, 0) + 1
            known[key] = version
    return gaps


def _versions(read: Read) -> Iterable[tuple[str, int]]:
    """The layers that a decision counts on, with their new versions."""
    match read.record.body:
        case JobConfigChanged(layer=layer, version=version):
            return [(layer, version)]
        case OverrideExpired(layer=layer, version=version):
            return [(layer, version)]
        case JobDeleted(versions=LayerVersions() as versions):
            return [(layer, getattr(versions, layer)) for layer in LAYERS]
        case _:
            return []
