"""What makes a tier, empties a container, and how these commands end."""

from __future__ import annotations

import json

import pytest

from events.generated.records import DrainRequested, TierDefined, UndrainRequested
from events.topics import OPERATOR
from tests.unit.shard_manager.fleets import Tale, calm, placed
from tests.unit.turbine.lines import run
from tests.unit.turbine.tales import serve
from turbine.failures import Code

BUDGET = '{"load_max":1000,"moves_max":1000}'


# --- tier create


def test_a_tier_is_the_first_word_of_its_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    log = serve(monkeypatch, None)
    ended = run("tier", "create", "default", "--shards", "4", "--region", "local")
    assert (ended.code, ended.out) == (
        Code.OK,
        "tier default is created: 4 shards, regions local, usual settings\n",
    )
    [record] = log.written
    assert record.body == TierDefined("default", 4, ("local",), "{}")
    assert (record.key, record.parent) == ("default/placement", "root")


def test_the_same_tier_again_is_fine_and_another_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = serve(monkeypatch, Tale(4, settings='{"moves_max":50,"band":80}'))
    same = ["tier", "create", "default", "--shards", "4", "--region", "local"]
    settings = ["--set", "band=80", "--set", "moves_max=50"]
    ended = run(*same, *settings)
    assert (ended.code, ended.out) == (
        Code.OK,
        "tier default exists already: 4 shards, regions local, band=80, moves_max=50\n",
    )
    ended = run(*same)
    assert ended.code == Code.FAILED
    assert ended.sentence == (
        "tier default exists otherwise: 4 shards, regions local, band=80, moves_max=50; the number"
        " of a tier's shards never changes, so name another tier"
    )
    assert log.written == []


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("west --shards 4 --set band=5", "--set: band is 5; it is from 10 to 1000"),
        ("west --shards 4 --set bend=50", "--set: there is no setting bend; there are acts_per"),
        ("west --shards 4 --set band", '--set "band": write KEY=VALUE'),
        ("west --shards 0", "Invalid value for '--shards': Input should be greater than"),
        (
            "west --shards 1048577",
            "Invalid value for '--shards': Input should be less than or equal to",
        ),
        ("west", "Missing option '--shards'"),
        ("we/st --shards 4", 'a tier: "we/st" cannot be used; it is a name of up to 64 of a-z'),
        ("west --shards 4 --region A", '--region: "A" cannot be used; it is a name'),
        ("west --shards 4 --region a --region a", "--region a is named twice; once is enough"),
        (
            "west --shards 4 " + " ".join(f"--region r{n}" for n in range(5)),
            "5 regions are too many for one tier; name at most 4, as each doubles the number",
        ),
    ],
)
def test_what_can_be_no_tier(more: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = serve(monkeypatch, None)
    ended = run("tier", "create", *more.split())
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)
    assert log.written == []


# --- drain, undrain


def test_a_drain_is_asked_under_the_containers_name(monkeypatch: pytest.MonkeyPatch) -> None:
    log = serve(monkeypatch, calm(2, 4, BUDGET))
    ended = run("drain", "container", "c0", "--reason", "disk", "--author", "ana")
    assert (ended.code, ended.err) == (Code.OK, "")
    assert ended.out == (
        "c0: is drained of 2 shards; `turbine get shards --container c0` shows what is left\n"
    )
    [record] = log.written
    assert isinstance(record.body, DrainRequested)
    assert (record.key, record.body.container, record.body.author, record.body.reason) == (
        "c0", "c0", "ana", "disk",
    )  # fmt: skip
    assert record.id == record.body.change_id


def test_a_drain_can_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(2, 4, BUDGET)
    serve(monkeypatch, tale)
    monkeypatch.setattr("turbine.cli.reading.time.sleep", lambda _: tale.wait(10))
    ended = run("drain", "container", "c0", "--reason", "disk", "--wait")
    assert (ended.code, ended.err) == (Code.OK, "c0: 2 shards left\n")
    assert ended.out == "c0: is drained and holds nothing\n"
    assert tale.counts() == {"c0": 0, "c1": 4}


def test_a_wait_in_vain_says_what_is_left_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(2, 4, BUDGET)
    serve(monkeypatch, tale)
    ended = run("drain", "container", "c0", "--reason", "disk", "--wait", "--timeout", "1ms")
    assert ended.code == Code.TIMEOUT
    assert ended.err.splitlines()[-1].startswith("turbine: c0 is not empty after 1ms: 2 shards (")
    assert "): no plan moves it yet (the next is due at 1970-01-01T" in ended.err
    tale.idle = {"c0"}
    tale.wait(31)
    ended = run("drain", "container", "c0", "--reason", "disk", "--wait", "--timeout", "1ms")
    assert ended.err.endswith("dropping it, then it goes to c1\n")


def test_the_last_container_cannot_be_emptied_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(1, 2, BUDGET)
    serve(monkeypatch, tale)
    tale.drain("c0")
    tale.wait(31)
    ended = run("drain", "container", "c0", "--reason", "disk", "--wait", "--timeout", "1ms")
    assert "no other container that takes shards is in a region it may be in" in ended.err


def test_an_undrained_container_gets_shards_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(2, 4, BUDGET)
    log = serve(monkeypatch, tale)
    ended = run("undrain", "container", "c0", "--reason", "ok")
    assert (ended.code, ended.out) == (Code.OK, "c0: was not being drained\n")
    assert log.written == [], "nothing is asked for that holds already"
    tale.drain("c0")
    ended = run("undrain", "container", "c0", "--reason", "ok", "-o", "json")
    assert json.loads(ended.out)["drain"] is None
    assert isinstance(log.written[0].body, UndrainRequested)
    assert not tale.fleet.drains


@pytest.mark.parametrize("verb", ["drain", "undrain"])
def test_a_container_that_nobody_knows(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = serve(monkeypatch, placed(1, 2))
    ended = run(verb, "container", "c9", "--reason", "x")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence.startswith("tier default has no container c9;")
    assert log.written == []


def test_a_request_that_does_not_count_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    log = serve(monkeypatch, placed(1, 2))
    monkeypatch.setattr("turbine.cli.tiers.new_id", lambda: "5.too-late")
    monkeypatch.setattr("turbine.cli.tiers.READ_S", 0.0)
    ended = run("drain", "container", "c0", "--reason", "x")
    assert ended.code == Code.TIMEOUT
    assert ended.sentence.startswith("c0: the request 5.too-late does not count: it came too late")
    assert [record.kind for record in log.written] == ["DrainRequested"]
    assert log.counts[OPERATOR] == 1
