"""Every bad question: its problem has a place, and one sentence with the remedy."""

from __future__ import annotations

import pytest

from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.world import TOKEN, World
from turbine.api.feed import READERS_MAX
from turbine.api.problems import PROBLEM, refusal_of
from turbine.failures import Code, Failed
from turbine.read.answers.ids import Ambiguous
from turbine.read.sources.log_lines import BadFile
from turbine_client.errors import BrokerUnreachable, NoTopic
from turbine_client.publish import TooLarge, Unheard
from turbine_client.reading import LogUnreadable
from turbine_client.settings import BadSettings

P = "/api/v1"
BAD = [
    ("/nope", 404, "no-such-path", None, "/docs lists all there is"),
    ("/jobs/nope", 404, "no-such-job", "path.job", "GET jobs lists all"),
    ("/jobs/clikcs", 404, "no-such-job", "path.job", ", perhaps clicks; GET jobs lists all"),
    ("/jobs/nope/tasks", 404, "no-such-job", "path.job", "GET jobs"),
    ("/jobs/nope/series", 404, "no-such-job", "path.job", "GET jobs"),
    ("/jobs/nope/decisions", 404, "no-such-job", "path.job", "GET jobs"),
    ("/jobs/nope/why-not?action=scale-up", 404, "no-such-job", "path.job", "GET jobs"),
    ("/jobs/clicks/why-not", 422, "invalid-request", "query.action", "required"),
    ("/jobs/clicks/why-not?action=fly", 422, "invalid-request", "query.action", "use one of scale"),
    ("/policies/nope", 404, "no-such-policy", "path.policy", "; use one of "),
    ("/decisions/nope", 404, "no-such-decision", "path.id", "GET journal lists all"),
    ("/tiers/nope/containers", 404, "no-such-tier", "path.tier", "turbine tier create"),
    ("/tiers/nope/shards", 404, "no-such-tier", "path.tier", "turbine tier create"),
    ("/tiers/nope/moves", 404, "no-such-tier", "path.tier", "turbine tier create"),
    ("/tiers/nope/balance", 404, "no-such-tier", "path.tier", "turbine tier create"),
    ("/fleet?at=yesterday", 422, "invalid-request", "query.at", "write one such as"),
    ("/fleet?at=journal.v1/0:999", 422, "invalid-request", "query.at", "name one that is in"),
    ("/fleet?at=nope.v1/0:1", 422, "invalid-request", "query.at", "turbine log stats"),
    ("/jobs?limit=0", 422, "invalid-request", "query.limit", "correct it"),
    ("/jobs?limit=x", 422, "invalid-request", "query.limit", "correct it"),
    ("/jobs?sort=age", 422, "invalid-request", "query.sort", "'lag'"),
    ("/jobs?cursor=%21", 422, "invalid-request", "query.cursor", "as it is"),
    ("/jobs?cursor=W10", 422, "invalid-request", "query.cursor", "as it is"),
    ("/jobs?cursor=WyJhIiwiYiJd", 422, "invalid-request", "query.cursor", "as it is"),
    ("/journal?cursor=journal.v1/0:99", 422, "invalid-request", "query.cursor", "as it is"),
    ("/journal?cursor=x", 422, "invalid-request", "query.cursor", "as it is"),
    ("/journal?void=maybe", 422, "invalid-request", "query.void", "correct it"),
    ("/jobs?q=owner%3Dme", 422, "invalid-request", "query.q", "use words, !words, or one of"),
    ("/jobs?q=%21", 422, "invalid-request", "query.q", "such as !paused"),
    ("/jobs?q=" + "a+" * 40, 422, "invalid-request", "query.q", "at most 32"),
    ("/markers?from=now&to=1h+ago", 422, "invalid-request", "query.from", "an earlier time"),
    ("/markers?from=journal.v1/0:1", 422, "invalid-request", "query.from", "no time here"),
    ("/markers?buckets=0", 422, "invalid-request", "query.buckets", "correct it"),
    ("/stream?topics=all", 422, "invalid-request", "query.topics", "one or several of"),
    ("/stream?after=x", 422, "invalid-request", "query.after", "place:offset"),
]


