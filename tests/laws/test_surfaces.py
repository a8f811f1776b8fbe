"""The law of surfaces: what a command tells with `-o json`, what the API answers, and the answer
itself are one and the same, of every question, at positions of the simulator's logs.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from events.job_config.policies.table import SETTINGS
from tests.laws.fleets import SEEDS
from tests.laws.test_headline import BEGUN_MS, OTHERS, desk_of, run
from tests.unit.turbine.api.asgi import ask
from turbine.read.answers import lines
from turbine.read.moments import show_time
from turbine.read.plain import plain
from turbine.read.questions import QUESTIONS, Asked
from turbine.read.sources.held import topics_of
from turbine.read.state.past import view_at
from turbine.read.state.view import View
from turbine_client.positions import format_vector

THIRDS = (1, 2, 3)
WORDS = ("default", "!default state=lagging,failing !1")
EVERYWHERE = [(seed, third) for seed in (SEEDS[1], *OTHERS) for third in THIRDS]


def instant(seed: int, share: float) -> int:
    """The instant at which a log has that share of its records."""
    log = desk_of(seed).log
    times = [read.at_ms for read in log.read(topics_of(log)) if read.at_ms >= BEGUN_MS]
    return sorted(times)[int(len(times) * share) - 1]


def position(seed: int, third: int) -> dict[str, int]:
    """The position at that third of a log's records."""
    log = desk_of(seed).log
    return log.at(instant(seed, third / len(THIRDS)), topics_of(log))


def names_of(view: View, command: str) -> list[dict[str, str]]:
    """What a command may be about at that position."""
    for name, known in (
        ("job", [job for job, seen in view.jobs.items() if seen.existed]),
        ("tier", list(view.defined)),
        ("filter", [*WORDS]),
        ("policy", [*SETTINGS]),
    ):
        if f"{{{name}}}" in command:
            return [{name: each} for each in {*known[:1], *known[-1:]}]
    return [{}]


@pytest.mark.parametrize(("seed", "third"), EVERYWHERE)
def test_command_api_and_answer_are_one(seed: int, third: int) -> None:
    desk, end = desk_of(seed), position(seed, third)
    view, at = view_at(desk.log, end), format_vector(end)
    then_ms = instant(seed, (third - 1 / 2) / len(THIRDS))
    asked = 0
    for question in QUESTIONS:
        for names in names_of(view, question.command):
            names |= {"then": show_time(then_ms)}
            expected = plain(question.answer(Asked(desk.log, view, names, then_ms)))
            words = [word.format(**names) for word in question.command.split(" ")]
            moment = (question.moment, at) if question.moment else ()
            ended = run("--log", str(desk.file), *words, *moment, "-o", "json")
            assert (ended.code, said(ended.out)) == (0, expected), question
            path = question.path.format(**{name: quote(one) for name, one in names.items()})
            sign = "&" if "?" in path else "?"
            more = f"{sign}limit=1000&at={at}" if question.listed else f"{sign}at={at}"
            answer = ask(desk.api.app, "GET", f"/api/v1{path}{more}")
            assert answer.status == 200, answer.body
            body = answer.json()
            assert (body["items"] if question.listed else body) == expected, question
            asked += bool(expected)
    assert third < len(THIRDS) or asked > len(QUESTIONS) // 2, "nothing was compared"


DOORS = (
    ("describe job {job}", "/jobs/{job}?"),
    ("why-not {job} --action scale-up", "/jobs/{job}/why-not?action=scale-up&again=true&"),
    ("get moves --tier {tier} --last 50", "/tiers/{tier}/moves?last=50&"),
)
"""Questions whose answer lies in more of the log than a view: what both doors say is compared."""


@pytest.mark.parametrize(("seed", "third"), EVERYWHERE)
@pytest.mark.parametrize(("command", "path"), DOORS)
def test_both_doors_say_the_same(command: str, path: str, seed: int, third: int) -> None:
    desk, end = desk_of(seed), position(seed, third)
    at = format_vector(end)
    for names in names_of(view_at(desk.log, end), command):
        words = [word.format(**names) for word in command.split(" ")]
        ended = run("--log", str(desk.file), *words, "--at", at, "-o", "json")
        answer = ask(desk.api.app, "GET", f"/api/v1{path.format(**names)}at={at}")
        body = answer.json()
        assert (ended.code, said(ended.out)) == (0, body.get("items", body)), (command, names)


def said(text: str) -> Any:
    return json.loads(text)


def test_a_surface_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turbine.api.jobs.some_of", lambda *asked: lines.some_of(*asked)[1:])
    with pytest.raises(AssertionError, match="get jobs"):
        test_command_api_and_answer_are_one(SEEDS[1], len(THIRDS))
