"""Makes the topics of a cluster what the table in `events.topics` says, and tells what differs.

Nothing that exists is ever changed: a wrong retention may already have deleted records, and a
partition that is added sends keys elsewhere. A difference is for a person to decide about.
"""

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from components.runtime.settings import BadSettings, load_settings
from events.topics import DEFAULT_PARTITIONS, TOPICS, Topic

# Creating 400 partitions takes a second or two on a laptop; a minute means it will not happen.
CALL_MAX_S = 60.0
LEADERS_MAX_S = 60.0
# Metadata is one answer of one broker: a cluster that needs longer is not there.
WAIT_S = 5.0
PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Step:
    """One topic that is missing (`create`), or one thing that a person must decide (`differs`)."""

    kind: Literal["create", "differs"]
    topic: str
    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.what} should be {self.expected} and is {self.found}"


class TopicsError(Exception):
    """The topics cannot be had as they must be; the text is one sentence with the remedy."""

    def __init__(self, sentence: str, steps: Sequence[Step] = ()) -> None:
        super().__init__(sentence)
        self.steps = tuple(steps)


def apply_topics(
    client: Mapping[str, str],
    topics: Iterable[Topic],
    partitions: int = DEFAULT_PARTITIONS,
    *,
    replication_factor: int = 1,
    wait_s: float = WAIT_S,
) -> list[Step]:
    """Create what is missing, in one call, and wait for its leaders; what was done and differs.

    `client` holds librdkafka's settings, `bootstrap.servers` at least; `partitions` is P;
    `wait_s` is the patience with a cluster that does not answer. Two who apply at once do no harm.
    """
    table = tuple(topics)
    with _connected(client) as admin:
        missing = [
            step for step in plan_topics(admin, table, partitions, wait_s) if step.kind == "create"
        ]
        names = {step.topic for step in missing}
        _create(
            admin, [topic for topic in table if topic.name in names], partitions, replication_factor
        )
        _await_leaders(admin, table)
        # Planned anew, because somebody else may have created them meanwhile, and otherwise.
        return missing + plan_topics(admin, table, partitions, wait_s)


def verify_topics(
    client: Mapping[str, str],
    topics: Iterable[Topic],
    partitions: int = DEFAULT_PARTITIONS,
    *,
    wait_s: float = WAIT_S,
) -> None:
    """Raise one TopicsError that lists all that is missing or differs."""
    with _connected(client) as admin:
        steps = plan_topics(admin, topics, partitions, wait_s)
    if not steps:
        return
    remedies = []
    if any(step.kind == "create" for step in steps):
        remedies.append("create what is missing")
    if any(step.kind == "differs" and step.what != "partitions" for step in steps):
        remedies.append("set the configs back (kafka-configs.sh --alter)")
    if any(step.what == "partitions" for step in steps):
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
) -> list[Step]:
    """What is missing and what differs, in the table's order; asks, and changes nothing."""
    table = tuple(topics)
    there = admin.list_topics(timeout=wait_s).topics
    configs = _read_configs(admin, [topic.name for topic in table if topic.name in there])
    steps: list[Step] = []
    for topic in table:
        count = _count(topic, partitions)
        if topic.name not in there:
            steps.append(Step("create", topic.name, "partitions", str(count), "missing"))
            continue
        found = len(there[topic.name].partitions)
        if found != count:
            steps.append(Step("differs", topic.name, "partitions", str(count), str(found)))
        steps += _compare_configs(topic, configs[topic.name])
    return steps


def _count(topic: Topic, partitions: int) -> int:
    return partitions if topic.partitions is None else topic.partitions


def _compare_configs(topic: Topic, found: Mapping[str, str]) -> list[Step]:
    return [
        Step("differs", topic.name, key, expected, found.get(key, "unknown to the broker"))
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


def _create(
    admin: AdminClient, topics: Sequence[Topic], partitions: int, replication_factor: int
) -> None:
    if not topics:
        return
    wanted = [
        NewTopic(
            topic.name,
            num_partitions=_count(topic, partitions),
            replication_factor=replication_factor,
            config=dict(topic.config),
        )
        for topic in topics
    ]
    futures = admin.create_topics(wanted, operation_timeout=CALL_MAX_S, request_timeout=CALL_MAX_S)
    failures = [f"{name}: {why}" for name, future in futures.items() if (why := _refusal(future))]
    if failures:
        raise TopicsError(
            f"The broker refuses to create {len(failures)} of {len(wanted)} topics "
            f"({'; '.join(failures)}): correct the replication factor or the topic's config."
        )


def _refusal(future: Future[None]) -> str | None:
    try:
        future.result()
    except KafkaException as error:
        cause: KafkaError = error.args[0]
        if cause.code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return None
        return f"{cause.name()}, {cause.str()}".rstrip(". ")
    return None


def _await_leaders(admin: AdminClient, table: Sequence[Topic]) -> None:
    deadline = time.monotonic() + LEADERS_MAX_S
    while waiting := _leaderless(admin, table):
        if time.monotonic() > deadline:
            raise TopicsError(
                f"{len(waiting)} partitions have no leader after {LEADERS_MAX_S:g} s, "
                f"{waiting[0]} among them: see that all brokers of the cluster run."
            )
        time.sleep(PAUSE_S)


def _leaderless(admin: AdminClient, table: Sequence[Topic]) -> list[str]:
    there = admin.list_topics(timeout=WAIT_S).topics
    waiting: list[str] = []
    for topic in table:
        # A topic that was created a moment ago may not stand in the metadata yet.
        if topic.name not in there:
            waiting.append(topic.name)
            continue
        parts = there[topic.name].partitions
        waiting += [f"{topic.name}/{number}" for number in parts if parts[number].leader < 0]
    return waiting


@contextmanager
def _connected(client: Mapping[str, str]) -> Iterator[AdminClient]:
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


def main(arguments: list[str] | None = None) -> int:
    """`python -m infra.topics plan|apply [--bootstrap B] [--config F] [--json]`.

    0 with the steps that are to be done, or were done and still differ; 1 with a sentence.
    """
    parser = argparse.ArgumentParser(prog="python -m infra.topics", description=__doc__)
    parser.add_argument("action", choices=["apply", "plan"])
    parser.add_argument("--bootstrap")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        settings = load_settings({"bootstrap": given.bootstrap}, path=given.config)
        client = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
        if given.action == "plan":
            with _connected(client) as admin:
                steps = plan_topics(admin, TOPICS, settings.partitions)
        else:
            steps = apply_topics(
                client, TOPICS, settings.partitions, replication_factor=settings.replication
            )
    except (BadSettings, TopicsError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    lines = [json.dumps(asdict(step)) if given.json else f"{step.kind} {step}" for step in steps]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
