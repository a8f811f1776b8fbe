"""Chooses where tests find their broker: a local process, or a container when asked for.

A container is used when TURBINE_TEST_ENGINE=docker is set and a Docker engine answers.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from infra.kafka.broker import start_broker
from infra.kafka.directory import HOST, SETTINGS, free_port
from infra.kafka.distribution import kafka_version

ENGINE_VARIABLE = "TURBINE_TEST_ENGINE"
IMAGE = "apache/kafka"
CONTROLLER_PORT = 9093
# Pulling the image is not counted in it.
CONTAINER_START_MAX_S = 60


def broker_for_tests(
    directory: Path, environment: Mapping[str, str] = os.environ
) -> tuple[str, Callable[[], None]]:
    """A broker that answers: its bootstrap address, and what ends it."""
    if environment.get(ENGINE_VARIABLE) == "docker" and docker_answers(environment):
        return _start_container()
    broker = start_broker(directory)
    return broker.bootstrap, broker.stop


def docker_answers(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a Docker engine is there to be used."""
    try:
        # They come with the extra "dev" only, and without types.
        import docker  # type: ignore[import-untyped]  # noqa: PLC0415 - only where an engine may be
        from docker.errors import DockerException  # type: ignore[import-untyped]  # noqa: PLC0415 - the same
    except ImportError:
        return False
    try:
        client = docker.from_env(timeout=5, environment=environment)
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except (DockerException, OSError):
        return False
    finally:
        client.close()


def container_environment(listen: str, advertised: str) -> dict[str, str]:
    """The image's variables for the settings that the local broker has."""
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@localhost:{CONTROLLER_PORT}",
        "listeners": f"PLAINTEXT://{listen},CONTROLLER://localhost:{CONTROLLER_PORT}",
        "advertised.listeners": f"PLAINTEXT://{advertised}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": "/var/lib/kafka/data",
        **SETTINGS,
    }
    return {"KAFKA_" + key.upper().replace(".", "_"): value for key, value in settings.items()}


def _start_container() -> tuple[str, Callable[[], None]]:
    # Not testcontainers' KafkaContainer: its start script is that of another vendor's image.
    # So the port is chosen before the start, because the broker must advertise it.
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415 - a tool of the tests
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy  # noqa: PLC0415 - the same

    port = free_port()
    container = DockerContainer(f"{IMAGE}:{kafka_version()}").with_bind_ports(port, port)
    for key, value in container_environment(f"0.0.0.0:{port}", f"{HOST}:{port}").items():
        container.with_env(key, value)
    started = LogMessageWaitStrategy("Kafka Server started")
    container.waiting_for(started.with_startup_timeout(CONTAINER_START_MAX_S))
    container.start()
    return f"{HOST}:{port}", container.stop
