"""The programs of examples/, each by the command that examples/README.md has for it."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.runtime.kafka.emitter import Emitter
from events.generated.records import ScalingVerified
from events.topics import CHANGES, OUTCOMES, partition_of
from events.wire.codec import Record, encode
from infra.waiting import WAIT_S, until, within
from tests.conftest import Fleet as WholeFleet
from tests.foreign import go, java, node
from tests.integration.changes import SMALLEST
from tests.integration.processes import PARTITIONS, ROOT, Fleet, SharedBroker, fleet_at
from tests.kit import steps
from turbine.contract.registry import RegistryServer
from turbine.failures import Code
from turbine.read.sources.log import Log
from turbine_client.clients import producer
from turbine_client.publish import Accepted, Publisher
from turbine_client.subscribe import Subscriber

pytestmark = pytest.mark.broker

EXAMPLES = ROOT / "examples"
PAGE = (EXAMPLES / "README.md").read_text()
LINES = dict(re.findall(r"^\| \[([^\]]+)\]\([^)]+\) \|[^|]+\| `([^`]+)` \|$", PAGE, re.MULTILINE))
"""The command of each example."""
BROKER, REGISTRY, JOB, SET = "127.0.0.1:9092", "http://127.0.0.1:8081", " clicks ", '{"tasks": 4}'
"""What a reader has instead of these."""
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
CLIENT = {"turbine_client"}
BARE = {"confluent_kafka", "fastavro", "yaml"}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `pip` has installed the policy of examples/policy."""
    site = tmp_path_factory.mktemp("site")
    alone = f"pip install --quiet --no-index --no-deps --no-build-isolation --target {site}"
    backtested = run("policy", {"pip install": alone}, PYTHONPATH=steps.path_with(site))
    assert re.search(r" scale-up +\d+x1 -> \d+x1 +busy +too-few ", backtested), backtested
    return site


@pytest.fixture(scope="module")
def own(
    broker: SharedBroker, policy: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """A clock, a job service that knows the policy and a publisher under these tests' prefix."""
    with fleet_at(broker, tmp_path_factory.mktemp("examples"), "examples") as fleet:
        fleet.start("clock")
        fleet.publisher()
        fleet.worker("w0", PYTHONPATH=steps.path_with(policy))
        yield fleet


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    """`turbine schema serve`, for those who ask it."""
    with RegistryServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def line(name: str, instead: Mapping[str, str]) -> str:
    """The example's command, with what a reader has instead of the page's words."""
    text = LINES[name]
    for word, other in instead.items():
        assert word in text, f"the command of {name} has no {word}"
        text = text.replace(word, other)
    return text


def run(name: str, instead: Mapping[str, str], **environment: str) -> str:
    """What the command prints."""
    done = subprocess.run(
        ["bash", "-c", line(name, instead)],
        cwd=ROOT, env=os.environ | environment | {"PATH": PATH}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=within(WAIT_S), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def running(name: str, fleet: Fleet, instead: Mapping[str, str]) -> Iterator[list[str]]:
    """The lines that the command prints while it runs; it is killed in the end."""
    words = shlex.split(line(name, instead))
    environment = fleet.environment | {"PATH": PATH}
    with subprocess.Popen(
        words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(child.stdout or ()))
        reader.start()
        try:
            yield said
            assert child.poll() is None, "".join(said)
        finally:
            child.send_signal(signal.SIGKILL)
            reader.join()


def test_each_example_has_a_command_and_each_folder_is_named() -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith("| [")]
    assert len(rows) == len(LINES)
    folders = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.iterdir() if path.is_dir()}
    assert {name.partition("/")[0] for name in LINES} == folders - {"__pycache__"}


