"""The log is not the one that was read: nobody stands still, and each says what to do about it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from components.runtime.core.ground import RUNBOOK
from components.runtime.process.exits import EXIT_UNREADABLE
from components.task_manager.reader import ContainerReader
from events.topics import BY_SHORT, CHANGES_BASE, JOURNAL, TOPICS, place
from infra.topics import apply_topics
from infra.waiting import WAIT_S, until, within
from tests.integration.changes import Author, job_in, proposal, verdict
from tests.integration.processes import PARTITIONS, ROOT, Fleet, Process, fleet_on
from tests.unit.turbine.lines import run
from turbine.api.server import ADDRESS
from turbine.ops.tiers import define
from turbine.read.sources.log import Log
from turbine_client.clients import (
    admin,
    producer,
)
from turbine_client.reading import ends_now, read_span, starts_now

pytestmark = pytest.mark.broker

WORKER = ("job-service", "state-syncer", "task-service", "auto-scaler")
KEEPERS = (*WORKER, "publisher", "shard-manager", "capacity-manager")
ENDS_S = WAIT_S / 6
"""For what runs, to find out: ten seconds, unless all waits are longer."""
REMEDY = "`turbine rows forget "
CUT = (WORKER[0], "publisher", "auditor")
JOB = job_in(0)
HOOKS = """
[webhooks.pager]
url = "http://127.0.0.1:{port}/"
secret_file = "hooks"
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One broker, which looks often for what has expired, with a fleet that has answered."""
    often = {"log_retention_check_interval_ms": "300", "log_initial_task_delay_ms": "100"}
    with fleet_on(tmp_path_factory.mktemp("stall"), **often) as fleet:
        fleet.start("clock")
        assert define(Log(fleet.settings), "default", 4) is not None
        for name in ("publisher", "shard-manager", "capacity-manager"):
            fleet.start(name)
        worker(fleet)
        ask(fleet)
        yield fleet


def worker(fleet: Fleet) -> Process:
    process = serve(fleet, *WORKER)
    process.awaits("assigned")
    return process


def serve(fleet: Fleet, *names: str, config: Path | None = None) -> Process:
    """As a person would, with the settings of a file."""
    log = fleet.directory / f"{len(fleet.processes)}-{names[0]}.log"
    flags = ["--config", str(config)] if config else []
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TURBINE_")}
    more = {
        "TURBINE_BOOTSTRAP": fleet.broker.bootstrap,
        "PYTHONPATH": str(ROOT),
        # Whoever ends at once is in its group until then, and its positions are not to be deleted.
        "TURBINE_KAFKA__SESSION_TIMEOUT_MS": "6000",
        "TURBINE_KAFKA__HEARTBEAT_INTERVAL_MS": "600",
    }
    with log.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "turbine", *flags, "serve", *names],
            cwd=fleet.directory,
            env=clean | more,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    fleet.processes.append(Process(names[0], names[0], child, log, 0))
    return fleet.processes[-1]


def ask(fleet: Fleet, job: str = JOB) -> None:
    """A change, and its verdict."""
    author = Author(fleet.settings)
    asked = author.ask(proposal(job))
    author.settle()
    assert verdict(fleet.settings, asked)


def unheard(fleet: Fleet, count: int = 3) -> None:
    """Changes that nobody reads before they are gone."""
    author = Author(fleet.settings)
    for number in range(count):
        author.ask(proposal(f"{JOB}-{number}"))
    author.settle()


def ended(process: Process, told: str, wait_s: float = WAIT_S) -> None:
    """It ended by itself, with the code and a sentence that tells what to do."""
    assert process.ends(wait_s) == EXIT_UNREADABLE, process.text()
    assert told in process.why()
    assert REMEDY in process.why()


def expired(fleet: Fleet) -> None:
    """All changes of the base layer, as of old age."""
    name, places = BY_SHORT[CHANGES_BASE].name, [place(CHANGES_BASE, p) for p in range(PARTITIONS)]
    last, client = ends_now(fleet.settings, places), admin(fleet.settings)

    def keep(how_long_ms: str) -> None:
        entry = ConfigEntry(
            "retention.ms", how_long_ms, incremental_operation=AlterConfigOpType.SET
        )
        asked = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
        for answer in client.incremental_alter_configs([asked]).values():
            answer.result(within(WAIT_S))

    keep("1")
    until(lambda: starts_now(fleet.settings, places) == last, "all of it has expired")
    keep("-1")


def deleted(fleet: Fleet, topic: str = CHANGES_BASE) -> None:
    """The same, by somebody's hand."""
    places = [place(topic, p) for p in range(PARTITIONS)]
    last = ends_now(fleet.settings, places)
    name = BY_SHORT[topic].name
    cut = [TopicPartition(name, p, last[at]) for p, at in enumerate(places)]
    client = admin(fleet.settings)  # it has to outlive the question
    for answer in client.delete_records(cut).values():
        answer.result(within(WAIT_S))


