"""The [kafka] table reaches every client: a login, rights, names; a wrong one gives a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from components.runtime.kafka.clients import partitions_of
from events.topics import TOPICS, partition_of, place
from infra.kafka.broker import start_broker
from infra.kafka.directory import HOST, free_port
from infra.topics import apply_topics
from infra.waiting import WAIT_S, until, within
from tests.integration.changes import SMALLEST
from tests.integration.processes import PARTITIONS, Fleet
from turbine import Accepted, Publisher
from turbine.failures import Code
from turbine_client.clients import admin, consumer, producer
from turbine_client.errors import LoginRefused
from turbine_client.reading import LogUnreadable, read_span
from turbine_client.settings import BadSettings, Settings, load_settings

pytestmark = pytest.mark.broker

SECRET = "correct-horse"  # noqa: S105 - of a broker that lives for a minute
WRONG = {"TURBINE_KAFKA__SASL_PASSWORD": "wrong-horse"}
MECHANISM = "SCRAM-SHA-256"
ALL, READ, WRITE = AclOperation.ALL, AclOperation.READ, AclOperation.WRITE
DESCRIBE, DESCRIBE_CONFIGS = AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
TRANSACTIONS = ResourceType.TRANSACTIONAL_ID
LOOK = ((TOPIC, "turbine.", DESCRIBE), (TOPIC, "turbine.", DESCRIBE_CONFIGS))
# Who may do what, all of it by prefix.
RIGHTS = {
    "component": ((TOPIC, "turbine.", ALL), (GROUP, "turbine-", READ), (TRANSACTIONS, "t", ALL)),
    "author": (
        (TOPIC, "turbine.", DESCRIBE),
        (TOPIC, "turbine.changes.base.", WRITE),
        (TOPIC, "turbine.outcomes.", READ),
    ),
    "visitor": LOOK,
    "reporter": (*LOOK, (TOPIC, "turbine.tasks.", WRITE)),
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A broker with two doors: a login at one, and everything allowed to who comes by the other."""
    directory = tmp_path_factory.mktemp("login")
    plain, sasl, controller = free_port(), free_port(), free_port()
    doors = {
        "listeners": f"PLAINTEXT://{HOST}:{plain},SASL://{HOST}:{sasl},"
        f"CONTROLLER://{HOST}:{controller}",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "SASL:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": MECHANISM,
        "listener.name.sasl.scram-sha-256.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "false",
    }
    fleet = Fleet(start_broker(directory / "broker", port=plain, extra=doors), directory)
    try:
        apply_topics({"bootstrap.servers": fleet.broker.bootstrap}, TOPICS, PARTITIONS)
        _let_in(admin(fleet.settings))
        fleet.address = f"{HOST}:{sasl}"
        yield fleet
    finally:
        fleet.close()


def _let_in(client: AdminClient) -> None:
    for user in RIGHTS:
        credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        asked = UserScramCredentialUpsertion(user, credential, SECRET.encode())
        client.alter_user_scram_credentials([asked])[user].result(within(WAIT_S))
    prefixed, allow = ResourcePatternType.PREFIXED, AclPermissionType.ALLOW
    bindings = [
        AclBinding(kind, prefix, prefixed, f"User:{user}", "*", operation, allow)
        for user, rights in RIGHTS.items()
        for kind, prefix, operation in rights
    ]
    for made in client.create_acls(bindings).values():
        made.result(within(WAIT_S))


def file_of(fleet: Fleet, user: str, **more: str) -> Path:
    """A settings' file with the login of that user."""
    path = fleet.directory / f"{user}.toml"
    keys = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": MECHANISM,
        "sasl.username": user,
        "sasl.password": SECRET,
    } | {key.replace("_", "."): value for key, value in more.items()}
    lines = [f'"{key}" = "{value}"' for key, value in keys.items()]
    path.write_text("\n".join([f'bootstrap = "{fleet.address}"', "[kafka]", *lines]) + "\n")
    return path


def as_user(fleet: Fleet, user: str, **more: str) -> Settings:
    return load_settings(path=file_of(fleet, user, **more), environment={})


