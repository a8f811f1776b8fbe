"""Whether the topics of a cluster are what the table says. Asked at every start, changes nothing.

A wrong retention may already have deleted records, and a partition that was added sends keys
elsewhere: a component that went on would decide on less than the log. `infra.topics` creates what
is missing; a difference is for a person to decide about.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    ConfigResource,
    ResourceType,
)

from events.topics import DEFAULT_PARTITIONS, Topic
from turbine_client.errors import Unavailable

# Creating 400 partitions takes a second or two on a laptop; a minute means it will not happen.
CALL_MAX_S = 60.0
# Metadata is one answer of one broker: a cluster that needs longer is not there.
WAIT_S = 5.0
# Whoever verifies has just asked the broker how many partitions there are: it is there, and busy.
VERIFY_S = 60.0


@dataclass(frozen=True, slots=True)
class TopicStep:
    """One topic that is missing (`create`), or one thing that a person must decide (`differs`)."""

    kind: Literal["create", "differs"]
    topic: str
    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.what} should be {self.expected} and is {self.found}"


class TopicsError(Unavailable):
    """The topics cannot be had as they must be; the text is one sentence with the remedy."""

    def __init__(self, sentence: str, steps: Sequence[TopicStep] = ()) -> None:
        super().__init__(sentence)
        self.steps = tuple(steps)


def verify_topics(
    client: Mapping[str, str],
    topics: Iterable[Topic],
    partitions: int = DEFAULT_PARTITIONS,
    *,
    wait_s: float = VERIFY_S,
) -> None:
    """Raise one TopicsError that lists all that is missing or differs."""
    with connected(client) as admin:
        steps = plan_topics(admin, topics, partitions, wait_s)
    if not steps:
        return
    remedies = []
    if any(step.kind == "create" for step in steps):
        remedies.append("create what is missing")
    if any(step.kind == "differs" and step.what != "partitions" for step in steps):
        remedies.append("set the configs back (kafka-configs.sh --alter)")
    if any(step.kind == "differs" and step.what == "partitions" for step in steps):
        remedies.append("start with the number of partitions that the log was made with")
    listed = "; ".join(str(step) for step in steps)
    raise TopicsError(
        f"The topics at {client['bootstrap.servers']} are not as they must be: {listed}. "
        f"Remedy: {', '.join(remedies)}.",
        steps,
    )


def plan_topics(
    admin: AdminClient,
    topics: Iterable[Topic],
    partitions: int = DEFAULT_PARTITIONS,
    wait_s: float = WAIT_S,
) -> list[TopicStep]:
    """What is missing and what differs, in the table's order; asks, and changes nothing."""
    table = tuple(topics)
    there = admin.list_topics(timeout=wait_s).topics
    configs = _read_configs(admin, [topic.name for topic in table if topic.name in there])
    steps: list[TopicStep] = []
    for topic in table:
        count = count_of(topic, partitions)
        if topic.name not in there:
            steps.append(TopicStep("create", topic.name, "partitions", str(count), "missing"))
            continue
        found = len(there[topic.name].partitions)
        if found != count:
            steps.append(TopicStep("differs", topic.name, "partitions", str(count), str(found)))
        steps += _compare_configs(topic, configs[topic.name])
    return steps


def count_of(topic: Topic, partitions: int) -> int:
    """How many partitions a topic of the table has where P is that."""
    return partitions if topic.partitions is None else topic.partitions


def _compare_configs(topic: Topic, found: Mapping[str, str]) -> list[TopicStep]:
    return [
        TopicStep("differs", topic.name, key, expected, found.get(key, "unknown to the broker"))
        for key, expected in topic.config.items()
        # Lists ("compact,delete") mean the same in any order.
        if sorted(found.get(key, "").split(",")) != sorted(expected.split(","))
    ]


def _read_configs(admin: AdminClient, names: Sequence[str]) -> dict[str, dict[str, str]]:
    if not names:
        return {}
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    answers = admin.describe_configs(asked, request_timeout=CALL_MAX_S)
    return {
        resource.name: {key: str(entry.value) for key, entry in future.result().items()}
        for resource, future in answers.items()
    }


@contextmanager
def connected(client: Mapping[str, str]) -> Iterator[AdminClient]:
    """An AdminClient whose failures are one sentence."""
    # A wrong password and a wrong port both end in a time-out; only this callback tells which.
    last: deque[KafkaError] = deque(maxlen=1)
    settings: dict[str, Any] = {"log_level": 0, **client, "error_cb": last.append}
    try:
        yield AdminClient(settings)
    except KafkaException as error:
        cause: KafkaError = last[-1] if last else error.args[0]
        raise TopicsError(
            f"The cluster at {client.get('bootstrap.servers', '(no bootstrap.servers)')} "
            f"does not do as asked ({cause.name()}, {cause.str()}): see that it runs, and that "
            "address, user and rights are right."
        ) from error