@pytest.mark.parametrize(
    ("program", "packages"),
    [
        ("publish/with_client.py", CLIENT),
        ("publish/without_client.py", BARE),
        ("subscriber/keep_scalings.py", CLIENT),
    ],
)
def test_a_program_imports_what_its_line_says_and_no_more(program: str, packages: set[str]) -> None:
    nodes = list(ast.walk(ast.parse((EXAMPLES / program).read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in names}
    assert tops - sys.stdlib_module_names == packages


def test_the_client_asks_and_hears(own: Fleet) -> None:
    instead = {BROKER: own.broker.bootstrap, JOB: " from-client ", SET: json.dumps(SMALLEST)}
    told = run("publish/with_client.py", instead, **own.environment)
    assert told.startswith("Accepted(")
    [message] = Log(own.settings).messages([CHANGES["base"]])
    assert message.key == b"from-client"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [(json.dumps(SMALLEST), "JobConfigChanged"), ('{"tasks": "many"}', "JobConfigRejected")],
)
def test_a_stranger_in_python_asks_and_hears(fleet: WholeFleet, asked: str, answer: str) -> None:
    instead = {BROKER: fleet.bootstrap, JOB: f" stranger-{answer.lower()} ", SET: asked}
    assert run("publish/without_client.py", instead).startswith(f"{answer} {{")


@pytest.mark.parametrize("language", [go, node, java], ids=["go", "node", "java"])
def test_a_stranger_of_another_language_asks_and_hears(
    fleet: WholeFleet, registry: str, language: object
) -> None:
    name = language.__name__.rpartition(".")[2]
    missing = language.fetch(EXAMPLES / "publish" / name)
    if missing:
        pytest.skip(missing)
    job = f"stranger-{name}"
    home = partition_of(job, PARTITIONS)
    assert zlib.crc32(job.encode()) % PARTITIONS != home, "librdkafka's own would do as well"
    told = run(
        f"publish/{name}",
        {BROKER: fleet.bootstrap, REGISTRY: registry, JOB: f" {job} ", SET: json.dumps(SMALLEST)},
    )
    kind, _, body = told.partition(" ")
    verdict = json.loads(body)
    assert (kind, verdict["job"], verdict["layer"]) == ("JobConfigChanged", job, "base")
    messages = Log(fleet.settings).messages([CHANGES["base"]])
    assert [one.partition for one in messages if one.key == job.encode()] == [home]


def verified(fleet: Fleet, *jobs: str) -> None:
    """Scalings of these jobs helped, as the publisher would say it."""
    emitter = Emitter(producer(fleet.settings), fleet.settings.prefix)
    for job in jobs:
        body = ScalingVerified(job, f"change-of-{job}", f"{job} caught up", "{}")
        record = Record(job, f"verified-{job}", "ScalingVerified", encode(body), body)
        emitter.say(OUTCOMES, partition_of(job, PARTITIONS), record)
    emitter.settle()


def test_the_subscriber_keeps_each_scaling_once_and_goes_on(own: Fleet, tmp_path: Path) -> None:
    database = tmp_path / "scalings.sqlite"
    bookmark = Path(f"{database}.bookmark")
    instead = {BROKER: own.broker.bootstrap, "scalings.sqlite": str(database)}

    def follow(count: int, *jobs: str) -> None:
        """It reads so many with these, and is killed."""
        verified(own, *jobs)
        with running("subscriber", own, instead) as said:
            until(lambda: _kept(said) >= count, lambda: "".join(said))
        assert _kept(said) == count

    follow(2, "a", "b")
    follow(1, "c")  # it goes on where it was
    bookmark.unlink()  # as of one that died before its bookmark moved
    follow(4, "d")
    with sqlite3.connect(database) as table:
        rows = table.execute("SELECT id, result FROM scalings ORDER BY id").fetchall()
    assert rows == [(f"verified-{job}", f"{job} caught up") for job in "abcd"]


def _kept(said: list[str]) -> int:
    """How many scalings it has dealt with."""
    return sum(
        int(found[1]) for one in said if (found := re.match(r"(\d+) scalings are kept", one))
    )


def change(fleet: Fleet, job: str, *tasks: int) -> None:
    with Publisher(fleet.settings, author="ana") as ana:
        for count in tasks:
            asked = SMALLEST | {"tasks": count}
            assert isinstance(ana.change(job, asked, create=True, wait_s=WAIT_S), Accepted)


def test_the_component_decides_on_a_real_log_and_goes_on_after_a_crash(own: Fleet) -> None:
    instead = {BROKER: own.broker.bootstrap}
    with Subscriber(own.settings, topic="alerts", start="earliest") as alerts:

        def told() -> list[tuple[str, str]]:
            return [(one.kind, one.job) for one in alerts.poll(0.1)]

        change(own, "restless", 1, 2, 3)
        change(own, "restful", 1)
        heard: list[tuple[str, str]] = []
        with running("component", own, instead) as said:
            change(own, "restless", 4)
            until(lambda: heard.extend(told()) or heard, lambda: "".join(said))
        # Another life begins with what the first one kept, or folds the log again.
        with running("component", own, instead) as said:
            change(own, "restless", 5)
            change(own, "nervous", 1, 2, 3, 4)
            until(lambda: heard.extend(told()) or len(heard) > 1, lambda: "".join(said))
    assert heard == [("AlertRaised", "restless"), ("AlertRaised", "nervous")]


def test_the_policy_is_chosen_and_the_audit_knows_it_where_it_is_installed(
    own: Fleet, policy: Path
) -> None:
    with Publisher(own.settings, author="ana") as ana:
        chosen = ana.change("sized", SMALLEST | steps.STEPS, create=True, wait_s=WAIT_S)
    assert isinstance(chosen, Accepted), chosen
    code, found = steps.audited(policy, **own.environment)
    assert (code, found["differences"], found["not_checkable"]) == (Code.OK, [], [])
    code, found = steps.audited(None, **own.environment)
    assert (code, found["differences"]) == (Code.OK, [])
    [missing] = found["not_checkable"]
    assert (missing["component"], missing["sentence"]) == ("job-service", steps.MISSING)


@pytest.mark.slow
def test_the_operator_could_run_and_keeps_state() -> None:
    told = run("operator", {"check job.yaml": "check job.yaml -o json"})
    [row] = json.loads(told)
    assert (row["job"], row["verdict"], row["stateful"]) == ("shop-totals", "ok", True)
    assert [one["name"] for one in row["columns"]] == ["key", "minute", "sales", "total"]
