"""The exporter on a real log: scraped once, it says what the log says."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from infra.kafka.directory import free_port
from tests.conftest import WAIT_S, Fleet
from tests.unit.turbine.promql import Store
from turbine.log import Log
from turbine.monitoring.catalogue import OF_FLEET
from turbine_client.publish import Accepted, Publisher

pytestmark = pytest.mark.broker

CONFIG = {
    "operator": "watched.watched:run",
    "inputs": [{"topic": "watched"}],
    "package": {"name": "watched", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
}


def scraped(port: int, process: subprocess.Popen[bytes]) -> str:
    """The exposition, as soon as the log has been read."""
    limit_s = time.monotonic() + WAIT_S
    while time.monotonic() < limit_s:
        assert process.poll() is None, "the exporter has ended"
        try:
            url = f"http://127.0.0.1:{port}/metrics"
            with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("the exporter is not ready in time")


def test_an_exporter_tells_what_the_log_says(fleet: Fleet, tmp_path: Path) -> None:
    with Publisher(fleet.settings, author="ana") as publisher:
        told = publisher.change("watched", CONFIG, create=True, wait_s=WAIT_S)
        assert isinstance(told, Accepted), told
    stood = sum(
        one.stands for one in Log(fleet.settings).decisions(job="watched", kinds=frozenset())
    )
    port, settings = free_port(), tmp_path / "turbine.toml"
    settings.write_text(f'bootstrap = "{fleet.bootstrap}"\ndirectory = "{tmp_path}"\n')
    command = [sys.executable, "-m", "turbine.serve", "exporter"]
    more = ["--config", str(settings), "--metrics-port", str(port)]
    process = subprocess.Popen([*command, *more])
    try:
        text = scraped(port, process)
    finally:
        process.terminate()
        assert process.wait(WAIT_S) == 0
    store = Store()
    store.scrape(0, text)
    known = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    assert known == {family.name for family in OF_FLEET}
    decided = store.ask('sum(turbine_decisions_total{component="job-service"})', 0)
    assert isinstance(decided, dict)
    assert decided[frozenset()] >= stood >= 1
    drifting = store.ask('turbine_job_health{job="watched",condition="config_in_effect"} == 0', 0)
    assert drifting, "there is no syncer in this fleet, so it is not in effect"
    for query in ("turbine_clock_timestamp_seconds > 0", "turbine_projection_up == 1"):
        assert store.ask(query, 0), query
