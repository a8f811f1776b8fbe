"""One installation for all tests of the front door: a broker of its own, and its components."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings as laws

from components.runtime.process.local import Flags
from events.topics import TOPICS
from infra.kafka.engine import broker_for_tests
from infra.topics import apply_topics
from infra.waiting import until, within
from tests.kit.examples import CHECK, EXAMPLES
from tests.simulation.seeds import FOLDER, begin
from turbine.ops.fleet import Process, held, lives, spawner
from turbine.ops.members import Member
from turbine.read.moments import set_now
from turbine_client.publish import Accepted, Publisher
from turbine_client.settings import Settings

PARTITIONS = 4
WAIT_S = within(60.0)
MEMBERS = (
    Member(("clock",)),
    Member(("publisher",)),
    Member(("job-service",), "job-service-0"),
)
laws.register_profile(CHECK, max_examples=EXAMPLES)


@pytest.fixture(autouse=True)
def _now_of_this_machine() -> None:
    """A command that read a log's file leaves behind that now was then."""
    set_now(None)


@dataclass(frozen=True, slots=True)
class Fleet:
    """A clock, a publisher and one job service that decide. Not yours to stop."""

    bootstrap: str
    settings: Settings
    directory: Path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Transcripts are recorded again on demand; what differs is to be understood, then kept. So is
    the picture that the README links to, which would differ with each run."""
    parser.addoption("--rewrite", action="store_true", help="record the scenarios' transcripts")
    parser.addoption("--picture", action="store_true", help="write docs/dashboard.png")


def pytest_configure(config: pytest.Config) -> None:
    """Whoever runs the tests in the background has them ignore Ctrl-C, and all that they start
    would inherit that: no test could end a command as its user does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if FOLDER not in os.environ:  # it is not a worker of a run that has told it
        os.environ[FOLDER] = place = tempfile.mkdtemp(prefix="turbine-seeds-")
        config.add_cleanup(lambda: shutil.rmtree(place))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where all tests run, the simulator's seeds are played while those with brokers wait; one
    worker has it done for all of them."""
    gc.collect()
    gc.freeze()  # what is loaded by now stays: to look it through again and again took a sixth
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    folders = {item.path.parent.name for item in session.items}
    every = {"simulation", "integration"} <= folders
    if first and every and not session.config.option.collectonly:
        begin()


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Shared by all tests of the session: use jobs of your own."""
    with fleet_in(tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@contextmanager
def fleet_in(directory: Path) -> Iterator[Fleet]:
    """On a broker of its own: its prefix is the usual one, and other tests create those topics."""
    bootstrap, stop = broker_for_tests(directory / "broker")
    settings = Settings(bootstrap=bootstrap, partitions=PARTITIONS, directory=directory)
    with ExitStack() as stack:
        stack.callback(stop)
        apply_topics({"bootstrap.servers": bootstrap}, TOPICS, PARTITIONS, wait_s=WAIT_S)
        with held(directory) as lock:
            spawn = spawner(directory, Flags(bootstrap), lock)
            processes = [spawn(member) for member in MEMBERS]
        try:
            await_decisions(settings, processes)
            yield Fleet(bootstrap, settings, directory)
        finally:
            end(processes, directory)


def await_decisions(settings: Settings, processes: list[Process]) -> None:
    """Returns when a change has its verdict: then all three of them work."""
    with Publisher(settings, author="conftest") as publisher:
        verdict = publisher.change(
            "ready",
            {
                "operator": "ready.ready:run",
                "inputs": [{"topic": "ready"}],
                "package": {"name": "ready", "version": "1"},
                "checkpoint": {"root": "/checkpoints"},
            },
            create=True,
            wait_s=WAIT_S,
        )
    assert isinstance(verdict, Accepted), verdict
    assert [one.poll() for one in processes] == [None] * len(processes)


def end(processes: list[Process], directory: Path) -> None:
    """Ends them, and sees that none is left."""
    died = [one.pid for one in processes if one.poll() is not None]
    for one in processes:
        one.terminate()
    until(lambda: not lives(directory), "the processes of the fleet end")
    # One that ends has no command line any more, and is not yet for its parent to collect.
    until(lambda: all(one.poll() is not None for one in processes), "they are collected")
    assert not died, f"of the fleet, these died during the tests: {died}; see {directory}"
