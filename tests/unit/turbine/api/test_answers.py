"""Every GET: what it answers, that the document tells all of it, moments, tags, and pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from benchmarks.spoken_log import SpokenLog
from events.topics import JOURNAL
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.world import CONFIG, NOW, World, world_of
from turbine.api import shapes
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.scoreboard import PLAYED
from turbine.read.answers.decision import Explanation

P = "/api/v1"
SHAPES: list[tuple[str, type[BaseModel]]] = [
    ("/jobs/clicks", shapes.JobAnswer),
    ("/jobs/clicks/series", shapes.SeriesAnswer),
    ("/jobs/clicks/decisions", shapes.DecisionsAnswer),
    ("/journal", shapes.DecisionsAnswer),
    ("/markers", shapes.MarkersAnswer),
    ("/tiers/default/balance", shapes.BalanceAnswer),
    ("/fleet/series", shapes.FleetSeriesAnswer),
]


def get(world: World, target: str, status: int = 200, **headers: str) -> Any:
    """The answer to a GET, as JSON."""
    found = ask(world.app, "GET", P + target, **headers)
    assert found.status == status, found.body
    return found.json() if found.body else None


def extras(value: Any) -> list[str]:
    """What an answer holds that its model does not tell of."""
    found = []
    if isinstance(value, BaseModel):
        found += [f"{type(value).__name__}.{name}" for name in value.model_extra or {}]
        found += [one for name in type(value).model_fields for one in extras(getattr(value, name))]
    elif isinstance(value, list):
        found += [one for inner in value for one in extras(inner)]
    elif isinstance(value, dict):
        found += [one for inner in value.values() for one in extras(inner)]
    return found


@pytest.mark.parametrize(("target", "model"), SHAPES)
def test_an_answer_is_what_the_document_says_and_no_more(
    world: World, target: str, model: type[BaseModel]
) -> None:
    found = get(world, target)
    assert extras(model.model_validate(found)) == []
    lists = [value for value in found.values() if isinstance(value, list)]
    assert not lists or any(lists), "nothing was compared"


def test_an_extra_would_be_told() -> None:
    page = shapes.DecisionsAnswer.model_validate({"items": [], "next": None, "more": 1})
    assert extras(page) == ["DecisionsAnswer.more"]


def test_the_fleet_in_three_numbers(world: World) -> None:
    found = get(world, "/fleet")
    totals = found["totals"]
    assert (totals["jobs"], totals["tasks_wanted"], totals["tasks_running"]) == (3, 6, 4)
    assert totals["tasks_lagging"] == {"count": 1, "percent": 16.667}
    assert totals["tasks_not_running"] == {"count": 2, "percent": 33.333}
    assert totals["tasks_by_state"] == {"running": 4, "waiting": 2}
    assert [(one["job"], one["why"]) for one in found["offenders"]] == [
        ("stuck", "behind, 2 of 2 tasks do not run, 1 alert"),
        ("clicks", "behind, 1 of 2 tasks lag"),
    ]
    [tier] = found["tiers"]
    assert (tier["containers"], tier["shards"]) == ({"serving": 2}, {"held": 8})
    assert [one["alert"] for one in found["alerts"]] == ["no-task-specs"]


def test_alerts_that_stand_and_that_were_cleared(world: World) -> None:
    found = get(world, "/alerts")
    assert [(one["subject"], one["cleared_ms"]) for one in found["open"]] == [("stuck", None)]
    [over] = found["cleared"]
    assert (over["subject"], over["explanation"]) == ("orders", "it runs")
    assert over["cleared_ms"] > over["since_ms"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["clicks", "orders", "stuck"]),
        ("?q=ck", ["clicks", "stuck"]),
        ("?q=!ck", ["orders"]),
        ("?q=ck%20!stu", ["clicks"]),
        ("?q=tier%3Dgold", ["stuck"]),
        ("?q=!tier%3Dgold%20state%3Drunning", ["orders"]),
        ("?q=override%3Dprio", ["clicks"]),
        ("?q=state%3Ddeleted", ["gone"]),
        ("?state=running,deleted", ["gone", "orders"]),
        ("?sort=lag", ["stuck", "clicks", "orders"]),
        ("?sort=state", ["stuck", "clicks", "orders"]),
        ("?sort=tasks", ["clicks", "orders", "stuck"]),
    ],
)
def test_jobs_are_searched_and_sorted(world: World, query: str, names: list[str]) -> None:
    found = get(world, "/jobs" + query)
    got = [one["job"] for one in found["items"]]
    assert sorted(got) == sorted(names)
    assert got == names or "sort=lag" in query
    assert (found["total"], found["next"]) == (len(names), None)


def test_a_job_that_lags_in_seconds_comes_before_one_of_which_nothing_is_known(
    tmp_path: Path,
) -> None:
    log = SpokenLog()
    for name, lag_ms in (("late", 90_000), ("quick", 100), ("unknown", None)):
        log.expect(name, CONFIG)
        log.run(name, CONFIG, 1)
        log.load(name, 0, lag_ms=lag_ms)
    found = get(world_of(log, directory=tmp_path), "/jobs?sort=lag")
    got = [(one["job"], one["lag_seconds"]) for one in found["items"]]
    assert got == [("late", 90.0), ("unknown", None), ("quick", 0.1)]


@pytest.mark.parametrize(("sort", "limit"), [("name", 4), ("lag", 5), ("tasks", 3), ("state", 5)])
def test_pages_of_jobs_hold_each_job_once(tmp_path: Path, sort: str, limit: int) -> None:
    log = SpokenLog()
    for number in range(12):
        log.expect(f"job-{number:02}", CONFIG)
    world = world_of(log, directory=tmp_path)
    seen: list[str] = []
    target: str | None = f"/jobs?sort={sort}&limit={limit}"
    while target is not None:
        found = get(world, target)
        seen += [one["job"] for one in found["items"]]
        assert (found["total"], found["items"] != []) == (12, True), "no page is empty"
        following = found["next"]
        target = following and f"/jobs?sort={sort}&limit={limit}&cursor={following}"
    assert seen == [f"job-{number:02}" for number in range(12)]


def test_a_job_in_full(world: World) -> None:
    found = get(world, "/jobs/clicks")
    assert found["origins"]["priority"] == "oncall"
    assert found["layers"]["oncall"]["author"] == "bob"
    assert (found["sync"]["state"], found["sync"]["in_effect"]) == ("behind", "running")
    assert found["scaling"]["last"]["kind"] == "ScalingDecided"
    assert found["line"]["overrides"] == [
        {"path": "priority", "layer": "oncall", "expires_ms": NOW + 9_000_000}
    ]
    assert found["decisions"][-1]["kind"] == "ScalingDecided"
    assert get(world, "/jobs/gone")["alive"] is False


def test_tasks_with_what_they_reported(world: World) -> None:
    first, second = get(world, "/jobs/clicks/tasks")["items"]
    assert (first["state"], first["container"], first["generation"]) == (
        "running",
        "container-0",
        1,
    )
    assert (first["lag_seconds"], first["lag_records"]) == (500.0, 70_000)
    assert (second["lag_seconds"], second["lag_records"]) == (None, None)
    page = get(world, "/jobs/clicks/tasks?limit=1")
    [last] = get(world, f"/jobs/clicks/tasks?limit=1&cursor={page['next']}")["items"]
    assert (page["total"], last["task"]) == (2, 1)


def test_a_series_has_nulls_where_nothing_is_known(world: World) -> None:
    begin, end = NOW - NOW % 60_000, NOW - NOW % 60_000 + 120_000
    times = "&".join(f"{name}={iso(at)}" for name, at in (("from", begin), ("to", end)))
    found = get(world, f"/jobs/orders/series?{times}&buckets=2")
    assert found["rate_in"] == [200.0, None]
    assert found["t_ms"] == [begin, begin + 60_000]
    other = get(world, f"/jobs/clicks/series?{times}&buckets=2")
    assert (other["lag_records"], other["tasks"]) == ([None, None], [2.0, None])


def iso(at_ms: int) -> str:
    from turbine.read.moments import show_time

    return show_time(at_ms)


def test_decisions_by_the_page_and_by_kind(world: World) -> None:
    everything = get(world, "/journal?limit=1000")["items"]
    by_pages: list[Any] = []
    cursor = ""
    while True:
        found = get(world, f"/journal?limit=5{cursor}")
        by_pages += found["items"]
        if found["next"] is None:
            break
        cursor = f"&cursor={found['next']}"
    assert by_pages == everything
    assert len({one["id"] for one in everything}) == len(everything) > 20

    def kinds(query: str) -> set[str]:
        return {one["kind"] for one in get(world, f"/journal?limit=1000&{query}")["items"]}

    assert kinds("kind=alert") == {"AlertRaised", "AlertCleared"}
    assert kinds("kind=TierDefined,scaling") == {"TierDefined", "ScalingDecided", "ScalingDeclined"}
    assert kinds("component=auto-scaler") == {"ScalingDecided", "ScalingDeclined"}
    assert kinds("job=stuck") == {"JobConfigChanged", "AlertRaised"}
    [void] = get(world, "/journal?void=true")["items"]
    assert (void["job"], void["stands"]) == ("clicks", False)
    assert len(get(world, "/journal?void=false&limit=1000")["items"]) == len(everything) - 1
    of_tier = next(one for one in everything if one["kind"] == "TierDefined")
    assert (of_tier["tier"], of_tier["job"], of_tier["component"]) == ("default", "", "operator")


def test_why_of_a_decision_of_a_job_and_of_a_tier(world: World) -> None:
    items = get(world, "/journal?limit=1000")["items"]
    scaled = next(one for one in items if one["kind"] == "ScalingDecided")
    found = get(world, f"/decisions/{scaled['id']}")
    assert found["body"]["constraints"][0]["note"] == "the job may have 8 tasks"
    assert found["scaling"]["evidence"] == {"lag_s": 500.0}
    pinned = next(one for one in items if one["summary"].startswith("version 1 of oncall"))
    assert get(world, f"/decisions/{pinned['id']}")["differences"] == [
        {"path": "priority", "after": 99}
    ]
    planned = next(one for one in items if one["kind"] == "PlacementPlanned")
    assert get(world, f"/decisions/{planned['id']}")["tier"] == "default"
    assert get(world, f"/decisions/{pinned['change_id']}")["id"] == pinned["id"]


def test_the_document_says_what_the_fields_of_an_answer_are() -> None:
    fields = TypeAdapter(Explanation).json_schema()["properties"]
    assert fields["tree"]["description"] == "What it rests on, down to single records."
    assert fields["position"]["description"] == "Place and offset in the log."  # inherited


def test_why_not(world: World) -> None:
    found = get(world, "/jobs/clicks/why-not?action=scale-down")
    assert [one["taken"] for one in found["reasons"]] == [False, False]
    assert found["reasons"][0]["text"] == "scale-up was decided instead: it lags"
    assert get(world, "/jobs/clicks/why-not?action=scale-up")["reasons"][0]["taken"] is True


def test_markers_count_what_stands(world: World) -> None:
    found = get(world, "/markers?buckets=3")
    counts = {
        name: sum(found[name]) for name in ("config", "sync", "scaling", "placement", "alert")
    }
    assert counts == {"config": 6, "sync": 6, "scaling": 2, "placement": 11, "alert": 3}
    assert len(found["t_ms"]) == 3


def test_tiers_with_all_that_is_below(world: World) -> None:
    assert get(world, "/tiers")["items"][0]["state"] == "normal"
    containers = get(world, "/tiers/default/containers")["items"]
    assert [(one["container"], one["shards"]) for one in containers] == [
        ("container-0", 4),
        ("container-1", 4),
    ]
    shards = get(world, "/tiers/default/shards?limit=3")
    assert (len(shards["items"]), shards["total"]) == (3, 8)
    rest = get(world, f"/tiers/default/shards?cursor={shards['next']}")
    assert [one["shard"] for one in rest["items"]] == [3, 4, 5, 6, 7]
    assert get(world, "/tiers/default/shards?container=container-1")["total"] == 4
    assert get(world, "/tiers/default/shards?moving=true")["total"] == 0
    moves = get(world, "/tiers/default/moves?last=2")["items"]
    assert [(one["shard"], one["to"], one["stage"]) for one in moves] == [
        (6, "container-0", "added"),
        (7, "container-1", "added"),
    ]
    assert "from" in moves[0]
    balance = get(world, "/tiers/default/balance")
    assert balance["before"]["cpu_cores"] == {"fullest": 1400, "emptiest": 600}
    assert balance["plan"] == "default!1"
    assert {one["container"] for one in balance["items"]} == {"container-0", "container-1"}


def test_platform(world: World) -> None:
    found = get(world, "/platform")
    assert {one["component"] for one in found["components"]} >= {"job-service", "shard-manager"}
    assert found["reconcile"]["jobs_behind"] == 2
    assert found["projection"]["behind_records"] == 0


def test_dead_letters_are_counted_and_shown(tmp_path: Path) -> None:
    log = SpokenLog()
    headers = [
        ("dead_letter_place", b"journal.v1/0"),
        ("dead_letter_offset", b"7"),
        ("dead_letter_reason", b"bad-frame"),
        ("dead_letter_sentence", b"no magic byte"),
    ]
    log.put("dead-letters.v1", b"journal.v1/0", b"\x01", headers)
    log.put("dead-letters.v1", None, None, [])
    several = {"dead_letter_offset": b"8", "dead_letter_last_offset": b"60007"}
    several |= {"dead_letter_records": b"60000", "dead_letter_reason": b"no-value"}
    log.put("dead-letters.v1", b"journal.v1/0", None, list(several.items()))
    found = get(world_of(log, directory=tmp_path), "/platform")
    assert found["dead_letters"] == 60_002
    assert found["dead_letters_by_reason"] == {"bad-frame": 1, "no-value": 60_000, "unknown": 1}
    spans = [(one["offset"], one["last_offset"]) for one in found["last_dead_letters"]]
    assert spans == [(8, 60_007), (-1, -1), (7, 7)]
    assert [one["records"] for one in found["last_dead_letters"]] == [60_000, 1, 1]


def test_policies_topics_and_the_contract(world: World) -> None:
    assert "turbine" in [one["policy"] for one in get(world, "/policies")["items"]]
    journal = next(
        one for one in get(world, "/topics")["items"] if one["topic"] == f"turbine.{JOURNAL}"
    )
    assert sum(journal["ends"].values()) > 10
    assert get(world, "/contract")["asyncapi"] == "3.0.0"
    assert ask(world.app, "GET", "/asyncapi.json").json()["asyncapi"] == "3.0.0"
    assert ask(world.app, "GET", "/openapi.json").json()["openapi"].startswith("3.")
    metrics = ask(world.app, "GET", "/metrics").body.decode()
    for line in (
        "turbine_tasks_lagging_ratio 0.16666666666666666",
        "turbine_tasks_not_running_ratio 0.3333333333333333",
        'turbine_jobs{phase="behind"} 2.0',
        'turbine_job_lag_seconds{job="orders"} 0.5',
        'turbine_alerts{alert="no-task-specs",severity="critical"} 1.0',
        "turbine_sse_clients 0.0",
    ):
        assert f"\n{line}\n" in metrics
    names = [line.split()[2] for line in metrics.splitlines() if line.startswith("# TYPE ")]
    assert len(set(names)) == len(names), "each family once"
    assert 'lag_seconds{job="clicks"}' not in metrics
    docs = ask(world.app, "GET", "/docs").body.decode()
    assert "/api/v1/jobs/{job}" in docs
    assert "<script" not in docs


def test_the_scoreboard_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    world = world_of(directory=tmp_path / "views", scoreboard=path)
    problem = get(world, "/scoreboard", 404)
    assert "board.json cannot be read as JSON" in problem["detail"]
    path.write_text(json.dumps({"policies": ["turbine"]}))
    found = ask(world.app, "GET", P + "/scoreboard")
    assert found.json() == {"policies": ["turbine"], "recorded": False}
    again = ask(world.app, "GET", P + "/scoreboard", if_none_match=found.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_without_a_file_there_is_the_scoreboard_that_turbine_comes_with(world: World) -> None:
    """Whole, and with how it is made again: no page of a new fleet is empty."""
    found = get(world, "/scoreboard")
    made, whole = found["made"], [one for one in found["rows"] if one["part"] == "whole"]
    assert found["recorded"] is True
    assert tuple(made["policies"]) == PLAYED
    assert set(made["scenarios"]) == set(SCENARIOS)
    traces = {one["trace"] for one in made["traces"]}
    assert {one["case"] for one in whole} == traces | set(made["scenarios"]) | {"all"}
    for case in {one["case"] for one in whole}:
        played = {one["policy"] for one in whole if one["case"] == case}
        assert played == set(PLAYED), case
    assert made["command"].startswith("turbine scoreboard --traces DIR")
    assert all(len(one["sha256"]) == 64 for one in made["traces"])


# --- moments and tags


def test_every_question_about_the_log_can_be_asked_of_the_past(tmp_path: Path) -> None:
    log = SpokenLog()
    log.expect("clicks", CONFIG)
    log.tick()
    world = world_of(log, directory=tmp_path)
    before = ask(world.app, "GET", P + "/fleet")
    position = before.headers["turbine-position"]
    log.expect("later", CONFIG)
    log.tick(at_ms=NOW + 60_000)
    assert get(world, "/fleet")["totals"]["jobs"] == 2
    past = ask(world.app, "GET", f"{P}/fleet?at={position}")
    assert (past.json(), past.headers["etag"]) == (before.json(), before.headers["etag"])
    assert get(world, f"/jobs?at={iso(NOW + 2)}")["total"] == 1
    assert get(world, f"/jobs/later?at={iso(NOW + 2)}", 404)["place"] == "path.job"
    assert len(get(world, f"/journal?at={position}")["items"]) == 1


def test_an_answer_that_is_known_is_not_sent_again(world: World) -> None:
    found = ask(world.app, "GET", P + "/jobs")
    for tag in (found.headers["etag"], f'"x", {found.headers["etag"]}', "*"):
        again = ask(world.app, "GET", P + "/jobs", if_none_match=tag)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["turbine-position"] == found.headers["turbine-position"]
    assert ask(world.app, "GET", P + "/jobs", if_none_match='"other"').status == 200
