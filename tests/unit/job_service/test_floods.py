"""Many requests: what is too much of them, and what is not."""

from __future__ import annotations

import json

from components.job_service.core import logic_1
from events.generated.records import Body, JobConfigChanged, JobConfigRejected
from projections.ingress import WAITING, WHOLE_BYTES
from tests.unit.job_service.desk import Desk


def changed(answer: Body) -> JobConfigChanged:
    assert isinstance(answer, JobConfigChanged), answer
    return answer


def test_a_flood_is_refused_as_overloaded() -> None:
    desk = Desk()
    for _ in range(WAITING + 2):
        desk.put("base", set_={"tasks": 2})
    answers = desk.decide()
    assert sum(isinstance(body, JobConfigChanged) for body in answers) == WAITING
    refused = [body for body in answers if isinstance(body, JobConfigRejected)]
    assert {body.reason for body in refused} == {"overloaded"}
    assert refused[0].explanation == (
        "too many requests about this job are waiting; ask again later"
    )


def test_many_that_live_are_no_flood_while_none_waits() -> None:
    desk = Desk()
    for _ in range(2 * WAITING):
        changed(desk.ask("base", set_={"tasks": 2}))


def test_to_the_first_logic_they_were_one() -> None:
    desk = Desk(fold=logic_1.fold)
    for _ in range(WAITING - 1):
        changed(desk.ask("base", set_={"tasks": 2}))
    desk.put("base", set_={"tasks": 2})
    [then] = logic_1.decide(desk.job, desk.now_ms)
    assert isinstance(then, JobConfigRejected)
    assert then.explanation == "too many requests about this job are waiting; ask again later"


def test_many_large_ones_are_no_flood_while_none_waits() -> None:
    desk = Desk()
    for _ in range(80):
        changed(desk.ask("base", set_={"tasks": 2}, size=9_000))


def test_of_those_that_take_too_much_room_the_first_is_refused() -> None:
    desk = Desk()
    desk.put("base", set_={"tasks": 2}, size=WHOLE_BYTES - 1_000)
    desk.put("base", set_={"tasks": 3}, size=2_000)
    refused, stands = desk.decide()
    assert isinstance(refused, JobConfigRejected)
    assert refused.reason == "overloaded"
    assert refused.explanation == (
        "of the requests about this job the last 512 KiB are kept, and more came behind this one"
        " before it was answered; ask again later"
    )
    assert json.loads(changed(stands).expected_json)["tasks"] == 3


def test_a_flood_at_one_door_leaves_the_others_open() -> None:
    desk = Desk()
    for _ in range(WAITING + 1):
        desk.put("scaler", set_={"tasks": 2})
    desk.put("oncall", set_={"tasks": 3})
    assert changed(desk.decide()[0]).layer == "oncall"
