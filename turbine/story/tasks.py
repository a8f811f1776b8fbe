"""The part of the story in which tasks run in Spark: jobs, a day of traffic, a spike, a loss."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from math import pi, sin
from pathlib import Path
from typing import Any

from components.runtime.kafka.inputs import create_topic
from events.generated.records import Body, ScalingDecided, ScalingReverted, ScalingVerified
from events.sentences import in_full
from events.wire.codec import SKIPPED
from projections.syncs import RUNNING, Sync
from turbine.ops.generate import open_trace
from turbine.read.answers.task_words import tier_of
from turbine.read.state.headline import lives_of, tasks_of
from turbine.read.state.running import Sightings
from turbine.story.stage import (
    NotAsTold,
    StoryStage,
    accepted,
    other_pid,
    pid_of,
    until,
)

CLICKS, VISITS, ORDERS = "clicks", "visits", "orders"
NAMES = (CLICKS, VISITS, ORDERS)
PARTITIONS = 4
RUNS_S = 180.0
"""For the first start of Spark on a small laptop; here it takes ten seconds."""
SCALED_S = 480.0
"""A policy looks at several rounds of reports, and at some more before it calls a change good. What
brought too little is taken back, and not tried again for three minutes."""
SPEED = 360
"""A day in four minutes."""
USUAL, SPIKE = 60.0, 400.0
"""Records a second: of the day's busiest minute, and of orders for a while."""
ROUND_MS = 6_000
"""From one look of the auto scaler to the next: all times of the demo's tier are a tenth."""


# --- jobs


def configs(stage: StoryStage) -> dict[str, Mapping[str, Any]]:
    """By job: a query that keeps nothing, counts in windows, and calls of something slow."""
    clicks, visits, orders = map(stage.name, NAMES)
    query = f"SELECT key, value:n::long AS n FROM `{clicks}` WHERE value:n::long % 10 = 0"  # noqa: S608 - our own names
    return {
        clicks: _config(stage, clicks, f"{clicks}-sample", {"sql": query}, tasks=2),
        visits: _config(
            stage,
            clicks,
            f"{visits}-by-key",
            "spark_streaming.operators.windows:counted",
            arguments=["--window", "10 seconds", "--late", "2 seconds"],
            tasks=2,
        ),
        orders: _config(
            stage,
            orders,
            f"{orders}-priced",
            "turbine.story.shop:priced",
            schedule={"batch_interval_ms": 200, "batch_records": 600},
            limits={"tasks": PARTITIONS},
        ),
    }


def _config(
    stage: StoryStage, topic: str, output: str, operator: object, **more: Any
) -> Mapping[str, Any]:
    return {
        "operator": operator,
        "inputs": [{"topic": topic, "partitions": PARTITIONS, "format": "json"}],
        "output": {"topic": output},
        "package": {"name": "demo", "version": "1.0.0"},
        "checkpoint": {"root": str(stage.settings.directory / "checkpoints")},
        "policy": {"interval_ms": ROUND_MS, "settings": {"verify_minutes": 5}},
        **more,
    }


def create(stage: StoryStage) -> None:
    """Three jobs, each by a change of its base layer; they run when their tasks say so."""
    wanted = configs(stage)
    stage.say(
        "\n1. Ana asks for three Spark jobs: a query, counts by key in windows, and orders that are"
        "\n   priced by a slow service. A job is a base layer: a record on turbine.changes.base."
    )
    for job, config in wanted.items():
        for topic in (config["inputs"][0]["topic"], config["output"]["topic"]):
            create_topic(stage.settings, topic, PARTITIONS)
        accepted(stage.ana.change(job, config, create=True, wait_s=RUNS_S), f"{job} is created")
    stage.say(f"   All are accepted: {', '.join(wanted)}.")
    until(lambda: all(runs(stage, job) for job in wanted), "all of them run", RUNS_S)
    for job in wanted:
        stage.say(f"   {job} runs: {where_text(stage, job)}.")
    stage.show("get tasks", "jobs")


def runs(stage: StoryStage, job: str, tasks: int | None = None) -> bool:
    """Is its newest config in effect, with every task of it running, by the log?"""
    row = synced(stage, job)
    if row is None or row.running is None or row.running.state != RUNNING or row.plan:
        return False
    wanted = row.running.tasks if tasks is None else tasks
    return len(homes(stage, job)) == row.running.tasks == wanted


