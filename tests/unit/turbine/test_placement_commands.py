"""What would move, what is asked to move, what is answered, and why a shard is where it is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.recorded_job import Recorded
from events.generated.records import PlacementApplyRequested, PlacementPlanned
from projections.plans import read_moves
from tests.unit.shard_manager.fleets import CHAIN, LIVES, Tale, calm, placed
from tests.unit.turbine.lines import run
from tests.unit.turbine.tales import serve
from turbine.failures import Code
from turbine.read.answers.evidence import tree_of
from turbine.read.answers.placement_preview import draft_of
from turbine.read.sources.log import Standing

BUDGET = '{"load_max":1000,"moves_max":1000}'


def told(*line: str) -> Any:
    ended = run(*line, "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return json.loads(ended.out)


def lopsided(shards: int = 12) -> Tale:
    """Two containers that share all shards, and a third that has been there for long, and has
    none: what it may be given was held back while it was drained."""
    tale = calm(3, shards, BUDGET)
    tale.drain("c2")
    tale.wait(31)
    tale.jump(2 * tale.fleet.timing.ramp_ms)
    tale.undrain("c2")
    assert tale.counts()["c2"] == 0
    return tale


# --- plan


def test_a_plan_is_what_the_manager_would_do_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = lopsided()
    log = serve(monkeypatch, tale)
    plain = told("placement", "plan")
    assert log.written == []
    assert plain["plan"].startswith("default!")
    assert plain["spread"]["cpu_cores"]["before"] == {"fullest": 1500, "emptiest": 0}
    assert plain["spread"]["cpu_cores"]["after"]["fullest"] <= 1100
    shown = {(move["shard"], move["to"]) for move in plain["moves"]}
    said = [body for body in tale.wait(31) if isinstance(body, PlacementPlanned)]
    made = {(one.shard, one.to) for body in said[:1] for one in read_moves(body.moves_json)}
    assert shown == made, "a little later the manager plans the same by itself"


def test_a_plan_reads_in_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, lopsided())
    ended = run("placement", "plan", "--dry-run")
    plan = draft_of(lopsided().fleet).plan_id
    assert ended.code == Code.OK
    lines = ended.out.splitlines()
    assert lines[0] == f"plan    {plan}"
    assert lines[1].endswith("moves bring all containers into band")
    assert "more than the band allows; next best was" in ended.out
    assert lines[-1] == f"to have it done: turbine placement apply '{plan}' --reason R"


def test_where_all_is_well_there_is_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, calm(3, 6))
    assert told("placement", "plan")["plan"] is None
    ended = run("placement", "plan")
    assert ended.out.startswith("plan    none is needed\nsays    all is where it should be\n")


def test_a_smaller_plan_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, lopsided())
    whole, part = told("placement", "plan"), told("placement", "plan", "--moves", "1")
    assert len(part["moves"]) == 1
    assert part["plan"] != whole["plan"]
    assert {one["cause"] for one in part["out_of_band"]} == {"budget"}
    ended = run("placement", "plan", "--moves", "1")
    assert "the plan may not have more moves" in ended.out
    assert f"turbine placement apply '{part['plan']}' --moves 1 --reason R" in ended.out


def test_what_fits_nowhere_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = Tale(2, regions=("east", "west"))
    tale.start("c0", region="east")
    tale.settle()
    serve(monkeypatch, tale)
    plain = told_beside("placement", "plan")
    assert plain["unplaced"] == 2
    assert [one["shard"] for one in plain["unplaced_shards"]] == [2, 3]
    out = run("placement", "plan").out
    assert "no container that takes shards is in a region it may be in" in out


def told_beside(*line: str) -> Any:
    return json.loads(run(*line, "-o", "json").out)


# --- apply


def test_a_plan_that_was_shown_is_carried_out_as_it_was_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = lopsided()
    log = serve(monkeypatch, tale)
    plain = told("placement", "plan")
    ended = run("placement", "apply", plain["plan"], "--reason", "now", "--author", "ana")
    assert (ended.code, ended.err) == (Code.OK, "")
    count = len(plain["moves"])
    assert ended.out.startswith(f"{plain['plan']}: planned, {count} moves: ana asked for it: now;")
    [record] = log.written
    assert isinstance(record.body, PlacementApplyRequested)
    assert record.key == "default"
    for move in plain["moves"]:
        assert tale.holders()[move["shard"]] == move["to"]
    shown = told("placement", "show", plain["plan"])
    assert (shown["trigger"], shown["stages"]) == ("operator", {"added": count})
    out = run("placement", "show", plain["plan"]).out
    assert f"moves     {count}: {count} added" in out


def test_a_plan_of_a_world_that_moved_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = lopsided()
    log = serve(monkeypatch, tale)
    plan = told("placement", "plan")["plan"]
    tale.drain("c0")
    ended = run("placement", "apply", plan, "--reason", "now")
    assert ended.code == Code.CONFLICT
    now = told("placement", "plan")["plan"]
    assert ended.sentence.startswith(
        f"the world moved since {plan} was shown: the plan is {now} now, with"
    )
    assert log.written == []
    serve(monkeypatch, calm(2, 4))
    ended = run("placement", "apply", plan, "--reason", "now")
    assert (ended.code, ended.sentence) == (
        Code.CONFLICT,
        f"the world moved since {plan} was shown: there is nothing to move now",
    )


def test_a_plan_that_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = lopsided()
    serve(monkeypatch, tale, deaf=True)
    plan = told("placement", "plan")["plan"]
    ended = run("placement", "apply", plan, "--reason", "now", "--timeout", "100ms")
    assert ended.code == Code.TIMEOUT
    assert ended.sentence.startswith("no answer in 0.1 s; is the shard manager running?")


def test_what_the_manager_refuses_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = lopsided()
    log = serve(monkeypatch, tale)
    plan = told("placement", "plan")["plan"]
    take = log.take

    def too_late(*written: Any) -> None:
        tale.mute = {"c2"}  # between the look and the answer
        tale.wait(25, decides=False)
        take(*written)

    monkeypatch.setattr("turbine.ops.tiers._write", too_late)
    ended = run("placement", "apply", plan, "--reason", "now")
    assert ended.code == Code.CONFLICT
    assert ended.out == (
        f"{plan}: rejected, world-moved: the world moved since the plan was made: c2 takes no"
        " shards now; make it again\n"
    )


def test_a_request_that_no_message_holds_says_how_to_ask_for_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = serve(monkeypatch, lopsided())
    plan = told("placement", "plan")["plan"]
    monkeypatch.setattr("turbine.cli.placement.write_moves", lambda _: "x" * 300_000)
    monkeypatch.setattr("turbine.read.answers.placement_preview.name_of", lambda *_: plan)
    ended = run("placement", "apply", plan, "--reason", "now")
    assert (ended.code, log.written) == (Code.USAGE, [])
    assert ended.sentence == (
        f"plan {plan} has more moves than one request can hold; make it smaller with"
        " `turbine placement plan --moves N`, and apply that"
    )


def test_a_brake_is_released_by_the_plan_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = placed(8, 8)
    tale.mute = {f"c{n}" for n in range(5)}
    tale.wait(70)
    serve(monkeypatch, tale)
    assert tale.fleet.brake is not None
    plan = tale.fleet.brake.plan_id
    out = run("placement", "show", plan).out
    assert f"for a person: turbine placement apply '{plan}' --reason R" in out
    ended = run("placement", "apply", plan, "--reason", "the rack burns", "--author", "ana")
    assert ended.code == Code.OK
    assert ended.out.startswith(f"{plan}: confirmed: ana says that these containers are gone;")
    tale.wait(5)
    assert not any(tale.fleet.lives[f"c{n}"].lives for n in range(5))
    ended = run("placement", "apply", plan, "--reason", "again")
    assert ended.code == Code.CONFLICT


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("apply nonsense --reason x", Code.USAGE, "nonsense is no plan's id; `turbine placement"),
        ("apply default#99 --reason x", Code.CONFLICT, "plan default#99 does not wait to be"),
        ("apply west#1 --reason x", Code.NOT_FOUND, "there is no tier west;"),
        ("show default#99", Code.NOT_FOUND, "the log has no plan default#99; `turbine get moves`"),
        ("show default!0", Code.NOT_FOUND, "the log has no plan default!0; it was shown to some"),
    ],
)
def test_plans_that_are_not_there(
    line: str, code: Code, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = serve(monkeypatch, calm(2, 4))
    ended = run("placement", *line.split())
    assert ended.code == code
    assert ended.sentence.startswith(sentence)
    assert log.written == []


# --- why


def test_a_shard_says_why_it_is_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(3, 6, BUDGET)
    home = tale.holders()[0]
    tale.drain(home)
    tale.wait(31)
    serve(monkeypatch, tale)
    plain = told("why", "shard", "0")
    assert plain["container"] == tale.holders()[0] != home
    assert plain["move"]["reason"].startswith(f"{home} is being emptied")
    assert plain["decision"]["kind"] == "ShardAddRequested"
    verdicts = {one["container"]: one["verdict"] for one in plain["judged"]}
    other = tale.other(home, plain["container"])
    assert verdicts == {plain["container"]: "home", other: "possible", home: "draining"}
    out = run("why", "shard", "0").out
    assert f"because      {home} is being emptied" in out
    assert out.endswith("not shown: 1 being emptied; --all lists them\n")
    assert "is being emptied" in run("why", "shard", "0", "--all").out.splitlines()[-1]


def test_a_decision_about_a_tier_says_what_was_read_since_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = calm(3, 6, BUDGET)
    tale.drain(tale.holders()[0])
    tale.wait(31)
    log = serve(monkeypatch, tale)
    before, last = log.chain("default")[-2:]
    tree = told("why", last.read.record.id)["tree"]
    assert tree["positions"] == [f"{last.read.place}:{last.read.offset}"]
    assert "\nEVIDENCE\n" in run("why", last.read.record.id).out

    def known(one: Standing, parent: str, evidence: dict[str, int]) -> Standing:
        record = replace(one.read.record, parent=parent, evidence=evidence, source="shard-manager")
        return replace(one, read=replace(one.read, record=record))

    first = known(before, "root", {LIVES: 4, CHAIN: 2})
    second = known(last, first.read.record.id, {LIVES: 9, CHAIN: 2})
    nodes = tree_of(Recorded([]), [first, second], second, None).nodes
    assert [(one.name, one.positions) for one in nodes] == [
        ("read", (f"{LIVES}:4", f"{LIVES}:8")),
        ("previous decision", (f"{first.read.place}:{first.read.offset}",)),
    ]


def test_only_the_best_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, placed(9, 18))
    lines = run("why", "shard", "3").out.splitlines()
    assert lines[-1] == "not shown: 3 more possible; --all lists them"
    table = lines[lines.index("") + 2 : -1]
    assert [line.split()[1] for line in table] == ["it", *["possible"] * 5]


def test_a_shard_that_is_nowhere_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = Tale(2, regions=("east", "west"))
    tale.start("c0", region="east")
    tale.settle()
    serve(monkeypatch, tale)
    out = run("why", "shard", "2").out
    assert "nowhere: no container that takes shards is in a region it may be in" in out
    assert "regions      west" in out
    assert "1 in a region where it may not be" in out


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("why shard 9", Code.NOT_FOUND, "tier default has no shard 9; it has 0 to 3"),
        ("why shard -- -1", Code.USAGE, "-1 is no shard's number; they are numbered from 0"),
        ("why shard", Code.USAGE, "say of what: `turbine why ID`, `turbine why JOB` or"),
        ("why one two", Code.USAGE, "say of what: `turbine why ID`, `turbine why JOB` or"),
        ("why one --all", Code.USAGE, "--all is for `turbine why shard N`"),
    ],
)
def test_what_is_no_shard(
    line: str, code: Code, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, calm(2, 4))
    ended = run(*line.split())
    assert ended.code == code
    assert ended.sentence.startswith(sentence)


def test_a_decision_about_a_tier_says_on_what_it_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = calm(2, 4, BUDGET)
    serve(monkeypatch, tale)
    name = told("why", "shard", "1")["decision"]["id"]
    plain = told("why", name)
    assert (plain["kind"], plain["tier"], plain["stands"]) == ("ShardAddRequested", "default", True)
    assert plain["body"]["shard"] == 1
    assert "nobody holds it" in run("why", name).out
    ended = run("why", "no-such-id")
    assert (ended.code, ended.sentence.partition(";")[0]) == (
        Code.NOT_FOUND,
        "no decision and no request has the id no-such-id, and no job the name",
    )


def test_a_request_for_a_plan_is_answered_by_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = lopsided()
    log = serve(monkeypatch, tale)
    plan = told("placement", "plan")["plan"]
    run("placement", "apply", plan, "--reason", "now")
    plain = told("why", log.written[0].id)
    assert (plain["kind"], plain["body"]["plan_id"]) == ("PlacementPlanned", plan)
