"""Changes: planned, applied just as planned, refused when what they rest on has moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from events.generated.records import DrainRequested, Generation, TaskStarted
from events.topics import OPERATOR, TASKS
from tests.unit.turbine.api.asgi import Answer, ask
from tests.unit.turbine.api.world import CONFIG, NOW, TOKEN, Rejected, Unknown, World, world_of
from turbine.api.plans import PLAN_MS, PLANS_MAX
from turbine.api.writing import LayerChange, LogWriter, OperatorWish

P = "/api/v1"


@pytest.fixture
def own(tmp_path: Path) -> World:
    """A fleet of one's own."""
    return world_of(directory=tmp_path)


def post(world: World, target: str, body: Any = None) -> Answer:
    return ask(world.app, "POST", P + target, body or {}, authorization=f"Bearer {TOKEN}")


def planned(world: World, **more: Any) -> Any:
    found = post(world, "/changes", {"job": "clicks", "set": {"tasks": 3}, "dry_run": True} | more)
    assert found.status == 200, found.body
    return found.json()


def test_a_change_is_sent_and_its_verdict_told(own: World) -> None:
    asked = {
        "job": "clicks",
        "layer": "oncall",
        "set": {"tasks": 3},
        "clear": ["priority"],
        "reason": "a night",
        "expires": "2h",
        "author": "ana",
        "expected_version": 1,
    }
    found = post(own, "/changes", asked)
    assert (found.status, found.json()["verdict"], found.json()["version"]) == (200, "accepted", 2)
    [sent] = own.writer.asked
    assert isinstance(sent, LayerChange)
    assert (sent.layer, sent.set, sent.clear, sent.author) == (
        "oncall",
        {"tasks": 3},
        ("priority",),
        "ana",
    )
    assert sent.expires_ms is not None
    assert sent.expires_ms > NOW / 2


def test_a_trial_sends_nothing_and_shows_what_would_differ(own: World) -> None:
    found = planned(own)
    assert own.writer.asked == []
    assert (found["verdict"], found["version"]) == ("accepted", 2)
    assert found["differences"] == [{"path": "tasks", "before": 2, "after": 3}]
    assert found["command"] == "turbine publish change clicks --layer base --set tasks=3"
    assert "journal.v1/" in found["base"]


def test_a_trial_that_would_be_refused_has_no_plan(own: World) -> None:
    found = planned(own, set={"tasks": -1})
    assert (found["verdict"], found["path"], found["plan"]) == ("rejected", "tasks", None)
    assert len(own.desk.plans) == 0


def test_a_plan_is_applied_once_and_for_the_version_that_was_seen(own: World) -> None:
    plan = planned(own, reason="more")["plan"]
    found = post(own, f"/plans/{plan}/apply", {"wait_s": 5})
    assert (found.status, found.json()["verdict"]) == (200, "accepted")
    [sent] = own.writer.asked
    assert isinstance(sent, LayerChange)
    assert (sent.set, sent.expected_version, sent.reason) == ({"tasks": 3}, 1, "more")
    again = post(own, f"/plans/{plan}/apply")
    assert (again.status, again.json()["type"]) == (409, "urn:turbine:problem:plan-applied")
    assert len(own.writer.asked) == 1


def test_a_plan_is_refused_once_its_job_has_moved(own: World) -> None:
    plan = planned(own)["plan"]
    own.log.expect("clicks", dict(CONFIG) | {"tasks": 5}, version=2)
    found = post(own, f"/plans/{plan}/apply")
    assert (found.status, found.json()["type"]) == (409, "urn:turbine:problem:plan-stale")
    assert found.json()["detail"].startswith("clicks has moved since this was planned; ")
    assert own.writer.asked == []


def test_a_plan_is_kept_although_another_job_moves(own: World) -> None:
    plan = planned(own)["plan"]
    own.log.expect("orders", dict(CONFIG) | {"tasks": 5}, version=2)
    assert post(own, f"/plans/{plan}/apply").status == 200


def test_a_plan_of_a_new_job_is_refused_once_somebody_made_it(own: World) -> None:
    plan = planned(own, job="new", set=dict(CONFIG), create=True)["plan"]
    own.log.expect("new", CONFIG)
    assert post(own, f"/plans/{plan}/apply").status == 409


