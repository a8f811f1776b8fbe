"""Rows of jobs and of their syncs as a line names them, or the nearest name that there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from typer import Context

from projections.jobs import Job
from projections.syncs import Sync
from projections.waits import missing
from turbine.cli.options import check_job, open_log
from turbine.failures import Code, Failed
from turbine.read.moments import Moment, given_moment
from turbine.read.plain import JsonObject
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import SYNC_TOPICS, Log
from turbine.read.state.framed import FramedLog, jobs_before
from turbine.read.state.headline import count_of, tasks_of
from turbine.read.state.instants import position_at
from turbine.read.state.running import Sightings, condition, state_of
from turbine.read.state.view import JobView
from turbine_client.creating import LISTS, with_nearest


def existed(job: Job) -> bool:
    """Was it ever created? A rejected request leaves a row too."""
    return job.versions.base > 0


def existing(
    job: Job | None, name: str, at: str | None, names: Callable[[], Iterable[str]] = tuple
) -> Job:
    """The job; Failed where there never was one, with the nearest of the `names` there are."""
    if job is not None and existed(job):
        return job
    when = f" at {at}" if at else ""
    remedy = LISTS
    if job is not None:
        remedy = f"`turbine log tail --job {name}` shows what was asked of it and refused"
    sentence = f"there is no job {name}{when}; {remedy}"
    raise Failed(Code.NOT_FOUND, with_nearest(sentence, name, names()))


def living(jobs: Iterable[Job]) -> list[str]:
    """The names of those that there are."""
    return [job.name for job in jobs if job.alive]


def names_in(log: Log) -> list[str]:
    """The same of a log, which is folded for it: only to tell whoever mistyped one."""
    return living(log.jobs().values())


def existing_sync(
    syncs: Mapping[str, Sync],
    job: str,
    at: str | None = None,
    names: Callable[[], Iterable[str]] = tuple,
) -> Sync:
    """The job's row; Failed where there never was one, with the nearest of the `names` there are
    besides those of these rows."""
    if job in syncs and syncs[job].versions.base:
        return syncs[job]
    when = f" at {at}" if at else ""
    sentence = f"there is no job {job}{when}; {LISTS}"
    known = {name for name, sync in syncs.items() if sync.alive}
    others = () if at else names()  # those of now may not have been there then
    raise Failed(Code.NOT_FOUND, with_nearest(sentence, job, known.union(others)))


def read_sync(context: Context, job: str, at: str | None) -> Sync:
    """The same of a command line; Failed where there never was such a job."""
    check_job(job)
    moment = given_moment(at)
    log = open_log(context)
    found = sync_at(log, job, moment)
    rows = {} if found is None else {job: found[0]}
    return existing_sync(rows, job, at, lambda: names_in(log))


def sync_at(log: FramedLog, job: str, moment: Moment | None) -> tuple[Sync, Sightings] | None:
    """A job's row and what was seen of it; None where the log tells nothing.

    Of the past: from a frame, where somebody who follows the log has kept one.
    """
    then = jobs_held(log, job) if moment is None else jobs_then(log, moment, (job,))
    if then is not None:
        found = ((one.sync, one.sightings) for one in then if one.sync is not None)
        return next(found, None)
    sightings = Sightings()
    sync = log.syncs(job=job, end=end_of(log, moment), heed=sightings).get(job)
    return None if sync is None else (sync, sightings)


def end_of(log: Log, moment: Moment | None) -> dict[str, int] | None:
    """The position vector over all that tells how jobs run."""
    topics = [topic for topic in SYNC_TOPICS if topic in log.counts]
    return None if moment is None else position_at(log, moment, topics)


def jobs_held(log: FramedLog, job: str) -> list[JobView] | None:
    """The job as it is now, if there is one; None where nobody holds it here."""
    view = log.held()
    if view is None:
        return None
    return [view.jobs[job]] if job in view.jobs else []


def jobs_then(log: FramedLog, moment: Moment, names: Iterable[str]) -> list[JobView] | None:
    """The jobs of these names, or all, by name; None where no frame is kept to begin from."""
    return jobs_before(log, position_at(log, moment, topics_of(log)), names)


def running_config(sync: Sync) -> JsonObject:
    """The config that is in effect; none where the job does not run yet."""
    return {} if sync.running is None else dict(json.loads(sync.running.config_json))


def reached(sync: Sync, goal: str) -> bool:
    """Whether the job is there; Failed where nothing but a person can bring it there."""
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


def told(sync: Sync) -> str:
    """What is known of a job that is not where it should be, and what may help."""
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


def _lacking(sync: Sync) -> int:
    """Tasks that should run, and do not by their own last word."""
    return count_of(sync, tasks_of(sync, Sightings(), {})).lacking


def versions_text(plain: JsonObject | None) -> str:
    return "" if plain is None else "/".join(map(str, plain.values()))
