"""What the commands of a person on call send, and how they end."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

from projections.jobs import Job, LayerState
from projections.syncs import Sync
from tests.unit.state_syncer.fleet import Fleet
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import put_for, run
from turbine.failures import Code
from turbine.read.sources.log import SYNC_TOPICS, Standing
from turbine.read.state.view import JobView, View
from turbine_client.publish import Accepted, Rejected, Unknown
from turbine_client.settings import Settings

SENT: list[dict[str, Any]] = []
ANSWERS: list[Any] = []


class Desk:
    """Stands in for a Publisher: keeps what was sent, and answers as the test says."""

    def __init__(self, _: Settings, *, author: str) -> None:
        self.author = author

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        SENT.append({"author": self.author})

    def propose(self, job: str, set_: Any, clear: Any, **more: Any) -> str:
        SENT.append({"job": job, "set": set_, "clear": clear} | more)
        return job

    def verdict(self, *_: object) -> Any:
        return ANSWERS.pop()

    def pause(self, job: str, **more: Any) -> Any:
        SENT.append({"pause": job} | more)
        return ANSWERS.pop()


class Shelf:
    """Stands in for a Log."""

    settings = Settings()
    counts = dict.fromkeys(SYNC_TOPICS, 1)

    def __init__(self, journal: Journal, sync: Sync) -> None:
        self.journal, self.sync = journal, sync

    def held(self) -> None:
        """Nobody follows it."""

    def job(self, name: str, **_: Any) -> Job | None:
        return self.jobs().get(name)

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {self.journal.job.name: self.journal.job}

    def moment(self, *_: Any) -> dict[str, int]:
        return {}

    def decisions(self, **_: Any) -> list[Standing]:
        return self.journal.decisions

    def syncs(self, **_: Any) -> dict[str, Sync]:
        return {self.sync.name: self.sync}


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    one, fleet = Journal(), Fleet().runs()
    one.propose(CLICKS)
    one.propose({"tasks": 4, "priority": 7})
    for module in ("operators", "syncs", "comparing", "reading"):
        shelf = Shelf(one, fleet.row)
        monkeypatch.setattr(f"turbine.cli.{module}.open_log", lambda _, shelf=shelf: shelf)
    seen = JobView(
        Job("orders", True, (LayerState(1), LayerState(), LayerState(), LayerState())), fleet.row
    )
    view = View({}, jobs={"orders": seen})
    put_for(monkeypatch, "viewed", lambda *_: nullcontext(view), "digest", "top")
    put_for(monkeypatch, "jobs_view", lambda *_: view, "jobs", "syncs")
    put_for(monkeypatch, "Publisher", Desk, "operators", "changes")
    monkeypatch.setattr("turbine.cli.options.Chosen.connected", lambda _: Settings())
    put_for(monkeypatch, "now_ms", lambda: NOW, "operators")
    SENT.clear()
    ANSWERS[:] = [Accepted("9.x", "clicks", "base", 3, "d", "journal.v1/0:9")]
    return one


def test_a_rollback_is_the_change_that_makes_the_layer_what_it_was(journal: Journal) -> None:
    ended = run("rollback", "job", "clicks", "--to", "1", "--author", "ana")
    assert (ended.code, ended.err) == (Code.OK, "")
    assert ended.out == (
        "clicks: accepted as version 3 of base (change 9.x)\n  - priority: 7\n  ~ tasks: 4 -> 2\n"
    )
    assert SENT[0]["set"] == {"tasks": 2}
    assert SENT[0]["clear"] == ("priority",)
    assert (SENT[0]["layer"], SENT[0]["expected_version"]) == ("base", 2)
    assert SENT[0]["reason"] == "rollback to version 1 of base"


def test_a_rollback_to_what_is_there_sends_nothing(journal: Journal) -> None:
    ended = run("rollback", "job", "clicks", "--to", "2", "--author", "ana")
    assert (ended.code, ended.out) == (Code.OK, "clicks: unchanged, version 2 of base\n")
    assert SENT == []


def test_a_rollback_keeps_the_end_of_an_override(journal: Journal) -> None:
    journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 5_000)
    journal.propose({"tasks": 9}, "oncall", reason="x", expires_ms=NOW + 6_000)
    run("rollback", "job", "clicks", "--to", "1", "--layer", "oncall", "--author", "ana")
    assert (SENT[0]["set"], SENT[0]["expires_ms"]) == ({"tasks": 8}, NOW + 6_000)


def test_a_rollback_past_an_end_holds_until_the_last_one(journal: Journal) -> None:
    """What ends on the way would else change what was gone back to."""
    journal.propose({"priority": 9}, "oncall", reason="x")
    journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 9_000)
    journal.propose({"priority": 3}, "oncall", reason="x", expires_ms=NOW + 5_000)
    run("rollback", "job", "clicks", "--to", "2", "--layer", "oncall", "--author", "ana")
    assert SENT[0]["set"] == {"priority": 9, "tasks": 8}
    assert (SENT[0]["clear"], SENT[0]["expires_ms"]) == ((), NOW + 9_000)


def test_scaling_leaves_alone_what_else_oncall_wants(journal: Journal) -> None:
    journal.propose({"priority": 9, "tasks": 3}, "oncall", reason="x")
    line = ("scale", "clicks", "--tasks", "9", "--for", "2h", "--reason", "x", "--author", "ana")
    assert run(*line).code == Code.OK
    assert SENT[0]["set"] == {"tasks": 9}


def test_a_version_that_never_was_is_one_sentence(journal: Journal) -> None:
    ended = run("rollback", "job", "clicks", "--to", "7", "--author", "ana")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == "clicks never had a version 7 of base; it has 1 to 2"


def test_scaling_is_an_oncall_change_that_expires(journal: Journal) -> None:
    line = ("scale", "clicks", "--tasks", "9", "--for", "2h", "--reason", "x", "--author", "ana")
    ended = run(*line)
    assert ended.code == Code.OK
    assert ended.err == "the change is taken back at 2027-01-15T10:00:00.000Z\n"
    assert (SENT[0]["layer"], SENT[0]["set"]) == ("oncall", {"tasks": 9})
    assert (SENT[0]["expires_ms"], SENT[0]["expected_version"]) == (NOW + 7_200_000, 0)
    ANSWERS[:] = [Rejected("9.x", "clicks", "stale", "expected 0")]
    assert run(*line).code == Code.CONFLICT


def test_scaling_until_it_is_cleared_has_no_end(journal: Journal) -> None:
    run("scale", "clicks", "--tasks", "9", "--until-cleared", "--reason", "x", "--author", "ana")
    assert SENT[0]["expires_ms"] is None


@pytest.mark.parametrize(
    ("answer", "code", "out"),
    [
        (
            Accepted("9.x", "clicks", "", 0, "d", "p", "planned"),
            Code.OK,
            "clicks: pause planned (change 9.x)\n",
        ),
        (
            Accepted("9.x", "clicks", "", 0, "d", "p", "paused"),
            Code.OK,
            "clicks: paused (change 9.x)\n",
        ),
        (
            Rejected("9.x", "clicks", "no-such-job", "none"),
            Code.NOT_FOUND,
            "clicks: rejected, no-such-job: none (change 9.x)\n",
        ),
        (Unknown("9.x", "clicks", "none came"), Code.TIMEOUT, "clicks: unknown: none came\n"),
    ],
)
def test_a_pause_has_its_verdict(journal: Journal, answer: Any, code: Code, out: str) -> None:
    ANSWERS[:] = [answer]
    ended = run("pause", "clicks", "--reason", "x", "--author", "ana")
    assert (ended.code, ended.out) == (code, out)
    assert SENT == [{"pause": "clicks", "reason": "x", "wait_s": 30.0}, {"author": "ana"}]


def test_a_wait_ends_when_the_job_is_there_or_its_time_is_over(journal: Journal) -> None:
    assert run("wait", "job", "orders", "--for=running").out == "orders: running\n"
    ended = run("wait", "job", "orders", "--for=paused", "--timeout", "1ms")
    assert ended.code == Code.TIMEOUT
    assert ended.sentence == ("orders is not paused after 1ms: it is running, as is expected of it")
    ended = run("wait", "job", "nobody", "--for=running")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == "there is no job nobody; `turbine get jobs --deleted` lists all"
    ended = run("wait", "clikcs", "--for=running")
    assert ended.sentence.startswith("there is no job clikcs, perhaps clicks; ")


def test_lists_and_differences(journal: Journal) -> None:
    [row] = json.loads(run("get", "syncs", "-o", "json").out)
    assert (row["job"], row["condition"]) == ("orders", "in sync")
    assert run("get", "tasks", "--job", "orders", "-o", "name").out == "orders/0\norders/1\n"
    assert "orders/1   running" in run("get", "tasks").out
    assert "orders   running   2/2     in sync" in run("get", "syncs").out
    ended = run("diff", "job", "orders", "--running", "--exit-code")
    assert (ended.code, ended.out) == (Code.OK, "orders: what runs is what is expected\n")


def test_two_versions_and_two_instants_are_compared(journal: Journal) -> None:
    ended = run("diff", "job", "clicks", "--from", "base:1", "--exit-code")
    assert (ended.code, ended.out) == (
        Code.FINDINGS,
        "+ priority: 7   (base 2 by ana)\n~ tasks: 2 -> 4   (base 2 by ana)\n",
    )
    ended = run("diff", "job", "clicks", "--from", "base:2", "--to", "base:1", "-o", "json")
    assert [one["path"] for one in json.loads(ended.out)] == ["priority", "tasks"]
    assert run("diff", "job", "clicks", "--from", "1h").out == "clicks: the same was expected\n"


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ((), Code.USAGE, "say what to compare"),
        (("--running", "--from", "base:1"), Code.USAGE, "say what to compare"),
        (("--to", "base:1"), Code.USAGE, "say what to compare"),
        (("--from", "base:9"), Code.NOT_FOUND, "clicks never had a version 9 of base"),
        (("--from", "yesterday"), Code.USAGE, "--from: 'yesterday' is neither a time"),
    ],
)
def test_what_cannot_be_compared_is_told(
    journal: Journal, options: tuple[str, ...], code: Code, told: str
) -> None:
    ended = run("diff", "job", "clicks", *options)
    assert ended.code == code
    assert ended.sentence.startswith(told)


def test_a_job_that_was_not_there_is_told(journal: Journal) -> None:
    ended = run("diff", "job", "nobody", "--from", "1h")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == "--from: there was no job nobody at 1h"
