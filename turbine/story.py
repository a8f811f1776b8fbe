"""What the demo tells: each step does something to a live fleet, and sees that it came as told."""

from __future__ import annotations

import json
import os
import signal
import time  # noqa: TID251 - the demo waits for real processes
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.runtime.settings import Settings
from events.topics import JOURNAL, partition_of
from projections.jobs import Job
from turbine.fleet import MEMBERS, log_of, read_state
from turbine.log import Log
from turbine.publish import Accepted, Pending, Publisher, Rejected, Verdict
from turbine.subscribe import Subscriber

NAMES = ("clicks", "views", "orders", "carts", "users", "ads")
WAIT_S = 60.0
"""A worker that was killed is back within ten seconds; a laptop that swaps may need longer."""
CHANGES = 60
WORKERS = tuple(one.label for one in MEMBERS if one.component == "job-service")


class NotAsTold(Exception):
    """A step came otherwise than the story has it; the sentence says what was seen."""


@dataclass(frozen=True, slots=True)
class Words:
    """Where the story is told, and how its listeners call the command line."""

    say: Callable[[str], None]
    program: str


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the story is played."""

    settings: Settings
    log: Log
    ana: Publisher
    ben: Publisher
    jobs: tuple[str, ...]
    words: Words
    expiry_s: float

    def say(self, text: str) -> None:
        """A line of the story."""
        self.words.say(text)

    def show(self, arguments: str) -> None:
        """The command that shows what was said."""
        self.words.say(f"    $ {self.words.program} {arguments}")


def tell(settings: Settings, words: Words, expiry_s: float) -> None:
    """Plays all of it; NotAsTold where it came otherwise."""
    log = Log(settings)
    with Publisher(settings, author="ana") as ana, Publisher(settings, author="ben") as ben:
        stage = Stage(settings, log, ana, ben, fresh_names(log.jobs()), words, expiry_s)
        create(stage)
        refuse(stage)
        race(stage)
        expiry = override(stage)
        try:
            kill(stage)
            expire(stage, expiry)
        finally:
            expiry.close()
        recreate(stage)
        audit(stage)


def fresh_names(jobs: dict[str, Job]) -> tuple[str, ...]:
    """Names that no job has had: the first telling has the plain ones, later ones a number."""
    number = 1
    while any(numbered(name, number) in jobs for name in NAMES):
        number += 1
    return tuple(numbered(name, number) for name in NAMES)


def numbered(name: str, number: int) -> str:
    """A job's name in the n-th telling."""
    return name if number == 1 else f"{name}-{number}"


def config(job: str) -> dict[str, Any]:
    """All that a job needs to be one."""
    return {
        "operator": "demo.count:run",
        "inputs": [{"topic": job}],
        "package": {"name": "demo", "version": "1.0.0"},
        "checkpoint": {"root": "/checkpoints"},
        "tasks": 2,
    }


def create(stage: Stage) -> None:
    """Six jobs, each by a change of its base layer."""
    stage.say(
        "\n1. Ana asks for six jobs. A job is a base layer: one record on turbine.changes.base."
    )
    asked = [stage.ana.propose(job, config(job)) for job in stage.jobs]
    for one in asked:
        accepted(one.wait(WAIT_S), f"{one.job} is created")
    stage.say(f"   All are accepted: {', '.join(stage.jobs)}.")
    stage.show("get jobs")


def refuse(stage: Stage) -> None:
    """A change that would make the config invalid changes nothing."""
    job = stage.jobs[0]
    stage.say(f"\n2. Ben wants 99 tasks for {job}, which is more than a job may have.")
    verdict = rejected(stage.ben.change(job, {"tasks": 99}, wait_s=WAIT_S), "invalid", "99 tasks")
    if verdict.path != "tasks":
        raise NotAsTold(f"the path of the refusal is {verdict.path!r}, and not tasks")
    stage.say(f"   Rejected, at the path {verdict.path}: {verdict.explanation}.")
    stage.show(f"why {verdict.change_id}")


