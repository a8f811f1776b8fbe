"""Words of the auto scaler about one job, made by hand, and the command line that tells them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.generated.records import (
    Alternative,
    Body,
    Constraint,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
)
from projections.syncs import ListedPlan
from projections.syncs import fold as fold_sync
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import Ended, put_for, run
from turbine.failures import Code
from turbine.read.sources.log import Standing
from turbine.read.state.view import JobView, View
from turbine_client.identity import change_id

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


def served(monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal with one job, which the commands take for the log."""
    one = Journal()
    one.propose(CLICKS)
    for module in ("reasons", "reading", "jobs"):
        monkeypatch.setattr(f"turbine.cli.{module}.open_log", lambda _: one.log())
    put_for(monkeypatch, "jobs_view", lambda *_: view_of(one), "jobs", "scaling_report")
    return one


def view_of(journal: Journal) -> View:
    """The job as its journal tells it, when no task has said a word."""
    sync = None
    for one in journal.decisions:
        sync = fold_sync(sync, one.read) if one.stands else sync
    if sync is not None and (now := sync.running) is not None:  # its tasks were listed for that
        listed = ListedPlan(now.plan_id, now.generation, now.tasks, now.versions)
        sync = sync._replace(listed=listed, live=listed)
    return View({}, jobs={"clicks": JobView(journal.job, sync)})


def say(journal: Journal, body: Body, *, stands: bool = True) -> Standing:
    """A word of the scaler, or of the syncer."""
    parent = journal.last if stands else "another"
    return journal.say(body, parent, stands=stands)


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
