"""Differences: what is another between instants, jobs and layers, and by whose hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.job_service.decide import decide
from components.runtime.kafka.intake import Message
from events.wire.codec import Read, headers_of
from tests.unit.turbine import logs
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine.read.moments import show_time


class Story:
    """Jobs whose changes come a minute after one another."""

    def __init__(self) -> None:
        self.journals: dict[str, Journal] = {}
        self.reads: list[Read] = []
        self.now_ms = NOW

    def change(self, set_: Mapping[str, Any], layer: str = "base", **more: Any) -> int:
        """Of the job `clicks`; the instant before which it was not so."""
        self.now_ms += 60_000
        journal = self.journals.setdefault("clicks", Journal())
        journal.propose(set_, layer, now=self.now_ms, **more)
        self._keep(journal)
        return self.now_ms - 1

    def delete(self) -> int:
        self.now_ms += 60_000
        journal = self.journals["clicks"]
        journal.delete("replaced", now=self.now_ms)
        self._keep(journal)
        return self.now_ms - 1

    def expire(self) -> None:
        """What the job service says once the override's time is over."""
        self.now_ms += 600_000
        journal = self.journals["clicks"]
        for said in decide(journal.job, self.now_ms):
            read = journal.say(said, journal.last, stands=True).read
            known = replace(read.record, evidence={})
            self.reads.append(replace(read, at_ms=self.now_ms, record=known))

    def _keep(self, journal: Journal) -> None:
        ask, said = journal.asked[-1], journal.decisions[-1].read
        asked = sum(one.topic == ask.topic for one in self.reads)
        known = replace(said.record, evidence={ask.place: asked + 1})
        self.reads += [
            Read(ask.place, ask.topic, asked, self.now_ms, ask.record),
            Read(said.place, said.topic, said.offset, self.now_ms, known),
        ]

    def write(self, path: Path) -> str:
        """A file of it."""
        messages = [
            Message(
                read.topic, 0, read.offset, read.at_ms, read.record.key.encode(),
                read.record.value, list(headers_of(read.record, read.topic)),
            )
            for read in self.reads
        ]  # fmt: skip
        end = Message("clock.v1", 0, 0, self.now_ms + 60_000, None, b"", [])
        return str(logs.write(path, [*messages, end]))


