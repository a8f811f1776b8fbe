"""Laws of the headline: no task is said to run in a life that is over, and all who count tasks come
to the same digits. By the surfaces as people have them, at instants of the simulator's logs.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest

from events.generated.records import (
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerStarted,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from events.topics import CONTAINERS, JOURNAL, LOADS, TASKS
from events.wire.codec import Read
from tests.kit.examples import some_of
from tests.laws.fleets import SEEDS, fleet_log
from tests.laws.played import log_of
from tests.unit.turbine import logs
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.world import World, world_of
from tests.unit.turbine.lines import run
from tests.unit.turbine.watched import exposition, told
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state.past import view_at
from turbine_client.positions import format_vector

Row = dict[str, Any]
Life = tuple[str, int]

INSTANTS = 3
"""Of each log by chance, and as many at which a life has just ended."""
OTHERS = (2, 5)
"""Seeds of jobs that sync and that are scaled, about which much is forged; no container is known
there."""
BEGUN_MS = 1_000_000


class Desk(NamedTuple):
    """A seed's log in memory, behind an API, and in a file."""

    log: Log
    api: World
    file: Path


@cache
def desk_of(seed: int) -> Desk:
    place = Path(mkdtemp())
    log = Log(source=fleet_log(seed)) if seed in SEEDS else log_of(seed)
    source: Any = log.source
    ends = source.ends(log.places(topics_of(log)))
    found = [one for poll in source.spans({at: (0, n) for at, n in ends.items()}) for one in poll]
    found.sort(key=lambda one: one.at_ms)
    return Desk(log, world_of(source, directory=place), logs.write(place / "log.gz", found))


def instants(seed: int) -> list[int]:
    """When a life has just ended, and some by chance."""
    reads = [*desk_of(seed).log.read([CONTAINERS, JOURNAL, LOADS, TASKS])]
    ended = [one.at_ms for one in reads if ends_a_life(one)]
    times = [one.at_ms for one in reads if one.at_ms >= BEGUN_MS]
    rng = Random(seed)
    chosen = rng.sample(ended, min(len(ended), INSTANTS))
    return [*chosen, *rng.sample(times, 2 * INSTANTS - len(chosen))]


def ends_a_life(read: Read) -> bool:
    body = read.record.body
    again = isinstance(body, ContainerStarted) and body.epoch > 1
    return again or isinstance(body, ContainerFailedOver)


def position(seed: int, number: int) -> dict[str, int]:
    """The position of one of these instants."""
    log = desk_of(seed).log
    return log.source.times(log.places(topics_of(log)), instants(seed)[number] + 1)


