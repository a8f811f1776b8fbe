"""A local broker keeps its promises, from first start to kill -9, and so do topics made on it."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicMetadata,
)

from components.runtime.kafka.topics import TopicsError, TopicStep, verify_topics
from events.topics import TOPICS, Topic
from infra.kafka.broker import Broker, find_broker, start_broker, temporary_broker
from infra.kafka.directory import Ports, holder, write_ports
from infra.kafka.engine import broker_for_tests
from infra.kafka.errors import BrokerFailed, BrokerInUse
from infra.kafka.kept import keep_broker, kept_broker, kept_status, stop_kept, wipe
from infra.topics import apply_topics
from infra.waiting import until, within

pytestmark = pytest.mark.broker

StartFresh = Callable[..., Broker]

WAIT_S = within(60.0)
QUICK = {"linger.ms": 0, "reconnect.backoff.max.ms": 200, "log_level": 0}


def create(bootstrap: str, topic: str, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(WAIT_S)


def metadata(bootstrap: str) -> dict[str, TopicMetadata]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    return admin.list_topics(timeout=WAIT_S).topics


def say(bootstrap: str, topic: str, value: str) -> None:
    """Produce one record; an acknowledgement or a failed test."""
    refused: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", **QUICK})
    producer.produce(topic, value.encode(), on_delivery=lambda error, _: refused.append(error))
    assert producer.flush(WAIT_S) == 0
    assert refused == [None]


def hear(bootstrap: str, topic: str, count: int) -> list[str]:
    """The first `count` values of partition 0, read from its beginning."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False, **QUICK}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [text(message) for message in consumer.consume(count, timeout=WAIT_S)]
    finally:
        consumer.close()


def text(message: Message) -> str:
    assert message.error() is None
    return (message.value() or b"").decode()


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def run_python(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_a_message_comes_back(broker: SimpleNamespace) -> None:
    create(broker.bootstrap, "there-and-back")
    say(broker.bootstrap, "there-and-back", "hello")
    assert hear(broker.bootstrap, "there-and-back", 1) == ["hello"]


def test_a_misspelt_topic_is_not_created(broker: SimpleNamespace) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    asked = admin.list_topics("mispelt", timeout=WAIT_S).topics["mispelt"]
    assert asked.error is not None
    assert "mispelt" not in metadata(broker.bootstrap)


def test_a_group_of_the_new_protocol_reads(broker: SimpleNamespace) -> None:
    """It reads nothing, in silence, where a directory was formatted without feature levels."""
    create(broker.bootstrap, "new-protocol")
    say(broker.bootstrap, "new-protocol", "read me")
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "new-protocol",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["new-protocol"])
    try:
        assert [text(one) for one in consumer.consume(1, timeout=WAIT_S)] == ["read me"]
    finally:
        consumer.close()


def test_a_transaction_commits_on_one_broker(broker: SimpleNamespace) -> None:
    create(broker.bootstrap, "transactional")
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "one"})
    producer.init_transactions(WAIT_S)
    producer.begin_transaction()
    producer.produce("transactional", b"committed")
    producer.commit_transaction(WAIT_S)
    assert hear(broker.bootstrap, "transactional", 1) == ["committed"]


def test_a_start_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    running = start_broker(tmp_path)
    running.stop()
    assert capfd.readouterr() == ("", "")


def test_stop_leaves_no_process_and_a_restart_keeps_data_and_port(fresh_broker: StartFresh) -> None:
    fresh = fresh_broker()
    bootstrap, pid = fresh.bootstrap, fresh.pid
    create(bootstrap, "kept")
    say(bootstrap, "kept", "before")
    fresh.stop()
    assert (process_exists(pid), fresh.alive(), holder(fresh.directory)) == (False, False, None)

    fresh.start_again()
    assert (fresh.bootstrap, fresh.alive()) == (bootstrap, True)
    say(bootstrap, "kept", "after")
    assert hear(bootstrap, "kept", 2) == ["before", "after"]


def test_what_was_acknowledged_survives_kill_9(fresh_broker: StartFresh) -> None:
    fresh = fresh_broker()
    bootstrap, pid = fresh.bootstrap, fresh.pid
    create(bootstrap, "kept")
    say(bootstrap, "kept", "before")
    fresh.kill()
    assert not process_exists(pid)

    fresh.start_again()
    assert fresh.bootstrap == bootstrap
    assert hear(bootstrap, "kept", 1) == ["before"]


