"""The API over a real broker: a change by POST is seen in GET and on the stream; a clean end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from infra.waiting import until as wait
from tests.conftest import WAIT_S, Fleet
from tests.unit.turbine.lines import Ended, run
from turbine.ops.members import ADDRESS

CONFIG = {
    "operator": "api.api:run",
    "inputs": [{"topic": "api"}],
    "package": {"name": "api", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
}


@dataclass(slots=True)
class Server:
    """A dashboard of its own, over the fleet of all tests."""

    port: int
    token: str
    settings: Path
    heard: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, target: str, body: Any = None) -> tuple[int, Any]:
        """One request."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        text = None if body is None else json.dumps(body)
        connection.request(method, f"/api/v1{target}", text, headers)
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read())
        connection.close()
        return found

    def listen(self) -> threading.Event:
        """Hears the stream in a thread; set once it is heard."""
        begun = threading.Event()

        def run() -> None:
            connection = HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
            connection.request("GET", "/api/v1/stream?topics=decision,alert")
            answer = connection.getresponse()
            try:
                while line := answer.readline():
                    begun.set()
                    if line.startswith(b"data: "):
                        self.heard.append(json.loads(line[6:]))
            except (OSError, ValueError):
                return  # the server has ended

        threading.Thread(target=run, daemon=True).start()
        return begun


@pytest.fixture(scope="module")
def server(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Ended by the signal that its user would send."""
    directory = tmp_path_factory.mktemp("dashboard")
    settings = directory / "turbine.toml"
    settings.write_text(f'bootstrap = "{fleet.bootstrap}"\ndirectory = "{directory}"\n')
    command = [sys.executable, "-P", "-m", "turbine", "--config", str(settings)]
    process = subprocess.Popen([*command, "dashboard", "--port", "0"], stdout=subprocess.PIPE)
    try:
        yield found(process, directory, settings)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 0
        assert not (directory / ADDRESS).exists()


def found(process: subprocess.Popen[bytes], directory: Path, settings: Path) -> Server:
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip()
    assert url.startswith("http://127.0.0.1:"), url
    token = directory / "api-token"
    assert token.stat().st_mode & 0o777 == 0o600
    assert json.loads((directory / ADDRESS).read_text())["url"] == url
    return Server(int(url.rpartition(":")[2]), token.read_text(), settings)


def until(server: Server, target: str, holds: Any) -> Any:
    """The answer once it is as it should be."""
    answers: list[tuple[int, Any]] = []

    def answered() -> bool:
        status, told = server.ask("GET", target)
        answers[:] = [(status, told)]
        return status == 200 and bool(holds(told))

    wait(answered, lambda: f"{target}: {answers}", pause_s=0.05)
    return answers[0][1]


@pytest.mark.broker
def test_a_change_is_planned_applied_read_and_heard(server: Server) -> None:
    assert server.listen().wait(WAIT_S)
    asked = {"job": "of-api", "set": CONFIG, "reason": "try", "create": True}
    status, plan = server.ask("POST", "/changes", asked | {"dry_run": True})
    assert (status, plan["verdict"], plan["version"]) == (200, "accepted", 1)
    status, told = server.ask("POST", f"/plans/{plan['plan']}/apply", {"wait_s": 120})
    assert (status, told["verdict"], told["version"]) == (200, "accepted", 1), told
    job = until(server, "/jobs/of-api", lambda told: told["alive"])
    assert job["expected"]["package"] == CONFIG["package"]
    heard = server.heard
    wait(lambda: any(one["id"] == told["decision_id"] for one in heard), lambda: f"in {heard}")
    status, why = server.ask("GET", f"/decisions/{told['decision_id']}")
    assert (status, why["request"]["change_id"]) == (200, told["change_id"])
    status, before = server.ask("GET", f"/jobs/of-api?at={plan['base']}")
    assert (status, before["place"]) == (404, "path.job")


@pytest.mark.broker
def test_a_change_that_is_refused_is_a_problem(server: Server) -> None:
    asked = {"job": "of-api-2", "set": CONFIG, "expected_version": 7, "create": True}
    status, told = server.ask("POST", "/changes", asked)
    assert (status, told["type"]) == (409, "urn:turbine:problem:rejected-stale")
    status, told = server.ask("POST", "/jobs/of-api-2/pause", {"reason": "r"})
    assert (status, told["place"]) == (404, "path.job")


# --- the command line


def asked(server: Server, *line: str) -> Ended:
    """By the API: it would be told if it had not been."""
    return run("--config", str(server.settings), "--verbose", *line)


def folded(server: Server, *line: str) -> Ended:
    return run("--config", str(server.settings), "--from-log", *line)


@pytest.mark.broker
def test_who_changes_something_sees_it_at_once(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    for version in range(1, 6):
        file.write_text(json.dumps(CONFIG | {"job": "of-lines", "tasks": version}))
        assert asked(server, "apply", "-f", str(file)).code == 0
        ended = asked(server, "get", "jobs", "of-lines", "-o", "json")
        assert (ended.code, ended.err) == (0, "")
        [row] = json.loads(ended.out)
        assert (row["versions"]["base"], row["expected"]["tasks"]) == (version, version)


@pytest.mark.broker
@pytest.mark.parametrize(
    "line",
    [
        "get jobs",
        "get jobs -o json",
        "get jobs nope",
        "get tasks",
        "get syncs -o yaml",
        "get containers",
        "describe job of-lines",
        "why of-lines",
        "diff job of-lines --running",
        "log tail --topic journal",
    ],
)
def test_the_api_and_the_log_say_the_same(server: Server, line: str) -> None:
    """While nothing happens in between, which is seen by asking twice."""
    words = line.split()
    for _ in range(20):
        before, there, after = (
            asked(server, *words),
            folded(server, *words),
            asked(server, *words),
        )
        if before == after:
            break
    assert before == there == after
    assert there.out or there.code
