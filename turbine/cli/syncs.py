"""`get syncs`, `get tasks` and `wait job`: how running follows expected."""

from __future__ import annotations

import json
import time  # noqa: TID251 - a person's patience is real time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from turbine.cli.options import At, Listed, Names, Shown, check_job, open_log
from turbine.failures import Code, Failed

if TYPE_CHECKING:
    from projections.syncs import Sync
    from turbine.read.moments import Moment
    from turbine.read.sources.log import Log
    from turbine.read.state.running import Sightings
    from turbine.read.state.view import JobView, View

Row = dict[str, Any]
Of = Annotated[str | None, typer.Option("--job", metavar="JOB", help="Of this job only.")]
Name = Annotated[str, typer.Argument(metavar="JOB")]

LOOK_S = 1.0
"""Between two looks of `wait`: each reads the job's partition anew."""


def get_syncs(
    context: typer.Context,
    names: Names = None,
    *,
    job: Of = None,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List how far each job's running config has followed its expected one, or those named."""
    from turbine.cli.output import show_rows
    from turbine.cli.viewing import lines_of
    from turbine.read.answers.syncs import syncs
    from turbine.read.plain import plain

    view, found = _named(context, names, job, at)
    lines = lines_of(view)
    rows = plain(syncs(view, [lines[name] for name in found]))
    show_rows(rows, output, _sync_columns(), name="job")
    return Code.OK


def get_tasks(
    context: typer.Context,
    names: Names = None,
    *,
    job: Of = None,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List the tasks that should run, and those that run although they should not."""
    from turbine.cli.output import show_rows
    from turbine.read.answers.tasks import tasks
    from turbine.read.plain import plain

    view, syncs = _named(context, names, job, at)
    rows = [row for name in syncs for row in plain(tasks(view, name))]
    show_rows(rows, output, _task_columns())
    return Code.OK


def _named(
    context: typer.Context, names: list[str] | None, job: str | None, at: str | None
) -> tuple[View, dict[str, Sync]]:
    """What the log says, and the rows of the jobs that are named, by --job too; of all where none
    is."""
    from turbine.cli.viewing import jobs_view
    from turbine.read.moments import given_moment

    wanted = [*(names or ()), *([] if job is None else [job])]
    for name in wanted:
        check_job(name)
    view = jobs_view(open_log(context), given_moment(at))
    known = {name: one for name, one in sorted(view.jobs.items()) if one.existed}
    syncs = {name: one.sync for name, one in known.items() if one.sync is not None}
    if not wanted:
        return view, syncs
    living = [name for name, one in known.items() if one.job.alive]
    return view, {name: existing(syncs, name, at, lambda: living) for name in wanted}


def wait_job(
    context: typer.Context,
    *,
    job: Name,
    for_: Annotated[
        Literal["running", "paused", "deleted", "quarantined"],
        typer.Option("--for", help="What to wait for."),
    ],
    timeout: Annotated[str, typer.Option("--timeout", metavar="SPAN")] = "60s",
    output: Shown = "table",
) -> int:
    """Wait until a job is what is expected of it, or in quarantine.

    Running means that the newest config is in effect, and that all its tasks run.
    """
    from turbine.cli.jobs import names_in
    from turbine.cli.output import show_value, write
    from turbine.read.answers.syncs import sync_line
    from turbine.read.moments import parse_span
    from turbine.read.plain import plain
    from turbine.read.state.headline import count_of, tasks_of
    from turbine.read.state.running import Sightings

    check_job(job)
    limit_s = time.monotonic() + parse_span(timeout, "--timeout") / 1000
    log = open_log(context)
    while True:
        sync = existing(log.syncs(job=job), job, None, lambda: names_in(log))
        if reached(sync, for_):
            break
        if time.monotonic() >= limit_s:
            raise Failed(Code.TIMEOUT, f"{job} is not {for_} after {timeout}: {told(sync)}")
        time.sleep(min(LOOK_S, max(0.0, limit_s - time.monotonic())))
    if output == "table":
        write(f"{job}: {for_}")
    else:
        count = count_of(sync, tasks_of(sync, Sightings(), {}))
        show_value(plain(sync_line(sync, for_, count.wanted, count.running)), output)
    return Code.OK


def reached(sync: Sync, goal: str) -> bool:
    """Whether the job is there; Failed where nothing but a person can bring it there."""
    from turbine.read.state.running import condition, state_of

    if goal == "quarantined":
        return sync.quarantine is not None
    if sync.quarantine is not None:
        raise Failed(
            Code.FAILED,
            f"{sync.name} is quarantined, so it will not be {goal}: {sync.quarantine.explanation};"
            f" put that right, then `turbine release {sync.name} --reason R`",
        )
    if goal == "deleted" and not sync.alive and sync.running is None:
        return True
    if condition(sync) != "in sync" or state_of(sync) != goal:
        return False
    return goal != "running" or not _lacking(sync)


def _lacking(sync: Sync) -> int:
    """Tasks that should run, and do not by their own last word."""
    from turbine.read.state.headline import count_of, tasks_of
    from turbine.read.state.running import Sightings

    return count_of(sync, tasks_of(sync, Sightings(), {})).lacking


def told(sync: Sync) -> str:
    """What is known of a job that is not where it should be, and what may help."""
    from projections.waits import missing
    from turbine.read.state.running import condition, state_of

    if sync.plan is not None:
        waits = [f"{at} ({why})" for at, why in missing(sync, sync.plan)]
        more = f" and {len(waits) - 3} more" if len(waits) > 3 else ""
        tasks = f", for tasks {', '.join(waits[:3])}{more}" if waits else ""
        return f"its {sync.plan.intent} waits in step {sync.plan.step or 'none'}{tasks}"
    word = condition(sync)
    if word == "in sync" and (lacking := _lacking(sync)):
        return f"{lacking} of its tasks do not run; `turbine why {sync.name}` tells why"
    if word == "in sync":
        return f"it is {state_of(sync)}, as is expected of it"
    if word == "behind":
        return "nobody has planned it yet; is the state syncer running?"
    return f"its last plan failed; `turbine describe job {sync.name}` tells why"


def running_config(sync: Sync) -> Row:
    """The config that is in effect; none where the job does not run yet."""
    return {} if sync.running is None else dict(json.loads(sync.running.config_json))


def section(row: Row) -> str:
    """What `describe job` says of running, plan, quarantine and failures."""
    from turbine.cli.output import Column, facts, indented, table_text
    from turbine.read.differences import differences
    from turbine.read.moments import show_time

    sync = row["sync"]
    pairs: list[tuple[str, object]] = [
        ("running", sync["in_effect"]),
        ("condition", sync["condition"]),
        ("versions", _versions(sync["running_versions"])),
        ("tasks", f"{sync['tasks_running']} of {sync['tasks']} run"),
    ]
    if plan := sync["plan"]:
        waits = ", ".join(f"{one['task']} ({one['why']})" for one in plan["missing"][:10])
        more = f" and {len(plan['missing']) - 10} more" if len(plan["missing"]) > 10 else ""
        pairs += [
            ("plan", f"{plan['intent']} to {_versions(plan['versions'])}"),
            ("step", f"{plan['step'] or '-'} of {', '.join(plan['steps'])}"),
            ("deadline", show_time(plan["deadline_ms"])),
            ("waits for", f"tasks {waits}{more}" if waits else "-"),
        ]
    if held := sync["quarantine"]:
        pairs.append(("quarantine", f"{held['step']}: {held['cause']}: {held['explanation']}"))
    parts = [facts(pairs)]
    found = differences(sync["running"], row["expected"])
    if found:
        lines = "\n".join(map(str, found))
        parts.append("running to expected\n" + indented(lines))
    if sync["last_failures"]:
        columns = [
            Column("FAILED", lambda one: show_time(one["at_ms"])),
            Column("STEP", lambda one: one["step"]),
            Column("CAUSE", lambda one: one["cause"]),
            Column("EXPLANATION", lambda one: one["explanation"]),
        ]
        parts.append(table_text(sync["last_failures"], columns))
    return "\n\n".join(parts)


def sync_at(log: Log, job: str, moment: Moment | None) -> tuple[Sync, Sightings] | None:
    """A job's row and what was seen of it; None where the log tells nothing.

    Of the past: from a frame, where somebody who follows the log has kept one.
    """
    from turbine.read.state.running import Sightings

    then = jobs_held(log, job) if moment is None else jobs_then(log, moment, (job,))
    if then is not None:
        found = ((one.sync, one.sightings) for one in then if one.sync is not None)
        return next(found, None)
    sightings = Sightings()
    sync = log.syncs(job=job, end=end_of(log, moment), heed=sightings).get(job)
    return None if sync is None else (sync, sightings)


def end_of(log: Log, moment: Moment | None) -> dict[str, int] | None:
    """The position vector over all that tells how jobs run."""
    from turbine.read.moments import position_at
    from turbine.read.sources.log import SYNC_TOPICS

    topics = [topic for topic in SYNC_TOPICS if topic in log.counts]
    return None if moment is None else position_at(log, moment, topics)


def read_sync(context: typer.Context, job: str, at: str | None) -> Sync:
    """The same of a command line; Failed where there never was such a job."""
    from turbine.cli.jobs import names_in
    from turbine.read.moments import given_moment

    check_job(job)
    moment = given_moment(at)
    log = open_log(context)
    found = sync_at(log, job, moment)
    rows = {} if found is None else {job: found[0]}
    return existing(rows, job, at, lambda: names_in(log))


def jobs_held(log: Log, job: str) -> list[JobView] | None:
    """The job as it is now, if there is one; None where nobody holds it here."""
    view = log.held()
    if view is None:
        return None
    return [view.jobs[job]] if job in view.jobs else []


def jobs_then(log: Log, moment: Moment, names: Iterable[str]) -> list[JobView] | None:
    """The jobs of these names, or all, by name; None where no frame is kept to begin from."""
    from turbine.read.moments import position_at
    from turbine.read.sources.held import topics_of
    from turbine.read.state.framed import jobs_before

    return jobs_before(log, position_at(log, moment, topics_of(log)), names)


def existing(
    syncs: Mapping[str, Sync],
    job: str,
    at: str | None = None,
    names: Callable[[], Iterable[str]] = tuple,
) -> Sync:
    """The job's row; Failed where there never was one, with the nearest of the `names` there are
    besides those of these rows."""
    from turbine_client.creating import LISTS, with_nearest

    if job in syncs and syncs[job].versions.base:
        return syncs[job]
    when = f" at {at}" if at else ""
    sentence = f"there is no job {job}{when}; {LISTS}"
    known = {name for name, sync in syncs.items() if sync.alive}
    others = () if at else names()  # those of now may not have been there then
    raise Failed(Code.NOT_FOUND, with_nearest(sentence, job, known.union(others)))


def _versions(plain: Row | None) -> str:
    return "" if plain is None else "/".join(map(str, plain.values()))


def _sync_columns() -> list[Any]:
    from turbine.cli.output import Column
    from turbine.read.moments import show_time

    def of_plan(name: str) -> Any:
        return lambda row: row["plan"][name] if row["plan"] else None

    return [
        Column("JOB", lambda row: row["job"]),
        Column("STATE", lambda row: row["state"]),
        Column("TASKS", lambda row: f"{row['tasks_running']}/{row['tasks']}"),
        Column("CONFIG", lambda row: row["condition"]),
        Column("EXPECTED", lambda row: _versions(row["expected_versions"])),
        Column("IN EFFECT", lambda row: _versions(row["running_versions"])),
        Column("PLAN", of_plan("intent")),
        Column("STEP", of_plan("step")),
        Column("MISSING", lambda row: len(row["plan"]["missing"]) if row["plan"] else None),
        Column("DEADLINE", lambda row: show_time(row["plan"]["deadline_ms"] if row["plan"] else 0)),
        Column("FAILURES", lambda row: row["failures"]),
        Column("CAUSE", lambda row: (row["quarantine"] or {}).get("explanation"), wide=True),
    ]


def _task_columns() -> list[Any]:
    from turbine.cli.output import Column
    from turbine.read.moments import show_time

    return [
        Column("TASK", lambda row: row["name"]),
        Column("STATE", lambda row: row["state"]),
        Column("SINCE", lambda row: show_time(row["since_ms"])),
        Column("CONTAINER", lambda row: row["container"]),
        Column("GENERATION", lambda row: row["generation"]),
        Column("ATTEMPT", lambda row: row["attempt"]),
        Column("CAUSE", lambda row: row["cause"]),
        Column("SHARD GENERATION", lambda row: row["shard_generation"], wide=True),
        Column("EXPLANATION", lambda row: row["explanation"], wide=True),
    ]
