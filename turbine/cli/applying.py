"""What `apply` tells before it sends anything, and how it waits until the jobs run."""

from __future__ import annotations

import json
import time  # noqa: TID251 - a person's patience is real time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from components.state_syncer.core.plan import wanted_state
from events.job_config.merge import change_layer, merge_layers
from events.job_config.strict_json import Malformed, printable
from events.topics import LAYERS
from projections.jobs import Job
from projections.kept_state import STATE_STAYS
from projections.syncs import Sync
from turbine.cli.documents import LayerWish
from turbine.cli.output import tell
from turbine.cli.plans import (
    ChangeTerms,
    PlannedChange,
    await_verdicts,
    check_sizes,
    plan_of,
    show_verdicts,
    trial_rows,
)
from turbine.cli.reading import jobs_view, looks, reached, told
from turbine.cli.terminal import terminal
from turbine.failures import Code, Failed
from turbine.ops.generate import prepare_topic
from turbine.read.answers.config_findings import ConfigFinding, findings_in
from turbine.read.answers.costs import sentences
from turbine.read.answers.lines import line_in
from turbine.read.answers.tasks import TaskState, states_of
from turbine.read.plain import JsonObject
from turbine.read.state.framed import FramedLog
from turbine.read.state.running import Sightings, condition
from turbine_client.clients import counts_of
from turbine_client.publish import Publisher
from turbine_client.settings import Settings


@dataclass(frozen=True, slots=True)
class How:
    """What is done with a file beside what it asks."""

    patience_s: float  # for the verdicts, and with `wait` until all runs
    wait: bool
    dry_run: bool
    create_topics: bool
    offline: bool  # the log is a file, and no broker is asked about topics
    output: str


def run(log: FramedLog, wishes: list[LayerWish], terms: ChangeTerms, how: How) -> int:
    """Tries the changes of a file, tells what they cost, and sends them unless it is a dry run."""
    limit_s = time.monotonic() + how.patience_s
    jobs = known_jobs(log, wishes)
    wrong = wrong_rows(wishes, jobs, terms)
    if wrong and not how.dry_run:
        return show_verdicts(in_order(wrong + held_back(wishes, wrong), wishes), how.output)
    if not how.offline:
        topics = FileTopics(log.settings, create=how.create_topics, dry_run=how.dry_run)
        wishes = topics.look(wishes, terms.layer)
    plans = [plan_of(wish, jobs.get(wish.job), terms) for wish in wishes]
    check_sizes(plans, terms)
    rows = wrong + [unchanged(plan, terms) for plan in plans if plan.unchanged]
    known = {row["job"] for row in rows}
    due = [plan for plan in plans if plan.wish.job not in known]
    trials = trial_rows(due, jobs, terms, log)
    if how.dry_run:
        return show_verdicts(in_order(rows + trials, wishes), how.output, dry_run=True)
    if wrong := [row for row in trials if row.get("reason") == STATE_STAYS]:
        return show_verdicts(in_order(wrong + held_back(wishes, wrong), wishes), how.output)
    if how.output == "table":
        tell_costs(trials)
    rows += _send(log, due, terms)
    code = show_verdicts(in_order(rows, wishes), how.output)
    if how.wait and code == Code.OK:
        await_all(log, [wish.job for wish in wishes], limit_s, how.output)
    if how.output == "table":
        tell_next(rows)
    return code


def _send(log: FramedLog, due: Sequence[PlannedChange], terms: ChangeTerms) -> list[JsonObject]:
    if not due:
        return []
    with Publisher(log.settings, author=terms.author) as publisher:
        pending = [terms.propose(publisher, plan) for plan in due]
        return await_verdicts(publisher, pending, terms.wait_s)


def known_jobs(log: FramedLog, wishes: Sequence[LayerWish]) -> Mapping[str, Job]:
    """The jobs of a file as they are now."""
    if len(wishes) > 1:
        return log.jobs()
    job = log.job(wishes[0].job)
    return {} if job is None else {job.name: job}


# --- findings