@pytest.fixture(scope="module")
def running(fleet: Fleet) -> Fleet:
    """All components, with a login from a settings' file."""
    config = str(file_of(fleet, "component", client_id="ours"))
    fleet.start("clock", TURBINE_CONFIG=config)
    fleet.start("publisher", TURBINE_CONFIG=config)
    fleet.worker("w0", TURBINE_CONFIG=config)
    return fleet


def test_components_and_authors_work_with_a_login(running: Fleet) -> None:
    with Publisher(as_user(running, "author"), author="author") as author:
        verdict = author.change("behind-a-login", SMALLEST, create=True)
    assert isinstance(verdict, Accepted)
    assert all(process.alive for process in running.processes)


def test_the_workers_group_knows_the_client_by_its_name(running: Fleet) -> None:
    group, client = "turbine-job-service", admin(running.settings)
    described = client.describe_consumer_groups([group])[group].result(within(WAIT_S))
    assert [member.client_id for member in described.members] == ["ours"]
    assert [member.group_instance_id[:3] for member in described.members] == ["w0-"]


@pytest.mark.parametrize("name", ["job-service", "publisher", "clock"])
def test_a_wrong_password_gives_a_sentence_and_an_end(fleet: Fleet, name: str) -> None:
    config = str(file_of(fleet, "component"))
    process = fleet.start(name, TURBINE_CONFIG=config, **WRONG)
    assert process.ends() == Code.USAGE
    [sentence] = process.text().splitlines()
    assert sentence.startswith(f"turbine: the broker at {fleet.address} refuses the login (")
    assert sentence.endswith("correct security.protocol, sasl.* and ssl.* of the [kafka] settings")
    assert "wrong-horse" not in sentence


def test_an_authors_wrong_password_is_an_exception(fleet: Fleet) -> None:
    with pytest.raises(LoginRefused, match="refuses the login"):
        Publisher(load_settings(path=file_of(fleet, "author"), environment=WRONG))


@pytest.mark.parametrize("user", ["visitor", "reporter"])
def test_who_may_look_and_not_write_ends_with_a_sentence(fleet: Fleet, user: str) -> None:
    """A clock forgets ticks that came too late, and must not forget that none is taken: not where
    the client is lost at once (the visitor writes nowhere), nor where each write is refused."""
    process = fleet.start("clock", TURBINE_CONFIG=str(file_of(fleet, user)))
    assert process.ends() == 71
    assert process.why().endswith("authorization failed")


def test_who_may_not_read_is_told_so(running: Fleet) -> None:
    at = place("journal.v1", partition_of("behind-a-login", PARTITIONS))
    with pytest.raises(LogUnreadable, match=f"{at}: .*authorization failed"):
        list(read_span(as_user(running, "author"), {at: (0, None)}))


def test_any_key_of_librdkafka_reaches_every_client(fleet: Fleet) -> None:
    """Each tells of itself in its statistics."""
    settings = Settings(
        bootstrap=fleet.broker.bootstrap,
        kafka={"client.id": "mine", "statistics.interval.ms": "50"},
    )
    for make in (producer, consumer):
        heard: list[dict[str, object]] = []
        client = make(settings, stats_cb=lambda text, heard=heard: heard.append(json.loads(text)))
        until(lambda client=client, heard=heard: client.poll(0.05) or heard, "statistics")
        assert heard[0]["client_id"] == "mine"
    assert partitions_of(settings)["journal.v1"] == PARTITIONS


@pytest.mark.parametrize("make", [producer, consumer, admin])
def test_a_key_that_librdkafka_does_not_know_is_told(make: Callable[[Settings], object]) -> None:
    with pytest.raises(BadSettings, match=r'No such configuration property: "sasl\.pasword"'):
        make(Settings(kafka={"sasl.pasword": "x"}))


def test_no_broker_is_one_sentence_for_all(fleet: Fleet) -> None:
    nobody = f"{HOST}:{free_port()}"
    started = [
        fleet.start(name, TURBINE_BOOTSTRAP=nobody)
        for name in ("job-service", "publisher", "clock")
    ]
    for process in started:
        assert process.ends() == Code.FAILED
        [sentence] = process.text().splitlines()
        assert sentence.startswith(f"turbine: no broker answers at {nobody} (")
        assert sentence.endswith("`turbine broker start`, or set TURBINE_BOOTSTRAP")
