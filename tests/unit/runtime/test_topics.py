"""What is said of topics that are not as they must be names what helps, and nothing else."""

from __future__ import annotations

import pytest

from components.runtime.kafka import topics
from components.runtime.kafka.topics import TopicsError, TopicStep, verify_topics


@pytest.mark.parametrize(
    ("step", "remedy"),
    [
        (TopicStep("create", "t", "partitions", "16", "missing"), "create what is missing"),
        (
            TopicStep("differs", "t", "partitions", "16", "4"),
            "start with the number of partitions that the log was made with",
        ),
    ],
)
def test_each_difference_has_its_remedy(
    monkeypatch: pytest.MonkeyPatch, step: TopicStep, remedy: str
) -> None:
    monkeypatch.setattr(topics, "plan_topics", lambda *_: [step])
    with pytest.raises(TopicsError) as found:
        verify_topics({"bootstrap.servers": "127.0.0.1:1"}, [])
    assert str(found.value).endswith(f"Remedy: {remedy}.")
