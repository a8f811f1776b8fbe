"""Inputs without partitions get what the broker tells; what it cannot tell is noted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from projections.jobs import Job
from tests.unit.turbine.lines import Ended, run
from turbine.cli import applying, changes
from turbine.cli.applying import FileTopics, fill, gaps, notes
from turbine.cli.documents import LayerWish
from turbine.failures import Code
from turbine_client.settings import Settings

COUNTS = {"clicks": 8, "views": 3}
SETTINGS = Settings(bootstrap="far:9092")


def wish(inputs: Any, job: str = "a", *, whole: bool = True) -> LayerWish:
    return LayerWish(job, "job.yaml, line 1", {"tasks": 2, "inputs": inputs}, whole=whole)


# --- filling in


def test_what_the_broker_tells_is_filled_in() -> None:
    given = wish([{"topic": "clicks", "format": "json"}, {"topic": "gone"}, {"topic": "views"}])
    filled = fill(given, COUNTS)
    assert filled.set == {
        "tasks": 2,
        "inputs": [
            {"topic": "clicks", "format": "json", "partitions": 8},
            {"topic": "gone"},
            {"topic": "views", "partitions": 3},
        ],
    }
    assert (filled.job, filled.where, filled.whole) == (given.job, given.where, True)
    assert given.set["inputs"][0] == {"topic": "clicks", "format": "json"}, "the wish was changed"


@pytest.mark.parametrize("said", [2, None, "many"])
def test_what_the_author_says_stays(said: object) -> None:
    given = wish([{"topic": "clicks", "partitions": said}])
    assert list(gaps(given)) == []
    assert fill(given, COUNTS) is given


@pytest.mark.parametrize(
    "inputs",
    [
        None,
        "clicks",
        5,
        {},
        {"topic": "clicks"},
        [],
        ["clicks"],
        [None],
        [{}],
        [{"topic": 5}],
        [[]],
    ],
)
def test_what_is_no_input_is_left_to_the_verdict(inputs: object) -> None:
    given = wish(inputs)
    assert fill(given, COUNTS) is given
    assert list(notes([given], {}, "far:9092")) == []


def test_a_wish_without_inputs_is_left_alone() -> None:
    given = LayerWish("a", "job.yaml, line 1", {"tasks": 2})
    assert fill(given, COUNTS) is given


# --- notes


def test_a_topic_that_is_not_there_is_noted() -> None:
    given = [wish([{"topic": "clicks"}, {"topic": "gone"}])]
    [note] = notes(given, COUNTS, "far:9092")
    assert note == (
        "the broker at far:9092 shows no topic gone, named by inputs.1 of a;"
        " make it with --create-topics, or apply again when it is there"
    )


def test_a_topic_is_noted_where_its_partitions_are_said_and_where_it_is_written() -> None:
    given = wish([{"topic": "gone", "partitions": 4}])
    given = replace(given, set=given.set | {"output": {"topic": "out"}})
    told = [note.partition(";")[0] for note in notes([given], COUNTS, "far:9092")]
    assert told == [
        "the broker at far:9092 shows no topic gone, named by inputs.0 of a",
        "the broker at far:9092 shows no topic out, named by output of a",
    ]


def test_each_topic_is_noted_once() -> None:
    given = [wish([{"topic": "gone"}], job) for job in "abcde"]
    [note] = notes([*given, wish([{"topic": "clicks"}])], COUNTS, "far:9092")
    assert "named by inputs.0 of a, inputs.0 of b, inputs.0 of c and 2 more;" in note


def test_a_note_can_be_printed() -> None:
    [note] = notes([wish([{"topic": "\x1b[2J"}])], {}, "far:9092")
    assert "\x1b" not in note


# --- asking


class Broker:
    """Stands in for what a broker answers, and counts how often it is asked."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts
        self.asked: list[str] = []

    def __call__(self, settings: Settings) -> dict[str, int]:
        self.asked.append(settings.bootstrap)
        return self.counts


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker(COUNTS)
    monkeypatch.setattr(applying, "counts_of", found)
    return found


