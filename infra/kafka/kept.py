"""A broker that is kept: it outlives the command that started it, and a later one stops it."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.kafka.broker import STOP_WAIT_S, Broker, find_broker, start_broker
from infra.kafka.directory import holder, is_foreign, read_cluster, take_lock
from infra.kafka.errors import BrokerFailed, BrokerInUse
from infra.kafka.readiness import answers


@dataclass(frozen=True, slots=True)
class Status:
    """What a directory holds; `pid` and `bootstrap` are None when no broker runs in it."""

    directory: Path
    pid: int | None
    bootstrap: str | None
    answers: bool
    data_bytes: int


def keep_broker(
    directory: Path, port: int | None = None, extra: Mapping[str, str] | None = None
) -> Broker:
    """Start a broker that stays; BrokerInUse when one runs there already."""
    return start_broker(directory, port=port, extra=extra, die_with_parent=False)


def kept_broker(directory: Path) -> Broker | None:
    """The broker that runs in `directory`, or None."""
    return find_broker(directory)


def stop_kept(directory: Path, timeout: float = STOP_WAIT_S) -> bool:
    """Stop the broker in `directory`; False when none ran."""
    broker = find_broker(directory)
    if broker is not None:
        broker.stop(timeout)
        return True
    if holder(directory) is not None:
        raise BrokerInUse(
            f"The broker in {directory} is just being started: stop it in some seconds."
        )
    return False


def kept_status(directory: Path) -> Status:
    """What `directory` holds now, asked of the broker itself."""
    broker = find_broker(directory)
    size = _bytes_on_disk(directory / "data")
    if broker is None:
        return Status(directory, None, None, answers=False, data_bytes=size)
    port = int(broker.bootstrap.rpartition(":")[2])
    awake = answers(port, read_cluster(directory))
    return Status(directory, broker.pid, broker.bootstrap, awake, size)


LEFT = (
    "ports.json*",
    "server.properties",
    "controller.properties",
    "broker.log*",
    "out.txt",
    "hs_err*",
)
"""Beside the data."""


def wipe(directory: Path) -> bool:
    """Delete all that a broker has left in `directory`, and nothing else; False when nothing was.

    The lock's file stays: were it deleted, one starter could hold the old file and another
    the new one.
    """
    if not directory.is_dir():
        return False
    if is_foreign(directory):
        raise BrokerFailed(f"{directory / 'data'} holds no broker's data: nothing was deleted.")
    lock = take_lock(directory)
    if lock is None:
        raise BrokerInUse(f"A broker runs in {directory}: stop it before its data is deleted.")
    try:
        doomed = directory / "data.wiped"
        found = doomed.exists()
        if (directory / "data").exists():
            shutil.rmtree(doomed, ignore_errors=True)
            # Renamed first, so that a wipe cut short leaves no half-deleted broker that starts.
            (directory / "data").rename(doomed)
            found = True
        if found:
            shutil.rmtree(doomed)
        for pattern in LEFT:
            for path in directory.glob(pattern):
                path.unlink()
                found = True
        return found
    finally:
        os.close(lock)


def _bytes_on_disk(directory: Path) -> int:
    # Blocks, not lengths: Kafka's index files are sparse, 10 MB each in length and 4 KB in truth.
    # A running broker deletes files while they are counted.
    blocks = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                blocks += os.lstat(os.path.join(folder, name)).st_blocks  # noqa: PTH118 - a path object a file is slow
            except FileNotFoundError:
                continue
    return blocks * 512
