"""A file becomes the least change; a trial says what the job service would; verdicts have codes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.generated.records import ConfigChangeProposed, JobConfigChanged, JobConfigRejected
from projections.jobs import Job
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from turbine.cli.documents import LayerWish
from turbine.cli.plans import ChangeTerms, PlannedChange, plan_of, show_verdicts
from turbine.failures import Code
from turbine.read.answers.dry_run import ChangeTrial, try_change
from turbine_client.identity import change_id


def terms(**more: Any) -> ChangeTerms:
    given: dict[str, Any] = {
        "layer": "base",
        "author": "ana",
        "reason": "",
        "expires_ms": None,
        "expected_version": None,
        "wait_s": 1.0,
    }
    return ChangeTerms(**(given | more))


def wish(config: dict[str, Any]) -> LayerWish:
    return LayerWish("clicks", "job.yaml, line 1", config, whole=True)


@pytest.fixture
def job() -> Job:
    journal = Journal()
    journal.propose(CLICKS)
    return journal.job


# --- plans


def test_a_new_job_is_expected_not_to_be_there() -> None:
    plan = plan_of(wish(dict(CLICKS)), None, terms())
    assert plan == PlannedChange(wish(dict(CLICKS)), dict(CLICKS), (), 0, create=True)


def test_what_is_there_is_changed_for_the_version_that_was_seen(job: Job) -> None:
    config = dict(CLICKS) | {"tasks": 4}
    del config["checkpoint"]
    plan = plan_of(wish(config), job, terms())
    assert (plan.set, plan.clear, plan.expected_version) == ({"tasks": 4}, ("checkpoint",), 1)


def test_an_author_may_name_the_version(job: Job) -> None:
    assert plan_of(wish({}), job, terms(expected_version=7)).expected_version == 7


def test_the_same_is_unchanged(job: Job) -> None:
    assert plan_of(wish(dict(CLICKS)), job, terms()).unchanged
    assert not plan_of(wish(dict(CLICKS)), job, terms(expires_ms=NOW)).unchanged


def test_what_is_wanted_for_good_is_said_whole_where_some_of_it_is_to_end() -> None:
    """Else the file's own value would go with the override that happens to say the same."""
    journal = Journal()
    journal.propose(CLICKS)
    journal.propose({"priority": 9}, "oncall", reason="x")
    journal.propose({"tasks": 8, "priority": None}, "oncall", reason="x", expires_ms=NOW + 5_000)
    plan = plan_of(wish({"tasks": 8}), journal.job, terms(layer="oncall"))
    assert (plan.set, plan.clear, plan.unchanged) == ({"tasks": 8}, ("priority",), False)


def test_a_deleted_job_is_never_unchanged() -> None:
    journal = Journal()
    journal.propose(CLICKS)
    journal.delete("done")
    plan = plan_of(wish({}), journal.job, terms())
    assert (plan.unchanged, plan.expected_version) == (False, 2)


def test_a_part_is_sent_as_it_is(job: Job) -> None:
    part = LayerWish("clicks", "job.yaml, line 1", {"tasks": 2}, ("x",))
    assert plan_of(part, job, terms()) == PlannedChange(part, {"tasks": 2}, ("x",), None)


# --- trials


def trial(job: Job | None, set_: dict[str, Any], layer: str = "base", **more: Any) -> ChangeTrial:
    name = change_id(NOW + 60_000, "dry-run")
    asked = ConfigChangeProposed(name, "clicks", "ana", set_json=json.dumps(set_), **more)
    return try_change(job, None, layer, asked, NOW)


def test_a_trial_of_a_good_change(job: Job) -> None:
    found = trial(job, {"tasks": 4})
    assert isinstance(found.verdict, JobConfigChanged)
    assert (found.verdict.version, found.before["tasks"], found.after["tasks"]) == (2, 2, 4)


@pytest.mark.parametrize(
    ("set_", "layer", "more", "refusal"),
    [
        ({"tasks": 99}, "base", {}, ("invalid", "tasks")),
        ({"tasks": 3}, "base", {"expected_version": 7}, ("stale", "")),
        ({"tasks": 3}, "oncall", {}, ("reason-required", "reason")),
        ({"tasks": 3}, "oncall", {"reason": "x", "expires_ms": 1}, ("invalid", "expires_ms")),
    ],
)
def test_a_trial_of_a_bad_change(
    job: Job, set_: dict[str, Any], layer: str, more: dict[str, Any], refusal: tuple[str, str]
) -> None:
    found = trial(job, set_, layer, **more)
    assert isinstance(found.verdict, JobConfigRejected)
    assert (found.verdict.reason, found.verdict.path) == refusal
    assert found.before == found.after


def test_a_trial_of_a_job_that_is_not_there() -> None:
    assert isinstance(trial(None, dict(CLICKS)).verdict, JobConfigChanged)
    assert isinstance(trial(None, {"tasks": 1}, "scaler").verdict, JobConfigRejected)


def test_a_trial_sees_an_override_expire_first() -> None:
    journal = Journal()
    journal.propose(CLICKS)
    journal.propose({"tasks": 8}, "oncall", now=NOW - 10_000, reason="x", expires_ms=NOW - 1_000)
    assert trial(journal.job, {"priority": 7}).before["tasks"] == 2


# --- verdicts


def row(verdict: str, reason: str = "", job: str = "clicks") -> dict[str, Any]:
    told = {"job": job, "layer": "base", "version": 1, "reason": reason, "explanation": "so"}
    return told | {"verdict": verdict, "change_id": "1.x"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], Code.OK),
        ([row("accepted")], Code.OK),
        ([row("unchanged"), row("sent"), row("deleted")], Code.OK),
        ([row("rejected", "invalid")], Code.FAILED),
        ([row("rejected", "stale")], Code.CONFLICT),
        ([row("rejected", "no-such-job")], Code.NOT_FOUND),
        ([row("unknown")], Code.TIMEOUT),
        ([row("accepted"), row("rejected", "stale")], Code.CONFLICT),
        ([row("unknown"), row("rejected", "stale")], Code.FAILED),
    ],
)
def test_the_code_is_what_the_failures_agree_on(
    rows: list[dict[str, Any]], code: Code, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_verdicts(rows, "table") == code
    assert show_verdicts(rows, "json") == code
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (row("accepted"), "clicks: accepted as version 1 of base (change 1.x)"),
        (row("rejected", "invalid"), "clicks: rejected, invalid: so (change 1.x)"),
        (row("unknown"), "clicks: unknown: so"),
        (row("unchanged"), "clicks: unchanged, version 1 of base"),
        (row("sent"), "clicks: sent (change 1.x)"),
        (row("deleted"), "clicks: deleted (change 1.x)"),
    ],
)
def test_a_verdict_is_a_sentence(
    one: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_verdicts([one], "table")
    assert capsys.readouterr().out == sentence + "\n"