def test_a_broker_that_does_not_listen_is_killed_at_the_deadline(fresh_broker: StartFresh) -> None:
    fresh = fresh_broker()
    os.kill(fresh.pid, signal.SIGSTOP)
    fresh.stop(timeout=0.1)
    assert not process_exists(fresh.pid)


def test_two_brokers_live_side_by_side(broker: SimpleNamespace, fresh_broker: StartFresh) -> None:
    other = fresh_broker()
    assert broker.bootstrap != other.bootstrap
    create(broker.bootstrap, "only-here")
    assert "only-here" not in metadata(other.bootstrap)


def test_a_second_start_is_refused_and_does_the_first_no_harm(fresh_broker: StartFresh) -> None:
    fresh = fresh_broker()
    with pytest.raises(BrokerInUse) as refused:
        start_broker(fresh.directory)
    assert str(refused.value) == (
        f"A broker (process {fresh.pid}) already lives in {fresh.directory}: "
        "use it, stop it first, or name another directory."
    )
    # The first sign of a metadata log with two writers: topics cannot be created any more.
    create(fresh.bootstrap, "still-writable")
    say(fresh.bootstrap, "still-writable", "yes")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BrokerFailed, match=f"Port {port} of 127.0.0.1, .* another program"):
            start_broker(tmp_path, port=port)
        # A remembered port is not replaced either: clients look for the broker there.
        write_ports(tmp_path, Ports(port, port + 1))
        with pytest.raises(BrokerFailed, match=f"Port {port} "):
            start_broker(tmp_path)


def test_a_lost_controller_port_is_replaced(fresh_broker: StartFresh) -> None:
    """Clients know the broker's port only; the controller's may change between lives."""
    fresh = fresh_broker()
    bootstrap = fresh.bootstrap
    fresh.stop()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        write_ports(
            fresh.directory, Ports(int(bootstrap.partition(":")[2]), taken.getsockname()[1])
        )
        fresh.start_again()
    assert fresh.bootstrap == bootstrap
    create(bootstrap, "new")


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(BrokerFailed) as failed:
        start_broker(tmp_path, extra={"num.io.threads": "none"})
    sentence = str(failed.value)
    assert sentence.startswith(f"The broker in {tmp_path} ended with 1 before it answered: ")
    assert "num.io.threads" in sentence
    assert sentence.endswith(f"see {tmp_path / 'broker.log'}.")
    assert holder(tmp_path) is None


def test_a_start_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(BrokerFailed, match=r"did not answer within 0\.1 s"):
        start_broker(tmp_path, wait_s=0.1)
    assert holder(tmp_path) is None


def test_a_broker_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[Broker] = []
    thread = threading.Thread(target=lambda: started.append(start_broker(tmp_path)))
    thread.start()
    thread.join()
    create(started[0].bootstrap, "after-the-thread")
    started[0].stop()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux's")
def test_a_broker_dies_with_a_killed_parent(tmp_path: Path) -> None:
    parent = run_python(
        "import sys, time; from pathlib import Path\n"
        "from infra.kafka.broker import start_broker\n"
        "print(start_broker(Path(sys.argv[1])).pid, flush=True); time.sleep(600)",
        str(tmp_path),
    )
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        assert holder(tmp_path) == pid
        parent.kill()
    until(lambda: holder(tmp_path) is None, "nobody holds it")


