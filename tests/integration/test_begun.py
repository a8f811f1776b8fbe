"""Where a container's life begins on a real broker: with what was kept, whoever died meanwhile, and
with a number of its own, whatever has expired."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import count, islice
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from confluent_kafka import TopicPartition

from benchmarks.aged import await_kept, begin
from benchmarks.aged_author import JOBS
from benchmarks.children import python, running
from benchmarks.installation import Installation, install
from components.runtime.core.standing import places_of
from components.runtime.kafka.emitter import Emitter
from components.task_manager.core.chains import KeptChain
from components.task_manager.core.known import ContainerKnowledge
from components.task_manager.fact_writer import fact
from components.task_manager.heartbeat import ContainerIdentity, Pulse
from components.task_manager.reader import ContainerReader
from events.generated.records import Body, ContainerReassigned, ContainerStarted
from events.topics import BY_SHORT, CONTAINERS, partition_of, place
from projections.hold import Tenancy
from projections.lists import TaskLists
from turbine_client.clients import (
    admin,
    producer,
)
from turbine_client.reading import ends_now

pytestmark = pytest.mark.broker

PARTITIONS, KILLS, RECORDS = 4, 4, 30_000
JOURNALS = [at for p in range(PARTITIONS) for at in places_of(p)]


@pytest.fixture(scope="module")
def site() -> Iterator[Installation]:
    with install(partitions=PARTITIONS) as site:
        site.serve("clock")
        site.serve("publisher")
        yield site


class Begun(NamedTuple):
    """What a start comes to."""

    lists: Mapping[str, TaskLists]
    defined: bool
    chains: Mapping[str, tuple[dict[str, str], dict[str, int]]]


def begun(site: Installation, *, kept: bool) -> tuple[Begun, int]:
    """By the reader itself; and how much it began with."""
    reader, known = (
        ContainerReader(site.settings, PARTITIONS, "default"),
        ContainerKnowledge("c", 1, "default"),
    )
    taken = 0
    with ExitStack() as stack:
        if not kept:
            stack.enter_context(patch("components.task_manager.reader.look", lambda *_: {}))
        reader.start()
        while not reader.caught_up:
            assert reader.failure is None
            for one in reader.take(1_000):
                if isinstance(one, KeptChain):
                    known.begin(one.key, one.row, one.vector)
                    taken += 1
                else:
                    known.learn(one.read, one.vector)
            time.sleep(0.01)
    reader.close()
    held = {
        key: (one.last, one.vector)
        for at in JOURNALS
        for key, one in reader.owners[at].held.items()
    }
    return Begun(known.lists, known.hold.defined, held), taken


def test_a_start_with_what_was_kept_knows_what_the_whole_log_tells(site: Installation) -> None:
    """The publisher is killed at any moment, amid its transactions too."""
    chance = random.Random(7)
    command = python("benchmarks.aged_author", site.settings.bootstrap, 0, 1)
    with running("author", command, site.directory) as author:
        assert author.stdin is not None
        assert author.stdout is not None
        for _ in range(KILLS):
            author.stdin.write(f"{RECORDS // KILLS}\n".encode())
            author.stdin.flush()
            time.sleep(chance.uniform(0.5, 3.0))
            site.processes["publisher"].kill()
            begun(site, kept=True)  # whatever the publisher has kept by now, it is whole
            assert author.stdout.readline()
    await_kept(site, ends_now(site.settings, JOURNALS))
    (found, taken), (whole, _) = begun(site, kept=True), begun(site, kept=False)
    assert taken >= JOBS
    assert found == whole
    assert found.defined
    assert len(found.lists) == JOBS


class Lives:
    """The lives of one container, each with a directory of its own: nothing is left of the last."""

    def __init__(self, site: Installation, name: str) -> None:
        self.site, self.name = site, name
        self.partition = partition_of(name, PARTITIONS)
        self.at = place(CONTAINERS, self.partition)
        self._emitter = Emitter(producer(site.settings), site.settings.prefix)

    def begin(self) -> int:
        return int(begin(self.site, "container", self.name)["epoch"])

    def says(self, *bodies: Body) -> None:
        for body in bodies:
            self._emitter.say(CONTAINERS, self.partition, fact(self.name, body, {}))
        self._emitter.settle()

    def expires(self) -> None:
        """All that was said of lives in its partition."""
        end = ends_now(self.site.settings, [self.at])[self.at]
        spot = TopicPartition(BY_SHORT[CONTAINERS].name, self.partition, end)
        client = admin(self.site.settings)  # its answers end with it
        client.delete_records([spot])[spot].result(30)

    def past(self) -> Any:
        return Pulse(
            self.site.settings, PARTITIONS, ContainerIdentity(self.name, "default", "x", ())
        ).past()


def test_a_life_has_the_next_number_though_all_of_the_last_has_expired(site: Installation) -> None:
    one = Lives(site, "forgetful")
    assert one.begin() == 1
    one.says(ContainerReassigned("forgetful", "rich", 3, "d", "it was lent"))
    assert one.begin() == 2
    one.expires()
    past = one.past()
    assert (past.epoch, past.tenancy) == (2, Tenancy(3, "rich", "d", "it was lent"))
    assert one.begin() == 3


def test_a_life_follows_those_of_builds_that_kept_no_numbers(site: Installation) -> None:
    """What they said lies in the log; who has a new name does not read all of that again."""
    apart = (partition_of("forgetful", PARTITIONS) + 1) % PARTITIONS
    names = (f"old-{n}" for n in count() if partition_of(f"old-{n}", PARTITIONS) == apart)
    first, second, new = (Lives(site, name) for name in islice(names, 3))
    for one in (first, second):
        one.says(ContainerStarted(one.name, 7, "default", "local", ()))
    assert first.begin() == 8
    assert second.begin() == 8
    assert new.begin() == 1
    assert first.begin() == 9
