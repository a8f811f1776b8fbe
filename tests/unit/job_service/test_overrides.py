"""What an override's end takes back: its own change, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.job_service.core import logic_1
from components.job_service.core.overrides import ENDS_BYTES, ENDS_MOST, bytes_of
from components.job_service.decide import (
    AUTHOR_CHARS,
    EXPECTED_BYTES,
    LAYER_BYTES,
    REASON_CHARS,
    decide,
    wake_ms,
)
from events.generated.records import (
    Body,
    JobConfigChanged,
    JobConfigRejected,
    LayerVersions,
    OverrideEnd,
    OverrideExpired,
)
from events.wire.codec import encode
from events.wire.traces import TRACE_CHARS_MAX
from projections.jobs import ONCALL, End, Job, LayerState, apply
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk
from turbine_client.identity import CHANGE_ID_LENGTH_MAX


def oncall(desk: Desk, set_: dict[str, Any], ends_s: int | None = None, **said: Any) -> str:
    """An accepted change; its id."""
    ends_ms = None if ends_s is None else NOW_MS + ends_s * 1_000
    answer = desk.ask("oncall", set_=set_, expires_ms=ends_ms, **said)
    assert isinstance(answer, JobConfigChanged), answer
    return answer.change_id


def after(desk: Desk, seconds: int) -> tuple[dict[str, Any], list[str | None]]:
    """The layer that many seconds from the beginning, and the changes that were taken back."""
    desk.now_ms = NOW_MS + seconds * 1_000
    said = desk.decide()
    taken = []
    for body in said:
        assert isinstance(body, OverrideExpired)
        taken.append(body.change_id)
    return layer(desk), taken


def layer(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(desk.job.layers[ONCALL].config_json)
    return found


def test_a_lasting_change_does_not_make_a_temporary_one_last() -> None:
    desk = Desk()
    first = oncall(desk, {"priority": 90}, 10)
    oncall(desk, {"tasks": 4})
    assert layer(desk) == {"priority": 90, "tasks": 4}
    assert after(desk, 10) == ({"tasks": 4}, [first])
    assert after(desk, 1_000) == ({"tasks": 4}, [])


def test_a_temporary_change_takes_nothing_along_that_was_set_for_good() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4, "policy": {"mode": "observe"}})
    peak = oncall(desk, {"tasks": 5}, 10)
    assert after(desk, 10) == ({"tasks": 4, "policy": {"mode": "observe"}}, [peak])
    assert json.loads(desk.job.expected_json)["tasks"] == 4


def test_an_expiry_says_whose_change_it_was_and_what_is_left() -> None:
    desk = Desk()
    oncall(desk, {"priority": 90})
    peak = oncall(desk, {"tasks": 5}, 10)
    desk.now_ms += 10_000
    (expired,) = desk.decide()
    assert isinstance(expired, OverrideExpired)
    assert (expired.change_id, expired.layer_json) == (peak, '{"priority":90}')
    assert (expired.version, expired.expires_ms) == (3, NOW_MS + 10_000)
    assert json.loads(expired.expected_json) == {**SMALLEST, "priority": 90}


def test_ends_come_in_the_order_of_their_instants() -> None:
    desk = Desk()
    long = oncall(desk, {"tasks": 4, "priority": 3}, 30)
    short = oncall(desk, {"tasks": 5, "threads_per_task": 2}, 10)
    other = oncall(desk, {"slo": {"lag_seconds": 5}}, 20)
    assert wake_ms(desk.job, NOW_MS) == NOW_MS + 10_000
    left = {"tasks": 4, "priority": 3, "slo": {"lag_seconds": 5}}
    assert after(desk, 10) == (left, [short])
    assert after(desk, 20) == ({"tasks": 4, "priority": 3}, [other])
    assert after(desk, 30) == ({}, [long])


def test_ends_that_passed_unseen_are_said_one_by_one() -> None:
    desk = Desk()
    names = [oncall(desk, {"tasks": 9 - n, "priority": n}, 10 * n) for n in (3, 2, 1)]
    assert after(desk, 100) == ({}, names[::-1])
    assert desk.job.layers[ONCALL].version == 6


def test_of_two_that_end_together_the_newer_one_holds_to_the_end() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4}, 10)
    newer = oncall(desk, {"tasks": 5}, 10)
    assert after(desk, 10) == ({}, [newer])


def test_each_end_is_an_instant_of_its_own_and_says_what_will_hold() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4})
    names = [oncall(desk, said, 10) for said in ({"priority": 1}, {"tasks": 2}, {"paused": True})]
    later = oncall(desk, {"slo": {"lag_seconds": 5}}, 20)
    said = desk.ask("oncall", expires_ms=NOW_MS + 10_000)
    assert isinstance(said, JobConfigChanged)
    assert said.ends is not None
    assert [(one.expires_ms - NOW_MS, json.loads(one.layer_json)) for one in said.ends] == [
        (10_000, {"slo": {"lag_seconds": 5}, "tasks": 4}),
        (20_000, {"tasks": 4}),
    ]
    named = [(one.change_id, one.other_ids) for one in said.ends]
    assert named == [(names[2], tuple(names[:2])), (later, ())], "the last takes nothing back"


def test_those_that_end_together_count_each() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4}, 10)
    oncall(desk, {"priority": 9}, 10)
    layers = list(desk.job.layers)
    (end,) = layers[ONCALL].ends
    others = tuple(str(number) for number in range(ENDS_MOST - 2))
    for more, answer in (("", JobConfigChanged), ("x", JobConfigRejected)):
        ends = (end._replace(other_ids=(*others, *more)),)
        layers[ONCALL] = layers[ONCALL]._replace(ends=ends)
        desk.row = desk.job._replace(layers=tuple(layers))
        wish = {"paused": True}
        assert isinstance(desk.ask("oncall", set_=wish, expires_ms=NOW_MS + 10_000), answer)


def test_what_ends_together_is_taken_back_at_once() -> None:
    """Either alone would leave what is no config."""
    desk = Desk()
    oncall(desk, {"tasks": 20})
    names = [oncall(desk, {"tasks": 2}, 10), oncall(desk, {"limits": {"tasks": 4}}, 10)]
    desk.now_ms += 10_000
    (expired,) = desk.decide()
    assert isinstance(expired, OverrideExpired)
    assert [*expired.other_ids, expired.change_id] == names
    assert layer(desk) == {"tasks": 20}


def test_what_was_said_again_for_longer_ends_later() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4}, 10)
    again = oncall(desk, {"tasks": 4}, 20)
    assert after(desk, 10) == ({"tasks": 4}, [])
    assert after(desk, 20) == ({}, [again])


def test_what_was_set_or_cleared_since_stays_so() -> None:
    desk = Desk()
    oncall(desk, {"priority": 9, "slo": {"lag_seconds": 5}})
    first = oncall(desk, {"tasks": 4, "priority": 1, "slo": {"lag_seconds": 7}}, 10)
    oncall(desk, {"tasks": 6}, clear=["priority"])
    assert after(desk, 10) == ({"tasks": 6, "slo": {"lag_seconds": 5}}, [first])


def test_an_override_of_which_nothing_is_left_has_no_end() -> None:
    """It was taken back by hand."""
    desk = Desk()
    oncall(desk, {"tasks": 4}, 10)
    oncall(desk, {}, clear=["tasks"])
    assert desk.job.layers[ONCALL].ends == ()
    assert wake_ms(desk.job, desk.now_ms) is None
    assert after(desk, 10) == ({}, [])


def test_paths_that_lie_in_each_other() -> None:
    desk = Desk()
    oncall(desk, {"package": {"name": "mine", "version": "2.0.0"}}, 20)
    inner = oncall(desk, {"package": {"version": "3.0.0"}}, 10)
    oncall(desk, {"package": {"name": "ours"}})
    left = {"package": {"name": "ours", "version": "2.0.0"}}
    assert after(desk, 10) == (left, [inner])
    assert after(desk, 20)[0] == {"package": {"name": "ours"}}


def test_a_null_that_ends_hides_no_longer() -> None:
    desk = Desk()
    desk.ask("base", set_={"slo": {"lag_seconds": 9}})
    oncall(desk, {"slo": {"lag_seconds": 5}})
    hidden = oncall(desk, {"slo": None}, 10)
    assert "slo" not in json.loads(desk.job.expected_json)
    assert after(desk, 10) == ({"slo": {"lag_seconds": 5}}, [hidden])
    assert json.loads(desk.job.expected_json)["slo"] == {"lag_seconds": 5}


def test_what_a_temporary_change_cleared_comes_back() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4, "priority": 9})
    gone = oncall(desk, {}, 10, clear=["tasks"])
    assert layer(desk) == {"priority": 9}
    assert after(desk, 10) == ({"tasks": 4, "priority": 9}, [gone])


def test_a_deleted_job_leaves_no_end_to_its_successor() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 4}, 10)
    desk.delete()
    assert isinstance(desk.ask("base", set_=SMALLEST), JobConfigChanged)
    assert after(desk, 10) == ({}, [])
    assert json.loads(desk.job.expected_json) == SMALLEST


def test_who_is_gone_with_a_change_is_no_longer_named() -> None:
    desk = Desk()
    oncall(desk, {"priority": 9}, 20, author="ann")
    oncall(desk, {"tasks": 4}, 10, author="bo")
    after(desk, 10)
    left = desk.job.layers[ONCALL]
    assert (left.author, left.reason, left.change_id) == ("", "", "")
    oncall(desk, {"tasks": 5}, author="cy")
    after(desk, 20)
    assert desk.job.layers[ONCALL].author == "cy", "whose word stands"


# --- what lies ahead must stand


def test_each_config_on_the_way_must_stand() -> None:
    """First and last are sound; the one between them is not."""
    desk = Desk()
    oncall(desk, {"tasks": 20}, 20)
    oncall(desk, {"tasks": 2}, 10)
    reason, path, sentence = desk.refusal(
        "oncall", set_={"limits": {"tasks": 4}}, expires_ms=NOW_MS + 15_000
    )
    assert (reason, path) == ("invalid", "tasks")
    assert sentence == (
        "once the oncall override expires, tasks: expected at most limits.tasks, which is 4,"
        " found 20"
    )
    oncall(desk, {"limits": {"tasks": 4}}, 9)


def test_a_merged_config_that_would_be_too_large_at_an_end_is_refused() -> None:
    """Each layer has room, and what is hidden for a while is large."""
    desk = Desk()
    assert isinstance(desk.ask("base", set_={"arguments": ["x" * 4_000] * 15}), JobConfigChanged)
    oncall(desk, {"inputs": [{"topic": f"{'t' * 200}{number}"} for number in range(60)]})
    oncall(desk, {"arguments": ["x"]}, 10)
    query = {"operator": {"sql": "x" * 60_000}}
    refused = desk.refusal("provisioner", set_=query)
    assert refused == (
        "too-large",
        "",
        "once the oncall override expires, the merged config would be over 131072 bytes",
    )


def test_a_change_below_must_fit_all_that_comes() -> None:
    desk = Desk()
    oncall(desk, {"tasks": 20}, 20)
    oncall(desk, {"tasks": 2}, 10)
    reason, path, _ = desk.refusal("base", set_={"limits": {"tasks": 4}})
    assert (reason, path) == ("invalid", "tasks")
    desk.now_ms += 20_000
    desk.decide()
    assert isinstance(desk.ask("base", set_={"limits": {"tasks": 4}}), JobConfigChanged)


# --- bounds


def test_so_many_temporary_changes_and_no_more() -> None:
    desk = Desk()
    for number in range(ENDS_MOST):
        oncall(desk, {"tasks": number + 2}, 100 - number)
    refused = desk.refusal("oncall", set_={"priority": 9}, expires_ms=NOW_MS + 50_000)
    said = (
        f"the oncall layer would have over {ENDS_MOST} temporary changes at once; clear what is not"
        " needed any more, or let one end first"
    )
    assert refused == ("too-large", "expires_ms", said)
    oncall(desk, {"priority": 9})  # one that lasts is none of them
    oncall(desk, {}, clear=["tasks"])
    oncall(desk, {"tasks": 2}, 50)


def test_what_comes_has_so_many_bytes_and_no_more() -> None:
    desk = Desk()
    oncall(desk, {"arguments": ["x" * 4_000] * 3})
    for number in range(2):
        oncall(desk, {"tasks": number + 2}, 30 - number)
    assert bytes_of(desk.job.layers[ONCALL].ends) < ENDS_BYTES
    refused = desk.refusal("oncall", set_={"tasks": 7}, expires_ms=NOW_MS + 9_000)
    said = "what the oncall layer will be at its ends would be over 32768 bytes; set less in it"
    assert refused == ("too-large", "expires_ms", said)


def test_the_longest_decisions_fit_into_a_message() -> None:
    wide, versions = "\U0001f600", LayerVersions(2**53, 2**53, 2**53, 2**53)
    name = "1" * CHANGE_ID_LENGTH_MAX
    room = ENDS_BYTES // ENDS_MOST - len(name) - len((wide * AUTHOR_CHARS).encode())
    ends = (OverrideEnd(2**53, name, wide * AUTHOR_CHARS, "x" * room),) * ENDS_MOST
    assert bytes_of(tuple(End(*one.to_plain().values()) for one in ends)) == ENDS_BYTES
    layer_json, expected_json = "x" * LAYER_BYTES, "x" * EXPECTED_BYTES
    encode(
        JobConfigChanged(
            *("o" * 128, "oncall", name, 2**53, versions, layer_json, expected_json),
            *(wide * AUTHOR_CHARS, wide * REASON_CHARS, 2**53, wide * TRACE_CHARS_MAX),
            ends=ends,
        )
    )
    head = "o" * 128, "oncall", 2**53, versions, expected_json, 2**53
    encode(OverrideExpired(*head, name, layer_json, (name,) * ENDS_MOST))


# --- as it was


def test_the_first_logic_takes_a_layer_back_as_a_whole() -> None:
    desk = Desk()
    for said in ({"priority": 9}, {"tasks": 4}):
        desk.put("oncall", set_=said, expires_ms=NOW_MS + 5_000 if "tasks" in said else None)
    row = desk.job
    for body in logic_1.decide(row, NOW_MS):
        assert isinstance(body, JobConfigChanged)
        assert body.ends is None
        row = apply(row, body)
    (expired,) = logic_1.decide(row, NOW_MS + 5_000)
    assert isinstance(expired, OverrideExpired)
    assert (expired.change_id, expired.layer_json) == (None, None)
    assert apply(row, expired).layers[ONCALL] == LayerState(3)


def test_what_the_first_logic_left_ends_as_a_whole_under_the_next_one() -> None:
    row = Desk().job
    versions = row.versions
    changed = JobConfigChanged(
        "orders", "oncall", "9.a", 1, versions, '{"tasks":3}', row.expected_json, "ann",
        expires_ms=NOW_MS + 5,
    )  # fmt: skip
    row = apply(row, changed)
    (expired,) = decide(row, NOW_MS + 5)
    assert isinstance(expired, OverrideExpired)
    assert (expired.change_id, expired.layer_json) == ("9.a", "{}")


@pytest.mark.parametrize(
    "body", [OverrideExpired("orders", "oncall", 2, Job("").versions, "{}", 7)]
)
def test_an_expiry_of_a_layer_without_ends_is_total(body: Body) -> None:
    assert apply(Job("orders"), body).layers[ONCALL] == LayerState(2)
