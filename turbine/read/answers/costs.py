"""What a change costs those who run it: tasks that stop and start, for how long, beside whom. Pure.

How long is what plans with the same steps took before, of this job or else of any, from when they
were planned until they were in effect. Where there was none it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypedDict

from components.state_syncer.core.plan import plan_for
from events.generated.records import Body, SyncCommitted, SyncPlanned
from projections.kept_state import StatefulJob
from projections.syncs import RUNNING, START, STOP, Sync, apply
from projections.waits import standing, tasks_of
from turbine.read.sources.log import Standing
from turbine.read.state.headline import tasks_of as tasks_of_row
from turbine.read.state.running import Sightings


class MeasuredPlans(TypedDict):
    """How many plans an expected time rests on."""

    plans: int
    of: str  # job or fleet


class ChangeCost(TypedDict):
    """What a change would stop and start, for how long, and who runs beside it."""

    steps: list[str]
    stops: int
    starts: int
    state: str | None
    expected_ms: int | None
    measured: MeasuredPlans | None
    containers: list[str]
    neighbours: dict[str, int]


Times = dict[tuple[str, ...], list[int]]

GOES, UNSURE, LEFT = "goes along", "unsure", "left behind"
CODE = frozenset({"package", "arguments"})
"""Nobody can tell beforehand whether what comes of them reads what was kept: Spark sees it when
tasks run."""
SAMPLES = 9
"""The last ones: a fleet gets faster and slower."""
NAMED = 5


@dataclass(frozen=True, slots=True)
class Steps:
    """What a verdict would have the state syncer do."""

    names: tuple[str, ...]
    stops: int
    starts: int
    state: str = ""  # what becomes of what the job keeps, one of the words below; "" of nothing


def steps_of(sync: Sync | None, verdict: Body, name: str) -> Steps | None:
    """Once the verdict stands; None where there is nothing to do."""
    row, before = sync or Sync(name), (sync or Sync(name)).kept
    if isinstance(verdict, SyncPlanned):
        steps, tasks = tuple(step.name for step in verdict.steps), tasks_of(verdict.expected_json)
        differ = [one.path for one in verdict.differences]
        row, was = apply(row, verdict), row
    else:
        row = was = apply(row, verdict)
        way = plan_for(row)
        if way is None:
            return None
        steps, tasks, differ = way.steps, way.tasks, [one.path for one in way.differences]
    stops = len(list(standing(was))) if STOP in steps else 0
    starts = tasks if START in steps else 0
    return Steps(steps, stops, starts, _state(before, row, differ) if row.alive else "")


def _state(before: StatefulJob, row: Sync, differ: Iterable[str]) -> str:
    """What becomes of what the job kept before."""
    if not before.config_json or not before.state[1]:
        return ""
    if row.kept.wish not in ("", before.reset):
        return LEFT
    return UNSURE if CODE.intersection(differ) else GOES


def times_of(decisions: Iterable[Standing], job: str | None = None) -> Times:
    """By steps, how long plans took that came into effect, the newest last."""
    begun: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}
    found: Times = {}
    for one in decisions:
        record = one.read.record
        if not one.stands or job not in (None, record.key):
            continue
        match record.body:
            case SyncPlanned() as body:
                steps = tuple(step.name for step in body.steps)
                begun[record.key, body.plan_id] = (one.read.at_ms, steps)
            case SyncCommitted() as body if (record.key, body.plan_id) in begun:
                since_ms, steps = begun.pop((record.key, body.plan_id))
                found.setdefault(steps, []).append(one.read.at_ms - since_ms)
    return found


def cost_of(
    name: str,
    steps: Steps,
    seen: Mapping[str, tuple[Sync, Sightings]],
    own: Times,
    fleet: Times,
) -> ChangeCost:
    """Of these steps, as JSON: what stops and starts, how long it takes, who runs beside it."""
    whose, times = ("job", own) if steps.names in own else ("fleet", fleet)
    samples = times.get(steps.names, [])[-SAMPLES:] if steps.names else []
    there, others = _beside(name, seen)
    return {
        "steps": list(steps.names),
        "stops": steps.stops,
        "starts": steps.starts,
        "state": steps.state or None,
        "expected_ms": int(median(samples)) if samples else None,
        "measured": {"plans": len(samples), "of": whose} if samples else None,
        "containers": there,
        "neighbours": others,
    }


def _beside(
    name: str, seen: Mapping[str, tuple[Sync, Sightings]]
) -> tuple[list[str], dict[str, int]]:
    """The containers on which the job runs now, and the tasks of others there, by job."""
    on: dict[str, list[str]] = {}  # a container that has died since is not told apart
    for job, (sync, sightings) in seen.items():
        tasks = tasks_of_row(sync, sightings, {})
        on[job] = [one.seen.container for one in tasks if one.state == RUNNING and one.seen]
    there = set(on.pop(name, []))
    counts = {job: sum(one in there for one in found) for job, found in sorted(on.items())}
    return sorted(there), {job: count for job, count in counts.items() if count}


_OF_STATE = {
    GOES: "the job keeps state, which goes along",
    UNSURE: (
        "the job keeps state, and whether other code or arguments can read it shows when tasks run:"
        " where they lay it out otherwise the tasks fail, and the former ones bring it back"
    ),
    LEFT: "the job keeps state, which is left behind",
}


def sentences(cost: ChangeCost) -> Iterator[str]:
    """The cost of a change in sentences for people."""
    stops, starts = cost["stops"], cost["starts"]
    if not cost["steps"]:
        yield "no task stops: what differs is only copied"
    else:
        yield f"{_doing(stops, starts)}; {_long(cost)}"
    if cost["state"] and (cost["steps"] or cost["state"] != GOES):
        yield _OF_STATE[cost["state"]]
    if not cost["steps"]:
        return
    if cost["neighbours"]:
        named = [f"{count} of {job}" for job, count in cost["neighbours"].items()]
        more = f" and of {len(named) - NAMED} jobs more" if len(named) > NAMED else ""
        where = ", ".join(cost["containers"])
        yield f"beside it, on {where}, run tasks of others: {', '.join(named[:NAMED])}{more}"


def _doing(stops: int, starts: int) -> str:
    if stops and starts:
        return f"{_tasks(stops)} {_s('stop', stops)}, {_tasks(starts)} {_s('start', starts)}"
    if starts:
        return f"{_tasks(starts)} {_s('start', starts)}"
    return f"{_tasks(stops)} {_s('stop', stops)}" if stops else "no task runs that would stop"


def _long(cost: ChangeCost) -> str:
    measured, expected_ms = cost["measured"], cost["expected_ms"]
    if measured is None or expected_ms is None:
        return "how long it takes is unknown, as nothing of the kind was measured"
    count = measured["plans"]
    what = "the last time" if count == 1 else f"the last {count} times"
    whose = "of this job" if measured["of"] == "job" else "in this fleet"
    return f"about {expected_ms / 1000:.0f} s, as {what} {whose}"


def _tasks(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"


def _s(verb: str, count: int) -> str:
    return f"{verb}s" if count == 1 else verb
