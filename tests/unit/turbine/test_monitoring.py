"""The board and the rules, rendered against our own exposition of fleets that were made by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.runtime.core import ground
from events.generated.records import ScalingDeclined, ScalingReverted, ShardDropRequested
from tests.unit.turbine.lines import run
from tests.unit.turbine.promql import Store, asked_by
from tests.unit.turbine.watched import NOW, bad, exposition, good, read_of, scaled
from turbine.exporter.families import Beside
from turbine.exporter.files import BOARD, HOME, RULES, Rule, rules
from turbine.failures import Code
from turbine.read.answers.alert_kinds import RAISED, UNREADABLE
from turbine.read.state.tally import Drift, Tally

ROOT = Path(__file__).parents[3]
RUNBOOKS = ROOT / "docs" / "runbooks"
MINUTE_MS = 60_000
EVERY = [rule for some in rules().values() for rule in some]
ALL_RULES = {rule.name: rule for rule in EVERY}
_SPAN = re.compile(r"(\d+)([mh])")


def queries() -> Iterator[tuple[str, str]]:
    """Everything that the board and the rules ask, by where it stands."""
    for rule in EVERY:
        yield rule.name, rule.expr
    for panel in json.loads((HOME / BOARD).read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


QUERIES = sorted(set(queries()))


# --- two fleets over time


@cache
def calm() -> Store:
    """Two hours in which nothing is wrong, a scrape a minute."""
    store, tally = Store(), Tally()
    decide(tally, void=0)
    for minute in range(121):
        at_ms = NOW + minute * MINUTE_MS
        view = good()
        view = replace(view, now_ms=at_ms, jobs=fresh(view.jobs, at_ms))
        store.scrape(at_ms / 1000, exposition(view, tally))
        decide(tally, void=0, first=10 * (minute + 1))
    return store


@cache
def wild() -> Store:
    """Two hours in which everything is: the clock stands, counters of trouble rise."""
    store, tally = Store(), Tally()
    for minute in range(121):
        decide(tally, void=5, first=100 * minute)
        if minute % 10 == 0:
            revert(tally, minute)
        tally.drifting["views"] = Drift(NOW - 3_600_000, bad().jobs["views"].job.versions)
        view = replace(bad(), letters=bad().letters.set("no-key", 3 + minute))
        beside = Beside("1.2.3", 50_000, up=False)
        at_s = NOW / 1000 + minute * 60
        store.scrape(at_s, exposition(view, tally, beside=beside, frozen=2, held_back=3))
    return store


def fresh(jobs: Any, at_ms: int) -> Any:
    """The same jobs, whose tasks have just told."""
    return {
        name: replace(
            one,
            reports={task: (rank, body, at_ms) for task, (rank, body, _) in one.reports.items()},
        )
        for name, one in jobs.items()
    }


def decide(tally: Tally, *, void: int, first: int = 0) -> None:
    """Ten decisions, some of which lose."""
    for number in range(10):
        body = ShardDropRequested("default", 1, 1, "c1", 1, "plan", "c1 is being emptied")
        read = read_of(body, first + number, NOW, "default/placement", topic="tiers.v1")
        tally.take(read, number >= void)


def revert(tally: Tally, number: int) -> None:
    """An action that comes into effect after forty seconds, and does not help."""
    for at_s, body in scaled(number, "scale-up", ScalingReverted):
        tally.take(read_of(body, number, NOW + 1000 * at_s), True)
    declined = ScalingDeclined("clicks", "settling", "the last change is too new to judge")
    tally.take(read_of(declined, number, NOW), True)


END_S = NOW / 1000 + 7200


# --- what is asked for is there


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_every_series_and_label_of_a_query_is_exposed(where: str, query: str) -> None:
    names = wild().names()
    asked = list(asked_by(query))
    assert asked, f"{where} asks for nothing of ours"
    for name, labels in asked:
        assert name in names, f"{where}: nothing exposes {name}"
        assert labels - {"le"} <= names[name], f"{where}: {name} has no such label"


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_every_query_has_an_answer_when_things_are_wild(where: str, query: str) -> None:
    if "absent" in query:
        assert wild().ask(query, END_S) == {}
    else:
        assert wild().ask(query, END_S), where


# --- rules


def fires(store: Store, rule: Rule) -> bool:
    """Does it hold at each minute of its time? A rule for a day is looked at for two hours."""
    found = _SPAN.fullmatch(rule.lasting)
    assert found is not None, rule.lasting
    minutes = min(int(found[1]) * (60 if found[2] == "h" else 1), 60)
    return all(store.ask(rule.expr, END_S - 60 * back) for back in range(minutes + 1))


@pytest.mark.parametrize("name", [name for name in ALL_RULES if name != "TurbineFiguresMissing"])
def test_a_rule_fires_in_a_bad_fleet_and_not_in_a_good_one(name: str) -> None:
    assert fires(wild(), ALL_RULES[name])
    assert not any(
        calm().ask(ALL_RULES[name].expr, END_S - 60 * back) for back in range(0, 60, 5)
    ), "it would call somebody for nothing"


def test_figures_that_nobody_serves_are_missed() -> None:
    rule = ALL_RULES["TurbineFiguresMissing"]
    assert fires(Store(), rule)
    assert not fires(calm(), rule)


def test_each_rule_has_a_runbook_and_a_summary_of_labels_that_there_are() -> None:
    assert len(ALL_RULES) == len(EVERY), "two rules of one name"
    for rule in EVERY:
        assert (RUNBOOKS / f"{rule.runbook}.md").is_file(), rule.runbook
        answer = Store().ask(rule.expr, END_S) or wild().ask(rule.expr, END_S)
        assert isinstance(answer, dict)
        [labels] = {frozenset(name for name, _ in one) for one in answer}
        assert set(re.findall(r"\$labels\.([a-z_]+)", rule.summary)) <= labels, rule.name


def test_every_runbook_is_linked_by_a_rule_or_by_what_a_component_says_last() -> None:
    pages = {path.stem for path in RUNBOOKS.glob("*.md")}
    assert pages == {rule.runbook for rule in EVERY} | {Path(ground.RUNBOOK).stem}


def test_every_alert_of_the_log_is_passed_on_with_its_severity_and_its_meaning() -> None:
    passed_on = {
        (rule.runbook, rule.expr, rule.lasting, rule.severity, rule.summary)
        for rule in rules()["turbine-log"]
    }
    assert passed_on == {
        (
            kind.name,
            f'turbine_alerts{{alert="{kind.name}"}} > 0',
            "0m",
            kind.severity,
            f"{{{{ $value }}}} open: {kind.means}",
        )
        for kind in RAISED
    }
    assert (UNREADABLE.name, UNREADABLE.severity) in {(one.runbook, one.severity) for one in EVERY}


def test_the_board_names_runbooks_that_there_are() -> None:
    text = (HOME / BOARD).read_text()
    named = {
        page.strip()
        for some in re.findall(r"[Rr]unbooks?:? ([a-z, -]+)", text)
        for page in some.split(",")
    }
    assert {one for one in named if one and not (RUNBOOKS / f"{one}.md").is_file()} == set()
    assert len(named) > 5


# --- the board


def test_panels_do_not_overlap_and_fill_the_width() -> None:
    taken: dict[tuple[int, int], str] = {}
    panels = json.loads((HOME / BOARD).read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]


def test_every_panel_says_what_it_shows() -> None:
    panels = json.loads((HOME / BOARD).read_text())["panels"]
    assert [one["title"] for one in panels if one["type"] != "row" and not one["description"]] == []


# --- the command


def test_both_are_printed_as_one_stream(tmp_path: Path) -> None:
    ended = run("monitoring", "export")
    board, exported = yaml.safe_load_all(ended.out)
    assert (board["uid"], exported["groups"][0]["name"]) == ("turbine-fleet", "turbine-log")
    assert run("monitoring", "export", "--out", str(tmp_path / "a" / "b")).code == Code.OK
    written = {path.name: path.read_text() for path in (tmp_path / "a" / "b").iterdir()}
    assert written == {name: (HOME / name).read_text() for name in (BOARD, RULES)}


@pytest.mark.parametrize("base", ["https://x/y", 'https://x/y: "z" #1'])
def test_runbooks_may_be_anywhere(base: str) -> None:
    _, exported = yaml.safe_load_all(run("monitoring", "export", "--runbooks", f"{base}/").out)
    urls = {
        rule["annotations"]["runbook_url"]
        for group in exported["groups"]
        for rule in group["rules"]
    }
    assert urls == {f"{base}/{rule.runbook}.md" for rule in EVERY}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = run("monitoring", "export", "--out", str(tmp_path / "file"))
    assert ended.code == Code.FAILED
    assert ended.sentence == (
        f"--out: {tmp_path / 'file'} cannot be written (File exists); name a folder of yours"
    )
