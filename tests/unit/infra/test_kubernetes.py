"""The manifests of infra/kubernetes parse, fit together, and start what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.turbine.test_runbooks import wrong
from turbine.ops.container import _parser, capacity_of
from turbine.ops.container import main as container
from turbine.ops.members import DECIDERS
from turbine.serve import check_names
from turbine.serve import main as serve
from turbine_client.settings import Settings, load_settings

ROOT = Path(__file__).parents[3] / "infra" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((ROOT / "kustomization.yaml").read_text())
RESOURCES = {
    f"{one['kind']}/{one['metadata']['name']}": one
    for name in KUSTOMIZATION["resources"]
    for one in yaml.safe_load_all((ROOT / name).read_text())
}


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in RESOURCES.items():
        if "template" in one.get("spec", {}):
            yield name, one


PODS = dict(pods())


def program(one: dict[str, Any]) -> dict[str, Any]:
    [found] = one["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_every_file_is_applied() -> None:
    files = {path.name for path in ROOT.glob("*.yaml")} - {"kustomization.yaml"}
    assert files == set(KUSTOMIZATION["resources"])


def test_whatever_a_fleet_of_one_machine_has_is_there() -> None:
    started = {
        word for one in PODS.values() for word in program(one)["command"] if isinstance(word, str)
    }
    assert {name for member in DECIDERS for name in member.components} <= started
    assert {"turbine.ops.container", "exporter"} <= started


@pytest.mark.parametrize("name", PODS)
def test_its_command_is_one_that_there_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(word) for word in program(PODS[name])["command"]]
    assert command[0] == "python"
    module = command[command.index("-m") + 1]
    assert find_spec(module) is not None
    words = command[command.index(module) + 1 :]
    options = {word for word in words if word.startswith("--")}
    if module == "turbine":
        assert wrong(" ".join(["turbine", *words])) == ""
        return
    if module == "turbine.ops.container":
        given = _parser().parse_args(words)
        assert capacity_of(given.capacity)
        assert find_spec(given.engine) is not None
    else:
        check_names([word for word in words[: words.index("--metrics-port")] if word[0].isalpha()
                     and words[words.index(word) - 1] != "--instance"])  # fmt: skip
    with pytest.raises(SystemExit):
        (container if module == "turbine.ops.container" else serve)(["--help"])
    told = capsys.readouterr().out
    assert {one for one in options if one not in told} == set()


@pytest.mark.parametrize("name", PODS)
def test_its_image_is_the_variable_and_its_resources_are_set(name: str) -> None:
    [image] = KUSTOMIZATION["images"]
    one = program(PODS[name])
    assert one["image"] == image["name"]
    assert image["newTag"] not in ("", "latest")
    assert set(one["resources"]["requests"]) == {"cpu", "memory"}
    assert "memory" in one["resources"]["limits"]


@pytest.mark.parametrize("name", [name for name in PODS if not name.startswith("Job/")])
def test_it_is_probed_and_scraped_where_it_serves_metrics(name: str) -> None:
    spec, one = PODS[name]["spec"]["template"], program(PODS[name])
    words = [str(word) for word in one["command"]]
    port = words[words.index("--metrics-port") + 1]
    ports = {one["name"]: str(one["containerPort"]) for one in one["ports"]}
    assert ports.pop("metrics") == port
    if "--logs-port" in words:
        assert ports.pop("lines") == words[words.index("--logs-port") + 1]
    assert ports == {}
    assert one["livenessProbe"]["httpGet"]["port"] == "metrics"
    assert spec["metadata"]["annotations"]["prometheus.io/port"] == port
    # Who probes is not in the pod: it reaches no loopback.
    assert words[words.index("--metrics-host") + 1] == "0.0.0.0"  # noqa: S104 - in a pod


def test_containers_answer_for_lines_at_an_address_that_the_api_can_reach() -> None:
    one = program(PODS["StatefulSet/container"])
    words = [str(word) for word in one["command"]]
    assert words[words.index("--logs-host") + 1] == "$(POD_IP)"
    found = next(variable for variable in one["env"] if variable["name"] == "POD_IP")
    assert found["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}


@pytest.mark.parametrize("name", PODS)
def test_what_it_refers_to_is_there(name: str) -> None:
    spec, one = PODS[name]["spec"], program(PODS[name])
    for source in one["envFrom"]:
        assert f"ConfigMap/{source['configMapRef']['name']}" in RESOURCES
    known = {variable["name"] for variable in one.get("env", ())}
    assert set(re.findall(r"\$\((\w+)\)", str(one["command"]))) <= known
    labels = spec["template"]["metadata"]["labels"]
    assert spec.get("selector", {}).get("matchLabels", labels) == labels
    if "serviceName" in spec:
        service = RESOURCES[f"Service/{spec['serviceName']}"]["spec"]
        assert service["selector"] == labels
        assert [port["targetPort"] for port in service["ports"]] == ["metrics"]
    volumes = {one["name"] for one in spec["template"]["spec"].get("volumes", ())}
    volumes |= {one["metadata"]["name"] for one in spec.get("volumeClaimTemplates", ())}
    assert {mount["name"] for mount in one.get("volumeMounts", ())} == volumes


def test_its_settings_are_settings() -> None:
    given = RESOURCES["ConfigMap/turbine"]["data"]
    settings = load_settings(environment=given, path=None)
    assert set(settings.origins.values()) == set(given)
    assert settings.bootstrap != Settings().bootstrap
    mounts = {mount["mountPath"] for one in PODS.values()
              for mount in program(one).get("volumeMounts", ())}  # fmt: skip
    assert mounts == {str(settings.directory)}
