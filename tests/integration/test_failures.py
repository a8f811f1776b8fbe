"""The broker dies, stops, and fills its disk: nothing acknowledged is lost, and all comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.waiting import until
from tests.integration.changes import Load, all_answered, all_derive, all_published
from tests.integration.processes import PARTITIONS, Fleet, Process, fleet_on

pytestmark = pytest.mark.broker

CODES = {70, 71, 72, 73, 74, 75, 77}
DEADLINE_S = 20.0
EVERY_S = 0.02
DISK_MB = 64


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("failures")) as fleet:
        yield fleet


@pytest.fixture
def fleet(shared: Fleet) -> Iterator[Fleet]:
    """The module's broker, and a fleet that is kept up."""
    yield shared
    for component in ("clock", "publisher", "job-service"):
        shared.end(component)


class Watch:
    """A fleet, kept up as a supervisor would; remembers who ended, with which code, and why."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.ended = fleet, list[tuple[str, int, str]]()
        self.clock, self.publisher = fleet.start("clock"), fleet.publisher()
        self.worker = fleet.worker("w0")
        for process in (self.clock, self.publisher, self.worker):
            process.kept = True

    def look(self) -> None:
        self.ended.extend(self.fleet.revive())

    def sees_load(self, load: Load) -> None:
        """The broker takes changes again."""
        at = load.sent

        def turned() -> bool:
            self.look()
            return load.sent > at + 20

        until(turned, "the broker takes changes", 90)

    def sees_all_told(self, load: Load, since: float, what: str) -> None:
        """Every acknowledged change has one verdict, and the world hears it; nobody ends mute."""
        assert load.sent
        all_answered(self.fleet.settings, load.author.taken, 120, self.look)
        answered_s = time.monotonic() - since
        all_published(self.fleet.settings, 120, self.look)
        published_s = time.monotonic() - since
        print(  # noqa: T201 - measured, for whoever looks
            f"\n{what}: {load.sent} changes, all answered {answered_s:.1f} s and published"
            f" {published_s:.1f} s after the broker was back; ended: {self.ended}"
        )
        for name, code, why in self.ended:
            assert code in CODES, (name, code, why)
            assert why, (name, code)


def test_the_broker_is_killed_for_three_seconds(fleet: Fleet) -> None:
    watch = Watch(fleet)
    with Load(fleet.settings, "killed", every_s=EVERY_S) as load:
        watch.sees_load(load)
        fleet.broker.kill()
        time.sleep(3)
        fleet.broker.start_again()
        since = time.monotonic()
        watch.sees_load(load)
    watch.sees_all_told(load, since, "killed, down 3 s")


@pytest.mark.chaos
def test_the_broker_is_stopped_in_order(fleet: Fleet) -> None:
    watch = Watch(fleet)
    with Load(fleet.settings, "stopped", every_s=EVERY_S) as load:
        watch.sees_load(load)
        fleet.broker.stop()
        fleet.broker.start_again()
        since = time.monotonic()
        watch.sees_load(load)
    watch.sees_all_told(load, since, "stopped in order")


def test_the_broker_is_down_for_long_and_some_are_told_to_stop(fleet: Fleet) -> None:
    """Some live through it; who gets a signal meanwhile ends within the deadline and says why."""
    watch = Watch(fleet)
    other = fleet.start("job-service", "w1")
    until(lambda: 0 < len(other.partitions()) < PARTITIONS, "a second worker has its share")
    clock = fleet.start("clock")
    # Before it listens for signals it would end by one, without a word.
    until(lambda: listens(clock.pid), "a second clock is up")
    told = [other, clock, watch.publisher]
    watch.publisher.kept = False
    with Load(fleet.settings, "long", every_s=EVERY_S) as load:
        watch.sees_load(load)
        fleet.broker.kill()
        began = time.monotonic()
        codes = _ended(told)
        print(f"\nsignalled: {codes} within {time.monotonic() - began:.1f} s")  # noqa: T201 - a figure to read
        while time.monotonic() - began < DEADLINE_S:
            watch.look()
            time.sleep(0.2)
        fleet.broker.start_again()
        since = time.monotonic()
        watch.publisher = fleet.start("publisher")
        watch.publisher.kept = True
        watch.sees_load(load)
    watch.sees_all_told(load, since, "killed, down 20 s")


def listens(pid: int) -> bool:
    """Does the process have a handler of its own for SIGTERM, by the system's word?"""
    status = Path(f"/proc/{pid}/status").read_text()
    [caught] = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def _ended(told: list[Process]) -> dict[str, int]:
    for process in told:
        process.child.terminate()
    # They end themselves at their deadline, and say so; how late a busy machine lets them is no
    # matter.
    codes = {process.name: process.ends() for process in told}
    for process in told:
        assert codes[process.name] == 0 or process.why(), process.text()
    return codes


def test_what_was_decided_on_bad_days_comes_out_again(fleet: Fleet) -> None:
    assert all_derive(fleet.settings)["same"] > 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, and small."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount the small file system that this test fills")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.chaos
def test_the_brokers_disk_is_full(small_disk: Path) -> None:
    with fleet_on(small_disk) as fleet:
        watch = Watch(fleet)
        filler = small_disk / "filler"
        with Load(fleet.settings, "full", every_s=EVERY_S) as load:
            watch.sees_load(load)
            _fill(filler)
            until(lambda: watch.look() or not fleet.broker.alive(), "the broker gives up", 90)
            filler.unlink()
            fleet.broker.start_again()
            since = time.monotonic()
            watch.sees_load(load)
        watch.sees_all_told(load, since, "disk full")
        all_derive(fleet.settings)


def _fill(path: Path) -> None:
    """Takes all that is left, to the last block."""
    with path.open("wb", buffering=0) as out:
        for block in (1024 * 1024, 4096, 1):
            try:
                while True:
                    out.write(bytes(block))
            except OSError:
                continue