def test_the_broker_is_asked_once(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    given = [wish([{"topic": "clicks"}, {"topic": "gone"}], job) for job in "ab"]
    filled = look(given)
    assert [one.set["inputs"][0]["partitions"] for one in filled] == [8, 8]
    assert broker.asked == ["far:9092"]
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


def look(wishes: list[LayerWish], layer: str = "base", **more: bool) -> list[LayerWish]:
    return FileTopics(SETTINGS, **({"create": False, "dry_run": False} | more)).look(wishes, layer)


def test_who_names_no_topic_asks_nobody(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    given = [wish(None), LayerWish("b", "x", {"tasks": 1})]
    assert look(given) == given
    assert broker.asked == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("layer", ["provisioner", "scaler", "oncall"])
def test_higher_layers_say_only_what_they_say(broker: Broker, layer: str) -> None:
    given = [wish([{"topic": "clicks"}])]
    assert look(given, layer) == given
    assert broker.asked == []


def test_what_is_not_there_is_made_where_that_is_asked_for(
    broker: Broker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int | None]] = []

    def prepare(_: Settings, topic: str, partitions: int | None) -> tuple[int, bool]:
        made.append((topic, partitions))
        return partitions or 16, True

    monkeypatch.setattr("turbine.cli.applying.prepare_topic", prepare)
    given = [wish([{"topic": "clicks"}, {"topic": "gone"}, {"topic": "far", "partitions": 4}])]
    tried = look(given, create=True, dry_run=True)
    assert made == []
    assert capsys.readouterr().err == ("topic gone would be created\ntopic far would be created\n")
    filled = look(given, create=True)
    assert made == [("gone", None), ("far", 4)]
    assert capsys.readouterr().err == (
        "topic gone is created, with 16 partitions\ntopic far is created, with 4 partitions\n"
    )
    counts = [one["partitions"] for one in filled[0].set["inputs"]]
    assert counts == [one["partitions"] for one in tried[0].set["inputs"]] == [8, 16, 4]
    assert broker.counts == COUNTS, "what the broker said is its own"


# --- the command

FILE = """\
job: a
operator: a.b:c
inputs: [{topic: clicks}, {topic: gone}]
package: {name: a, version: "1"}
checkpoint: {root: /checkpoints}
---
job: b
set: {inputs: [{topic: views}]}
"""


class Shelf:
    """Stands in for a log without jobs."""

    settings = SETTINGS

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {}

    def syncs(self, **_: Any) -> dict[str, Any]:
        return {}

    def decisions(self, **_: Any) -> list[Any]:
        return []


@pytest.fixture
def apply(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """`turbine apply`, of a log without jobs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(changes, "open_log", lambda _: Shelf())
    (tmp_path / "job.yaml").write_text(FILE)
    return lambda *more: run("apply", "-f", "job.yaml", *more)


def test_a_dry_run_shows_what_would_be_filled_in(
    apply: Callable[..., Ended], broker: Broker
) -> None:
    ended = apply("--dry-run", "-o", "json")
    first, second = json.loads(ended.out)
    assert first["after"]["inputs"] == [{"topic": "clicks", "partitions": 8}, {"topic": "gone"}]
    assert (second["verdict"], second["reason"]) == ("rejected", "no-such-job")
    assert ended.code == Code.NOT_FOUND
    assert ended.err == (
        "the broker at far:9092 shows no topic gone, named by inputs.1 of a;"
        " make it with --create-topics, or apply again when it is there\n"
    )
    assert broker.asked == ["far:9092"]


def test_a_change_is_sent_with_what_was_filled_in(
    apply: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[changes.PlannedChange] = []

    def propose(_: object, __: object, plan: changes.PlannedChange) -> object:
        sent.append(plan)
        return plan

    monkeypatch.setattr(changes.ChangeTerms, "propose", propose)
    sent_row = {"job": "a", "verdict": "sent"}
    monkeypatch.setattr(applying, "await_verdicts", lambda *_: [sent_row])
    monkeypatch.setattr("turbine.cli.applying.Publisher", Idle)
    ended = apply()
    assert ended.code == Code.OK
    assert "a: 1 task starts; how long it takes is unknown" in ended.err
    assert [one.set["inputs"] for one in sent] == [
        [{"topic": "clicks", "partitions": 8}, {"topic": "gone"}],
        [{"topic": "views", "partitions": 3}],
    ]


class Idle:
    """Stands in for a publisher that is never asked to send."""

    def __init__(self, *_: object, **__: object) -> None:
        """Connects to nobody."""

    def __enter__(self) -> Idle:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes nothing."""
