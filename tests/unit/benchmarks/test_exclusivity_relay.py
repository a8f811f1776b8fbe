"""A relay passes on, holds one way or both, and lets go: late, or with all that it held lost."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.children import python, running
from benchmarks.exclusivity_fleet import Links, job_names, listeners, names_in
from benchmarks.exclusivity_relay import DOWN, HOST, UP
from events.topics import partition_of
from infra.kafka.directory import Ports, free_port

SHORT_S = 0.2
"""For what does not come: nothing is wrong where a busy machine makes it longer."""
LONG_S = 60.0
"""For what comes."""


@dataclass(slots=True)
class Line:
    """A connection through the relay, with both of its ends."""

    links: Links
    near: socket.socket
    far: socket.socket

    def passes(self, way: str, text: bytes, within_s: float = LONG_S) -> bool:
        """Does it come through?"""
        source, sink = (self.near, self.far) if way == UP else (self.far, self.near)
        source.sendall(text)
        sink.settimeout(within_s)
        return self.comes(sink, text)

    def comes(self, sink: socket.socket, text: bytes) -> bool:
        try:
            return sink.recv(100) == text
        except TimeoutError:
            return False


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    with socket.create_server((HOST, 0)) as broker:
        port = free_port()
        command = python("benchmarks.exclusivity_relay", f"{port}:{broker.getsockname()[1]}")
        with running("relays", command, tmp_path) as process:
            links = Links(process, {"a": port})
            links.await_answer()
            with socket.create_connection((HOST, port)) as near:
                far, _ = broker.accept()
                with far:
                    yield Line(links, near, far)


def test_it_passes_on_both_ways(line: Line) -> None:
    assert line.passes(UP, b"a")
    assert line.passes(DOWN, b"b")


@pytest.mark.parametrize(("held", "free"), [(UP, DOWN), (DOWN, UP)])
def test_one_way_is_held_and_comes_late(line: Line, held: str, free: str) -> None:
    line.links.hold("a", held)
    assert not line.passes(held, b"a", SHORT_S)
    assert line.passes(free, b"b")
    line.links.hold("a")
    line.far.settimeout(LONG_S)
    line.near.settimeout(LONG_S)
    assert line.comes(line.far if held == UP else line.near, b"a")


def test_what_was_held_is_lost_with_its_connection(line: Line) -> None:
    line.links.hold("a", UP, DOWN)
    assert not line.passes(UP, b"a", SHORT_S)
    assert not line.passes(DOWN, b"b", SHORT_S)
    line.links.hold("a", reset=True)
    for end in (line.near, line.far):
        end.settimeout(LONG_S)
        try:
            assert end.recv(100) == b""
        except ConnectionResetError:
            continue  # an end that is not in order is as good


def test_a_broker_tells_each_container_of_its_relay_alone() -> None:
    told = listeners(Ports(1, 2), {"c1": (11, 12), "c2": (21, 22)})
    assert told["listeners"].split(",") == [
        "PLAINTEXT://127.0.0.1:1",
        "C1://127.0.0.1:12",
        "C2://127.0.0.1:22",
        "CONTROLLER://127.0.0.1:2",
    ]
    assert told["advertised.listeners"].endswith("C1://127.0.0.1:11,C2://127.0.0.1:21")
    assert "C2:PLAINTEXT" in told["listener.security.protocol.map"]


def test_names() -> None:
    assert {partition_of(name, 4) for name in names_in(0, 5)} == {0}
    jobs = job_names(6, 5)
    assert len(set(jobs)) == 6
    for job in jobs:
        assert len({partition_of(f"{job}/{task}", 8) for task in range(5)}) == 5
    assert json.dumps(jobs) == json.dumps(job_names(6, 5))
