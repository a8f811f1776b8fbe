"""The command line makes, checks, runs and removes an installation, and each step is seen."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.job_service.decide import component as job_service
from components.runtime.kafka.emitter import Emitter
from events.generated.records import JobConfigRejected
from events.topics import JOURNAL
from events.wire.codec import Record, encode
from infra.kafka.broker import Broker, start_broker
from infra.kafka.directory import free_port
from infra.kafka.kept import kept_status
from infra.waiting import until, within
from tests.integration.processes import processes_in
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.ops.fleet import lives, read_state
from turbine_client.clients import producer
from turbine_client.settings import Settings

pytestmark = pytest.mark.broker

WAIT_S = within(60.0)
JOB = """\
job: job
operator: clicks.count:run
inputs: [{topic: clicks}]
package: {name: clicks, version: "1"}
checkpoint: {root: /checkpoints}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)


# --- a log without components


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker, and nothing on it."""
    broker = start_broker(tmp_path_factory.mktemp("bare"))
    yield broker
    broker.stop()


def test_from_no_topics_to_a_forged_decision(bare: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURBINE_BOOTSTRAP", bare.bootstrap)
    monkeypatch.setenv("TURBINE_PARTITIONS", "1")
    for line in ("get jobs", "log tail", "audit", "why 1"):
        ended = run(*line.split())
        assert (ended.code, ended.sentence) == (
            Code.FAILED,
            "the broker has no topic turbine.journal.v1; create it with `turbine topics apply`",
        )
    ended = run("subscribe", "outcomes")
    assert ended.sentence.startswith("the broker has no topic turbine.outcomes.v1; create it")
    served = run("serve", "clock")
    assert served.code == Code.FAILED
    assert served.sentence.startswith(f"The topics at {bare.bootstrap} are not as they must be: ")

    planned = json.loads((ended := run("topics", "plan", "-o", "json")).out)
    assert ended.code == Code.FINDINGS
    assert {step["kind"] for step in planned} == {"create"}
    applied = run("topics", "apply", "-o", "name")
    assert applied.code == Code.OK
    assert applied.out.split() == [step["topic"] for step in planned]
    assert run("topics", "apply").err == "all topics were there already\n"
    assert run("topics", "plan").code == Code.OK
    monkeypatch.setenv("TURBINE_PARTITIONS", "2")
    assert run("topics", "apply").code == Code.FINDINGS

    assert run("get", "jobs").err == "there are no jobs; `turbine apply` makes one\n"
    unknown = run("publish", "change", "nobody", "--set", "tasks=1", "--timeout", "300ms")
    assert unknown.code == Code.TIMEOUT
    [change] = re.findall(r"Ask again with this id: (\S+)$", unknown.out, re.MULTILINE)
    asked = run("why", change)
    assert asked.code == Code.TIMEOUT
    assert "is the job service running?" in asked.out

    forge(Settings(bootstrap=bare.bootstrap))
    audited = run("audit")
    assert audited.code == Code.FINDINGS
    assert audited.out.splitlines()[0] == (
        "journal.v1/0:0 JobConfigRejected forged: said at 1000, which is no tick of the clock"
    )


def forge(settings: Settings) -> None:
    """A decision that no evidence calls for."""
    body = JobConfigRejected("forged", "base", "1.x", "invalid", "no", 0)
    record = Record(
        "forged",
        "forged",
        "JobConfigRejected",
        encode(body),
        body,
        parent="root",
        tick_ms=1000,
        logic=job_service.logic,
        source=job_service.name,
    )
    emitter = Emitter(producer(settings), settings.prefix)
    emitter.say(JOURNAL, 0, record)
    emitter.settle()


# --- what runs on this machine


def start_up() -> subprocess.Popen[str]:
    """`turbine up` as in a terminal: a group of processes of its own, to be ended by a signal."""
    command = [sys.executable, "-m", "turbine", "up", "--engine", "process"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def shards_held() -> int:
    """How many shards run once all of them do."""
    shards: list[dict[str, Any]] = []

    def all_run() -> bool:
        shards[:] = json.loads(run("get", "shards", "-o", "json").out or "[]")
        return bool(shards) and all(one["stage"] == "held" for one in shards)

    until(all_run, "all run")
    return len(shards)


def test_an_installation_from_up_to_down(tmp_path: Path) -> None:
    """On its defaults, and beside another fleet of the machine, which takes a port of its own."""
    home, other = tmp_path / ".turbine", tmp_path / "other"
    Path("job.yaml").write_text(JOB)
    try:
        said = (up := run("up", "--detach")).err.splitlines()
        assert up.code == Code.OK
        assert said[0].startswith("a broker runs at 127.0.0.1:")
        bootstrap = said[0].removeprefix("a broker runs at ")
        assert said[1].endswith(" topics are created")
        assert said[2] == "tier default is created, with 64 shards"
        assert said[3].startswith("Spark is made ready")
        assert said[4].startswith("all components run; ")
        assert said[5].startswith("dashboard and API: http://127.0.0.1:")
        assert run("apply", "-f", "job.yaml", "--timeout", "60s").code == Code.OK
        assert run("get", "jobs", "-o", "name").out == "job\n"
        assert shards_held() == 64
        beside = run("up", "--detach", "--containers", "0", "--fleet", "other").err.splitlines()
        assert beside[0].startswith("a broker runs at 127.0.0.1:")
        assert beside[0] != said[0]
        assert run("get", "jobs", "--fleet", "other", "-o", "name").out == ""
        assert run("get", "jobs", "-o", "name").out == "job\n"
        again = json.loads(run("broker", "start", "-o", "json").out)
        assert (again["started"], again["bootstrap"]) == (False, bootstrap)
        assert json.loads(run("broker", "status", "-o", "json").out)["answers"] is True
        second = run("up")
        assert second.code == Code.FAILED
        assert second.sentence == f"a fleet already runs in {home}; `turbine down` ends it"
        wiped = run("broker", "wipe", "--yes")
        assert wiped.code == Code.FAILED
        assert wiped.sentence.startswith("A broker runs in ")
    finally:
        run("down", "--fleet", "other")
        assert run("down").out == "ended: all components, the broker; the log stays\n"
    for one in (home, other):
        assert nothing_runs(one)
        assert kept_status(one / "broker").pid is None
    assert run("broker", "wipe", "--yes").out == f"the log in {home / 'broker'} is deleted\n"


def test_ctrl_c_ends_all_components_and_leaves_a_broker_that_was_there(
    bare: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("TURBINE_BOOTSTRAP", bare.bootstrap)
    monkeypatch.setenv("TURBINE_DIRECTORY", str(home))
    monkeypatch.setenv("TURBINE_PARTITIONS", "1")
    with start_up() as child:
        assert child.stderr is not None
        lines = iter(child.stderr.readline, "")
        assert any(line.startswith("all components are started; ") for line in lines)
        until(lambda: lives(home), "the fleet lives")
        child.send_signal(signal.SIGINT)
        assert child.stderr.read().endswith("all components have ended\n")
    assert child.returncode == Code.OK
    assert not lives(home)
    assert bare.alive()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of an installation that has no broker yet."""
    monkeypatch.setenv("TURBINE_BOOTSTRAP", f"127.0.0.1:{free_port()}")
    monkeypatch.setenv("TURBINE_DIRECTORY", str(tmp_path / "home"))
    monkeypatch.setenv("TURBINE_PARTITIONS", "1")
    return tmp_path / "home"


def nothing_runs(home: Path) -> bool:
    return not lives(home) and processes_in(home) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_components_and_the_broker_of_up(home: Path, number: int) -> None:
    with start_up() as child:
        assert child.stderr is not None
        lines = iter(child.stderr.readline, "")
        assert any(line.startswith("all components are started; ") for line in lines)
        until(lambda: len((read_state(home) or {"members": []})["members"]) > 0, "a fleet")
        assert processes_in(home) != []
        child.send_signal(number)
        assert child.stderr.read().endswith("all components have ended, and the broker\n")
    assert child.returncode == Code.OK
    assert nothing_runs(home)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_a_signal_amid_the_start_leaves_nothing(
    home: Path, send: Callable[[int, int], None], number: int
) -> None:
    """To `up` alone, as a supervisor sends it, and to all that a terminal's Ctrl-C is for."""
    with start_up() as child:
        assert child.stderr is not None
        broker = home / "broker" / "server.properties"
        until(lambda: processes_in(broker), "the broker's own process is there")
        send(child.pid, number)
        said = child.stderr.read()
    assert "Traceback" not in said
    assert child.returncode in (Code.OK, Code.INTERRUPTED), said
    until(lambda: nothing_runs(home), "nothing is left")