def test_a_kept_broker_outlives_its_command_and_is_stopped_by_another(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    command = run_python(
        "import sys; from pathlib import Path\n"
        "from infra.kafka.kept import keep_broker\n"
        "print(keep_broker(Path(sys.argv[1])).bootstrap)",
        str(place),
    )
    bootstrap = command.communicate()[0].strip()
    try:
        found = kept_broker(place)
        assert found is not None
        assert found.bootstrap == bootstrap
        # Its own session: the hang-up of a closed terminal does not reach it.
        assert os.getsid(found.pid) == found.pid
        status = kept_status(place)
        assert (status.pid, status.bootstrap, status.answers) == (found.pid, bootstrap, True)
        # A fresh broker costs a few hundred KB, and its sparse index files are not counted.
        assert 0 < status.data_bytes < 1_000_000
        create(bootstrap, "kept")
        with pytest.raises(BrokerInUse, match="already lives in"):
            keep_broker(place)
        with pytest.raises(BrokerInUse, match="stop it before its data is deleted"):
            wipe(place)
        found.stop()
        assert kept_broker(place) is None
        found.start_again()
        assert "kept" in metadata(bootstrap)
    finally:
        assert stop_kept(place)
    assert kept_broker(place) is None
    assert not kept_status(place).answers
    assert not stop_kept(place)
    assert wipe(place)
    assert [path.name for path in place.iterdir()] == ["lock"]
    assert not wipe(place)


def test_a_temporary_broker_leaves_nothing() -> None:
    with temporary_broker({"num.partitions": "3"}) as running:
        assert "num.partitions=3" in (running.directory / "server.properties").read_text()
    assert not running.directory.exists()
    assert not process_exists(running.pid)


def test_tests_that_ask_for_docker_where_none_is_get_a_process(tmp_path: Path) -> None:
    nowhere = {"TURBINE_TEST_ENGINE": "docker", "DOCKER_HOST": f"unix://{tmp_path}/none"}
    bootstrap, stop = broker_for_tests(tmp_path, nowhere)
    create(bootstrap, "anywhere")
    assert find_broker(tmp_path) is not None
    stop()


def named(name: str, partitions: int | None = None, **config: str) -> Topic:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    return Topic(name, name, "job", True, partitions, "a test", (), "facts", settings, "A test's.")


def client(broker: SimpleNamespace) -> dict[str, str]:
    return {"bootstrap.servers": broker.bootstrap}


def alter(bootstrap: str, topic: str, key: str, value: str) -> None:
    entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(WAIT_S)


def test_the_whole_table_is_created_verified_and_created_once(broker: SimpleNamespace) -> None:
    done = apply_topics(client(broker), TOPICS, 16)
    assert [(step.kind, step.topic) for step in done] == [("create", one.name) for one in TOPICS]
    verify_topics(client(broker), TOPICS, 16)
    assert apply_topics(client(broker), TOPICS, 16) == []
    # Creation returns when every partition can be written, not when it is merely known.
    there = metadata(broker.bootstrap)
    partitions = [part for one in TOPICS for part in there[one.name].partitions.values()]
    assert all(part.leader >= 0 for part in partitions)
    assert len(partitions) == sum(16 if one.partitions is None else 1 for one in TOPICS)


def test_a_changed_retention_is_found(broker: SimpleNamespace) -> None:
    table = [named("retention", 1, retention_ms="-1"), named("untouched", 1, retention_ms="-1")]
    apply_topics(client(broker), table)
    alter(broker.bootstrap, "retention", "retention.ms", "3600000")
    differs = TopicStep("differs", "retention", "retention.ms", "-1", "3600000")
    assert apply_topics(client(broker), table) == [differs]
    with pytest.raises(TopicsError) as found:
        verify_topics(client(broker), table)
    assert found.value.steps == (differs,)
    assert str(found.value) == (
        f"The topics at {broker.bootstrap} are not as they must be: "
        "retention: retention.ms should be -1 and is 3600000. "
        "Remedy: set the configs back (kafka-configs.sh --alter)."
    )


def test_all_differences_stand_in_one_sentence(broker: SimpleNamespace) -> None:
    made = named("several", 2, cleanup_policy="compact", message_timestamp_type="CreateTime")
    apply_topics(client(broker), [made])
    wanted = named(
        "several",
        None,
        cleanup_policy="delete",
        message_timestamp_type="LogAppendTime",
        max_message_bytes="1000",
    )
    with pytest.raises(TopicsError) as found:
        verify_topics(client(broker), [wanted, named("absent")], 3)
    assert [(step.kind, step.topic, step.what) for step in found.value.steps] == [
        ("differs", "several", "partitions"),
        ("differs", "several", "cleanup.policy"),
        ("differs", "several", "message.timestamp.type"),
        ("differs", "several", "max.message.bytes"),
        ("create", "absent", "partitions"),
    ]
    for part in ("should be 3 and is 2", "absent: partitions should be 3 and is missing"):
        assert part in str(found.value)
    for remedy in ("create what is missing", "kafka-configs.sh", "the number of partitions"):
        assert remedy in str(found.value)


def test_a_refused_creation_names_topic_and_reason(broker: SimpleNamespace) -> None:
    with pytest.raises(TopicsError, match=r"refuses to create 1 of 1 .*too-many: INVALID_REPL"):
        apply_topics(client(broker), [named("too-many", 1)], replication_factor=3)
    with pytest.raises(TopicsError, match=r"misnamed: INVALID_CONFIG"):
        apply_topics(client(broker), [named("misnamed", 1, no_such_config="1")])