def test_who_starts_behind_what_has_expired_ends_until_somebody_decides(fleet: Fleet) -> None:
    fleet.processes[-1].stop()
    unheard(fleet)
    expired(fleet)
    ended(serve(fleet, *WORKER), "has expired or was deleted since, so records in between were")
    forgotten(fleet, *WORKER)
    worker(fleet)
    ask(fleet, f"{JOB}-expired")


def test_who_stood_still_while_records_were_deleted_ends(fleet: Fleet) -> None:
    """The stream would go on behind what is gone, without a word."""
    one = fleet.processes[-1]
    one.freeze()
    unheard(fleet)
    deleted(fleet)
    one.thaw()
    ended(one, "had been read up to ", ENDS_S)
    forgotten(fleet, *WORKER)
    worker(fleet)
    ask(fleet, f"{JOB}-deleted")


def forgotten(fleet: Fleet, *names: str) -> None:
    """As typed right after the end, while the group still has the one that ended as a member."""
    done = run("--bootstrap", fleet.broker.bootstrap, "rows", "forget", *names)
    assert done.code == 0, done.err


def replace_log(fleet: Fleet) -> None:
    """Deletes and creates anew all that is no row, and the journal becomes longer than it was."""
    client, settings = admin(fleet.settings), fleet.settings
    names = [topic.name for topic in TOPICS if topic.kind != "rows"]
    places = [place(JOURNAL, p) for p in range(PARTITIONS)]
    old = [one for poll in read_span(settings, dict.fromkeys(places, (0, None))) for one in poll]
    for answer in client.delete_topics(names).values():
        answer.result(within(WAIT_S))
    until(lambda: not set(names) & set(client.list_topics(timeout=WAIT_S).topics), "they are gone")
    apply_topics({"bootstrap.servers": settings.bootstrap}, TOPICS, PARTITIONS, wait_s=WAIT_S)
    author = producer(settings)
    for one in [*old, *old]:
        author.produce(BY_SHORT[JOURNAL].name, one.value, one.key, one.partition)
    assert author.flush(within(WAIT_S)) == 0


