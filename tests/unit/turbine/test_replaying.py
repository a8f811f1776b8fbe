"""Replay: every decision once, in the order of time, with what the folds say of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.turbine import logs
from tests.unit.turbine.lines import Ended, run
from turbine.cli import audit as command
from turbine.failures import Code
from turbine.read.sources.log import SYNC_TOPICS, Log
from turbine.read.sources.log_file import LogFile
from turbine.read.state import replaying
from turbine.read.state.replaying import Replay, word_of


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logs.write(tmp_path_factory.mktemp("replays") / "jobs.log.gz", logs.told())


@pytest.fixture(scope="module")
def tier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = logs.told(logs.TIER_SEED)
    return logs.write(tmp_path_factory.mktemp("replays") / "tier.log.gz", told)


def replayed(path: Path, *line: str) -> list[dict[str, Any]]:
    ended = run("--log", str(path), "replay", *line, "-o", "jsonl")
    assert ended.code == Code.OK
    return [json.loads(one) for one in ended.out.splitlines()]


@pytest.mark.parametrize("window", [1, 7, 20_000])
def test_it_is_every_decision_once_whatever_the_windows(
    path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr(replaying, "WINDOW", window)
    log = Log(source=LogFile(path))
    found = Replay(log)
    told = [(one.read.record.id, one.read.offset, one.stands) for one in found.happenings()]
    known = [(one.read.record.id, one.read.offset, one.stands) for one in log.decisions()]
    assert sorted(told) == sorted(known)
    assert found.stands == Counter(one.stands for one in log.decisions())
    assert found.records == sum(one.topic in SYNC_TOPICS for one in logs.told())
    words = Counter(filter(None, map(word_of, log.syncs().values())))
    assert +found.jobs == words
    assert words


def test_it_happens_in_the_order_in_which_it_happened(path: Path) -> None:
    *rows, last = replayed(path)
    stood = [row["at_ms"] for row in rows if row["stands"]]
    assert stood == sorted(stood)
    assert last["summary"]["decisions"] == len(rows)
    assert last["summary"]["standing"] == sum(row["stands"] for row in rows)
    assert last["summary"]["kinds"] == dict(sorted(Counter(row["kind"] for row in rows).items()))
    assert rows[-1]["jobs"] == last["summary"]["jobs"]


def test_a_part_begins_with_what_was_known_by_then(path: Path) -> None:
    *rows, last = replayed(path)
    *part, end = replayed(path, "--from", "1970-01-01T00:30:00Z", "--to", "1970-01-01T00:35:00Z")
    assert part == [row for row in rows if 1_800_000 < row["at_ms"] <= 2_100_000]
    assert 0 < end["summary"]["decisions"] < last["summary"]["decisions"]


def test_a_job_is_replayed_alone(path: Path) -> None:
    *rows, _ = replayed(path)
    *ours, last = replayed(path, "--job", "clicks")
    assert [row["id"] for row in ours] == [row["id"] for row in rows if row["job"] == "clicks"]
    assert sum(last["summary"]["jobs"].values()) == 1


def test_a_tier_is_replayed_too(tier: Path) -> None:
    *rows, last = replayed(tier)
    assert {row["tier"] for row in rows} == {"default"}
    assert last["summary"]["kinds"]["ShardAddRequested"] > 10
    chain = Log(source=LogFile(tier)).chain("default")
    assert Counter(row["stands"] for row in rows) == Counter(one.stands for one in chain)


def test_people_read_what_was_decided_and_how_the_jobs_are(path: Path) -> None:
    ended = run("--log", str(path), "replay", "-o", "wide")
    lines = ended.out.splitlines()
    assert any(
        "ScalingDecided       clicks           resized: 1 -> 4 tasks, " in one for one in lines
    )
    assert any(" void: " in one for one in lines)
    assert any(one.startswith("  1 job: 1 ") for one in lines)
    assert "113 records in " in lines[-1]
    assert "70 decisions, 57 stand, 13 void; 2 jobs: 1 deleted, 1 syncing" in lines[-1]


def test_it_tells_how_far_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PROGRESS_S", 0.0)
    ended = run("--log", str(path), "replay", "-o", "jsonl")
    shares = [int(line.partition("%")[0]) for line in ended.err.splitlines()]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 10
    assert shares[-1] >= 90
    assert ended.err.splitlines()[-1].endswith(" records, 70 decisions")


def test_a_pace_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the sleeps that it asks for: their sum is the time that passed then, at that speed."""

    class Clock:
        now_s = 100.0

        def monotonic(self) -> float:
            return self.now_s

        def sleep(self, seconds: float) -> None:
            self.now_s += seconds

    clock = Clock()
    monkeypatch.setattr(command, "time", clock)
    pace = command._Pace(60.0, 0, clock.monotonic())
    rows = replayed(path)[:-1]
    for row in rows:
        pace.wait(row["at_ms"])
    passed_ms = max(row["at_ms"] for row in rows) - rows[0]["at_ms"]
    assert clock.now_s - 100 == pytest.approx(passed_ms / 1000 / 60)


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("--job nobody", Code.NOT_FOUND, "there is no job nobody; "),
        ("--job No", Code.USAGE, '"No" is no job\'s name; '),
        ("--speed 0", Code.USAGE, "Invalid value for '--speed': "),
        ("--from never", Code.USAGE, "--from: 'never' is neither a time nor a position; "),
        ("--to 2020-01-01T00:00:00Z", Code.USAGE, "--to: {log} ends at 1970-01-01T00:36:39.001Z"),
    ],
)
def test_what_is_refused(path: Path, line: str, code: Code, told: str) -> None:
    ended = run("--log", str(path), "replay", *line.split())
    assert isinstance(ended, Ended)
    assert (ended.code, ended.out) == (code, "")
    assert ended.sentence.startswith(told.replace("{log}", str(path)))
