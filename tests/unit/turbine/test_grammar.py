"""One grammar: a name alone is enough, ids by their beginning, a list that is watched, local times.

Over all commands, so that a new one is not forgotten.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
import typer

from tests.unit.turbine.lines import run
from turbine.cli import WATCH, again, taken
from turbine.cli.again import watch
from turbine.cli.commands import app
from turbine.failures import Code
from turbine.read.moments import show_time, shown_in

USUAL = {
    "delete": "job",
    "rollback": "job",
    "wait": "job",
    "describe": "job",
    "reset": "job",
    "diff": "job",
    "drain": "container",
    "undrain": "container",
    "publish": "change",
}
"""Groups whose commands are about one thing that has a name."""
SEVERAL = {
    "get", "tier", "placement", "subscribe", "contract", "history", "webhooks", "log",
    "monitoring", "topics", "schema", "broker", "config", "rows",
}  # fmt: skip
"""Groups whose words are all verbs or lists: nothing could be meant by a name alone."""


def groups() -> dict[str, Any]:
    root: Any = typer.main.get_command(app)
    return {name: one for name, one in root.commands.items() if hasattr(one, "commands")}


def test_every_group_takes_a_name_alone_or_could_mean_nothing_by_it() -> None:
    assert set(groups()) == {*USUAL, *SEVERAL}
    for group, usual in USUAL.items():
        assert usual in groups()[group].commands


@pytest.mark.parametrize("group", USUAL)
def test_a_name_alone_is_of_the_usual_command(group: str) -> None:
    usual = USUAL[group]
    alone, said = run(group, "clicks", "--help"), run(group, usual, "clicks", "--help")
    assert alone == said
    assert alone.out.startswith(f"Usage: turbine {group} {usual} ")


@pytest.mark.parametrize("group", [one for one in USUAL if one != "diff"])
def test_its_options_may_come_first(group: str) -> None:
    told = run(group, "--nope", "clicks").sentence
    assert told.startswith("No such option: --nope")
    assert told.endswith(f"; see `turbine {group} {USUAL[group]} --help`")


@pytest.mark.parametrize("group", USUAL)
def test_the_group_itself_still_explains_itself(group: str) -> None:
    assert run(group, "--help").out.startswith(f"Usage: turbine {group} [OPTIONS] COMMAND")


def test_a_word_that_is_nearly_a_command_is_no_name() -> None:
    ended = run("describe", "contaner", "c1")
    assert ended.code == Code.USAGE
    assert ended.sentence == (
        "No such command 'contaner'. Did you mean 'container'?; see `turbine describe --help`"
    )


@pytest.mark.parametrize("name", ["jobs", "tasks", "syncs", "lag"])
def test_lists_of_jobs_take_names(name: str) -> None:
    ended = run("get", name, "Clicks")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith('"Clicks" is no job\'s name; use up to 128 of ')


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "delete clicks --reason x",
            "this would delete the job clicks and end its tasks; add --yes if that is meant",
        ),
        (
            "delete job clicks --reason x",
            "this would delete the job clicks and end its tasks; add --yes if that is meant",
        ),
        (
            "pause clicks --reason x --timeout soon",
            "Invalid value for '--timeout': a span: 'soon' is no span of time; write one such ",
        ),
        (
            "pause clicks --reason x --timeout 1h",
            "Invalid value for '--timeout': 1h is not from 0.1s to 600s; see `turbine pause ",
        ),
        ("pause clicks --watch --reason x", "--watch is for lists, such as `turbine get jobs"),
    ],
)
def test_what_is_refused(line: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    ended = run(*line.split())
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)


def test_at_a_terminal_a_deletion_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def no(question: str, **_: Any) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", no)
    ended = run("delete", "clicks", "--reason", "x")
    assert (ended.code, ended.sentence) == (
        Code.FAILED,
        "nothing was done, as you did not say yes",
    )
    assert asked == ["Delete the job clicks and end its tasks?"]


# --- --watch

LIST = ["get", "jobs"]


def test_the_two_may_stand_anywhere() -> None:
    assert taken(["get", "jobs", "--watch", "-o", "wide", "--local"]) == (
        ["get", "jobs", "-o", "wide"],
        {"--watch", "--local"},
    )
    assert taken(["x", "--", "--watch"]) == (["x", "--", "--watch"], frozenset())


LIST = ["get", "jobs"]


class Looks:
    """What a list says, look by look; a person ends it after some."""

    def __init__(self, *codes: int, until: int) -> None:
        self.codes, self.until, self.slept = list(codes), until, list[float]()

    def run(self) -> int:
        sys.stdout.write(f"look {len(self.slept)}\n")
        return self.codes.pop(0) if self.codes else Code.OK

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self.until:
            raise KeyboardInterrupt


def test_a_list_is_shown_until_somebody_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    looks = Looks(until=3)
    assert watch(LIST, looks.run, sleep=looks.sleep, every_s=5.0) == Code.OK
    assert capsys.readouterr().out == "look 0\nlook 1\nlook 2\n"
    assert looks.slept == [5.0, 5.0, 5.0]


def test_at_a_terminal_each_look_takes_the_place_of_the_last(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    looks = Looks(until=2)
    watch(LIST, looks.run, sleep=looks.sleep)
    assert capsys.readouterr().out == "\x1b[H\x1b[Jlook 0\n\x1b[H\x1b[Jlook 1\n"


def test_what_fails_at_once_has_failed_and_later_it_goes_on() -> None:
    looks = Looks(Code.NOT_FOUND, until=9)
    assert watch(LIST, looks.run, sleep=looks.sleep) == Code.NOT_FOUND
    later = Looks(Code.OK, Code.FAILED, Code.OK, until=4)
    assert watch(LIST, later.run, sleep=later.sleep) == Code.OK
    interrupted = Looks(Code.OK, Code.INTERRUPTED, until=9)
    assert watch(LIST, interrupted.run, sleep=interrupted.sleep) == Code.OK
    assert len(interrupted.slept) == 1


@pytest.mark.parametrize("line", ["get jobs --watch", "--watch get jobs", "get --watch jobs"])
def test_every_list_can_be_watched(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "EVERY_S", 0.0)
    ended = run(*line.split(), "--bootstrap", "127.0.0.1:1")
    assert (ended.code, WATCH in ended.err) == (Code.FAILED, False)


# --- --local


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that is nine hours ahead."""
    before = os.environ.get("TZ")
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    assert os.environ.get("TZ") == before
    time.tzset()


AT_MS = 1_800_000_000_000


def test_times_are_of_utc_or_of_the_zone_that_is_asked_for() -> None:
    assert show_time(AT_MS) == "2027-01-15T08:00:00.000Z"
    with shown_in(timezone(timedelta(hours=-5))):
        assert show_time(AT_MS) == "2027-01-15T03:00:00.000-05:00"
        with shown_in(UTC):
            assert show_time(AT_MS) == "2027-01-15T08:00:00.000Z"
        assert show_time(0) == "-"
        assert show_time(2**62) == str(2**62)
    assert show_time(AT_MS) == "2027-01-15T08:00:00.000Z"


@pytest.mark.usefixtures("far_east")
def test_local_times_are_of_this_machine() -> None:
    with shown_in(None):
        assert show_time(AT_MS) == "2027-01-15T17:00:00.000+09:00"
    assert show_time(AT_MS) == "2027-01-15T08:00:00.000Z"