@pytest.mark.parametrize(("target", "status", "kind", "place", "remedy"), BAD)
def test_a_bad_question_has_a_problem(
    *, world: World, target: str, status: int, kind: str, place: str | None, remedy: str
) -> None:
    found = ask(world.app, "GET", P + target)
    told = found.json()
    assert (found.status, found.headers["content-type"]) == (status, PROBLEM)
    assert told["type"] == f"urn:turbine:problem:{kind}"
    assert (told["status"], told.get("place")) == (status, place)
    assert told["instance"] == (P + target).partition("?")[0]
    assert remedy in told["detail"]
    assert "\n" not in told["detail"]


def test_another_method_is_named(world: World) -> None:
    found = ask(world.app, "PUT", P + "/fleet", authorization=f"Bearer {TOKEN}")
    assert (found.status, found.headers["allow"]) == (405, "GET")
    assert found.json()["detail"] == 'PUT is not for "/api/v1/fleet"; use GET'


@pytest.mark.parametrize(
    ("raw", "status", "place"),
    [
        (b"{", 400, "body"),
        (b"[" * 60_000 + b"]" * 60_000, 400, None),
        (b"[]", 422, "body"),
        (b"null", 422, "body"),
        (b'{"job":"a"}', 422, "body.set"),
        (b'{"job":1}', 422, "body.job"),
        (b'{"job":"a","more":1}', 422, "body.more"),
        (b'{"job":"A/b","set":{"tasks":1}}', 422, "body.job"),
        (b'{"job":"a","set":{"tasks":1},"layer":"top"}', 422, "body.layer"),
        (b'{"job":"a","set":{"tasks":NaN}}', 422, "body.set"),
        (b'{"job":"a","set":{"x":"\\ud800"}}', 422, "body.set"),
        (b'{"job":"a","clear":["a\\\\q"]}', 422, "body.clear"),
        (b'{"job":"a","set":{"tasks":1},"expires":"soon"}', 422, "body.expires"),
        (b'{"job":"a","set":{"tasks":1},"wait_s":9999}', 422, "body.wait_s"),
    ],
)
def test_a_bad_body_has_a_problem(world: World, raw: bytes, status: int, place: str | None) -> None:
    found = ask(world.app, "POST", P + "/changes", raw=raw, authorization=f"Bearer {TOKEN}")
    told = found.json()
    assert (found.status, told.get("place")) == (status, place), told
    assert found.headers["content-type"] == PROBLEM
    assert world.writer.asked == []


def test_a_bug_is_told_as_one_and_its_words_are_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("the inside of it")

    monkeypatch.setattr(world.desk.reading, "view", broken)
    found = ask(world.app, "GET", P + "/fleet")
    assert (found.status, found.json()["type"]) == (500, "urn:turbine:problem:bug")
    assert b"inside" not in found.body
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_broker_that_is_away_is_told_in_its_own_sentence(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise BrokerUnreachable("no broker answers at b:1; start it")

    monkeypatch.setattr(world.desk.reading, "view", away)
    found = ask(world.app, "GET", P + "/fleet")
    assert (found.status, found.json()["type"]) == (503, "urn:turbine:problem:log-unavailable")
    assert found.json()["detail"] == "no broker answers at b:1; start it"


def test_too_many_readers_are_told_to_come_back(world: World) -> None:
    wakes = world.feed._wakes
    wakes |= {-n: int for n in range(1, READERS_MAX + 1)}
    try:
        found = ask(world.app, "GET", P + "/stream")
    finally:
        for n in range(1, READERS_MAX + 1):
            del wakes[-n]
    assert (found.status, found.headers["retry-after"]) == (503, "10")


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (TooLarge("x"), 422, "invalid-request"),
        (Ambiguous("x"), 422, "invalid-request"),
        (BadSettings("x"), 503, "log-unavailable"),
        (BadFile("x"), 503, "log-unavailable"),
        (LogUnreadable("x"), 503, "log-unavailable"),
        (NoTopic("x"), 503, "log-unavailable"),
        (Unheard("x"), 503, "log-unavailable"),
        (ModuleNotFoundError("x", name="pyspark"), 503, "log-unavailable"),
    ],
)
def test_an_error_of_the_tree_is_a_problem_by_its_kind(
    error: Exception, status: int, kind: str
) -> None:
    refusal = refusal_of(error)
    assert (refusal.status, refusal.kind) == (status, kind)


@pytest.mark.parametrize("error", [ValueError("x"), Failed(Code.USAGE, "x")])
def test_what_is_not_for_askers_is_a_bug(error: Exception) -> None:
    """A command's own ending as well: nothing below the commands may raise it."""
    assert refusal_of(error).status == 500