def told(path: str, *line: str) -> list[dict[str, Any]]:
    ended = run("--log", path, "diff", *line, "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return list(json.loads(ended.out))


@pytest.fixture
def story() -> Story:
    one = Story()
    one.change(CLICKS)
    one.change({"tasks": 4, "package": {"version": "1.5.0"}}, reason="new build")
    one.change({"tasks": 16}, "oncall", author="bo", reason="backlog")
    return one


def test_two_instants_of_the_fleet(story: Story, tmp_path: Path) -> None:
    path = story.write(tmp_path / "x.log.gz")
    start, end = show_time(NOW + 60_000), show_time(NOW + 190_000)
    [clicks] = told(path, "--from", start, "--to", end)
    assert (clicks["kind"], clicks["name"]) == ("job", "clicks")
    by = {one["path"]: one["by"] for one in clicks["differences"]}
    assert [one["path"] for one in clicks["differences"]] == ["package.version", "tasks"]
    assert (by["tasks"]["layer"], by["tasks"]["version"], by["tasks"]["author"]) == (
        "oncall", 1, "bo"
    )  # fmt: skip
    assert (by["package.version"]["author"], by["package.version"]["reason"]) == (
        "ana", "new build"
    )  # fmt: skip
    assert by["tasks"]["at_ms"] == NOW + 180_000
    assert run("--log", path, "diff", "--from", start, "--to", end, "--exit-code") == Ended(
        Code.FINDINGS,
        "job clicks\n"
        '  ~ package.version: "1.4.2" -> "1.5.0"   (base 2 by ana: new build)\n'
        "  ~ tasks: 2 -> 16   (oncall 1 by bo: backlog)\n",
        "",
    )


def test_a_job_that_came_and_one_that_went(story: Story, tmp_path: Path) -> None:
    before = story.delete()
    path = story.write(tmp_path / "x.log.gz")
    [made] = told(path, "--from", show_time(NOW), "--to", show_time(before))
    paths = [one["path"] for one in made["differences"]]
    assert {"operator", "is.alive"} < set(paths)
    assert all("before" not in one for one in made["differences"])
    [gone] = told(path, "--from", show_time(before), "--job", "clicks")
    by = {one["path"]: one["by"] for one in gone["differences"]}
    assert (by["tasks"]["what"], by["tasks"]["reason"]) == ("deleted", "replaced")
    assert by["is.alive"] is None


def test_back_in_time_the_hand_is_the_one_that_will_change_it(story: Story, tmp_path: Path) -> None:
    path = story.write(tmp_path / "x.log.gz")
    line = ["--to", show_time(NOW + 60_000), "--from", "now"]
    [clicks] = told(path, *line)
    assert [str(one["path"]) for one in clicks["differences"]] == ["package.version", "tasks"]
    assert clicks["differences"][1]["by"]["author"] == "bo"


def test_nothing_differs(story: Story, tmp_path: Path) -> None:
    path = story.write(tmp_path / "x.log.gz")
    assert told(path, "--from", "now") == []
    ended = run("--log", path, "diff", "--from", "now", "--exit-code")
    assert (ended.code, ended.out) == (Code.OK, "nothing differs\n")


def test_a_fleet_of_the_simulator_and_its_tiers(tmp_path: Path) -> None:
    path = str(logs.write(tmp_path / "x.log.gz", logs.told(logs.TIER_SEED)))
    found = told(path, "--from", "1970-01-01T00:20:00Z", "--to", "1970-01-01T00:35:00Z")
    [tier] = [one for one in found if one["kind"] == "tier"]
    moved = [one for one in tier["differences"] if one["path"].startswith("shard.")]
    line = ["--log", path, "get", "shards", "-o", "json", "--at"]
    then, now = (
        {row["shard"]: row["container"] for row in json.loads(run(*line, at).out)}
        for at in ("1970-01-01T00:20:00Z", "1970-01-01T00:35:00Z")
    )
    assert {(one["path"], one["before"], one["after"]) for one in moved} == {
        (f"shard.{shard}", then[shard], now[shard]) for shard in now if then[shard] != now[shard]
    }
    assert moved
    assert {one["by"]["author"] for one in moved} == {"shard-manager"}


# --- of one job


def test_the_layers_of_a_job(story: Story, tmp_path: Path) -> None:
    story.change({"tasks": 8, "priority": 3}, "scaler", author="scaler")
    story.change({"slo": None, "resources": {"memory_mb": 512}}, "oncall", author="bo", reason="r")
    path = story.write(tmp_path / "x.log.gz")
    lines = run("--log", path, "diff", "job", "clicks", "--layer", "base", "--with", "scaler").out
    assert lines == (
        "+ priority: 3   (scaler 1 by scaler)\n~ tasks: 4 -> 8   (scaler 1 by scaler)\n"
    )
    rows = told(path, "job", "clicks", "--layer", "base", "--with", "oncall")
    assert [(one["path"], one["by"]["layer"], one["by"]["author"]) for one in rows] == [
        ("priority", "scaler", "scaler"),
        ("resources.memory_mb", "oncall", "bo"),
        ("tasks", "oncall", "bo"),
    ]
    ended = run("--log", path, "diff", "job", "clicks", "--layer", "base", "--with", "provisioner")
    assert ended.out == "clicks: these layers make no difference\n"


def test_what_a_null_hides_is_by_who_wrote_the_null(story: Story, tmp_path: Path) -> None:
    story.change({"priority": 9})
    story.change({"priority": None}, "oncall", author="cy", reason="no")
    path = story.write(tmp_path / "x.log.gz")
    line = run("--log", path, "diff", "job", "clicks", "--layer", "base", "--with", "oncall").out
    assert "- priority: 9   (oncall 2 by cy: no)\n" in line


def test_versions_of_a_job_name_who_made_them(story: Story, tmp_path: Path) -> None:
    path = story.write(tmp_path / "x.log.gz")
    ended = run("--log", path, "diff", "job", "clicks", "--from", "base:1", "--to", "oncall:1")
    assert ended.out == (
        '~ package.version: "1.4.2" -> "1.5.0"   (base 2 by ana: new build)\n'
        "~ tasks: 2 -> 16   (oncall 1 by bo: backlog)\n"
    )
    running = run("--log", path, "diff", "job", "clicks", "--running", "--exit-code")
    assert running.code == Code.FINDINGS
    assert "+ tasks: 16   (oncall 1 by bo: backlog)\n" in running.out


def test_two_jobs(tmp_path: Path) -> None:
    path = str(logs.write(tmp_path / "x.log.gz", logs.told()))
    at = ["--at", "1970-01-01T00:34:00Z"]
    one, other = (
        json.loads(run("--log", path, "describe", "job", job, "-o", "json", *at).out)["expected"]
        for job in ("billing", "clicks")
    )
    rows = told(path, "job", "billing", "clicks", *at)
    tasks = next((row for row in rows if row["path"] == "tasks"), {})
    assert (tasks.get("before"), tasks.get("after")) == (one.get("tasks"), other.get("tasks"))
    assert all(row["by"] is not None for row in rows)
    same = run("--log", path, "diff", "job", "billing", "billing", *at, "--exit-code")
    assert same == Ended(Code.OK, "billing: the same is expected of billing\n", "")


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("", Code.USAGE, "say what to compare: `turbine diff --from WHEN [--to WHEN]` or `turb"),
        ("--to 5m", Code.USAGE, "say what to compare: "),
        ("--from 5m job clicks --running", Code.USAGE, "--from, --to and --job stand after `diff"),
        ("--from never", Code.USAGE, "--from: 'never' is neither a time nor a position"),
        ("--from now --job nobody", Code.NOT_FOUND, "there is no job nobody"),
        ("--from now --job No", Code.USAGE, '"No" is no job\'s name'),
        ("job clicks nobody", Code.NOT_FOUND, "there is no job nobody"),
        ("job clicks No", Code.USAGE, '"No" is no job\'s name'),
        ("job clicks views --running", Code.USAGE, "say what to compare: --running, what runs"),
        ("job clicks --layer oncall --with base", Code.USAGE, "--layer is the lower one and --wit"),
        ("job clicks --layer base", Code.USAGE, "--layer is the lower one and --with the higher"),
        ("job clicks --with base", Code.USAGE, "--layer is the lower one and --with the higher"),
        ("job clicks --layer top --with base", Code.USAGE, "Invalid value for '--layer': "),
        ("job nobody --layer base --with oncall", Code.NOT_FOUND, "there is no job nobody"),
        ("job clicks --from base:1 --at now", Code.USAGE, "--from and --to say already of when"),
    ],
)
def test_what_cannot_be_compared(
    story: Story, tmp_path: Path, line: str, code: Code, sentence: str
) -> None:
    ended = run("--log", story.write(tmp_path / "x.log.gz"), "diff", *line.split())
    assert (ended.code, ended.out) == (code, "")
    assert ended.sentence.startswith(sentence)


def test_an_override_that_expired_is_told_so(story: Story, tmp_path: Path) -> None:
    before = story.change(
        {"tasks": 20}, "oncall", author="bo", reason="r", expires_ms=NOW + 300_000
    )
    story.expire()
    path = story.write(tmp_path / "x.log.gz")
    [job] = told(path, "--from", show_time(before + 1))
    [tasks] = job["differences"]
    assert (tasks["before"], tasks["after"], tasks["by"]["what"]) == (20, 16, "expired")
    assert (
        "  ~ tasks: 20 -> 16   (oncall 3 expired)\n"
        in run("--log", path, "diff", "--from", show_time(before + 1)).out
    )