class Receiver(BaseHTTPRequestHandler):
    """Takes what is posted."""

    taken: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.taken.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def config(fleet: Fleet) -> Iterator[Path]:
    """Settings with a webhook whose receiver is there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = fleet.directory / "turbine.toml"
    path.write_text(HOOKS.format(port=server.server_port))
    (fleet.directory / "hooks").write_text(run("webhooks", "secret").out)
    yield path
    server.shutdown()


def test_whatever_runs_ends_where_the_log_is_replaced_and_goes_on_once_told(
    fleet: Fleet, config: Path
) -> None:
    hooks, api = serve(fleet, "webhooks", config=config), serve(fleet, "api")
    serve(fleet, "auditor").awaits("caught up")
    fleet.processes[-1].stop()  # it keeps what it has come to
    auditor = serve(fleet, "auditor")
    hooks.awaits("webhook")
    auditor.awaits("caught up")
    reader = ContainerReader(fleet.settings, PARTITIONS, "default")
    reader.start()
    until(lambda: not reader.take(1_000) and reader.caught_up, "a container has read what stands")
    until((fleet.directory / ".turbine" / ADDRESS).exists, "the API is there")
    running = [one for one in fleet.processes if one.alive and one is not api]
    assert {one.component for one in running} == {
        "clock", "publisher", "shard-manager", "capacity-manager", WORKER[0], "webhooks", "auditor",
    }  # fmt: skip
    replace_log(fleet)
    for one in running:
        assert one.ends(ENDS_S) == EXIT_UNREADABLE, one.text()
        assert RUNBOOK in one.why()
    until(lambda: reader.failure is not None, "the container hears of it")
    assert str(reader.failure)
    until(lambda: api.said("views begin anew"), "the API reads what there is")

    # Nor does any that is started now take the new log for the old one.
    begun = [serve(fleet, *WORKER), *(serve(fleet, name) for name in KEEPERS[len(WORKER) :])]
    for one in begun:
        ended(one, "deleted and made again")
    assert f"{REMEDY}{' '.join(WORKER)}`" in begun[0].why(), "all that the process serves"
    # A webhook has its positions from the broker, which forgets them with the topic.
    serve(fleet, "webhooks", config=config).awaits("webhook")
    forgotten(fleet, *KEEPERS)
    fleet.start("clock")
    fleet.start("publisher")
    worker(fleet)
    ask(fleet, job_in(1))
    audited = serve(fleet, "auditor")
    audited.awaits("caught up")
    assert audited.said("audited from the beginning")


def copied(fleet: Fleet) -> Path:
    """The broker's data as a crash would leave them now."""
    copy = fleet.directory / "older"
    os.kill(fleet.broker.pid, signal.SIGSTOP)
    # An index is a file of ten megabytes with nothing in it.
    subprocess.run(["cp", "-a", fleet.broker.directory / "data", copy], check=True)
    os.kill(fleet.broker.pid, signal.SIGCONT)
    return copy


def come_back(fleet: Fleet, given: Path) -> Path:
    """The broker comes back with these data; what it had before."""
    data, had = fleet.broker.directory / "data", fleet.directory / "newer"
    fleet.broker.kill()
    data.rename(had)
    given.rename(data)
    fleet.broker.start_again()
    return had


@pytest.mark.usefixtures("config")
def test_whoever_has_read_beyond_the_end_of_a_log_that_was_cut_ends(fleet: Fleet) -> None:
    """It is met as a member that the group does not know, a write out of order, or not at all."""
    hooks = next(one for one in fleet.processes if one.alive and one.component == "webhooks")
    others = [one for one in fleet.processes if one.alive and one.component in CUT]
    assert len(others) == len(CUT)
    older = copied(fleet)
    for partition in range(PARTITIONS):
        ask(fleet, job_in(partition, "cut"))
    until(lambda: any(job_in(3, "cut").encode() in one for one in Receiver.taken), "it is told")
    newer = come_back(fleet, older)
    for one in (hooks, *others):
        assert one.ends() == EXIT_UNREADABLE, one.text()
        assert "so it is another log" in one.why()
        assert RUNBOOK in one.why()
    come_back(fleet, newer.rename(fleet.directory / "found"))
    fleet.start("publisher")
    worker(fleet)
    ask(fleet, job_in(2, "uncut"))


def test_all_say_at_once_that_the_journal_has_lost_its_beginning(fleet: Fleet) -> None:
    """Who has read beyond could run on, until the next start at an hour that nobody chose."""
    running = [one for one in fleet.processes if one.alive and one.component in CUT]
    assert {one.component for one in running} == {"publisher", WORKER[0]}
    deleted(fleet, JOURNAL)
    for one in running:
        assert one.ends(ENDS_S) == EXIT_UNREADABLE, one.text()
    begun = [serve(fleet, *WORKER), serve(fleet, "publisher"), serve(fleet, "auditor")]
    for one in begun:
        assert one.ends() == EXIT_UNREADABLE, one.text()
    for one in (*running, *begun):
        assert "nothing stands without it; that topic has to be deleted" in one.why()
        assert RUNBOOK in one.why()
