"""What another policy would have done: asked without a token, one at a time, told or refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.turbine.api.asgi import Answer, ask
from tests.unit.turbine.api.test_answers import extras
from tests.unit.turbine.api.world import World
from turbine.api import whatif
from turbine.api.shapes import WhatIfAnswer
from turbine.lab.whatif import BadWhatIf

ANSWER = {
    "job": "clicks",
    "from_ms": 1,
    "to_ms": 2,
    "minutes": 1,
    "interval_ms": 60_000,
    "slo_s": 90.0,
    "sides": [{"side": "other", "policy": {}, "figures": {"cost": 1.0}, "decisions": []}],
    "honesty": {},
    "nature": [],
    "notes": [],
    "series": {"t_ms": [1]},
}


def post(world: World, **body: Any) -> Answer:
    return ask(world.app, "POST", "/api/v1/whatif", body)


def test_it_is_asked_for_a_job_a_policy_and_a_span(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    class Played:
        def to_plain(self) -> dict[str, Any]:
            return ANSWER

    def play(_: object, *given: Any) -> Played:
        asked.append(given)
        return Played()

    monkeypatch.setattr(whatif, "what_if", play)
    times = {"from": "2027-01-15T08:00:00Z", "to": "2027-01-15T09:00:00Z"}
    found = post(world, job="clicks", policy="keda", settings={"target": 2}, **times)
    assert (found.status, found.json()) == (200, ANSWER)
    assert asked == [("clicks", "keda", {"target": 2}, 1_800_000_000_000, 1_800_003_600_000)]
    assert extras(WhatIfAnswer.model_validate(found.json())) == []


@pytest.mark.parametrize(
    ("body", "status", "place", "remedy"),
    [
        ({"job": "nope", "policy": "keda"}, 404, "body.job", "GET jobs lists all"),
        ({"job": "clicks"}, 422, "body.policy", "name a policy or a setting"),
        ({"job": "clicks", "policy": "keda", "from": "soon"}, 422, "body.from", "write one such"),
        ({"job": "clicks", "policy": "keda", "to": "a.v1/0:1"}, 422, "body.to", "no time here"),
        ({"job": "clicks", "policy": "nope"}, 422, "body", "nope"),
    ],
)
def test_what_cannot_be_played_is_told(
    world: World, body: dict[str, Any], status: int, place: str, remedy: str
) -> None:
    found = post(world, **body)
    assert (found.status, found.json()["place"]) == (status, place)
    assert remedy in found.json()["detail"]


def test_a_refusal_of_the_player_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise BadWhatIf("too little was recorded; name another job")

    monkeypatch.setattr(whatif, "what_if", refuse)
    assert post(world, job="clicks", policy="keda").json()["detail"].startswith("too little")


def test_one_is_played_at_a_time(world: World) -> None:
    with whatif._playing:
        found = post(world, job="clicks", policy="keda")
    assert (found.status, found.headers["retry-after"]) == (503, "5")


def test_the_last_verdict_is_asked_again_on_demand(world: World) -> None:
    target = "/api/v1/jobs/clicks/why-not?action=scale-down"
    assert ask(world.app, "GET", target).json()["asked"] is None
    assert ask(world.app, "GET", target + "&again=true").status == 200
