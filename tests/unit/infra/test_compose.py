"""The broker of compose.yaml is the local broker, in a container."""

from pathlib import Path
from typing import Any

import yaml

from infra.kafka.directory import SETTINGS
from infra.kafka.distribution import kafka_version
from infra.kafka.engine import IMAGE, container_environment

COMPOSE = Path(__file__).parents[3] / "compose.yaml"


def service() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]["kafka"]
    return loaded


def test_it_runs_the_version_of_the_pom() -> None:
    assert service()["image"] == f"{IMAGE}:{kafka_version()}"


def test_it_has_the_settings_of_the_local_broker() -> None:
    environment = dict(service()["environment"])
    environment.pop("KAFKA_HEAP_OPTS")
    assert environment == container_environment("0.0.0.0:9092", "localhost:9092")
    # As the image reads it: KAFKA_A_B is a.b.
    read = {
        key.removeprefix("KAFKA_").lower().replace("_", "."): value
        for key, value in environment.items()
    }
    assert {key: read.get(key) for key in SETTINGS} == dict(SETTINGS)


def test_only_this_machine_reaches_it() -> None:
    assert all(port.startswith("127.0.0.1:") for port in service()["ports"])


def test_it_keeps_its_data() -> None:
    kept = dict(volume.split(":", 1) for volume in service()["volumes"])
    assert service()["environment"]["KAFKA_LOG_DIRS"] in kept.values()
