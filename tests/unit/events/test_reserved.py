"""Names that no job may have, read or write, and the one sentence about each."""

from __future__ import annotations

from typing import Any

import pytest

from events.job_config.config import JobConfig, validate_config
from events.job_config.reserved import is_reserved_job, is_reserved_topic, reserved_topics
from events.topics import TOPICS
from turbine_client.settings import Settings

SMALLEST: dict[str, Any] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
}
NO_TOPIC = 'expected a topic of your own, which begins with neither "turbine." nor "__", found '


def config(**more: Any) -> JobConfig:
    found = validate_config(SMALLEST | more)
    assert isinstance(found, JobConfig), found
    return found


@pytest.mark.parametrize("topic", ["turbine.changes.oncall.v1", "turbine.x", "__consumer_offsets"])
def test_a_reserved_topic_is_told_by_its_path(topic: str) -> None:
    [output] = reserved_topics(config(output={"topic": topic}))
    assert (output.path, str(output)) == ("output.topic", f'output.topic: {NO_TOPIC}"{topic}"')
    [second] = reserved_topics(config(inputs=[{"topic": "clicks"}, {"topic": topic}]))
    assert str(second) == f'inputs.1.topic: {NO_TOPIC}"{topic}"'


@pytest.mark.parametrize("topic", ["clicks", "turbine", "turbine-x", "my.turbine.x", "_x"])
def test_others_are_not(topic: str) -> None:
    more = {"inputs": [{"topic": topic}], "output": {"topic": topic}}
    assert list(reserved_topics(config(**more))) == []
    assert list(reserved_topics(config(guarantee="files", output={"path": "/turbine."}))) == []


def test_all_topics_of_the_log_are_reserved() -> None:
    assert all(is_reserved_topic(one.name) for one in TOPICS)


@pytest.mark.parametrize("name", ["publisher", "webhook-pager", "job-service", "readers", "job.x"])
def test_no_group_of_ours_is_that_of_a_job(name: str) -> None:
    assert is_reserved_job(f"turbine-{name}")
    assert not Settings().job_group("x").startswith(f"turbine-{name}-")
    assert not is_reserved_job("turbines")
