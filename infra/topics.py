"""Makes the topics of a cluster what the table in `events.topics` says, and tells what differs.

Nothing that exists is ever changed: a wrong retention may already have deleted records, and a
partition that is added sends keys elsewhere. A difference is for a person to decide about.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    NewTopic,
    OffsetSpec,
)

from components.runtime.kafka.topics import (
    CALL_MAX_S,
    WAIT_S,
    TopicsError,
    TopicStep,
    connected,
    count_of,
    plan_topics,
)
from events.topics import DEFAULT_PARTITIONS, Topic, topics_under
from turbine_client.settings import BadSettings, settings_by, take_flags

LEADERS_MAX_S = 60.0
"""For leaders, and for metadata of a cluster that has answered once: it is there, and busy."""
PAUSE_S = 0.05


def apply_topics(
    client: Mapping[str, str],
    topics: Iterable[Topic],
    partitions: int = DEFAULT_PARTITIONS,
    *,
    replication_factor: int = 1,
    wait_s: float = WAIT_S,
) -> list[TopicStep]:
    """Create what is missing, in one call, and wait for its leaders; what was done and differs.

    `client` holds librdkafka's settings, `bootstrap.servers` at least; `partitions` is P;
    `wait_s` is the patience with a cluster that has not answered yet. Two who apply at once do no
    harm.
    """
    table = tuple(topics)
    with connected(client) as admin:
        missing = [
            step for step in plan_topics(admin, table, partitions, wait_s) if step.kind == "create"
        ]
        names = {step.topic for step in missing}
        _create(
            admin, [topic for topic in table if topic.name in names], partitions, replication_factor
        )
        _await_leaders(admin, table)
        # Planned anew, because somebody else may have created them meanwhile, and otherwise.
        return missing + plan_topics(admin, table, partitions, LEADERS_MAX_S)


def _create(
    admin: AdminClient, topics: Sequence[Topic], partitions: int, replication_factor: int
) -> None:
    if not topics:
        return
    wanted = [
        NewTopic(
            topic.name,
            num_partitions=count_of(topic, partitions),
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
    """Partitions whose leader does not answer yet. The metadata alone names leaders that do not
    serve: what is written to one of those can be acknowledged, without an offset, and be lost."""
    there = admin.list_topics(timeout=LEADERS_MAX_S).topics
    # A topic that was created a moment ago may not stand in the metadata yet.
    waiting = [topic.name for topic in table if topic.name not in there]
    asked = admin.list_offsets(
        {
            TopicPartition(topic.name, number): OffsetSpec.latest()  # type: ignore[no-untyped-call]  # theirs
            for topic in table
            if topic.name in there
            for number in there[topic.name].partitions
        },
        request_timeout=WAIT_S,
    )
    for partition, answer in asked.items():
        try:
            answer.result()
        except KafkaException:
            waiting.append(f"{partition.topic}/{partition.partition}")
    return waiting


def main(arguments: list[str] | None = None) -> int:
    """`python -m infra.topics plan|apply [--bootstrap B] [--config F] [--fleet D] [--json]`.

    0 with the steps that are to be done, or were done and still differ; 1 with a sentence.
    """
    parser = argparse.ArgumentParser(prog="python -m infra.topics", description=__doc__)
    parser.add_argument("action", choices=["apply", "plan"])
    take_flags(parser)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        settings = settings_by(given)
        client = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
        table = topics_under(settings.prefix)
        if given.action == "plan":
            with connected(client) as admin:
                steps = plan_topics(admin, table, settings.partitions)
        else:
            steps = apply_topics(
                client, table, settings.partitions, replication_factor=settings.replication
            )
    except (BadSettings, TopicsError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    lines = [json.dumps(asdict(step)) if given.json else f"{step.kind} {step}" for step in steps]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