def synced(stage: StoryStage, job: str) -> Sync | None:
    """How running follows what is expected of a job."""
    return stage.log.syncs(job=job).get(job)


def homes(stage: StoryStage, job: str) -> dict[int, str]:
    """Each task that runs, and the container that said so last."""
    sightings = Sightings()
    row = stage.log.syncs(job=job, observer=sightings).get(job)
    if row is None:
        return {}
    tier = stage.log.fleet(tier_of(row)[0])
    found = tasks_of(row, sightings, lives_of(() if tier is None else (tier,)))
    return {
        one.task: one.seen.container
        for one in found
        if one.state == RUNNING and one.seen is not None
    }


def where_text(stage: StoryStage, job: str) -> str:
    """`task 0 on container-1, task 1 on container-0`."""
    found = sorted(homes(stage, job).items())
    return ", ".join(f"task {task} on {name}" for task, name in found)


# --- traffic


@contextmanager
def day(stage: StoryStage, trace: Path | None) -> Iterator[None]:
    """A day of clicks and orders passes in four minutes, for as long as the story is told."""
    path = stage.settings.directory / "day.csv"
    source = write_day(path, trace)
    stage.say(f"\n2. A quiet day passes in four minutes: {source}.")
    topics = [stage.name(CLICKS), stage.name(ORDERS)]
    peak = max(rate for _, rate in open_trace(path)) / 60
    load = ("--trace", str(path), "--speed", str(SPEED), "--scale", f"{USUAL / peak:.6f}")
    playing = [generate(stage, topic, *load) for topic in topics]
    stage.show(f"generate --topic {topics[0]} {shlex.join(load)}")
    stage.show("get lag", f"jobs/{topics[0]}")
    try:
        yield
    finally:
        for one in playing:
            one.terminate()
        for one in playing:
            one.wait()


def write_day(path: Path, trace: Path | None) -> str:
    """A day of records a minute as a CSV; where it is from."""
    if trace is None:
        rates = [60 * USUAL * (0.6 - 0.4 * sin(2 * pi * (at + 120) / 1440)) for at in range(1440)]
        told = "one with a night and a noon, drawn by a sine"
    else:
        rates = [rate for _, rate in open_trace(trace)[-1440:]]
        told = f"the last one of {trace.name}, a recording"
    lines = [f"{at},{rate:.3f}" for at, rate in enumerate(rates)]
    path.write_text("\n".join(["minute_index,rate", *lines, ""]))
    return told


def generate(stage: StoryStage, topic: str, *flags: str) -> subprocess.Popen[bytes]:
    """A load generator of its own process, as a person would start it."""
    command = [sys.executable, "-P", "-m", "turbine", "--bootstrap", stage.settings.bootstrap]
    with (stage.settings.directory / "logs" / "generate.log").open("ab") as out:
        return subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
            [*command, "generate", "--topic", topic, *flags],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )


# --- a spike


def spike(stage: StoryStage) -> None:
    """More orders than a thread can price: the job is made larger, and that is verified."""
    job = stage.name(ORDERS)
    before = size_text(stage, job)
    stage.say(
        f"\n6. A sale: {SPIKE:g} orders a second. {job} has {before},"
        "\n   which waits 5 ms for each price."
    )
    asked = {one.change_id for _, one in said(stage, job, ScalingDecided)}
    with generate(stage, job, "--rate", f"{SPIKE:g}") as playing:
        name, body = until(
            lambda: first_new(grown(stage, job), asked), f"{job} is made larger", SCALED_S
        )
        stage.say(f"   ScalingDecided, for {body.symptom}, caused by {body.diagnosis}:")
        stage.say(f"   {body.explanation}.")
        stage.show(f"why {name}", f"decisions/{name}")
        stage.show(f"why-not {job} --action scale-down")
        name, verified = verification(stage, job, asked)
        stage.say(f"   It has {size_text(stage, job)} now. {told(verified)}")
        stage.show(f"why {name}", f"decisions/{name}")
        playing.terminate()


def told(body: Body) -> str:
    """A record by its kind, and in the words that every list has for it."""
    return f"{type(body).__name__}: {in_full(body)}."


