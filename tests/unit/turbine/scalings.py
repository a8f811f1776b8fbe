"""Words of the auto scaler about one job, made by hand, and the command line that tells them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from components.runtime.component import Component
from events.codec import Read
from events.identity import change_id
from events.records import (
    Alternative,
    Body,
    Constraint,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
)
from events.topics import JOURNAL
from projections.jobs import INGRESS_TOPICS, Job
from projections.syncs import Listed
from projections.syncs import fold as fold_sync
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import Ended, run
from turbine.cli.failures import Code
from turbine.log import Standing
from turbine.views.view import JobView, View

CHANGE, BACK = change_id(NOW + 60_000, "up"), change_id(NOW + 90_000, "back")
EVIDENCE = {"arrived_per_s": 9_000.0, "lag_s": None, "curve": {"one": 1000.5, "points": [1, 2]}}
UP = ScalingDecided(
    "clicks",
    CHANGE,
    0,
    '{"tasks":8}',
    "lag",
    "under-capacity",
    12,
    8,
    (Constraint("limit", 12.0, 8.0, "the job may have 8 tasks"),),
    json.dumps(EVIDENCE),
    policy="turbine",
    action="scale-up",
    alternatives=(Alternative("rebalance", "partitions are even"),),
    explanation="9,000 records/s are needed and 2,000 can be read",
    expected_records_per_s=8_000.0,
    verify_ms=NOW + 720_000,
)
DECLINED = ScalingDeclined(
    "clicks",
    "settling",
    "the last change is too new to judge",
    until_ms=NOW + 300_000,
    evidence_json='{"since_ms": 60000}',
    symptom="settling",
    diagnosis="settling",
    policy="turbine",
    constraints=UP.constraints,
)
VERIFIED = ScalingVerified(
    "clicks", CHANGE, "7,900 records/s are read", '{"before": {"rate": 2000.0}, "after": {"rate": '
    '7900.0, "lag_s": 3.5}, "of_expected": 0.98}'
)  # fmt: skip
REVERTED = ScalingReverted("clicks", CHANGE, "nothing was gained", '{"gained": 0}', BACK)


class Shelf:
    """Stands in for a Log of one job."""

    counts = dict.fromkeys((*INGRESS_TOPICS, JOURNAL), 1)

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def held(self) -> None:
        """Nobody follows it."""

    def job(self, name: str, **_: Any) -> Job | None:
        return self.journal.job if name == "clicks" and self.journal.decisions else None

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {"clicks": self.journal.job}

    def syncs(self, **_: Any) -> dict[str, Any]:
        return {}

    def read(self, topics: Sequence[str], **_: Any) -> Iterator[Read]:
        said = [one.read for one in self.journal.decisions]
        return iter([one for one in (*self.journal.asked, *said) if one.topic in topics])

    def heard(
        self, component: Component[Any], job: str, heed: Callable[[Read, bool], None], **_: Any
    ) -> None:
        """The words of people alone: what is made by hand rests on nothing."""
        for one in self.journal.asked:
            if one.topic in component.inputs and one.record.key == job:
                heed(one, True)

    def decisions(self, **_: Any) -> list[Standing]:
        # Made anew at each reading, as a log's are.
        return [Standing(one.read, one.stands) for one in self.journal.decisions]


def served(monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal with one job, which the commands take for the log."""
    one = Journal()
    one.propose(CLICKS)
    for module in ("reasons", "why_not", "jobs"):
        monkeypatch.setattr(f"turbine.cli.{module}.open_log", lambda _, one=one: Shelf(one))
    monkeypatch.setattr("turbine.cli.shards.why_decided", lambda *_: None)
    monkeypatch.setattr("turbine.cli.viewing.jobs_view", lambda *_: view_of(one))
    return one


def view_of(journal: Journal) -> View:
    """The job as its journal tells it, when no task has said a word."""
    sync = None
    for one in journal.decisions:
        sync = fold_sync(sync, one.read) if one.stands else sync
    if sync is not None and (now := sync.running) is not None:  # its tasks were listed for that
        listed = Listed(now.plan_id, now.generation, now.tasks, now.versions)
        sync = sync._replace(listed=listed, live=listed)
    return View({}, jobs={"clicks": JobView(journal.job, sync)})


def say(journal: Journal, body: Body, *, stands: bool = True) -> Standing:
    """A word of the scaler, or of the syncer."""
    return journal.say(body, journal.last, stands=stands)


def synced(journal: Journal, tasks: int = 8) -> SyncCommitted:
    """What the syncer says once all versions of now are in effect."""
    return SyncCommitted(
        "clicks", "p", "complex", journal.job.versions, 2, "{}", "running", tasks
    )  # fmt: skip


def told(*line: str) -> dict[str, Any]:
    """What a command says, as JSON."""
    ended = run(*line, "-o", "json")
    assert ended.code == Code.OK, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def lines(ended: Ended) -> list[str]:
    """What it says to people, with single blanks."""
    assert ended.code == Code.OK, ended.err
    return [" ".join(line.split()) for line in ended.out.splitlines()]


def whole(journal: Journal) -> Standing:
    """An action from its decision to its end."""
    decision = say(journal, UP)
    journal.propose({"tasks": 8}, "scaler", name=CHANGE, author="auto-scaler")
    say(journal, synced(journal))
    say(journal, VERIFIED)
    return decision
