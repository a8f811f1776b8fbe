"""What a person on call reads of containers, shards and moves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.shard_manager.fleets import Tale, calm, placed
from tests.unit.turbine.lines import run
from tests.unit.turbine.tales import serve
from turbine.cli.columns import amount
from turbine.failures import Code


def rows(*line: str) -> Any:
    ended = run(*line, "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return json.loads(ended.out)


def test_containers_show_how_they_stand_and_how_full_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = placed(3, 6)
    tale.weigh("c0", {shard: 2.0 for shard, name in tale.holders().items() if name == "c0"})
    tale.drain("c1")
    tale.mute = {"c2"}
    tale.wait(25, decides=False)
    serve(monkeypatch, tale)
    found = {row["container"]: row for row in rows("get", "containers")}
    assert found["c0"]["load"]["cpu_cores"] == {"used": 4.0, "capacity": 10.0, "share": 0.4}
    assert (found["c0"]["state"], found["c0"]["tasks"]) == ("serving", 2)
    assert found["c1"]["load"]["cpu_cores"]["used"] is None, "unknown is not nothing"
    assert found["c1"]["drain"] == {"author": "ops", "reason": "rest"}
    assert found["c2"]["state"] == "unheard"
    assert found["c2"]["silence_ms"] >= 20_000
    told = run("get", "containers").out.splitlines()
    assert told[0].split() == [
        "CONTAINER", "STATE", "SHARDS", "MOVING", "TASKS", "CPU", "MEMORY", "SILENT", "REGION",
        "SINCE",
    ]  # fmt: skip
    assert told[1].split()[:6] == ["c0", "serving", "2", "-", "2", "40"]
    assert "draining by ops: rest" in told[2]


def test_a_container_that_is_gone_is_shown_while_it_holds_shards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = placed(2, 4)
    tale.mute = {"c1"}
    tale.wait(70)
    serve(monkeypatch, tale)
    assert [row["container"] for row in rows("get", "containers")] == ["c0"]
    found = rows("get", "containers", "--gone")
    assert [(row["container"], row["state"], row["shards"]) for row in found] == [
        ("c0", "serving", 4),
        ("c1", "gone", 0),
    ]
    told = run("describe", "container", "c1").out
    assert "failed over" in told
    assert "nothing was heard of it for 60 s" in told


def test_shards_are_listed_whole_by_container_or_while_they_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = calm(2, 4, '{"moves_max":1000,"load_max":1000}')
    tale.idle = {"c0"}
    tale.drain("c0")
    tale.wait(31)
    serve(monkeypatch, tale)
    assert [row["shard"] for row in rows("get", "shards")] == [0, 1, 2, 3]
    moving = rows("get", "shards", "--moving")
    assert {(row["container"], row["to"], row["stage"]) for row in moving} == {
        ("c0", "c1", "dropping")
    }
    assert rows("get", "shards", "--moving", "--container", "c1") == moving, "it is to get them"
    assert "dropping (to c1)" in run("get", "shards", "--moving").out


def test_moves_tell_from_where_to_where_why_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = calm(2, 4, '{"moves_max":1000,"load_max":1000}')
    tale.drain("c0")
    tale.wait(31)
    serve(monkeypatch, tale)
    found = rows("get", "moves", "--last", "2")
    assert [(row["from"], row["to"], row["stage"], row["took_ms"]) for row in found] == [
        ("c0", "c1", "added", 0)
    ] * 2
    assert all(row["reason"].startswith("c0 is being emptied") for row in found)
    plan = found[0]["plan"]
    assert len(rows("get", "moves", "--plan", plan)) == 2
    first = rows("get", "moves")[0]
    assert (first["from"], first["reason"]) == (None, "nobody holds it")


def test_a_move_that_is_late_is_killed_and_one_that_is_overtaken_is_unfinished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = calm(3, 3, '{"moves_max":1000,"load_max":1000}')
    tale.idle = {"c0"}
    tale.drain("c0")
    tale.wait(95)
    serve(monkeypatch, tale)
    [move] = rows("get", "moves", "--last", "1")
    assert (move["stage"], move["from"]) == ("killed", "c0")
    tale.mute = {"c0", move["to"]}
    tale.wait(130)
    stages = [row["stage"] for row in rows("get", "moves") if row["shard"] == move["shard"]]
    assert stages[-2:] == ["unfinished", "added"]


def test_a_container_is_described_with_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = placed(2, 4)
    tale.weigh_all(1.0)
    tale.weigh("c0", {min(s for s, n in tale.holders().items() if n == "c0"): 4.0}, 2)
    serve(monkeypatch, tale)
    found = rows("describe", "container", "c0")
    [cpu] = found["balance"]
    assert cpu["resource"] == "cpu_cores"
    assert cpu["of_mean"] > cpu["high"] > 1
    assert not cpu["in_band"]
    assert len(found["holds"]) == 2
    told = run("describe", "container", "c0").out
    assert "5.00 cores" in told
    assert "50 %" in told
    assert " over" in told


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("get containers --tier west", "there is no tier west; `turbine tier create west --shards"),
        ("get shards --container c9", "tier default has no container c9; `turbine get containers"),
        ("describe container c9", "tier default has no container c9;"),
    ],
)
def test_what_is_not_there_is_said(
    line: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, placed(1, 2))
    ended = run(*line.split())
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence.startswith(sentence)


def test_a_container_that_is_not_there_is_told_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = Tale(2)
    tale.start("main-1")
    serve(monkeypatch, tale)
    assert run("describe", "container", "mian-1").sentence.startswith(
        "tier default has no container mian-1, perhaps main-1; `turbine get containers --gone`"
    )


def test_what_stands_against_the_tier_is_told_beside_every_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tale = placed(8, 8)
    tale.mute = {f"c{n}" for n in range(5)}
    tale.wait(70)
    serve(monkeypatch, tale)
    assert tale.fleet.brake is not None
    said = run("get", "containers").err
    assert f"turbine placement apply {tale.fleet.brake.plan_id} --reason R" in said
    alone = Tale(2, regions=("east", "west"))
    alone.start("c0", region="east")
    alone.settle()
    serve(monkeypatch, alone)
    assert "2 shards have no container; shard 2: no container that takes shards is in" in (
        run("get", "shards").err
    )
    assert "unplaced: no container that takes shards" in run("get", "shards").out


@pytest.mark.parametrize(
    ("resource", "value", "text"),
    [
        ("cpu_cores", 0.125, "0.12 cores"),
        ("memory_bytes", 64e9, "64 GB"),
        ("memory_bytes", 999, "999 B"),
        ("network_bytes_per_s", 1.5e6, "1.5 MB/s"),
        ("memory_bytes", 999.99e9, "1 TB"),
        ("disk_bytes", None, ""),
    ],
)
def test_amounts_are_short(resource: str, value: float | None, text: str) -> None:
    assert amount(resource, value) == text