def race(stage: Stage) -> None:
    """Two who saw the same version: one wins, the other learns by whom it was overtaken."""
    job = stage.jobs[0]
    seen = current(stage, job).versions.base
    stage.say(f"\n3. Ana and Ben both saw version {seen} of {job} and both change it at once.")
    pending = [
        stage.ana.propose(job, {"tasks": 4}, expected_version=seen),
        stage.ben.propose(job, {"tasks": 6}, expected_version=seen),
    ]
    verdicts = [one.wait(WAIT_S) for one in pending]
    won = [one for one in verdicts if isinstance(one, Accepted)]
    lost = [one for one in verdicts if isinstance(one, Rejected) and one.reason == "stale"]
    if (len(won), len(lost)) != (1, 1):
        raise NotAsTold(f"of two racing changes one should win and one be stale: {verdicts}")
    stage.say(f"   One is version {won[0].version}; the other is stale: {lost[0].explanation}.")
    stage.show(f"why {lost[0].change_id}")


def override(stage: Stage) -> Subscriber:
    """Oncall overrides for a while; gives what will hear of the expiry."""
    job = stage.jobs[0]
    expiry = Subscriber(stage.settings, kinds=frozenset({"OverrideExpired"}), job=job)
    stage.say(
        f"\n4. There is a backlog: oncall wants 16 tasks for {job}, for {stage.expiry_s:g} seconds."
    )
    verdict = stage.ana.change(
        job,
        {"tasks": 16},
        layer="oncall",
        reason="backlog after the outage",
        expires_ms=int((time.time() + stage.expiry_s) * 1000),
        wait_s=WAIT_S,
    )
    accepted(verdict, "the override")
    if tasks(stage, job) != 16:
        raise NotAsTold(f"{job} should have the 16 tasks that oncall wants")
    stage.say("   Accepted: oncall stands above base, key by key, and says why and until when.")
    stage.show(f"describe job {job}")
    return expiry


def kill(stage: Stage) -> None:
    """A worker dies in the middle of changes; each of them still has exactly one verdict."""
    victim, its_jobs = until(lambda: busiest(stage), "both job services have their partitions")
    stage.say(
        f"\n5. {CHANGES} changes of six jobs, and in the middle of them kill -9 of {victim},"
        f"\n   which decides about {', '.join(its_jobs)}."
    )
    pid, open_then = pid_of(stage.settings.directory, victim), 0
    asked: list[Pending] = []
    for number in range(CHANGES):
        if number == CHANGES // 2:
            os.kill(pid, signal.SIGKILL)
            open_then = sum(not one.answered for one in asked)
        job = stage.jobs[number % len(stage.jobs)]
        asked.append(stage.ana.propose(job, {"priority": number % 100}))
    for one in asked:
        accepted(one.wait(WAIT_S), f"change {one.change_id} of {one.job}")
    verdicts = Counter(
        one.read.record.cause for one in stage.log.decisions(kinds=frozenset()) if one.stands
    )
    wrong = [one.change_id for one in asked if verdicts[one.change_id] != 1]
    if wrong:
        raise NotAsTold(f"{len(wrong)} changes have not exactly one verdict, such as {wrong[0]}")
    again = until(
        lambda: other_pid(stage.settings.directory, victim, pid), f"{victim} is started again"
    )
    stage.say(
        f"   At its death {open_then} had no verdict yet, and {CHANGES - CHANGES // 2} came after"
        f" it. Each of the {CHANGES} has exactly"
        f"\n   one verdict that stands. The supervisor has started {victim} again"
        f"\n   (process {pid} then, {again} now); it went on from the log."
    )
    stage.show("log stats")


def expire(stage: Stage, expiry: Subscriber) -> None:
    """The override is taken back by itself, and that is a record too."""
    job = stage.jobs[0]
    stage.say(f"\n6. The override of {job} ends by itself.")
    [outcome, *_] = until(lambda: expiry.poll(0.5), f"the override of {job} expires")
    if tasks(stage, job) == 16:
        raise NotAsTold(f"{job} still has the tasks of the override that expired")
    stage.say(
        f"   OverrideExpired at {outcome.place}:{outcome.offset}: what lay below stands again."
    )
    stage.show(f"why {outcome.id}")


