"""The exporter's own answers: figures once the log is read, and what a supervisor asks for."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from components.runtime.process import metrics
from tests.unit.turbine.lines import run
from tests.unit.turbine.watched import Told, good
from turbine.exporter.exporter import app_of, listen
from turbine.exporter.families import Beside, MetricOptions
from turbine.failures import Code
from turbine.read.state.tally import Tally
from turbine.serve import main as serve
from turbine_client.settings import BadSettings


@pytest.fixture
def ready() -> list[bool]:
    """Empty while the log is read for the first time."""
    return []


@pytest.fixture
def address(ready: list[bool]) -> Iterator[str]:
    """An exporter of a fleet that was made by hand."""
    registry = CollectorRegistry()
    registry.register(Told(good(), Tally(), Beside("1.2.3"), MetricOptions()))
    server = listen(app_of(registry, lambda: bool(ready)), "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - our own
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_figures_are_served_once_the_log_is_read(address: str, ready: list[bool]) -> None:
    assert get(f"{address}/metrics") == (503, "the log is read; ask again\n")
    assert get(f"{address}/readyz")[0] == 503
    assert get(f"{address}/livez") == (200, "it lives\n")
    ready.append(True)
    code, text = get(f"{address}/metrics")
    assert code == 200
    assert 'turbine_jobs{phase="running"} 3.0' in text
    assert get(f"{address}/readyz")[0] == 200
    assert get(f"{address}/") == (404, "there are /metrics, /livez and /readyz\n")


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = rf"metrics cannot be served on 127\.0\.0\.1:{port} \(.+\); name another port"
        with pytest.raises(BadSettings, match=sentence):
            listen(app_of(CollectorRegistry(), lambda: True), "127.0.0.1", port)
        with pytest.raises(BadSettings, match=sentence):
            metrics.serve(port)


def test_an_address_that_is_not_ours_is_named() -> None:
    with pytest.raises(BadSettings, match=r"cannot be served on 192\.0\.2\.1:9464"):
        metrics.serve(9464, "192.0.2.1")


def test_the_exporter_is_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run("serve", "exporter", "clock")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith("exporter is a process of its own; these can share one: ")
    assert serve(["exporter", "exporter"]) == 2
    assert "exporter is named twice" in capsys.readouterr().err
