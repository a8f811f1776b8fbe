"""I10-I13: running follows expected by whole plans alone, one a job at a time, and says so.

Told from the log alone: the journal in its order, and for every decision what its author had read
of the tasks and of the operators' requests by then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    OffsetResetRequested,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
    TaskSpecsPublished,
)
from events.job_config.config import COMPLEX_FIELDS, Invalid, validate_config
from events.wire.codec import Read
from simulation.checkers.history import History
from simulation.checkers.sync_story import ALERT, TRIES, JobStory, Lore, TaskStory, stories

_SYNCER = (
    SyncPlanned,
    SyncStepStarted,
    SyncStepDone,
    SyncCommitted,
    SyncFailed,
    JobQuarantined,
    JobReleased,
)
ROUND_MS, GIVEN_UP_MS = 30_000, 120_000
_CALM = PauseRequested | ResumeRequested | OffsetResetRequested


def check_syncs(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    lore = Lore(history)
    jobs: dict[str, JobStory] = {}
    for read, job in stories(history):
        key, body = read.record.key, read.record.body
        jobs[key] = job
        if body is not None:
            for rule in _RULES:
                for said in rule(job, read, body, lore):
                    yield f"{key}: {read.record.kind} at {read.offset} {said}"
    for key, job in sorted(jobs.items()):
        if job.owed is not None:
            yield f"{key}: {_owes(job.owed)}, and the history ends"


# --- plans, one at a time


def _plans(job: JobStory, read: Read, body: Body, lore: Lore) -> Iterator[str]:
    if not isinstance(body, SyncPlanned):
        return
    if job.plan is not None:
        yield f"plans while {job.plan.body.plan_id} is in progress"
    if (body.to_versions, body.expected_json) != (job.versions, job.expected_json):
        yield f"plans for {_text(body.to_versions)}, and {_text(job.versions)} is expected, as said"
    steps = [step.name for step in body.steps]
    if "start" in steps and "stop" not in steps and job.live is not None:
        tasks = list(lore.words(read).not_stopped(job.live))
        if tasks:
            yield f"plans to start without a stop, and tasks {tasks} have not stopped"


def _steps(job: JobStory, _read: Read, body: Body, _lore: Lore) -> Iterator[str]:
    """In order, each begun and done once."""
    if not isinstance(body, SyncStepStarted | SyncStepDone):
        return
    plan = job.plan
    if plan is None or plan.body.plan_id != body.plan_id:
        yield f"is a step of {body.plan_id}, which is not in progress"
        return
    begun = isinstance(body, SyncStepStarted)
    if body.step != (plan.started if begun else plan.done) or (plan.started == plan.done) != begun:
        yield (
            f"says {body.name}, step {body.step}, after"
            f" {plan.started} steps were begun and {plan.done} done"
        )
    if [body.name] != [one.name for one in plan.body.steps[body.step : body.step + 1]]:
        yield f"says {body.name}, which is not step {body.step} of {body.plan_id}"


def _proofs(job: JobStory, read: Read, body: Body, lore: Lore) -> Iterator[str]:
    """I12: what a step waits for is in the log, and its author had read it."""
    plan, live = job.plan, job.live
    if plan is None or not isinstance(body, SyncStepStarted | SyncStepDone):
        return
    words = lore.words(read)
    tasks: list[int] = []
    if isinstance(body, SyncStepStarted):
        if body.name == "start" and live is not None:
            tasks, what = list(words.never_stopped(live)), "have not stopped"
    elif body.name == "start":
        count = _tasks(plan.body.expected_json)
        tasks, what = list(words.not_running(count, plan.body.generation)), "do not run"
    elif live is not None and body.name == "stop":
        tasks, what = list(words.not_stopped(live)), "have not stopped"
    tasks = sorted({*tasks} - never_begun(job, read, words))
    if tasks:
        yield f"says {body.name}, and tasks {tasks} {what} by its evidence"


def never_begun(job: JobStory, read: Read, words: TaskStory) -> set[int]:
    """What a stop need not wait for: nobody has spoken of it for a round since its list was
    emptied, and the list was never in effect; or the job is to run elsewhere, and whoever had it is
    given up by now."""
    live, listed = job.live, job.listed
    if live is None or listed is None or listed.tasks:
        return set()
    since_ms = read.record.tick_ms - job.told_ms
    if since_ms >= GIVEN_UP_MS and job.moves:
        return {*words.not_stopped(live), *words.never_stopped(live)}
    return set(words.unheard(live)) if job.tried and since_ms >= ROUND_MS else set()


# --- commits


def _commits(job: JobStory, read: Read, body: Body, lore: Lore) -> Iterator[str]:
    """I10, I11: a running config is what one whole plan led to, or what stands, copied."""
    if not isinstance(body, SyncCommitted):
        return
    if body.kind == "simple":
        yield from _copied(job, read, body, lore)
        return
    plan = job.plan
    if plan is None or plan.body.plan_id != body.plan_id:
        yield f"commits {body.plan_id}, which is not in progress"
        return
    if not len(plan.body.steps) == plan.started == plan.done:
        yield f"commits after {plan.done} of {len(plan.body.steps)} steps were done"
    meant = (plan.body.to_versions, plan.body.expected_json, plan.body.generation)
    if (body.versions, body.running_json, body.generation) != meant:
        yield f"commits something else than what {body.plan_id} was for"
    if (body.state == "deleted") == plan.alive:
        yield f"makes the job {body.state}, which is not what {body.plan_id} was for"


def _copied(job: JobStory, read: Read, body: SyncCommitted, lore: Lore) -> Iterator[str]:
    if job.plan is not None:
        yield f"copies while {job.plan.body.plan_id} is in progress"
    gone = body.state == "deleted"
    if gone == job.alive:
        yield f"makes the job {body.state}, and it is {'alive' if job.alive else 'gone'}"
    want = (job.versions, "{}" if gone else job.expected_json)
    if (body.versions, body.running_json) != want:
        yield f"copies {_text(body.versions)}, and {_text(job.versions)} stands, as said"
    changed = list(_reshaped(job.running.running_json if job.running else "{}", body.running_json))
    was_running = job.state == "running"
    if changed and was_running and body.state == "running":
        yield f"copies {changed}, for which the tasks have to stop"
    if job.live is not None and (changed or (was_running and body.state != "running")):
        tasks = list(lore.words(read).not_stopped(job.live))
        if tasks:
            yield f"copies what no task may run for, and tasks {tasks} have not stopped"


def _reshaped(before_json: str, after_json: str) -> Iterator[str]:
    """Fields that are more than copied, and in which the two configs differ."""
    before, after = json.loads(before_json), json.loads(after_json)
    old, new = validate_config(before), validate_config(after)
    for name in sorted(COMPLEX_FIELDS):
        if isinstance(old, Invalid) or isinstance(new, Invalid):
            if before.get(name) != after.get(name):
                yield name
        elif getattr(old, name) != getattr(new, name):
            yield name


# --- failures, quarantine and release


def _failures(job: JobStory, _read: Read, body: Body, _lore: Lore) -> Iterator[str]:
    if not isinstance(body, SyncFailed):
        return
    if (body.change_id is None) != bool(body.plan_id):
        yield "is neither a plan's failure nor the refusal of a request"
        return
    if body.failures != job.counted(body):
        yield f"counts {body.failures} failures, and it is number {job.counted(body)}"
    if body.change_id is not None:
        return
    plan = job.plan.body if job.plan is not None else None
    if plan is None or plan.plan_id != body.plan_id:
        yield f"fails {body.plan_id}, which is not in progress"
    elif (plan.signature, plan.to_versions) != (body.signature, body.versions):
        yield f"tells {body.plan_id} by another signature or version"


def _quarantine(job: JobStory, _read: Read, body: Body, _lore: Lore) -> Iterator[str]:
    """I13: three failures, then a quarantine, then an alert; and then nothing without a word."""
    alert = isinstance(body, AlertRaised | AlertCleared) and body.alert == ALERT
    if not alert and not isinstance(body, _SYNCER):
        return
    owed = job.owed
    if isinstance(body, JobQuarantined):
        if not isinstance(owed, SyncFailed):
            yield f"comes without {TRIES} failures in a row"
        elif any(
            getattr(body, name) != getattr(owed, name)
            for name in ("plan_id", "signature", "versions", "step", "name", "cause", "failures")
        ):
            yield f"tells another failure than the last one, of {owed.plan_id}"
        return
    if isinstance(body, AlertRaised):
        yield from _alert(job, body)
        return
    if owed is not None:
        yield f"comes, though {_owes(owed)}"
    unasked = isinstance(body, SyncPlanned | SyncCommitted) and body.change_id is None
    if job.quarantine is not None and unasked:
        yield "comes though the job is in quarantine and nobody asked for it"


def _alert(job: JobStory, body: AlertRaised) -> Iterator[str]:
    if not isinstance(job.owed, JobQuarantined):
        yield "raises the alert without a quarantine"
        return
    told = f"{body.subject} {body.cause} {body.details_json}"
    for what in (_text(job.owed.versions), job.owed.name, job.owed.cause):
        if what not in told:
            yield f"does not name {what}"


def _releases(job: JobStory, read: Read, body: Body, lore: Lore) -> Iterator[str]:
    if not isinstance(body, JobReleased):
        return
    if job.quarantine is None:
        yield "releases a job that is not in quarantine"
    elif body.change_id is not None:
        if not isinstance(lore.asked(read, body.change_id), ReleaseRequested):
            yield f"names {body.change_id}, and its author had read no such wish to release"
    elif body.versions != job.versions or not _newer(job.versions, job.quarantine.versions):
        yield "releases the job without a newer config and without a request"


def _newer(one: LayerVersions, other: LayerVersions) -> bool:
    after, before = one.to_plain(), other.to_plain()
    return after != before and all(after[layer] >= before[layer] for layer in before)


def _owes(owed: SyncFailed | JobQuarantined) -> str:
    if isinstance(owed, SyncFailed):
        return f"{owed.plan_id} failed for the last time without a quarantine"
    return f"the quarantine after {owed.plan_id} is without an alert"


# --- what operators asked for


def _answers(job: JobStory, read: Read, body: Body, lore: Lore) -> Iterator[str]:
    """Each request is answered once; what a plan for it comes to repeats its name."""
    if not isinstance(body, SyncPlanned | SyncCommitted | SyncFailed | JobReleased):
        return
    name = body.change_id
    if isinstance(body, SyncCommitted) and body.kind != "simple" and job.plan is not None:
        if name != job.plan.body.change_id:
            yield f"serves {name}, and its plan serves {job.plan.body.change_id}"
        return
    if name is None:
        return
    if name in job.answered:
        yield f"answers {name}, which has an answer"
    asked = lore.asked(read, name)
    if isinstance(body, SyncFailed):
        fits = isinstance(asked, _CALM | ReleaseRequested)
    else:  # which request may release a job is a rule of its own
        fits = isinstance(asked, _CALM) or isinstance(body, JobReleased)
    if not fits:
        yield f"answers {name}, and its author had read no such request"


# --- lists of task specs


def _lists(job: JobStory, _read: Read, body: Body, _lore: Lore) -> Iterator[str]:
    if not isinstance(body, TaskSpecsPublished):
        return
    yield from _parts(job, body)
    if job.listed is not None:
        before = job.listed
        if body.generation < before.generation:
            yield f"goes back from generation {before.generation} to {body.generation}"
        elif body.generation == before.generation and body.tasks != before.tasks:
            yield f"has {body.tasks} tasks at a generation that had {before.tasks}"
    plan = job.plan
    of, runs = _due(job)
    if not body.tasks:
        # After a start that failed: its tasks have another shape than what is to run again.
        if runs and (job.listed is None or job.listed.plan_id not in job.failed):
            yield f"empties the list while {of[0]} wants tasks to run"
        return
    if not runs:
        yield "lists tasks while none may run"
        return
    if (body.plan_id, body.versions) != of[:2]:
        yield f"lists tasks of {body.plan_id}, and {of[0]} is what runs"
    if plan is not None and body.generation != plan.body.generation:
        yield f"has generation {body.generation}, and its plan {plan.body.generation}"
    yield from _specs(job, body, json.loads(of[2]))


def _due(job: JobStory) -> tuple[tuple[str, LayerVersions, str], bool]:
    """Plan, versions and config of the tasks that a list may be about, and whether they may run."""
    if job.plan is not None:
        body = job.plan.body
        return (body.plan_id, body.to_versions, body.expected_json), job.plan.starts
    if job.running is None:
        return ("", job.versions, "{}"), False
    running = job.running
    return (running.plan_id, running.versions, running.running_json), running.state == "running"


def _parts(job: JobStory, body: TaskSpecsPublished) -> Iterator[str]:
    """One after the other, with nothing but alerts between them, all of one list."""
    if not 1 <= body.part <= body.parts:
        yield f"is part {body.part} of {body.parts}"
    if body.part == 1:
        return
    before = job.parts[-1] if job.parts else None
    if before is None or before.part != body.part - 1:
        yield f"is part {body.part}, and part {body.part - 1} does not come right before it"
    elif any(
        getattr(before, name) != getattr(body, name)
        for name in ("plan_id", "generation", "parts", "tasks", "versions", "config_json")
    ):
        yield f"is part {body.part} of another list than the part before it"


def _specs(job: JobStory, body: TaskSpecsPublished, config: Any) -> Iterator[str]:
    """The whole list is that of its config, and shares all partitions out."""
    package = config.get("package", {})
    if (body.package, body.package_version) != (package.get("name"), package.get("version")):
        yield f"runs {body.package} {body.package_version}, and its config says {package}"
    if body.part < body.parts:
        return
    before = job.parts if body.part > 1 else []
    specs = [spec for part in (*before, body) for spec in part.specs]
    count = config.get("tasks", 1)
    if [spec.task for spec in specs] != list(range(count)) or body.tasks != count:
        yield f"has not one spec for each of {count} tasks"
    shared = Counter(
        (one.topic, number) for spec in specs for one in spec.inputs for number in one.partitions
    )
    if doubled := sorted(at for at, owners in shared.items() if owners > 1):
        yield f"gives {doubled} to several tasks"
    inputs = {one["topic"]: one.get("partitions") for one in config.get("inputs", [])}
    found: dict[str, set[int]] = {topic: set() for topic in inputs}
    for topic, number in shared:
        found.setdefault(topic, set()).add(number)
    for topic, numbers in sorted(found.items()):
        # Where nobody has counted them, they are still numbered from 0 without a gap.
        wanted = (inputs.get(topic) or max(1, len(numbers))) if topic in inputs else 0
        if numbers != set(range(wanted)):
            yield f"shares {sorted(numbers)} of {topic} out, which has {wanted} partitions"


def _tasks(config_json: str) -> int:
    return int(json.loads(config_json).get("tasks", 1))


def _text(versions: LayerVersions) -> str:
    return ".".join(str(one) for one in versions.to_plain().values())


_RULES: tuple[Callable[[JobStory, Read, Body, Lore], Iterator[str]], ...] = (
    _plans,
    _steps,
    _proofs,
    _commits,
    _failures,
    _quarantine,
    _releases,
    _answers,
    _lists,
)