def wrong_rows(
    wishes: Iterable[LayerWish], jobs: Mapping[str, Job], terms: ChangeTerms
) -> list[JsonObject]:
    """A row with all that is the matter of each job of the file whose config cannot be."""
    rows: list[JsonObject] = []
    for wish in wishes:
        job = jobs.get(wish.job)
        if not wish.whole and (job is None or not job.alive):
            continue  # what is the matter is that there is no such job, and the verdict says so
        found = findings_of(wish, job, terms.layer)
        if found:
            row: JsonObject = {"job": wish.job, "layer": terms.layer, "verdict": "rejected"}
            row |= {"reason": "invalid", "path": found[0].path, "explanation": found[0].sentence}
            rows.append(row | {"findings": [one.to_plain() for one in found]})
    return rows


def held_back(wishes: Iterable[LayerWish], wrong: Iterable[JsonObject]) -> list[JsonObject]:
    """A row of each other job of a file of which nothing is sent."""
    names = [row["job"] for row in wrong]
    others = [wish.job for wish in wishes if wish.job not in names]
    return [{"job": job, "verdict": f"not sent, as {names[0]} is rejected"} for job in others]


def findings_of(wish: LayerWish, job: Job | None, layer: str) -> list[ConfigFinding]:
    """What is the matter with the config that the job would have, without what is not a config."""
    configs = [json.loads(one.config_json) for one in (job or Job(wish.job)).layers]
    at = LAYERS.index(layer)
    if at and (job is None or not job.alive):
        return []
    try:
        configs[at] = wish.set if wish.whole else change_layer(configs[at], wish.set, wish.clear)
        return findings_in(merge_layers(configs))
    except Malformed:
        return []  # the verdict tells


# --- topics


@dataclass(frozen=True, slots=True)
class FileTopics:
    """What the jobs of a file read and write, as the broker has it."""

    settings: Settings
    create: bool
    dry_run: bool

    def look(self, wishes: Sequence[LayerWish], layer: str) -> list[LayerWish]:
        """The wishes with the partitions that the broker tells; a warning of what is not there."""
        if layer != "base" or not any(True for wish in wishes for _ in named_topics(wish)):
            return list(wishes)
        counts = dict(counts_of(self.settings))
        if self.create:
            self._make(wishes, counts)
        else:
            for note in notes(wishes, counts, self.settings.bootstrap):
                tell(note)
        return [fill(wish, counts) for wish in wishes]

    def _make(self, wishes: Sequence[LayerWish], counts: dict[str, int]) -> None:
        for wish in wishes:
            for one in named_topics(wish):
                if one.topic in counts:
                    continue
                wanted = one.partitions
                if self.dry_run:
                    counts[one.topic] = wanted or self.settings.partitions
                    tell(f"topic {one.topic} would be created")
                else:
                    counts[one.topic], _ = prepare_topic(self.settings, one.topic, wanted)
                    tell(f"topic {one.topic} is created, with {counts[one.topic]} partitions")


# --- costs


def unchanged(plan: PlannedChange, terms: ChangeTerms) -> JsonObject:
    """The row of a job that is what its file says already."""
    return {
        "job": plan.wish.job,
        "layer": terms.layer,
        "verdict": "unchanged",
        "version": plan.expected_version,
    }


def in_order(rows: Iterable[JsonObject], wishes: Iterable[LayerWish]) -> list[JsonObject]:
    """As the jobs stand in the file."""
    order = {wish.job: at for at, wish in enumerate(wishes)}
    return sorted(rows, key=lambda row: order[row["job"]])


def tell_costs(rows: Iterable[JsonObject]) -> None:
    """Says before anything is sent what of the jobs stops and starts."""
    for row in rows:
        for sentence in sentences(row["cost"]) if row.get("cost") else ():
            tell(printable(f"{row['job']}: {sentence}"))


def tell_next(rows: Iterable[JsonObject]) -> None:
    """Says to a person, and to no program, where to look at what was accepted."""
    accepted = [row["job"] for row in rows if row["verdict"] == "accepted"]
    if accepted and terminal().tty:
        one = len(accepted) == 1
        tell(f"look: `turbine why {accepted[0]}`" if one else "look: `turbine get jobs`")


# --- waiting


def await_all(log: FramedLog, jobs: Iterable[str], limit_s: float, output: str) -> None:
    """Returns once all run as is expected of them; Failed with the reason of one that will not."""
    for job in jobs:
        _await(log, job, limit_s)
        if output == "table":
            tell(f"{job}: runs as is expected of it")