def verification(stage: StoryStage, job: str, before: Set[str]) -> tuple[str, ScalingVerified]:
    """The proof of one of the spike's changes. What brings too little, as on a machine that is
    busy elsewhere, is taken back first, and that is told."""
    taken_back = set(before)

    def proven() -> tuple[str, ScalingVerified] | None:
        reverted = first_new(said(stage, job, ScalingReverted), taken_back)
        if reverted is not None:
            taken_back.add(reverted[1].change_id)
            stage.say(f"   {told(reverted[1])}")
        ours = {one.change_id for _, one in grown(stage, job)}
        found = [one for one in said(stage, job, ScalingVerified) if one[1].change_id in ours]
        return first_new(found, before)

    found: tuple[str, ScalingVerified] = until(proven, "a change is verified", SCALED_S)
    return found


def first_new(found: list[tuple[str, Any]], before: Set[str]) -> tuple[str, Any] | None:
    """The first that is about none of these changes."""
    return next((one for one in found if one[1].change_id not in before), None)


def said(stage: StoryStage, job: str, kind: type[Any]) -> list[tuple[str, Any]]:
    """What stands of a kind in the job's journal, with its id."""
    found: list[tuple[str, Body | None]] = [
        (one.read.record.id, one.read.record.body)
        for one in stage.log.decisions(job=job)
        if one.stands and one.read.record.body is not SKIPPED
    ]
    return [(name, body) for name, body in found if isinstance(body, kind)]


def grown(stage: StoryStage, job: str) -> list[tuple[str, ScalingDecided]]:
    """Decisions that add tasks or threads."""
    return [one for one in said(stage, job, ScalingDecided) if one[1].action == "scale-up"]


def size_text(stage: StoryStage, job: str) -> str:
    """What runs of it now."""
    row = synced(stage, job)
    if row is None or row.running is None:
        raise NotAsTold(f"{job} does not run")
    running: Mapping[str, Any] = json.loads(row.running.config_json)
    tasks, threads = row.running.tasks, running.get("threads_per_task", 1)
    return f"{tasks} task{'s' * (tasks != 1)} of {threads} thread{'s' * (threads != 1)}"


# --- a machine lost


def lose_container(stage: StoryStage) -> None:
    """A container hangs: its lease ends, it is given up, and its tasks run elsewhere."""
    jobs = [stage.name(one) for one in NAMES]
    victim = until(lambda: fullest(stage, jobs), "a container runs tasks")
    held = [
        (job, task) for job in jobs for task, name in homes(stage, job).items() if name == victim
    ]
    told = ", ".join(f"{job}/{task}" for job, task in held)
    directory = stage.settings.directory
    pid = pid_of(directory, victim)
    stage.say(f"\n8. {victim} hangs, and with it {told}.")
    stage.say("   It cannot read the log, so its tasks stand still before anybody gives them away.")
    os.kill(pid, signal.SIGSTOP)
    try:
        others = until(lambda: elsewhere(stage, held, victim), f"{told} run elsewhere", RUNS_S)
        stage.say(
            f"   Given up after a minute of silence (here a tenth of it): all run on {others[0]}."
        )
        stage.show("get moves", "placement?view=moves")
        stage.say(f"   Then kill -9 of {victim}, too.")
        os.kill(pid, signal.SIGKILL)
    finally:
        wake(pid)
    again = until(lambda: other_pid(directory, victim, pid), f"{victim} is started again", RUNS_S)
    stage.say(f"   The supervisor has started it again (process {again}): new, and empty.")
    stage.show("get containers", "placement")


def wake(pid: int) -> None:
    """Nothing stays stopped, however the story ends."""
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


def fullest(stage: StoryStage, jobs: list[str]) -> str:
    """The container that runs the most tasks; "" where none does."""
    names = [name for job in jobs for name in homes(stage, job).values()]
    return max(sorted(set(names)), key=names.count, default="")


def elsewhere(stage: StoryStage, held: list[tuple[str, int]], victim: str) -> list[str]:
    """Where they run by one look, once all of them do and none where it ran."""
    found = {job: homes(stage, job) for job in {job for job, _ in held}}
    names = {found[job].get(task, victim) for job, task in held}
    return [] if victim in names else sorted(names)
