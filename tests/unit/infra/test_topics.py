"""Topics that cannot be asked about end in one sentence; a plan compares what was asked."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from components.runtime.kafka.topics import TopicsError, TopicStep, plan_topics, verify_topics
from events.topics import Topic
from infra.kafka.directory import free_port
from infra.topics import apply_topics


def named(name: str, partitions: int | None = None, **config: str) -> Topic:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    return Topic(name, name, "job", True, partitions, "a test", (), "facts", settings, "A test's.")


@dataclass(frozen=True, slots=True)
class Answered:
    """A future that is done."""

    value: Any

    def result(self) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class FakeAdmin:
    """A cluster with these topics, each by its number of partitions and its configs."""

    topics: dict[str, tuple[int, dict[str, str]]]

    def list_topics(self, timeout: float) -> SimpleNamespace:
        assert timeout > 0
        counts = {name: dict.fromkeys(range(count)) for name, (count, _) in self.topics.items()}
        return SimpleNamespace(
            topics={name: SimpleNamespace(partitions=parts) for name, parts in counts.items()}
        )

    def describe_configs(self, resources: list[Any], request_timeout: float) -> dict[Any, Answered]:
        assert request_timeout > 0
        return {
            one: Answered(
                {key: SimpleNamespace(value=v) for key, v in self.topics[one.name][1].items()}
            )
            for one in resources
        }


def plan(admin: FakeAdmin, *topics: Topic, partitions: int = 4) -> list[TopicStep]:
    return plan_topics(admin, topics, partitions)  # type: ignore[arg-type]  # a fake at the edge


def test_a_cluster_as_it_should_be_needs_nothing() -> None:
    admin = FakeAdmin({"a": (4, {"retention.ms": "-1", "other": "x"}), "b": (1, {})})
    assert plan(admin, named("a", retention_ms="-1"), named("b", 1)) == []


def test_foreign_topics_are_nobodys_business() -> None:
    assert plan(FakeAdmin({"foreign": (7, {})})) == []


def test_steps_come_in_the_tables_order() -> None:
    admin = FakeAdmin({"b": (4, {"retention.ms": "5"})})
    assert plan(admin, named("c"), named("b", retention_ms="-1"), named("a", 1)) == [
        TopicStep("create", "c", "partitions", "4", "missing"),
        TopicStep("differs", "b", "retention.ms", "-1", "5"),
        TopicStep("create", "a", "partitions", "1", "missing"),
    ]


def test_lists_mean_the_same_in_any_order() -> None:
    admin = FakeAdmin({"a": (4, {"cleanup.policy": "delete,compact"})})
    assert plan(admin, named("a", cleanup_policy="compact,delete")) == []
    assert plan(admin, named("a", cleanup_policy="compact")) != []


def test_a_config_that_the_broker_does_not_know_differs() -> None:
    (step,) = plan(FakeAdmin({"a": (4, {})}), named("a", retention_ms="-1"))
    assert str(step) == "a: retention.ms should be -1 and is unknown to the broker"


def test_a_cluster_that_is_not_there_is_named() -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    with pytest.raises(TopicsError) as failed:
        verify_topics({"bootstrap.servers": nowhere}, [named("any")], wait_s=0.5)
    assert str(failed.value).startswith(f"The cluster at {nowhere} does not do as asked (")
    assert "see that it runs" in str(failed.value)


def test_a_misspelt_client_setting_is_named() -> None:
    with pytest.raises(TopicsError, match=r"bootstrap\.server"):
        apply_topics({"bootstrap.server": "127.0.0.1:1"}, [named("any")])
