"""The place of a container: a directory that one life can hold, and the number of its last life.

container.lock  the flock that all processes of a life hold: it is free when, and only when, none of
                them is left. So the start of a life proves the end of the one before.
life.json       whose place it is, and the greatest epoch that was ever begun here
deadline        until when tasks may have effects, see `deadline`
scratch/        what its engines keep while they live; nothing of it outlives a life
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turbine_client.settings import BadSettings

LOCK, LIFE, DEADLINE, SCRATCH = "container.lock", "life.json", "deadline", "scratch"


@dataclass(frozen=True, slots=True)
class ContainerDirectory:
    """A directory that is held; every process of this life gets the lock's descriptor."""

    directory: Path
    name: str
    lock: int
    epoch: int  # the greatest that was begun here; 0: none

    @property
    def deadline(self) -> Path:
        """The file that holds the deadline."""
        return self.directory / DEADLINE

    def scratch(self, name: str) -> Path:
        """What an engine keeps while it lives, and nobody afterwards."""
        return self.directory / SCRATCH / name

    def begin(self, epoch: int) -> None:
        """Keeps the number of a life, before anybody hears of it.

        Its start may still be on its way to the log when the next life begins: two lives of one
        number would renew each other's lease.
        """
        written = self.directory / f"{LIFE}.new"
        with written.open("w") as file:
            json.dump({"container": self.name, "epoch": epoch}, file)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self.directory / LIFE)
        directory = os.open(self.directory, os.O_RDONLY)
        try:
            os.fsync(directory)  # or the new name may be lost with the machine
        finally:
            os.close(directory)


def hold(directory: Path, name: str) -> ContainerDirectory:
    """Takes the place; BadSettings where another life has it, or another container."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as bad:
        raise BadSettings(
            f"{directory} cannot be used ({bad.strerror}); name another directory"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode(errors="replace") or "?"
        os.close(lock)
        raise BadSettings(
            f"a container (process {holder}) lives in {directory}; end it, or name another"
            " directory"
        ) from None
    try:
        epoch = _last_epoch(directory, name)
    except BadSettings:
        os.close(lock)
        raise
    shutil.rmtree(directory / SCRATCH, ignore_errors=True)
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return ContainerDirectory(directory, name, lock, epoch)


def _last_epoch(directory: Path, name: str) -> int:
    path = directory / LIFE
    try:
        plain: Any = json.loads(path.read_text())
        owner, epoch = plain["container"], int(plain["epoch"])
    except FileNotFoundError:
        return 0
    except (ValueError, KeyError, TypeError, OSError):
        raise BadSettings(
            f"{path} cannot be read; give the container another name and directory, so that no two"
            " of its lives have one number"
        ) from None
    if owner != name:
        raise BadSettings(f"{directory} is the place of {owner}; name another directory for {name}")
    return epoch
