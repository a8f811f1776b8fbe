"""`turbine top`: what a frame holds, how it fits a terminal, and what its keys do."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.turbine.lines import NOWHERE, run
from tests.unit.turbine.watched import NOW, Case, alert, bad, good, tier, view_of
from turbine.cli import top as command
from turbine.cli.columns import cut as shortened
from turbine.cli.top_lines import (
    Line,
    StyledText,
    TopChoices,
    ago,
    cut,
    layout,
    many,
    pressed,
    rate,
)
from turbine.failures import Code
from turbine.read.answers.fleet import SORTS, Fleet, fleet
from turbine.read.answers.lines import lines_of
from turbine.read.filters import BadFilter, filter_of
from turbine.read.state.view import View

FRAMES = Path(__file__).parent / "frames"


def frame_of(view: View, query: str = "", sort: str = SORTS[0]) -> Fleet:
    return fleet(view, lines_of(view), query, sort)


def text(lines: list[Line]) -> str:
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines) + "\n"


def many_jobs(count: int) -> View:
    return view_of(*(Case(f"job-{n:03}", lag_ms=100 * n) for n in range(count)), **tier(0.5, 0.6))


# --- frames


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 40)])
@pytest.mark.parametrize(("name", "view"), [("good", good()), ("bad", bad())])
def test_a_frame_is_as_it_was_recorded(
    name: str, view: View, width: int, height: int, request: pytest.FixtureRequest
) -> None:
    look = TopChoices()
    told = text(layout(frame_of(view), look, width, height, status="live"))
    path = FRAMES / f"{name}-{width}x{height}.txt"
    if request.config.getoption("--rewrite"):
        FRAMES.mkdir(exist_ok=True)
        path.write_text(told)
    assert told == path.read_text()


@pytest.mark.parametrize("width", [40, 80, 119, 120, 200])
@pytest.mark.parametrize("height", [16, 24, 60])
@pytest.mark.parametrize("view", [View({}), good(), bad(), many_jobs(200)])
def test_a_frame_fills_a_terminal_and_no_more(view: View, width: int, height: int) -> None:
    lines = layout(frame_of(view), TopChoices(query="j"), width, height, status="live")
    assert len(lines) <= height + 14, "what is open is told, even where it scrolls"
    if height >= 24:
        assert len(lines) == height
    assert max(sum(len(piece.text) for piece in line) for line in lines) <= width


def test_without_a_height_nothing_is_cut() -> None:
    lines = layout(frame_of(many_jobs(200)), TopChoices(), 10_000, None, keys=False)
    told = text(lines)
    assert all(f"job-{n:03}" in told for n in range(200))
    assert "…" not in told


def test_containers_stand_under_their_own_tier() -> None:
    """Also where a tier without any comes last: they are not its."""
    frame = frame_of(good())
    [own] = frame.tiers
    wide = replace(frame, tiers=(own, replace(own, tier="later")))
    told = text(layout(wide, TopChoices(), 160, None)).splitlines()
    heads = [at for at, line in enumerate(told) if line.startswith("TIER ")]
    names = [at for at, line in enumerate(told) if line.startswith("  c")]
    assert len(names) == len(frame.containers) == 3
    assert heads[0] < min(names)
    assert max(names) < heads[1]


def test_colour_is_only_where_somebody_has_to_look() -> None:
    pieces = [piece for line in layout(frame_of(good()), TopChoices(), 80, 24) for piece in line]
    assert {piece.style for piece in pieces} <= {"", "bold", "bright_black", "green"}
    styles = {
        piece.style for line in layout(frame_of(bad()), TopChoices(), 80, 24) for piece in line
    }
    assert {"bold red", "yellow"} <= styles


def test_what_somebody_wrote_cannot_steer_the_terminal() -> None:
    evil = replace(alert("straggler", "a", "warning"), cause="x\x1b[2Jy")
    told = text(layout(frame_of(view_of(Case("a"), alerts=(evil,))), TopChoices(), 200, 24))
    assert "\x1b" not in told


def test_what_does_not_fit_is_marked() -> None:
    assert cut((StyledText("abc"), StyledText("def", "bold")), 5) == (
        StyledText("abc"),
        StyledText("d…", "bold"),
    )
    assert cut((StyledText("abc"), StyledText("def")), 3) == (StyledText("abc"), StyledText(""))
    assert cut((StyledText("abc"),), 3) == (StyledText("abc"),)
    assert shortened("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (None, "?"),
        (0, "0"),
        (9999, "9999"),
        (10_000, "10 k"),
        (12_345_678, "12 M"),
        (5e12, "5000 G"),
    ],
)
def test_counts_are_short(number: float | None, told: str) -> None:
    assert many(number) == told
    assert rate(number) == ("?" if number is None else f"{told}/s")


# --- orders and filters


def test_the_worst_comes_first_and_equals_by_name() -> None:
    assert [one.job for one in frame_of(bad()).jobs] == ["views", "ads", "clicks"]
    assert [one.job for one in frame_of(good()).jobs] == ["ads", "clicks", "views"]


@pytest.mark.parametrize(
    ("sort", "first"), [("lag", "late"), ("rate", "fast"), ("tasks", "wide"), ("name", "fast")]
)
def test_jobs_stand_by_what_was_asked_for(sort: str, first: str) -> None:
    view = view_of(Case("late", lag_ms=80_000), Case("fast", rate=900.0), Case("wide", 9),
                   Case("mute", told=False))  # fmt: skip
    assert frame_of(view, sort=sort).jobs[0].job == first
    assert len(frame_of(view, sort=sort).jobs) == 4


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["a-1", "a-2", "b-1"]),
        ("a-", ["a-1", "a-2"]),
        ("default", ["a-1", "a-2", "b-1"]),
        ("override=tasks", []),
        ("A- 1", ["a-1"]),
        ("!a-", ["b-1"]),
        ("state=quarantined", ["a-2"]),
        ("!state=quarantined,paused", ["a-1", "b-1"]),
        ("mode=off", ["b-1"]),
        ("tier=default policy=turbine job=a-1,b-1", ["a-1", "b-1"]),
        ("nothing", []),
    ],
)
def test_a_filter_leaves_what_is_meant(query: str, found: list[str]) -> None:
    off = {"policy": {"mode": "off"}}
    view = view_of(Case("a-1"), Case("a-2", quarantined=True), Case("b-1", config=off))
    frame = frame_of(view, query, "name")
    assert [one.job for one in frame.jobs] == found
    assert (frame.hidden, frame.totals.jobs) == (3 - len(found), len(found))


def test_a_filter_leaves_the_tiers_and_alerts_of_its_jobs() -> None:
    alerts = (alert("straggler", "a", "warning"), alert("straggler", "b", "warning"),
              alert("tier-short", "default", "critical"))  # fmt: skip
    view = view_of(Case("a"), Case("b", config={"tier": "x"}), alerts=alerts, **tier(0.5, 0.6))
    assert [one.subject for one in frame_of(view, "job=a").alerts] == ["default", "a"]
    frame = frame_of(view, "job=b")
    assert ([one.subject for one in frame.alerts], frame.tiers, frame.containers) == (["b"], (), ())


def test_a_filter_for_what_there_is_not_says_what_there_is() -> None:
    with pytest.raises(BadFilter, match='"owner" is nothing to filter by; use words, !words, or'):
        filter_of("owner=ana")


# --- keys


def after(look: TopChoices, *keys: str, jobs: int = 100) -> TopChoices:
    for key in keys:
        look = pressed(look, key, jobs)
    return look


def test_keys_do_what_the_foot_says() -> None:
    assert after(TopChoices(), "q").over
    assert after(TopChoices(), "s").sort == SORTS[1]
    assert after(TopChoices(first=7), *"s" * len(SORTS)).sort == SORTS[0]
    assert after(TopChoices(), "down", "down", "up", "j").first == 2
    assert after(TopChoices(), "up").first == 0
    assert after(TopChoices(), "page-down", "G").first == 99
    assert after(TopChoices(first=9), "g").first == 0
    assert after(TopChoices(query="a", first=3), "escape") == TopChoices()
    assert after(TopChoices(), "x") == TopChoices()


def test_a_filter_is_typed_corrected_and_taken_back() -> None:
    typing = after(TopChoices(), "/", *"clix", "backspace", "c")
    assert (typing.typing, typing.query) == ("clic", "")
    assert after(typing, "enter") == TopChoices(query="clic")
    assert after(typing, "escape") == TopChoices()
    assert after(TopChoices(query="ab"), "/", "backspace", "enter").query == "a"
    assert not after(TopChoices(), "/", "q").over, "a letter of the filter is no command"


def test_a_filter_that_is_wrong_is_told_where_it_was_typed() -> None:
    wrong = after(TopChoices(), "/", *"x=1", "enter")
    assert (wrong.typing, wrong.query) == ("x=1", "")
    foot = text(layout(frame_of(good()), wrong, 200, 24)).splitlines()[-1]
    assert foot.startswith('/x=1▏  "x" is nothing to filter by')


def test_a_frame_does_not_scroll_beyond_its_jobs() -> None:
    frame = frame_of(many_jobs(50), sort="name")
    end = text(layout(frame, TopChoices(sort="name", first=49), 80, 24))
    assert "job-049" in end
    assert "job-030" not in text(layout(frame, TopChoices(sort="name"), 80, 24))


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"q", ["q"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOB", ["down"]),
        (b"\x1b", ["escape"]),
        (b"\x1b[5~s", ["page-up", "s"]),
        (b"\x1b[15~", []),
        (b"/ab\r", ["/", "a", "b", "enter"]),
        ("é".encode(), ["é"]),
        (b"\xff", []),
        (b"\x7f", ["backspace"]),
    ],
)
def test_what_a_terminal_sends_are_keys(sent: bytes, keys: list[str]) -> None:
    assert command.keys_of(sent) == keys


@pytest.mark.parametrize(
    ("trouble", "tick_ms", "told"),
    [
        ("", NOW - 60_000, "live"),
        ("", NOW - 60_001, "no tick for 1 min"),
        ("", 0, "live"),
        ("no broker answers", NOW, "no news: no broker answers"),
    ],
)
def test_figures_that_do_not_move_say_why(trouble: str, tick_ms: int, told: str) -> None:
    assert command.freshness(trouble, tick_ms, NOW) == told


# --- the command


def served(monkeypatch: pytest.MonkeyPatch, view: View) -> None:
    monkeypatch.setattr(command, "open_log", lambda _: None)
    monkeypatch.setattr("turbine.cli.top.viewed", lambda *_: nullcontext(view))


def test_one_frame_goes_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, bad())
    ended = run("top", "--once", "--filter", "state=quarantined")
    assert (ended.code, ended.err) == (Code.OK, "")
    assert "views" in ended.out
    assert "ads" not in ended.out.replace("of", "")
    assert "q quit" not in ended.out, "nobody presses keys there"


def test_one_frame_as_json_has_the_names_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, bad())
    found: Any = json.loads(run("top", "--once", "-o", "json").out)
    assert (found["now_ms"], found["totals"]["tasks_wanted"]) == (NOW, 7)
    assert found["totals"]["tasks_not_running"]["count"] == 3
    assert (found["jobs"][0]["job"], found["jobs"][0]["state"]) == ("views", "quarantined")
    assert found["tiers"][0]["shards"] == {"dropping": 1, "held": 5}
    assert {one["alert"] for one in found["alerts"]} >= {"straggler", "tier-short"}


WRONG = {
    (): "top needs a terminal; --once prints one frame",
    ("-o", "json"): "-o json is of one frame; add --once",
    ("--filter", "x=1"): '--filter: "x" is nothing to filter by; use words, !words, or one of'
    " job=, state=, tier=, policy=, mode=, override=",
    ("--at", "noon"): "--at: 'noon' is neither a time nor a position; write one such as"
    " 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_shown_is_told(line: tuple[str, ...]) -> None:
    ended = run("--bootstrap", NOWHERE, "top", *line)
    assert (ended.code, ended.sentence) == (Code.USAGE, WRONG[line])


@pytest.mark.parametrize(
    ("span_ms", "told"),
    [(-5, "0 s"), (59_999, "59 s"), (60_000, "1 min"), (7_199_999, "119 min"), (7_200_000, "2 h"),
     (172_799_999, "47 h"), (172_800_000, "2 d")],
)  # fmt: skip
def test_how_long_is_told_by_its_largest_unit(span_ms: int, told: str) -> None:
    assert ago(span_ms) == told
