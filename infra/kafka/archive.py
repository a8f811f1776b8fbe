"""Keeps an archive of Kafka's loaded classes (AppCDS): a start takes half the time and CPU.

Optional in every way: whatever goes wrong while it is made, brokers start without it.
"""

import hashlib
import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.kafka.directory import replace_text
from infra.kafka.distribution import Distribution, locked
from infra.kafka.errors import BrokerFailed
from infra.kafka.node import JVM_FLAGS, Order, start_node

# Writing the 50 MB takes 3 s on a quiet machine.
DUMP_MAX_S = 60
# Java runs its shutdown hooks on SIGTERM and then reports the signal as a shell would.
_ENDED_BY_SIGTERM = 128 + 15
# An archive that does not fit this Java is ignored; these keep Java from saying so.
QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def class_flags(distribution: Distribution) -> tuple[str, ...]:
    """Java's flags to use the archive, which is made on first use; none when there is none."""
    identity = "\n".join([distribution.java_version, distribution.class_path, *JVM_FLAGS])
    return archive_flags(distribution.home, identity, partial(_make, distribution))


def archive_flags(
    home: Path, identity: str, make: Callable[[Path], None] | None
) -> tuple[str, ...]:
    """The same for any program: `identity` is what an archive of it depends on, and `make` writes
    one, if it can; None: one that is not there is done without."""
    key = hashlib.sha256(identity.encode()).hexdigest()[:12]
    archive = home / f"classes-{key}.jsa"
    verdict = archive.with_suffix(".json")
    with locked(home):
        if not verdict.is_file():
            if make is None:
                return ()
            make(archive)
            # Also when there is none: a machine that cannot make it should not try each time.
            replace_text(verdict, json.dumps({"bytes": _size(archive)}))
        expected: int = json.loads(verdict.read_text())["bytes"]
    # Java trusts the file and crashes on one that was cut short.
    if expected == 0 or _size(archive) != expected:
        return ()
    return (f"-XX:SharedArchiveFile={archive}", *QUIET)


def _make(distribution: Distribution, archive: Path) -> None:
    """Run a broker once; Java writes the classes it has loaded as it ends."""
    with TemporaryDirectory(prefix="classes-", dir=distribution.home) as scratch:
        dump = Path(scratch) / "dump.jsa"
        order = Order(Path(scratch) / "broker", {})
        order.directory.mkdir()
        flags = (f"-XX:ArchiveClassesAtExit={dump}", *QUIET)
        try:
            process = start_node(order, distribution, None, flags).process
        except BrokerFailed:
            return
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(DUMP_MAX_S)
        process.kill()
        # A dump by a process that had to be killed may be half a dump.
        if process.wait() == _ENDED_BY_SIGTERM and dump.is_file():
            dump.replace(archive)


def _size(archive: Path) -> int:
    return archive.stat().st_size if archive.is_file() else 0
