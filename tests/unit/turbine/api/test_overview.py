"""The fleet over time, and the digest: of now and of then, and as the command tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.spoken_log import NOW, SpokenLog
from events.generated.records import (
    AlertRaised,
    DrainRequested,
    Generation,
    JobQuarantined,
    LayerVersions,
    TaskStarted,
)
from events.topics import JOURNAL, OPERATOR, TASKS
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.world import CONFIG, World, small_fleet, world_of
from turbine.api.digests import BEFORE_MOST
from turbine.read.answers.digest import look
from turbine.read.answers.lines import lines_of
from turbine.read.plain import plain
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state.past import view_at

P = "/api/v1"
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def get(world: World, target: str, status: int = 200) -> Any:
    found = ask(world.app, "GET", P + target)
    assert found.status == status, found.body
    return found.json()


def started(log: SpokenLog, job: str, task: int, attempt: int = 1) -> None:
    body = TaskStarted(job, task, Generation(1, 1), "container-0", 1, None, attempt)
    log.say(TASKS, job, body)


def two_hours() -> SpokenLog:
    """Two jobs report for ten minutes; one of them falls behind, and a task of it begins again."""
    log = SpokenLog()
    for name in ("clicks", "orders"):
        log.expect(name, CONFIG)
        log.run(name, CONFIG, 2)
        for task in range(2):
            started(log, name, task)
    begin = log.now_ms // MINUTE_MS * MINUTE_MS + MINUTE_MS
    for minute in range(10):
        log.tick(begin + minute * MINUTE_MS)
        for name in ("clicks", "orders"):
            for task in range(2):
                lag = None if minute == 4 and name == "orders" else 1_000 * (minute + 1)
                log.load(name, task, lag_ms=lag, count=minute + 1)
        if minute == 6:
            started(log, "clicks", 1, attempt=2)
    log.tick(begin + 10 * MINUTE_MS)
    return log


@pytest.fixture
def busy(tmp_path: Path) -> World:
    return world_of(two_hours(), directory=tmp_path)


def test_the_fleet_over_time_begins_where_the_first_task_reports(busy: World) -> None:
    found = get(busy, "/fleet/series?buckets=10")
    assert found["end_ms"] - found["t_ms"][0] <= 11 * MINUTE_MS, "of a day eleven minutes are known"
    assert found["rate_in"][1] is not None
    assert found["jobs"][1:9] == [2.0] * 8
    assert found["tasks"][1:9] == [4.0] * 8
    assert found["lag_seconds"][8] > found["lag_seconds"][1]
    assert sum(found["restarts"]) == 1
    assert 1.0 in found["lag_unknown"], "one job did not know its lag for a minute"


def test_of_a_moment_that_is_over_nothing_later_is_told(busy: World) -> None:
    whole = get(busy, "/fleet/series?buckets=10")
    middle = whole["t_ms"][4]
    query = f"from={iso(whole['t_ms'][0])}&to={iso(whole['end_ms'])}&buckets=10&at={iso(middle)}"
    found = get(busy, f"/fleet/series?{query}")
    assert found["rate_in"][:4] == whole["rate_in"][:4]
    for name in ("rate_in", "lag_seconds", "cores", "restarts"):
        assert found[name][5:] == [None] * 5, name


def test_a_job_over_time_begins_where_it_reports_when_asked(busy: World) -> None:
    end = get(busy, "/fleet/series")["end_ms"]
    query = f"from={iso(end - HOUR_MS)}&to={iso(end)}&buckets=60"
    whole = get(busy, f"/jobs/clicks/series?{query}")
    trimmed = get(busy, f"/jobs/clicks/series?{query}&trim=true")
    assert whole["rate_in"][0] is None
    assert trimmed["rate_in"][0] is not None
    assert trimmed["end_ms"] == whole["end_ms"] == end


def test_a_fleet_of_which_nothing_is_known_has_a_day_of_nothing(tmp_path: Path) -> None:
    log = SpokenLog()
    log.tick()
    found = get(world_of(log, directory=tmp_path), "/fleet/series?buckets=4")
    assert found["rate_in"] == found["lag_seconds"] == found["jobs"] == [None] * 4
    assert found["restarts"] == [0] * 4


def iso(at_ms: int) -> str:
    from turbine.read.moments import show_time

    return show_time(at_ms)


# --- what differs


def test_what_differs_is_of_jobs_that_there_were_between_moments_that_there_are(
    tmp_path: Path,
) -> None:
    world = world_of(small_fleet(), directory=tmp_path)
    found = get(world, f"/diff?from={iso(NOW)}&job=clicks&job=orders")
    assert [subject["name"] for subject in found["items"]] == ["clicks", "orders"]
    assert get(world, f"/diff?from={iso(NOW)}&job=nobody", 404)["place"] == "path.job"
    assert get(world, "/diff?from=journal.v1/0:999999", 422)["place"] == "query.from"
    sentence = get(world, "/diff?from=journal.v1/0:999999", 422)["detail"]
    assert sentence.startswith("from: journal.v1/0 ends at ")


# --- the digest


def as_told(log: SpokenLog, since_ms: int) -> Any:
    """What `turbine digest` tells, which reads all of the log."""
    known = Log(source=log)
    view = view_at(known, known.ends(known.places(topics_of(known))))
    return plain(look(known, view, lines_of(view), since_ms))


def troubled() -> SpokenLog:
    """Much happened before the shift, some of it is open still; a little happens in it."""
    log = small_fleet()
    held = JobQuarantined(
        "orders",
        "plan",
        "sig",
        LayerVersions(1, 0, 0, 0),
        0,
        "start",
        "operator-error",
        "it dies",
        3,
    )
    log.say(JOURNAL, "orders", held, source="state-syncer")
    old = AlertRaised("clicks", "straggler", "info", "task 1 lags", "docs/runbooks/straggler.md")
    log.say(JOURNAL, "clicks", old, source="auto-scaler")
    for version in range(2, BEFORE_MOST + 4):
        log.expect("clicks", dict(CONFIG) | {"tasks": version}, version)
    log.tick(log.now_ms + HOUR_MS)
    log.expect("clicks", dict(CONFIG) | {"tasks": 99}, BEFORE_MOST + 4)
    log.say(OPERATOR, "container-0", DrainRequested("1.wish", "container-0", "ana", "its disk"))
    log.tick()
    return log


def test_the_digest_is_what_the_command_tells(tmp_path: Path) -> None:
    log = troubled()
    world = world_of(log, directory=tmp_path)
    for since_ms in (NOW - 1, log.now_ms - HOUR_MS // 2):
        found = get(world, f"/digest?from={iso(since_ms)}")
        told = as_told(log, found["since_ms"])
        pairs = zip(found["jobs"], told["jobs"], strict=True)
        waits = [(one.pop("waits_ms"), other.pop("waits_ms")) for one, other in pairs]
        assert all(one == other or one >= other for one, other in waits), "at least since then"
        assert found == told
    [clicks] = [one for one in found["jobs"] if one["job"] == "clicks"]
    assert [one["path"] for one in clicks["config"][0]["differences"]] == ["tasks"]
    assert [one["alert"] for one in clicks["open"]] == ["straggler"], "raised long before"
    [orders] = [one for one in found["jobs"] if one["job"] == "orders"]
    assert (orders["stands"], orders["quarantine"]["cause"]) == ("needs you", "operator-error")


def test_the_digest_of_then_does_not_know_what_came_later(tmp_path: Path) -> None:
    log = troubled()
    world = world_of(log, directory=tmp_path)
    then = log.now_ms - HOUR_MS // 2
    found = get(world, f"/digest?at={iso(then)}")
    assert found["until_ms"] <= then
    [clicks] = [one for one in found["jobs"] if one["job"] == "clicks"]
    assert clicks["config"][-1]["version"] == BEFORE_MOST + 3
    now = get(world, "/digest")
    [clicks] = [one for one in now["jobs"] if one["job"] == "clicks"]
    assert clicks["config"][-1]["version"] == BEFORE_MOST + 4


def test_a_span_in_which_too_much_happened_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turbine.api.digests.TOLD_MOST", 3)
    world = world_of(troubled(), directory=tmp_path)
    found = get(world, f"/digest?from={iso(NOW - 1)}")
    assert found["whole"] is False


@pytest.mark.parametrize("path", ["/digest", "/fleet/series"])
def test_a_span_that_ends_before_it_begins_is_refused(busy: World, path: str) -> None:
    end = get(busy, "/fleet/series")["end_ms"]
    refused = get(busy, f"{path}?from={iso(end + HOUR_MS)}", 422)
    assert "name an earlier time" in refused["detail"]