def recreate(stage: Stage) -> None:
    """A deleted job keeps its versions, so nothing that was said to it holds for its successor."""
    job = stage.jobs[-1]
    before = current(stage, job).versions.base
    stage.say(f"\n7. {job} (version {before}) is deleted, and created anew.")
    accepted(stage.ana.delete(job, reason="no longer needed", wait_s=WAIT_S), "the deletion")
    if current(stage, job).alive:
        raise NotAsTold(f"{job} is still there after its deletion")
    verdict = accepted(stage.ben.change(job, config(job), wait_s=WAIT_S), "the re-creation")
    if verdict.version <= before + 1:
        raise NotAsTold(f"{job} begins again at version {verdict.version} instead of going on")
    stage.say(
        f"   It goes on at version {verdict.version}: no change for the old one fits the new."
    )
    stage.show(f"describe job {job}")


def audit(stage: Stage) -> None:
    """Every decision comes out again from its evidence, byte by byte."""
    stage.say("\n8. Every decision is made again from the evidence that it names.")
    found = Counter(finding.verdict for finding in stage.log.audit())
    if found["differs"] or not found["same"]:
        raise NotAsTold(f"the audit says {dict(found)}; `turbine audit` names each difference")
    stage.say(f"   {found['same']} decisions come out the same, byte by byte; none differs.")
    stage.show("audit")


# --- what a step sees


def accepted(verdict: Verdict, what: str) -> Accepted:
    """The verdict, which has to be that the change stands."""
    if not isinstance(verdict, Accepted):
        raise NotAsTold(f"{what}: {verdict.explanation}")
    return verdict


def rejected(verdict: Verdict, reason: str, what: str) -> Rejected:
    """The verdict, which has to be a refusal for that reason."""
    if not isinstance(verdict, Rejected) or verdict.reason != reason:
        raise NotAsTold(f"{what} should be rejected as {reason}, and is {verdict}")
    return verdict


def current(stage: Stage, job: str) -> Job:
    """The job as the journal has it."""
    found = stage.log.job(job)
    if found is None:
        raise NotAsTold(f"the journal knows no {job}")
    return found


def tasks(stage: Stage, job: str) -> int:
    """How many tasks are expected of it."""
    return int(json.loads(current(stage, job).expected_json)["tasks"])


def busiest(stage: Stage) -> tuple[str, list[str]] | None:
    """The worker that decides about most of the story's jobs, and which those are.

    None while partitions are not divided among both: who owns nothing dies without a trace, and
    the story would tell of nothing.
    """
    count = stage.log.counts[JOURNAL]
    shares = {name: assigned(stage.settings.directory, name) for name in WORKERS}
    owned = [partition for share in shares.values() for partition in share]
    if sorted(owned) != list(range(count)) or not all(shares.values()):
        return None
    jobs = {
        name: [job for job in stage.jobs if partition_of(job, count) in share]
        for name, share in shares.items()
    }
    victim = max(WORKERS, key=lambda name: len(jobs[name]))
    return victim, jobs[victim]


def assigned(directory: Path, label: str) -> list[int]:
    """The partitions that a worker was assigned last, as its own log tells."""
    try:
        # Without what follows the last end of a line: it may be half a line that is being written.
        lines = log_of(directory, label).read_text(errors="replace").split("\n")[:-1]
    except FileNotFoundError:
        return []
    told = [json.loads(line) for line in lines if line.startswith('{"') and "assigned" in line]
    return next((one["partitions"] for one in reversed(told) if one["event"] == "assigned"), [])


def pid_of(directory: Path, label: str) -> int:
    """The process id of a member of the fleet."""
    state = read_state(directory) or {"members": []}
    for member in state["members"]:
        if member["name"] == label and member["pid"]:
            return int(member["pid"])
    raise NotAsTold(f"{label} does not run; see {directory / 'logs'}")


def other_pid(directory: Path, label: str, former: int) -> int:
    """The process id of its next life; 0 while there is none."""
    state = read_state(directory) or {"members": []}
    pids = [member["pid"] for member in state["members"] if member["name"] == label]
    return next((pid for pid in pids if pid and pid != former), 0)


def until(look: Callable[[], Any], what: str) -> Any:
    """What the look gives as soon as it gives something."""
    limit_s = time.monotonic() + WAIT_S
    while time.monotonic() < limit_s:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise NotAsTold(f"{WAIT_S:g} s passed, and not yet: {what}")
