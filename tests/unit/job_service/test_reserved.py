"""Names of Turbine's own, which no job may have, read or write, in whichever layer."""

from __future__ import annotations

import pytest

from components.job_service.core import logic_1
from events.generated.records import Body, JobConfigChanged, JobDeleted
from events.topics import JOURNAL, LAYERS
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk


def changed(answer: Body) -> JobConfigChanged:
    assert isinstance(answer, JobConfigChanged), answer
    return answer


@pytest.mark.parametrize("name", ["turbine-publisher", "turbine-webhook-pager", "turbine-x"])
def test_a_name_of_turbines_own_is_refused(name: str) -> None:
    desk = Desk(name, alive=False)
    reason, path, said = desk.refusal("base", set_=SMALLEST)
    assert (reason, path) == ("invalid", "job")
    assert said == (
        'job: expected a name that does not begin with "turbine-", as those of Turbine\'s own'
        f' groups do, found "{name}"'
    )


def test_who_has_such_a_name_from_before_goes_on_and_may_go() -> None:
    desk = Desk("turbine-x", alive=False)
    desk.put("base", set_=SMALLEST)
    [then] = logic_1.decide(desk.job, NOW_MS)
    desk.hear(JOURNAL, changed(then))
    changed(desk.ask("base", set_={"tasks": 2}))
    assert isinstance(desk.delete(), JobDeleted)
    assert desk.refusal("base", set_=SMALLEST)[0] == "invalid", "and is not made anew"


NO_TOPIC = 'expected a topic of your own, which begins with neither "turbine." nor "__", found '


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("topic", ["turbine.operator.v1", "__consumer_offsets"])
def test_topics_of_the_log_and_of_the_broker_are_refused_in_all_layers(
    layer: str, topic: str
) -> None:
    desk = Desk()
    refused = desk.refusal(layer, set_={"output": {"topic": topic}})
    assert refused == ("invalid", "output.topic", f'output.topic: {NO_TOPIC}"{topic}"')
    refused = desk.refusal(layer, set_={"inputs": [{"topic": topic}]})
    assert refused == ("invalid", "inputs.0.topic", f'inputs.0.topic: {NO_TOPIC}"{topic}"')


def test_what_an_override_hides_only_for_a_while_is_refused() -> None:
    desk = Desk()
    hides = {"output": {"topic": "results"}}
    changed(desk.ask("oncall", set_=hides, expires_ms=NOW_MS + 5_000))
    reason, path, said = desk.refusal("base", set_={"output": {"topic": "turbine.x"}})
    assert (reason, path) == ("invalid", "output.topic")
    assert said.startswith("once the oncall override expires, output.topic: expected a topic")


def test_to_the_first_logic_they_were_topics_like_others() -> None:
    desk = Desk()
    desk.put("base", set_={"output": {"topic": "turbine.operator.v1"}})
    [then] = logic_1.decide(desk.job, NOW_MS)
    changed(then)
