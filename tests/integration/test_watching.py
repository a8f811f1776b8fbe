"""The exporter on a real log: scraped once, it says what the log says."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from infra.kafka.directory import free_port
from infra.waiting import until
from tests.conftest import WAIT_S, Fleet
from tests.unit.turbine.promql import Store
from turbine.exporter.catalogue import OF_FLEET
from turbine.read.sources.log import Log
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
    found: list[str] = []

    def read() -> bool:
        assert process.poll() is None, "the exporter has ended"
        with suppress(urllib.error.URLError, ConnectionError):
            url = f"http://127.0.0.1:{port}/metrics"
            with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
                found.append(answer.read().decode())
        return bool(found)

    until(read, "the exporter is ready", pause_s=0.1)
    return found[0]


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