def said(seed: int, end: dict[str, int], *words: str) -> Any:
    """A command's answer about that position."""
    at = format_vector(end)
    ended = run("--log", str(desk_of(seed).file), *words, "--at", at, "-o", "json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def got(seed: int, end: dict[str, int], path: str) -> Any:
    """The API's."""
    answer = ask(desk_of(seed).api.app, "GET", f"/api/v1{path}?at={format_vector(end)}&limit=1000")
    assert answer.status == 200, answer.body
    return answer.json()


# --- a twin that reads the log by itself


def lives_over(log: Log, end: dict[str, int]) -> set[Life]:
    """Of each container every life but the newest, and that, too, where it was failed over in
    full sight of its last heartbeat."""
    newest: dict[str, int] = {}
    beats: dict[Life, int] = {}
    over: set[Life] = set()
    for read in log.read([CONTAINERS], end=end):
        match read.record.body:
            case ContainerStarted(container=name, epoch=epoch):
                newest[name] = max(epoch, newest.get(name, 0))
                over |= {(name, before) for before in range(1, newest[name])}
            case ContainerHeartbeat(container=name, epoch=epoch):
                if newest.get(name) == epoch and (name, epoch) not in over:
                    beats[name, epoch] = read.offset
            case ContainerFailedOver(container=name, epoch=epoch, last_heartbeat_offset=offset):
                if newest.get(name) == epoch and beats.get((name, epoch)) == offset:
                    over.add((name, epoch))
            case _:
                pass
    return over


def run_when_over(log: Log, end: dict[str, int], rows: list[Row]) -> list[str]:
    """Tasks of which a list says that they run, and their life is over: of each, by the word that
    the list itself rests on."""
    over, lives = lives_over(log, end), dict[tuple[str, int, int], Life]()
    for read in log.read([TASKS], end=end):
        body = read.record.body
        if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
            lives.setdefault((body.job, body.task, read.at_ms), (body.container, body.epoch))
    running = [row for row in rows if row["state"] == "running"]
    return [
        row["name"] for row in running if lives[row["job"], row["task"], row["since_ms"]] in over
    ]


FLEETS = [(seed, number) for seed in SEEDS for number in range(2 * INSTANTS)]
ALL = [(seed, number) for seed in (*SEEDS, *OTHERS) for number in range(2 * INSTANTS)]


@pytest.mark.parametrize(("seed", "number"), some_of(FLEETS, 8))
def test_nobody_says_that_a_task_runs_in_a_life_that_is_over(seed: int, number: int) -> None:
    log, end = desk_of(seed).log, position(seed, number)
    rows = said(seed, end, "get", "tasks")
    assert rows
    assert run_when_over(log, end, rows) == []
    jobs = sorted({row["job"] for row in rows})
    told = [row for job in jobs for row in got(seed, end, f"/jobs/{job}/tasks")["items"]]
    assert run_when_over(log, end, told) == []


def test_there_are_lives_that_end_under_their_tasks() -> None:
    """Else the law would hold of anything: of what tasks say of themselves it does not."""
    broken = 0
    for seed, number in FLEETS:
        log, end = desk_of(seed).log, position(seed, number)
        over = lives_over(log, end)
        newest = dict[str, tuple[int, Life]]()
        for read in log.read([TASKS], end=end):
            if isinstance(body := read.record.body, TaskStarted):
                life = (body.generation.shard, (body.container, body.epoch))
                newest[body.job] = max(newest.get(body.job, life), life)
        broken += any(life in over for _, life in newest.values())
    assert broken > len(FLEETS) // 2


# --- the same digits everywhere


def of_totals(found: Row) -> Row:
    """The digits of the totals, as all who count have them."""
    return {
        "jobs": found["jobs"],
        "wanted": found["tasks_wanted"],
        "running": found["tasks_running"],
        "unknown": found["tasks_unknown"],
        "states": found["tasks_by_state"],
        "phases": found["jobs_by_state"],
        **{
            name: (found[f"tasks_{name}"]["count"], found[f"tasks_{name}"]["percent"])
            for name in ("not_running", "lagging", "unhealthy")
        },
    }


def percent(share: float) -> float:
    return round(100 * share, 3)


@pytest.mark.parametrize(("seed", "number"), some_of(ALL, 12))
def test_all_who_count_come_to_the_same_digits(seed: int, number: int) -> None:
    log, end = desk_of(seed).log, position(seed, number)
    digits = of_totals(got(seed, end, "/fleet")["totals"])
    assert digits["wanted"] or digits["jobs"] < 2
    assert of_totals(said(seed, end, "top", "--once")["totals"]) == digits
    assert (
        of_totals(said(seed, end, "digest", "--since", "1970-01-01T00:00:00Z")["totals"]) == digits
    )
    # Lists
    lines = got(seed, end, "/jobs")["items"]
    states = Counter(row["state"] for row in said(seed, end, "get", "tasks"))
    assert dict(states) == digits["states"]
    assert sum((Counter(row["tasks_by_state"]) for row in lines), Counter()) == states
    for name, total in (("tasks", "wanted"), ("running", "running")):
        assert sum(row[name] for row in lines) == digits[total]
    for name in ("not_running", "lagging", "unhealthy"):
        assert sum(row[name] for row in lines) == digits[name][0]
    told_of = {row["job"]: (row["state"], row["tasks"], row["running"]) for row in lines}
    for row in said(seed, end, "get", "lag"):
        assert (row["state"], row["tasks"], row["running"]) == told_of[row["job"]]
    of_syncs = {
        row["job"]: (row["state"], row["tasks"], row["tasks_running"])
        for row in said(seed, end, "get", "syncs")
    }
    assert of_syncs.items() >= told_of.items()
    # Metrics
    text = exposition(view_at(log, end))
    assert told(text, "turbine_tasks_wanted") == {(): digits["wanted"]}
    for name in ("not_running", "lagging", "unhealthy"):
        shares = told(text, f"turbine_tasks_{name}_ratio")
        assert [percent(one) for one in shares.values()] == [digits[name][1]] * bool(
            digits["wanted"]
        )
    of_tiers = Counter[str]()
    for (state, _), count in told(text, "turbine_tasks").items():
        of_tiers[state] += int(count)
    assert of_tiers == states
    phases = told(text, "turbine_jobs")
    assert {p: n for (p,), n in phases.items() if n and p != "deleted"} == digits["phases"]


@pytest.mark.parametrize(("seed", "number"), some_of(ALL, 12))
def test_what_runs_and_what_does_not_is_all_that_is_wanted(seed: int, number: int) -> None:
    digits = of_totals(got(seed, position(seed, number), "/fleet")["totals"])
    count, share = digits["not_running"]
    assert digits["running"] + count == digits["wanted"]
    assert share == percent(count / digits["wanted"] if digits["wanted"] else 0.0)
