"""What a line reads of the log: the fleet at an instant, and the job that it names."""

from __future__ import annotations

import json
import time  # noqa: TID251 - a person's patience is real time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from typer import Context

from projections.jobs import Job
from projections.syncs import Sync
from projections.waits import missing
from turbine.cli.options import check_jobs, open_log
from turbine.failures import Code, Failed
from turbine.read.answers.lines import JobLine, lines_of
from turbine.read.moments import Moment, given_moment
from turbine.read.plain import JsonObject
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import SYNC_TOPICS, Log
from turbine.read.state.framed import FramedLog, jobs_before, view_before
from turbine.read.state.headline import count_of, tasks_of
from turbine.read.state.instants import position_at
from turbine.read.state.opening import open_cache
from turbine.read.state.past import view_at
from turbine.read.state.running import Sightings, condition, state_of
from turbine.read.state.view import JobView, View
from turbine_client.creating import LISTS, with_nearest

LOOK_S = 1.0
"""Between two looks at what is waited for: each reads a job's partition anew."""


def open_until(
    context: Context, at: str | None, topics: Iterable[str]
) -> tuple[FramedLog, dict[str, int] | None]:
    """The log, and the end over these topics that a line names; None is the end now."""
    moment = given_moment(at)
    log = open_log(context)
    return log, end_at(log, moment, topics)


def end_at(log: Log, moment: Moment | None, topics: Iterable[str]) -> dict[str, int] | None:
    """The position vector of an instant over those of the topics that the log has."""
    known = [topic for topic in topics if topic in log.counts]
    return None if moment is None else position_at(log, moment, known)


def looks(limit_s: float, every_s: float = LOOK_S) -> Iterator[bool]:
    """Looks at the log until that time, each with whether it is the last one."""
    while True:
        yield time.monotonic() >= limit_s
        time.sleep(min(every_s, max(0.0, limit_s - time.monotonic())))


# --- the fleet


@contextmanager
def viewed(log: FramedLog, moment: Moment | None) -> Iterator[View]:
    """Of now, or of then, with the whole of each job. Jobs are fetched as they are looked at, so
    what it is begun from stays open for as long."""
    held = _held(log, moment)
    if held is not None:
        yield held
        return
    end = _end(log, moment)
    cache = open_cache(log)
    try:
        yield view_at(log, end, cache)
    finally:
        cache.close()


def jobs_view(log: FramedLog, moment: Moment | None, what: str = "--at") -> View:
    """What runs, and no more: from a frame, where somebody who follows the log has kept one; else
    all of the log is read: whether a job's tasks run is for their containers' lives to say."""
    held = _held(log, moment)
    if held is not None:
        return held
    end = _end(log, moment, what)
    return view_before(log, end) or view_at(log, end)


def lines_by_job(view: View) -> dict[str, JobLine]:
    """Each job's line, as the API and the page have it."""
    return {line.job: line for line in lines_of(view)}


def _held(log: FramedLog, moment: Moment | None) -> View | None:
    """What a log that is followed shows already."""
    return log.held() if moment is None else None


def _end(log: FramedLog, moment: Moment | None, what: str = "--at") -> dict[str, int]:
    topics = topics_of(log)
    if moment is None:
        return log.ends(log.places(topics))
    return position_at(log, moment, topics, what)


# --- jobs


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


def all_existing(view: View, names: Iterable[str], at: str | None) -> None:
    """Failed where there never was a job of one of these names."""
    jobs = {name: seen.job for name, seen in view.jobs.items()}
    for name in names:
        existing(jobs.get(name), name, at, lambda: living(jobs.values()))


def living(jobs: Iterable[Job]) -> list[str]:
    """The names of those that there are."""
    return [job.name for job in jobs if job.alive]


def names_in(log: Log, end: Mapping[str, int] | None = None) -> list[str]:
    """The same of a log, which is folded for it: only to tell whoever mistyped one."""
    return living(log.jobs(end=end).values())


def existing_job(
    log: Log, name: str, at: str | None = None, end: Mapping[str, int] | None = None
) -> Job:
    """The job as the log has it up to there; Failed where there never was one."""
    return existing(log.job(name, end=end), name, at, lambda: names_in(log, end))


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
    check_jobs(job)
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
    sync = log.syncs(job=job, end=end_at(log, moment, SYNC_TOPICS), observer=sightings).get(job)
    return None if sync is None else (sync, sightings)


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