def test_what_state_could_not_go_along_to_is_told_before_it_is_asked_for(own: World) -> None:
    started = TaskStarted("orders", 0, Generation(1, 1), "container-0", 1, keeps_state=True)
    own.log.say(TASKS, "orders", started, source="container-0")
    found = planned(own, job="orders", set={"operator": "a.b:c"})
    assert (found["verdict"], found["reason"], found["path"]) == (
        "rejected",
        "state-stays",
        "operator",
    )
    assert found["explanation"].startswith("operator: the job keeps state, and another operator")
    assert found["plan"] is None
    assert planned(own, job="orders")["verdict"] == "accepted"


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_job_is_made_only_where_that_is_meant(own: World, dry_run: bool) -> None:
    asked = {"job": "clickz", "set": dict(CONFIG), "dry_run": dry_run}
    found = post(own, "/changes", asked)
    assert (found.status, found.json()["type"]) == (404, "urn:turbine:problem:no-such-job")
    assert found.json()["detail"] == (
        "there is no job clickz, perhaps clicks; say `create` if one is to be made"
    )
    assert own.writer.asked == []
    meant = post(own, "/changes", asked | {"create": True})
    assert meant.json()["verdict"] == "accepted"
    if dry_run:
        assert " --create " in meant.json()["command"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_tier_that_is_not_there_is_refused(own: World, dry_run: bool) -> None:
    asked = {"job": "clicks", "set": {"tier": "defualt"}, "dry_run": dry_run}
    found = post(own, "/changes", asked)
    assert (found.status, found.json()["type"]) == (422, "urn:turbine:problem:no-such-tier")
    assert found.json()["detail"] == (
        'tier: there is no tier "defualt", perhaps default;'
        " `turbine tier create defualt --shards N` makes one"
    )
    assert own.writer.asked == []
    there = post(own, "/changes", asked | {"set": {"tier": "default"}})
    assert there.json()["verdict"] == "accepted"


def test_a_plan_is_forgotten_after_a_while(own: World) -> None:
    first = planned(own)
    assert first["expires_ms"] == NOW + PLAN_MS
    own.clock[0] += PLAN_MS
    found = post(own, f"/plans/{first['plan']}/apply")
    assert (found.status, found.json()["place"]) == (404, "path.id")
    assert "10 minutes" in found.json()["detail"]


def test_so_many_plans_are_kept_and_the_oldest_makes_room(own: World) -> None:
    first = planned(own)["plan"]
    for _ in range(PLANS_MAX - 1):
        planned(own)
    second = planned(own)["plan"]
    assert len(own.desk.plans) == PLANS_MAX
    assert post(own, f"/plans/{first}/apply").status == 404
    assert post(own, f"/plans/{second}/apply").status == 200


@pytest.mark.parametrize(
    ("reason", "status", "path"),
    [("stale", 409, ""), ("no-such-job", 404, ""), ("invalid", 422, "tasks")],
)
def test_a_refusal_is_a_problem(own: World, reason: str, status: int, path: str) -> None:
    own.writer.verdict = Rejected("1.x", "clicks", reason, "version 4 was first", path, 4)
    found = post(own, "/changes", {"job": "clicks", "set": {"tasks": 3}})
    told = found.json()
    assert (found.status, told["type"]) == (status, f"urn:turbine:problem:rejected-{reason}")
    assert told["detail"] == "clicks: version 4 was first"
    assert told.get("place") == (path or None)


def test_no_verdict_in_time_is_told_with_the_id_to_ask_by(own: World) -> None:
    own.writer.verdict = Unknown("1.x", "clicks", "no verdict in 30 s")
    found = post(own, "/changes", {"job": "clicks", "set": {"tasks": 3}})
    assert (found.status, found.json()["verdict"], found.json()["change_id"]) == (
        202,
        "unknown",
        "1.x",
    )


def test_what_no_message_holds_is_refused(own: World) -> None:
    big = {str(n): "x" * 200 for n in range(300)}
    for dry_run in (False, True):
        asked = {"job": "clicks", "set": {"arguments": big}, "dry_run": dry_run, "reason": "x"}
        found = post(own, "/changes", asked)
        assert found.status in {200, 422}
        assert dry_run or found.status == 422 or own.writer.asked


@pytest.mark.parametrize("verb", ["pause", "resume", "release"])
def test_what_operators_ask_of_a_job(own: World, verb: str) -> None:
    found = post(own, f"/jobs/clicks/{verb}", {"reason": "r", "author": "ana"})
    assert found.status == 200
    assert own.writer.asked == [OperatorWish(verb, "clicks", "r", "ana")]
    plan = post(own, f"/jobs/clicks/{verb}", {"reason": "r", "dry_run": True}).json()
    assert (plan["verdict"], len(own.writer.asked)) == ("planned", 1)
    assert plan["command"] == f"turbine {verb} clicks --reason r"
    assert post(own, f"/plans/{plan['plan']}/apply").status == 200
    assert len(own.writer.asked) == 2
    missing = post(own, f"/jobs/nope/{verb}", {"reason": "r"})
    assert (missing.status, missing.json()["place"]) == (404, "path.job")
    mistyped = post(own, f"/jobs/clikcs/{verb}", {"reason": "r"}).json()["detail"]
    assert mistyped == 'there is no job "clikcs", perhaps clicks; GET jobs lists all'
    assert post(own, f"/jobs/clicks/{verb}", {}).json()["place"] == "body.reason"


@pytest.mark.parametrize("verb", ["drain", "undrain"])
def test_what_operators_ask_of_a_container(own: World, verb: str) -> None:
    found = post(own, f"/containers/container-0/{verb}", {"reason": "r", "author": "ana"})
    told = found.json()
    assert (found.status, told["verdict"], told["change_id"]) == (200, "asked", "1.wish")
    assert own.writer.asked == [OperatorWish(verb, "container-0", "r", "ana")]
    plan = post(own, f"/containers/container-0/{verb}", {"reason": "r", "dry_run": True}).json()
    own.log.say(
        OPERATOR,
        "container-0",
        DrainRequested(f"{own.log.now_ms + 60_000}.d", "container-0", "bob", "first"),
    )
    assert post(own, f"/plans/{plan['plan']}/apply").status == 409
    assert post(own, f"/containers/nope/{verb}", {"reason": "r"}).json()["place"] == (
        "path.container"
    )


def test_a_log_that_is_read_alone_has_no_writer() -> None:
    writer = LogWriter(None)
    with pytest.raises(AssertionError):
        writer.ask(OperatorWish("pause", "a", "", ""), 1)
    with pytest.raises(AssertionError):
        writer.tell(OperatorWish("drain", "a", "", ""))
    writer.close()
