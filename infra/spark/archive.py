"""Keeps an archive of the classes that Spark has loaded once it carries a stream: a start takes a
third less time, and half the CPU.

Optional in every way: whatever goes wrong while it is made, engines start without it.
"""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.kafka.archive import archive_flags
from infra.kafka.distribution import find_java
from spark_streaming.jvm import java_command

# A cold start, a few batches and 3 s to write the archive, on a machine that does other things.
WARM_MAX_S = 180


def spark_flags(jars: Sequence[Path], *, make: bool) -> tuple[str, ...]:
    """Java's flags to use the archive; none when there is none. To make it takes a minute, which
    an engine that is waited for does not have."""
    _, version = find_java()
    identity = "\n".join([version, *java_command(jars, {}, ())])
    return archive_flags(jars[0].parent, identity, partial(_make, jars) if make else None)


def _make(jars: Sequence[Path], archive: Path) -> None:
    """In a process of its own: a Java that is asked to write an archive may well die of it."""
    with TemporaryDirectory(prefix="classes-", dir=jars[0].parent) as scratch:
        dump = Path(scratch) / "dump.jsa"
        command = [sys.executable, "-P", "-m", "infra.spark.warm", scratch, str(dump)]
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [*command, *map(str, jars)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=WARM_MAX_S,
                check=False,
            )
            if done.returncode == 0 and dump.is_file():
                dump.replace(archive)
