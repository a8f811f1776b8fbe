"""Does a stranger who knows the contract alone find the log as it says? A fleet that is killed at.

The log of a small fleet is read raw and handed to a program for Node, with the AsyncAPI document
and nothing else of ours. It makes ids, chains, evidence and merged configs again, decodes every
value, and has the SDK of CloudEvents read every record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.children import ChildFailed, Supervised, python
from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from benchmarks.spark_fleet import make_topics, until
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import Message
from events.generated.records import (
    DrainRequested,
    PauseRequested,
    PlacementApplyRequested,
    ReleaseRequested,
    ResumeRequested,
    UndrainRequested,
)
from events.topics import LIVES, OPERATOR, TIERS, TOPICS, partition_of, place
from events.wire.codec import SDK, Record, encode
from turbine.ops.members import WORKER
from turbine.ops.tiers import answer_to, ask, define, new_id
from turbine.read.sources.log import Log
from turbine_client.clients import producer
from turbine_client.publish import Accepted, Publisher
from turbine_client.reading import ends_now, read_span, starts_now

PARTITIONS, SHARDS, TIER, REGION = 4, 16, "default", "local"
NAMES = ("east", "west", "north")
PER_MILLE = 100
"""All times a tenth: a container that dies is failed over in seconds."""
JOBS, CHANGES, QUICK_CHANGES = 6, 600, 60
VICTIMS = ("worker-0", "shards-0", "worker-1", "publisher", "shards-1", "capacity")
"""Killed with SIGKILL, one after the other, while changes are on their way."""
WAIT_S = 120.0
JUDGED = tuple(
    topic for topic in TOPICS if topic.kind not in {"rows", "dead-letters"} or topic.short == LIVES
)
"""The rest are no CloudEvents, as the contract says; lives are none either, and have no headers."""
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def measure(quick: bool) -> Result:
    """One fleet, its story, and what the stranger says of its log."""
    from tests.foreign.node import fetch
    from tests.foreign.verifying import judged

    if missing := fetch():
        raise ChildFailed(missing)
    with _fleet() as site:
        kills = _live_through(site, QUICK_CHANGES if quick else CHANGES)
        site.stop()  # what is judged stands still
        said = judged(_messages(site), PARTITIONS, site.directory)
    kinds = Counter(one.partition(" ")[0] for one in said["violations"])
    for one in said["violations"][:10]:
        say(one)
    figures = {
        "records": said["records"],
        "violations": len(said["violations"]),
        "chains": said["chains"],
        "decisions": said["decisions"],
        "void": said["void"],
        "traced": said["traced"],
        "kills": kills,
    }
    told = [f"{kind}: {count} violations" for kind, count in kinds.most_common()]
    return Result("contract", figures, {}, [f"{JOBS} jobs, {len(NAMES)} containers", *told])


# --- the fleet


@contextmanager
def _fleet() -> Iterator[Installation]:
    topics = {f"{way}-{number}": PARTITIONS for way in ("in", "out") for number in range(JOBS)}
    with install(partitions=PARTITIONS) as site:
        make_topics(site.settings.bootstrap, topics)
        for one in ("clock", "publisher"):
            site.serve(one)
        site.serve("capacity-manager", instance="capacity")
        for number in range(2):
            site.serve(*WORKER, instance=f"worker-{number}")
        for name in NAMES:
            place_, told = site.directory / "places" / name, site.settings.bootstrap
            command = python(
                "turbine.ops.container", name, "--directory", place_, "--bootstrap", told
            )
            site.processes[name] = Supervised(name, command, site.directory)
        define(Log(site.settings), TIER, SHARDS, (REGION,), {"time_per_mille": PER_MILLE})
        for number in range(2):
            site.serve("shard-manager", instance=f"shards-{number}")
        yield site


@dataclass(slots=True)
class _Story:
    """What is asked of the fleet, and who is killed meanwhile."""

    site: Installation
    publisher: Publisher
    kills: int = 0

    def accepted(self, ask_for: Callable[[], object], what: str) -> None:
        """Asks, and again where nothing was heard: whoever answers may just have been killed."""
        for _ in range(5):
            said = ask_for()
            if isinstance(said, Accepted):
                return
        raise ChildFailed(f"{what}: {said}")

    def kill(self, name: str) -> None:
        """As a machine that dies would."""
        until(self.site.processes[name].kill, f"{name} lives", WAIT_S)
        self.kills += 1
        say(f"killed {name}")


def _live_through(site: Installation, changes: int) -> int:
    """Jobs are made, changed, overridden, paused, read anew, deleted and made again; containers are
    emptied and die."""
    with Publisher(site.settings, author="stranger") as publisher:
        story = _Story(site, publisher)
        for number in range(JOBS):
            job, config = f"job-{number}", _config(number)
            made = partial(publisher.change, job, config, create=True)
            story.accepted(made, job)
        _await_running(site, range(JOBS))
        for number in range(changes):
            if number % (changes // len(VICTIMS)) == 0 and story.kills < len(VICTIMS):
                story.kill(VICTIMS[story.kills])
            wish = {"priority": number % 7, "arguments": [f"--n={number}"]}
            publisher.propose(f"job-{number % JOBS}", wish)
        _ask_for_the_rest(story)
        story.kill(NAMES[0])
        _await_running(site, range(1, JOBS))
        return story.kills


def _ask_for_the_rest(story: _Story) -> None:
    one, publisher, site = "job-1", story.publisher, story.site
    oncall: dict[str, Any] = {"layer": "oncall", "reason": "try"}
    story.accepted(lambda: publisher.change(one, {"tasks": 4}, **oncall), "an override")
    story.accepted(lambda: publisher.change(one, {"tasks": None}, **oncall), "a tombstone")
    story.accepted(lambda: publisher.change(one, clear=["tasks"], **oncall), "clearing")
    refused = publisher.change(one, {"tasks": -1})
    if isinstance(refused, Accepted):
        raise ChildFailed(f"a change that is not valid was accepted: {refused}")
    _ask_with_a_trace(site)
    story.accepted(lambda: publisher.pause("job-2", reason="try"), "a pause")
    story.accepted(lambda: publisher.resume("job-2", reason="try"), "a resumption")
    story.accepted(lambda: publisher.reset("job-3", to="earliest", reason="try"), "a reset")
    story.accepted(lambda: publisher.delete("job-0", reason="try"), "a deletion")
    log, emptied = Log(site.settings), NAMES[1]
    ask(log, emptied, DrainRequested(new_id(), emptied, "stranger", "try"))
    ask(log, emptied, UndrainRequested(new_id(), emptied, "stranger", "try"))


def _ask_with_a_trace(site: Installation) -> None:
    """What operators ask for, with a trace context in the header, or else in the value. What is
    asked of the same job next is answered after these."""
    log, emitter = (
        Log(site.settings),
        Emitter(producer(site.settings), site.settings.prefix, deadline_s=WAIT_S),
    )
    asked: list[Any] = [
        kind(new_id(), "job-2", "stranger", "try")
        for kind in (PauseRequested, ReleaseRequested, ResumeRequested)
    ]
    for body in asked:
        kind, value = type(body).__name__, encode(body)
        record = Record(body.job, body.change_id, kind, value, body, source=SDK, trace=TRACE)
        emitter.say(OPERATOR, partition_of(body.job, PARTITIONS), record)
    emitter.settle()
    plan, since = new_id(), log.ends(log.places([TIERS]))
    ask(log, TIER, PlacementApplyRequested(plan, TIER, "none", "stranger", "try", TRACE))
    if answer_to(log, TIER, plan, since, WAIT_S) is None:
        raise ChildFailed("the shard manager said nothing to a plan that is not there")


def _config(number: int) -> dict[str, Any]:
    return {
        "operator": "examples.counts:count",
        "inputs": [{"topic": f"in-{number}", "partitions": PARTITIONS}],
        "output": {"topic": f"out-{number}"},
        "package": {"name": "counts", "version": "1.0.0"},
        "checkpoint": {"root": "/checkpoints"},
        "tasks": 1 + number % 2,
    }


def _await_running(site: Installation, numbers: range) -> None:
    def all_run() -> bool:
        rows = Log(site.settings).syncs()
        found = [rows.get(f"job-{number}") for number in numbers]
        return all(
            row is not None
            and row.running is not None
            and row.plan is None
            and row.running.versions == row.versions
            for row in found
        )

    until(all_run, f"{len(numbers)} jobs run", WAIT_S, pause_s=0.5)
    say(f"{len(numbers)} jobs run")


# --- the log


def _messages(site: Installation) -> Iterator[Message]:
    """Every message as the broker hands it out."""
    places = [
        place(topic.short, p) for topic in JUDGED for p in range(topic.partitions or PARTITIONS)
    ]
    starts, ends = starts_now(site.settings, places), ends_now(site.settings, places)
    spans: dict[str, tuple[int, int | None]] = {at: (starts[at], ends[at]) for at in places}
    for poll in read_span(site.settings, spans):
        yield from poll