def _await(log: FramedLog, job: str, limit_s: float) -> None:
    for last in looks(limit_s):
        sync = log.syncs(job=job)[job]
        # Whether containers live takes a longer look, once tasks have said that they run.
        if arrived(sync) and not line_in(jobs_view(log, None), job).not_running:
            return
        if last:
            raise Failed(
                Code.TIMEOUT,
                f"{job} was accepted and does not run yet: {lacking(sync)}; `turbine logs {job}`"
                " shows what its tasks say",
            )


def arrived(sync: Sync) -> bool:
    """Is what is expected of the job in effect, with all its tasks? Failed where it cannot be."""
    goal = wanted_state(sync)
    there = reached(sync, goal)
    tasks = _tasks(sync) if goal == "running" and condition(sync) == "in sync" else []
    lost = [row.name for row in tasks if row.state == "failed"]
    if lost:
        raise Failed(
            Code.FAILED,
            f"{sync.name} was accepted and does not run: {lacking(sync)};"
            f" `turbine logs {lost[0]}` shows what it said",
        )
    return there and all(row.state == "running" for row in tasks)


def lacking(sync: Sync) -> str:
    """What of it is not there yet, with what failed last."""
    for row in _tasks(sync):
        if row.state in ("failed", "restarting"):
            return f"task {row.name} is {row.state}, {row.cause}: {row.explanation}"
    if sync.trouble is not None:
        return f"its last plan failed at {sync.trouble.name}: {sync.trouble.explanation}"
    return told(sync)


def _tasks(sync: Sync) -> list[TaskState]:
    return list(states_of(sync, Sightings(), {}))


NAMED = 3
"""Jobs that a note names; more of them are counted."""


@dataclass(frozen=True, slots=True)
class UnknownPartitions:
    """An input of a job that does not say how many partitions its topic has."""

    job: str
    at: int
    topic: str


@dataclass(frozen=True, slots=True)
class Named:
    """A topic that a job reads or writes, and where its config says so."""

    job: str
    path: str
    topic: str
    partitions: int | None = None


def named_topics(wish: LayerWish) -> Iterator[Named]:
    """What the job names. The file may hold anything: what is no input names no topic."""
    inputs, output = wish.set.get("inputs"), wish.set.get("output")
    for at, one in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(one, dict) and isinstance(one.get("topic"), str):
            count = one.get("partitions")
            said = count if isinstance(count, int) and count > 0 else None
            yield Named(wish.job, f"inputs.{at}", one["topic"], said)
    if isinstance(output, dict) and isinstance(output.get("topic"), str):
        yield Named(wish.job, "output", output["topic"])


def gaps(wish: LayerWish) -> Iterator[UnknownPartitions]:
    """Inputs that do not say how many partitions they have, which could be filled in."""
    inputs = wish.set.get("inputs")
    for at, one in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(one, dict) and "partitions" not in one:
            topic = one.get("topic")
            if isinstance(topic, str):
                yield UnknownPartitions(wish.job, at, topic)


def fill(wish: LayerWish, counts: Mapping[str, int]) -> LayerWish:
    """The wish with the partitions of each topic that is there."""
    found = {gap.at: counts[gap.topic] for gap in gaps(wish) if gap.topic in counts}
    if not found:
        return wish
    inputs: list[Any] = [
        {**one, "partitions": found[at]} if at in found else one
        for at, one in enumerate(wish.set["inputs"])
    ]
    return replace(wish, set={**wish.set, "inputs": inputs})


def notes(wishes: Iterable[LayerWish], counts: Mapping[str, int], bootstrap: str) -> Iterator[str]:
    """A sentence for each topic that is not there."""
    missing: dict[str, list[Named]] = {}
    for wish in wishes:
        for one in named_topics(wish):
            if one.topic not in counts:
                missing.setdefault(one.topic, []).append(one)
    for topic, found in missing.items():
        named = ", ".join(f"{one.path} of {one.job}" for one in found[:NAMED])
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield printable(
            f"the broker at {bootstrap} shows no topic {topic}, named by {named}{more};"
            " make it with --create-topics, or apply again when it is there"
        )
