"""The log is not the one that was read: nobody stands still, and each says what to do about it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from components.runtime.clients import admin, producer
from components.runtime.exits import EXIT_REFUSED_WRITE, EXIT_UNREADABLE
from components.runtime.reading import ends_now, read_span, starts_now
from components.task_manager.reader import Reader
from events.topics import BY_SHORT, CHANGES_BASE, JOURNAL, TOPICS, place
from infra.topics import apply_topics
from tests.integration.changes import Author, job_in, proposal, verdict
from tests.integration.processes import PARTITIONS, ROOT, WAIT_S, Fleet, Process, fleet_on, until
from tests.unit.turbine.lines import run
from turbine.api.server import ADDRESS
from turbine.log import Log
from turbine.tiers import define

pytestmark = pytest.mark.broker

WORKER = ("job-service", "state-syncer", "task-service", "auto-scaler")
KEEPERS = (*WORKER, "publisher", "shard-manager", "capacity-manager")
ENDS_S = WAIT_S / 6
"""For what runs, to find out: ten seconds, unless all waits are longer."""
REMEDY = "`turbine rows forget "
JOB = job_in(0)
HOOKS = """
[webhooks.pager]
url = "http://127.0.0.1:9/"
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
            answer.result(WAIT_S)

    keep("1")
    until(lambda: starts_now(fleet.settings, places) == last, "all of it has expired")
    keep("-1")


def deleted(fleet: Fleet) -> None:
    """The same, by somebody's hand."""
    places = [place(CHANGES_BASE, p) for p in range(PARTITIONS)]
    last = ends_now(fleet.settings, places)
    name = BY_SHORT[CHANGES_BASE].name
    cut = [TopicPartition(name, p, last[at]) for p, at in enumerate(places)]
    client = admin(fleet.settings)  # it has to outlive the question
    for answer in client.delete_records(cut).values():
        answer.result(WAIT_S)


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
    line = ("--bootstrap", fleet.broker.bootstrap, "rows", "forget", *names)
    until(lambda: run(*line).code == 0, "the group's members are gone")


def replace_log(fleet: Fleet) -> None:
    """Deletes and creates anew all that is no row, and the journal becomes longer than it was."""
    client, settings = admin(fleet.settings), fleet.settings
    names = [topic.name for topic in TOPICS if topic.kind != "rows"]
    places = [place(JOURNAL, p) for p in range(PARTITIONS)]
    old = [one for poll in read_span(settings, dict.fromkeys(places, (0, None))) for one in poll]
    for answer in client.delete_topics(names).values():
        answer.result(WAIT_S)
    until(lambda: not set(names) & set(client.list_topics(timeout=WAIT_S).topics), "they are gone")
    apply_topics({"bootstrap.servers": settings.bootstrap}, TOPICS, PARTITIONS, wait_s=WAIT_S)
    author = producer(settings)
    for one in [*old, *old]:
        author.produce(BY_SHORT[JOURNAL].name, one.value, one.key, one.partition)
    assert author.flush(WAIT_S) == 0


def test_whatever_runs_ends_where_the_log_is_replaced_and_goes_on_once_told(fleet: Fleet) -> None:
    config = fleet.directory / "turbine.toml"
    config.write_text(HOOKS)
    (fleet.directory / "hooks").write_text(run("webhooks", "secret").out)
    hooks, api = serve(fleet, "webhooks", config=config), serve(fleet, "api")
    serve(fleet, "auditor").awaits("caught up")
    fleet.processes[-1].stop()  # it keeps what it has come to
    auditor = serve(fleet, "auditor")
    hooks.awaits("webhook")
    auditor.awaits("caught up")
    reader = Reader(fleet.settings, PARTITIONS, "default")
    reader.start()
    until(lambda: not reader.take(1_000) and reader.caught_up, "a container has read what stands")
    until((fleet.directory / ".turbine" / ADDRESS).exists, "the API is there")
    running = [one for one in fleet.processes if one.alive and one is not api]
    assert {one.component for one in running} == {
        "clock", "publisher", "shard-manager", "capacity-manager", WORKER[0], "webhooks", "auditor",
    }  # fmt: skip
    replace_log(fleet)
    for one in running:  # by what it meets first: the topic that is gone, or the one that came
        assert one.ends(ENDS_S) in (EXIT_REFUSED_WRITE, EXIT_UNREADABLE), one.text()
        assert one.why()
    until(lambda: reader.failure is not None, "the container hears of it")
    assert str(reader.failure)
    until(lambda: api.said("views begin anew"), "the API reads what there is")

    # Nor does any that is started now take the new log for the old one.
    begun = [serve(fleet, *WORKER), *(serve(fleet, name) for name in KEEPERS[len(WORKER) :])]
    for one in begun:
        ended(one, "deleted and made again")
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
