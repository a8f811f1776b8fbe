"""What the auto scaler said of a job: `why JOB`, `describe job`, `get jobs`, and `why-not`."""

from __future__ import annotations

import pytest

from events.generated.records import ScalingDeclined
from projections.scaling import actions
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import run
from tests.unit.turbine.scalings import DECLINED, UP, lines, say, served, told, whole
from turbine.failures import Code
from turbine.read.answers.scaling import ACTIONS, size_of, words_of


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    return served(monkeypatch)


# --- a job


def test_a_job_shows_its_policy_and_the_last_word_in_full(journal: Journal) -> None:
    whole(journal)
    last = say(journal, DECLINED)
    found = lines(run("why", "clicks"))
    assert found[:6] == [
        "job clicks", "state starting, 0 of 8 tasks run",
        "because none of 8 tasks runs yet (8 waiting), and nothing has failed",
        "type turbine get tasks --job clicks", "",
        "size 8 tasks of 1 thread, 0.25 cores and 256 MiB",
    ]  # fmt: skip
    assert "policy turbine, mode act" in found
    assert 'the scaler\'s layer {"tasks": 8}' in found
    assert [line for line in found if line.endswith(last.read.record.id)]
    head = "the last of them: ScalingDeclined, 2027-01-15T08:00:00.000Z"
    assert f"{head} ({last.read.record.id})" in found
    assert "reason settling" in found
    row = told("why", "clicks")
    assert [one["kind"] for one in row["decisions"]] == [
        "ScalingDecided", "ScalingVerified", "ScalingDeclined",
    ]  # fmt: skip
    assert row["last"]["scaling"]["evidence"] == {"since_ms": 60000}


def test_a_job_of_which_nothing_was_said(journal: Journal) -> None:
    silent = "nothing was said about its size yet; is the auto scaler running?"
    assert lines(run("why", "clicks"))[-1] == silent
    journal.propose({"policy": {"name": "keda", "mode": "off"}})
    found = lines(run("why", "clicks"))
    assert found[-1] == "nobody decides about its size: its policy is off"
    assert "policy keda, mode off" in found
    assert told("why", "clicks")["last"] is None


def test_a_job_that_is_gone_has_no_size(journal: Journal) -> None:
    whole(journal)
    journal.delete("done")
    found = lines(run("why", "clicks"))
    assert found[:3] == [
        "job clicks",
        "state behind, 0 of 0 tasks run",
        "because it is deleted, and what runs of it is not stopped yet",
    ]
    assert found[4:6] == ["size none: it is deleted", "policy -"]
    assert "outcome kept" in found, "what was said of it is still there"
    assert "scaling" not in run("describe", "job", "clicks").out


def test_a_job_that_is_gone_and_was_never_spoken_of(journal: Journal) -> None:
    journal.delete("done")
    assert lines(run("why", "clicks"))[-1] == "nothing was said about its size"


def test_an_unknown_name_is_one_sentence(journal: Journal) -> None:
    del journal
    ended = run("why", "views")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == (
        "no decision and no request has the id views, and no job the name; `turbine log tail -o"
        " wide` shows ids, `turbine get jobs` names"
    )


def test_a_description_tells_the_policy_and_the_last_word(journal: Journal) -> None:
    assert "scaling policy turbine, mode act" in lines(run("describe", "job", "clicks"))
    say(journal, DECLINED)
    found = lines(run("describe", "job", "clicks"))
    assert "which says left as it is, settling: the last change is too new to judge" in found
    assert "more turbine why clicks" in found
    assert told("describe", "job", "clicks")["scaling"]["last"]["kind"] == "ScalingDeclined"


def test_the_wide_list_of_jobs_has_the_policy(journal: Journal) -> None:
    journal.propose({"policy": {"mode": "advise"}})
    ended = run("get", "jobs", "-o", "wide")
    assert "POLICY" in ended.out
    assert "turbine, advise" in ended.out
    assert "POLICY" not in run("get", "jobs").out


def test_a_size_is_as_it_is_in_force() -> None:
    assert size_of({**CLICKS}) == "2 tasks of 1 thread, 0.25 cores and 256 MiB"
    one = CLICKS | {"resources": {"cpu_cores": 1}}
    assert size_of(one) == "2 tasks of 1 thread, 1 core and 256 MiB"
    resources = {"cpu_cores": 0.5, "memory_mb": 640}
    assert size_of({**CLICKS, "tasks": 1, "threads_per_task": 2, "resources": resources}) == (
        "1 task of 2 threads, 0.5 cores and 640 MiB"
    )
    assert size_of({}) == "1 task"


# --- why not


def test_why_not_tells_what_stood_against_it_the_newest_first(journal: Journal) -> None:
    say(journal, UP)
    say(journal, DECLINED)
    reasons = told("why-not", "clicks", "--action", "rebalance")["reasons"]
    assert [(one["text"], one["taken"]) for one in reasons] == [
        ("settling: the last change is too new to judge", False),
        ("scale-up was decided instead, as partitions are even", False),
    ]
    assert reasons[0]["until_ms"] == NOW + 300_000
    found = lines(run("why-not", "clicks", "--action", "rebalance"))
    assert found[:2] == [
        "clicks: policy turbine, mode act",
        "no rebalance, 2027-01-15T08:00:00.000Z: settling: the last change is too new to judge",
    ]


def test_why_not_says_that_it_was_taken(journal: Journal) -> None:
    say(journal, UP)
    found = lines(run("why-not", "clicks", "--action", "scale-up"))
    assert found[1].startswith("it was taken, 2027-01-15T08:00:00.000Z: it was decided: 9,000")
    [other] = told("why-not", "clicks", "--action", "move")["reasons"]
    assert other["text"] == f"scale-up was decided instead: {UP.explanation}"


def test_why_not_of_another_action_names_it(journal: Journal) -> None:
    body = ScalingDeclined.from_plain(DECLINED.to_plain() | {"action": "scale-down"})
    say(journal, body)
    [found] = told("why-not", "clicks", "--action", "scale-up")["reasons"]
    assert found["text"].startswith("scale-down was looked at, and not taken, settling: ")
    [own] = told("why-not", "clicks", "--action", "scale-down")["reasons"]
    assert own["text"].startswith("settling: ")


def test_why_not_where_nothing_was_said(journal: Journal) -> None:
    assert lines(run("why-not", "clicks", "--action", "scale-up")) == [
        "clicks: policy turbine, mode act",
        "nothing was said about its size yet; is the auto scaler running?",
    ]
    ended = run("why-not", "views", "--action", "scale-up")
    assert ended.code == Code.NOT_FOUND
    del journal


def test_void_words_count_for_nothing(journal: Journal) -> None:
    say(journal, UP, stands=False)
    assert words_of(journal.decisions) == []
    assert told("why-not", "clicks", "--action", "scale-up")["reasons"] == []


def test_every_action_of_a_verdict_can_be_asked_for() -> None:
    named = {
        value
        for name, value in vars(actions).items()
        if name.isupper() and isinstance(value, str) and name not in ("STAY", "VERIFIED")
    }
    assert set(ACTIONS) == named
