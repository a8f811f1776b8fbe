"""The part of the story about changes: refused, raced, overridden, decided in a crash, deleted."""

from __future__ import annotations

import json
import os
import signal
import time  # noqa: TID251 - an override ends at an instant
from collections import Counter
from pathlib import Path

from events.topics import JOURNAL, partition_of
from turbine.ops.fleet import log_of
from turbine.ops.members import DECIDERS
from turbine.story.stage import (
    WAIT_S,
    NotAsTold,
    StoryStage,
    accepted,
    current,
    other_pid,
    pid_of,
    rejected,
    tasks,
    until,
)
from turbine.story.tasks import CLICKS, NAMES, VISITS, configs, runs
from turbine_client.publish import Accepted, Pending, Rejected
from turbine_client.subscribe import Subscriber

CHANGES = 30
OVERRIDE, EXPIRY_S = 3, 60
WORKERS = tuple(one.label for one in DECIDERS if "job-service" in one.components)


def refuse(stage: StoryStage) -> None:
    """A change that would make the config invalid changes nothing."""
    job = stage.name(CLICKS)
    stage.say(f"\n3. Ben wants 99 tasks for {job}, which is more than a job may have.")
    verdict = rejected(stage.ben.change(job, {"tasks": 99}, wait_s=WAIT_S), "invalid", "99 tasks")
    if verdict.path != "tasks":
        raise NotAsTold(f"the path of the refusal is {verdict.path!r}, and not tasks")
    stage.say(f"   Rejected, at the path {verdict.path}: {verdict.explanation}.")
    stage.show(f"why {verdict.change_id}")


def race(stage: StoryStage) -> None:
    """Two who saw the same version: one wins, the other learns by whom it was overtaken."""
    job = stage.name(CLICKS)
    seen = current(stage, job).versions.base
    stage.say(f"\n4. Ana and Ben both saw version {seen} of {job} and both change it at once.")
    pending = [
        stage.ana.propose(job, {"priority": 60}, expected_version=seen),
        stage.ben.propose(job, {"priority": 70}, expected_version=seen),
    ]
    verdicts = [one.wait(WAIT_S) for one in pending]
    won = [one for one in verdicts if isinstance(one, Accepted)]
    lost = [one for one in verdicts if isinstance(one, Rejected) and one.reason == "stale"]
    if (len(won), len(lost)) != (1, 1):
        raise NotAsTold(f"of two racing changes one should win and one be stale: {verdicts}")
    stage.say(f"   One is version {won[0].version}; the other is stale: {lost[0].explanation}.")
    stage.show(f"why {lost[0].change_id}")


def override(stage: StoryStage) -> Subscriber:
    """Oncall overrides for a while; gives what will hear of the expiry."""
    job = stage.name(CLICKS)
    expiry = Subscriber(stage.settings, kinds=frozenset({"OverrideExpired"}), job=job)
    stage.say(
        f"\n5. There is a backlog: oncall wants {OVERRIDE} tasks for {job}, for {EXPIRY_S} seconds."
    )
    verdict = stage.ana.change(
        job,
        {"tasks": OVERRIDE},
        layer="oncall",
        reason="backlog after the outage",
        expires_ms=int((time.time() + EXPIRY_S) * 1000),
        wait_s=WAIT_S,
    )
    accepted(verdict, "the override")
    if tasks(stage, job) != OVERRIDE:
        raise NotAsTold(f"{job} should have the tasks that oncall wants")
    stage.say("   Accepted: oncall stands above base, key by key, and says why and until when.")
    until(lambda: runs(stage, job, OVERRIDE), f"{job} runs with {OVERRIDE} tasks")
    stage.say(f"   The old tasks have stopped in the log, and {OVERRIDE} new ones run.")
    stage.show(f"describe job {job}", f"jobs/{job}")
    return expiry


def kill(stage: StoryStage) -> None:
    """A worker dies in the middle of changes; each of them still has exactly one verdict."""
    victim, its_jobs = until(lambda: busiest(stage), "both job services have their partitions")
    stage.say(
        f"\n9. {CHANGES} changes of three jobs, and in the middle of them kill -9 of {victim},"
        f"\n   which decides about {', '.join(its_jobs)}."
    )
    jobs = story_jobs(stage)
    pid, open_then = pid_of(stage.settings.directory, victim), 0
    asked: list[Pending] = []
    for number in range(CHANGES):
        if number == CHANGES // 2:
            os.kill(pid, signal.SIGKILL)
            open_then = sum(not one.answered for one in asked)
        job = jobs[number % len(jobs)]
        asked.append(stage.ana.propose(job, {"slo": {"lag_seconds": 60 + number}}))
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


def expire(stage: StoryStage, expiry: Subscriber) -> None:
    """The override is taken back by itself, and that is a record too."""
    job = stage.name(CLICKS)
    stage.say(f"\n7. The override of {job} ends by itself.")
    [outcome, *_] = until(lambda: expiry.poll(0.5), f"the override of {job} expires")
    if tasks(stage, job) == OVERRIDE:
        raise NotAsTold(f"{job} still has the tasks of the override that expired")
    stage.say(
        f"   OverrideExpired at {outcome.place}:{outcome.offset}: what lay below stands again."
    )
    stage.show(f"why {outcome.id}")


def recreate(stage: StoryStage) -> None:
    """A deleted job keeps its versions, so nothing that was said to it holds for its successor."""
    job = stage.name(VISITS)
    before = current(stage, job).versions.base
    stage.say(f"\n10. {job} (version {before}) is deleted, and created anew.")
    accepted(stage.ana.delete(job, reason="no longer needed", wait_s=WAIT_S), "the deletion")
    if current(stage, job).alive:
        raise NotAsTold(f"{job} is still there after its deletion")
    verdict = accepted(
        stage.ben.change(job, configs(stage)[job], create=True, wait_s=WAIT_S),
        "the re-creation",
    )
    if verdict.version <= before + 1:
        raise NotAsTold(f"{job} begins again at version {verdict.version} instead of going on")
    stage.say(
        f"   It goes on at version {verdict.version}: no change for the old one fits the new."
    )
    stage.show(f"describe job {job}")


def audit(stage: StoryStage) -> None:
    """Every decision comes out again from its evidence, byte by byte."""
    stage.say("\n11. Every decision is made again from the evidence that it names.")
    found = Counter(finding.verdict for finding in stage.log.audit())
    if found["differs"] or not found["same"]:
        raise NotAsTold(f"the audit says {dict(found)}; `turbine audit` names each difference")
    stage.say(f"   {found['same']} decisions come out the same, byte by byte; none differs.")
    stage.show("audit", "platform")


def story_jobs(stage: StoryStage) -> list[str]:
    """All jobs of this telling of the story."""
    return [stage.name(plain) for plain in NAMES]


def busiest(stage: StoryStage) -> tuple[str, list[str]] | None:
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
        name: [job for job in story_jobs(stage) if partition_of(job, count) in share]
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
