"""What a controller's log says of the broker that it knew."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from infra.kafka.errors import BrokerFailed
from infra.kafka.fencing import fence, is_fenced
from infra.kafka.readiness import BrokerStart

ACTIVE = "INFO QuorumController [QuorumController id=1] Becoming the active controller at epoch 2"


def registered(*, fenced: bool) -> str:
    told = str(fenced).lower()
    return f"Replayed initial RegisterBrokerRecord for broker 1: RegisterBrokerRecord(brokerId=1, rack=null, fenced={told}, logDirs=[])"  # noqa: E501 - as it stands in a log


def changed(fenced: int) -> str:
    return f"Replayed a record: BrokerRegistrationChangeRecord(brokerId=1, fenced={fenced}, logDirs=[])"  # noqa: E501 - as it stands in a log


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], False),
        ([ACTIVE], True),  # it crashed before it was ever registered
        ([registered(fenced=True), ACTIVE], True),
        ([registered(fenced=False), ACTIVE], False),
        ([registered(fenced=True), changed(-1), ACTIVE], False),
        ([registered(fenced=True), changed(-1), changed(0), ACTIVE], False),
        ([registered(fenced=True), changed(-1), changed(1)], False),  # nobody has decided yet
        ([registered(fenced=True), changed(-1), ACTIVE, changed(1)], True),
        ([registered(fenced=True), changed(-1), ACTIVE, changed(1), changed(0)], True),
    ],
)
def test_a_broker_that_counts_as_alive_is_waited_for(lines: list[str], expected: bool) -> None:
    assert is_fenced(lines) is expected


def test_a_controller_that_ends_by_itself_is_told_of(tmp_path: Path) -> None:
    def spawn(_: Path) -> subprocess.Popen[bytes]:
        (tmp_path / "broker.log").write_text("java.io.IOException: no space left\n")
        return subprocess.Popen(["false"])

    with pytest.raises(BrokerFailed, match=r"ended with 1 before it was well again: .* no space"):
        fence(spawn, tmp_path / "p", BrokerStart(tmp_path, 1, "c", 0), 10.0)


def test_one_that_never_says_so_is_ended_at_the_deadline(tmp_path: Path) -> None:
    spawned: list[subprocess.Popen[bytes]] = []

    def spawn(_: Path) -> subprocess.Popen[bytes]:
        spawned.append(subprocess.Popen(["sleep", "60"]))
        return spawned[0]

    with pytest.raises(BrokerFailed, match=r"was not well again within 0\.1 s"):
        fence(spawn, tmp_path / "p", BrokerStart(tmp_path, 1, "c", 0), 0.1)
    assert spawned[0].returncode is not None
