"""What a person reads of tiers: what they hold, what is left and lent, who waits or stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from events.topics import TIERS
from tests.unit.capacity_manager.tiers import CHAIN, Tale
from tests.unit.turbine.lines import run
from turbine.cli.capacity import TierResource, _columns
from turbine.failures import Code
from turbine.read.answers.capacity import tiers_in
from turbine.read.sources.log import Standing
from turbine_client.settings import Settings


class TierLog:
    """Stands in for a Log of tiers."""

    def __init__(self, tale: Tale | None) -> None:
        self.tale, self.settings, self.counts = tale, Settings(), {TIERS: 1}

    def of_tiers(self, kinds: frozenset[str], *, end: Any = None) -> list[Standing]:
        known = self.tale.log if self.tale is not None else []
        return [
            Standing(one, True)
            for one in known
            if one.place == CHAIN
            and one.record.kind in kinds
            and (end is None or one.offset < end[CHAIN])
        ]

    def moment(self, at_ms: int, *_: Any) -> dict[str, int]:
        assert self.tale is not None
        known = [one for one in self.tale.log if one.place == CHAIN]
        return {CHAIN: sum(one.at_ms <= at_ms for one in known)}


def serve(monkeypatch: pytest.MonkeyPatch, tale: Tale | None) -> None:
    monkeypatch.setattr("turbine.cli.reading.open_log", lambda _: TierLog(tale))


def rows(*line: str) -> Any:
    ended = run("get", "tiers", *line, "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return json.loads(ended.out)


def lending() -> Tale:
    tale = Tale("default", "rich")
    tale.start("c0", capacity={"cpu_cores": 10.0, "memory_bytes": 1e12})
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.use("c0", 3.5)
    tale.job("a", 9)
    tale.settle()
    tale.wish("a", 12, 9)
    tale.later()
    return tale


def test_a_tier_shows_what_it_holds_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, lending())
    default, rich = rows()
    assert (default["tier"], default["state"], default["containers"]) == ("default", "tight", 1)
    assert (default["jobs"], default["jobs_waiting"]) == (1, 1)
    assert default["resources"]["cpu_cores"] == {
        "capacity": 10.0,
        "reserved": 9.0,
        "reserved_share": 0.9,
        "used": 3.5,
        "used_share": 0.35,
        "left": 1.0,
        "lent": 0.0,
        "borrowed": 10.0,
        "lacking": 3.5,
    }
    assert default["limits"] == {"a": 10}
    assert rich["resources"]["cpu_cores"]["used"] is None, "unknown is not nothing"
    assert rich["resources"]["cpu_cores"]["used_share"] is None
    assert rich["resources"]["cpu_cores"]["lent"] == 10.0
    [loan] = default["loans"]
    assert (loan["lender"], loan["borrower"], loan["containers"]) == ("rich", "default", ["r0"])
    assert rich["loans"] == [loan]


def test_as_a_table_each_resource_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, lending())
    head, cpu, memory, rich = (line.split() for line in run("get", "tiers").out.splitlines())
    assert head == [
        "TIER", "STATE", "CONTAINERS", "JOBS", "WAITING", "STOPPED", "RESOURCE", "CAPACITY",
        "RESERVED", "USED", "LEFT", "LACKING", "LENT", "SAID",
    ]  # fmt: skip
    assert cpu[:7] == ["default", "tight", "1", "1", "1", "0", "CPU"]
    assert cpu[7:] [:-1] == [
        "10.00", "cores", "9.00", "cores", "(90", "%)", "3.50", "cores", "(35", "%)",
        "1.00", "cores", "3.50", "cores", "has", "10.00", "cores",
    ]  # fmt: skip
    assert "MEMORY" in memory
    assert rich[:2] == ["rich", "plenty"]
    assert "LIMITED" in run("get", "tiers", "-o", "wide").out
    assert run("get", "tiers", "-o", "name").out == "default\nrich\n"


def test_jobs_that_are_stopped_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = Tale()
    tale.start("c0")
    tale.job("a", 8)
    tale.job("b", 9, priority=1)
    tale.settle()
    tale.wait(6)
    serve(monkeypatch, tale)
    assert rows()[0]["preempted"] == ["b"]
    ended = run("get", "tiers")
    assert ended.err == "tier default: stopped for others: b\n"


def test_as_it_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    tale = lending()
    serve(monkeypatch, tale)
    first = min(one.at_ms for one in tale.log)
    assert rows("--at", "1970-01-01T02:46:40Z")[0]["limits"] == {"a": 9}
    assert first == 10_000_000
    assert rows("--at", "1970-01-01T00:00:01Z") == []


def test_a_tier_that_nobody_tells_of_says_how_to_change_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve(monkeypatch, Tale("default", "quiet"))
    assert [row["state"] for row in rows()] == [None, None]
    ended = run("get", "tiers")
    assert ended.code == Code.OK
    assert (
        "tier quiet: nothing tells what it holds; `turbine serve capacity-manager --tier quiet`"
        " does" in ended.err
    )


def test_without_a_tier_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, None)
    ended = run("get", "tiers")
    assert (ended.code, ended.out) == (Code.OK, "")
    assert ended.err == "there is no tier; `turbine tier create NAME --shards N` makes one\n"


def test_what_no_container_holds_is_unknown_and_not_full() -> None:
    """A process engine's containers say nothing of the network, and their tasks use it."""
    columns = {column.title: column.cell for column in _columns()}
    [tier] = [tier for tier in tiers_in(TierLog(lending())) if tier.tier == "default"]
    use = replace(tier.resources["cpu_cores"], capacity=0.0, used=6e4, used_share=None, left=0.0)
    row = TierResource(tier, first=False, resource="network_bytes_per_s", use=use)
    told = {name: columns[name](row) for name in ("CAPACITY", "LEFT", "USED")}
    assert told == {"CAPACITY": "", "LEFT": "", "USED": "60 kB/s"}
    row = replace(row, use=replace(use, capacity=1e6))
    assert (columns["CAPACITY"](row), columns["LEFT"](row)) == ("1 MB/s", "0 B/s")
