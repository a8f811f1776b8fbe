"""The Java process of a container's Spark: how it is started, and that it ends with who started it.

pyspark would start it through two shells and a launcher in Java, half a second of a core, and would
leave it to find out by itself that its parent is gone. Here it is started directly, and tied.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time  # noqa: TID251 - patience with a process is real time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from turbine_client.errors import Unavailable

START_S = 120.0
"""A cold start takes 3 s on a quiet machine; one that swaps must not pass for dead."""
PAUSE_S = 0.02
_OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
"""What Spark reaches into; its own launcher says the same."""
FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    # A stop amid Python code prints a stack overflow with less: a regex walks its traceback.
    "-Xss8m",
    # Many small tasks on few cores: no threads that collect and compile beside them.
    "-XX:+UseSerialGC",
    # In some threads it would end that thread alone, and all tasks would seem to run.
    "-XX:+ExitOnOutOfMemoryError",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
)


class JavaFailed(Unavailable):
    """Spark's Java process did not come up; the sentence says what to do."""


def java_command(jars: Sequence[Path], conf: Mapping[str, str], flags: Sequence[str]) -> list[str]:
    """The program and its arguments. Class paths are spelt out and sorted: an archive of classes
    holds for the very same one."""
    java = _java()
    own = sorted(Path(pyspark.__path__[0]).glob("jars/*.jar"))
    opened = [f"--add-opens={one}=ALL-UNNAMED" for one in _OPENED]
    settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    return [
        java,
        *FLAGS,
        *flags,
        *opened,
        "-cp",
        os.pathsep.join(map(str, (*own, *jars))),
        "org.apache.spark.deploy.SparkSubmit",
        *settings,
        "pyspark-shell",
    ]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")  # noqa: TID251 - Java's own, as Spark reads it
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    if found is None:
        where = f"JAVA_HOME ({home})" if home else "PATH"
        raise JavaFailed(f"there is no java on the {where}; install a JDK 17 or newer")
    return found


def start_java(
    command: Sequence[str], tie: Callable[[], None], keep_fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Starts it and connects pyspark to it. Called from the main thread: the kernel ends a child
    with the *thread* that started it."""
    with TemporaryDirectory(prefix="turbine-spark-") as scratch:
        told = Path(scratch) / "connection"
        child = subprocess.Popen(  # noqa: S603 - Java, with arguments of ours
            command,
            stdin=subprocess.PIPE,  # at its end the gateway ends as well
            stdout=2,  # standard output is the engine's voice
            pass_fds=keep_fds,
            preexec_fn=tie,  # noqa: PLW1509 - this process has one thread then
            env={**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},  # noqa: TID251 - Spark's
        )
        port, secret = _connection(child, told)
    # Where these are set pyspark connects instead of starting a process.
    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)  # noqa: TID251 - the way to tell pyspark
    os.environ["PYSPARK_GATEWAY_SECRET"] = secret  # noqa: TID251 - the way to tell pyspark
    # Workers are to be this Python, and not the first one on the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable  # noqa: TID251 - the way to tell pyspark
    return child


def _connection(child: subprocess.Popen[bytes], told: Path) -> tuple[int, str]:
    limit = time.monotonic() + START_S
    while not told.exists():
        if child.poll() is not None:
            raise JavaFailed(
                f"Spark's Java process ended with code {child.returncode} before it was ready;"
                " the lines above this one say why"
            )
        if time.monotonic() > limit:
            child.kill()
            raise JavaFailed(f"Spark's Java process was not ready in {START_S:g} s")
        time.sleep(PAUSE_S)
    # Renamed into place when it is whole: a port, then a text with its length before it.
    text = told.read_bytes()
    port, length = struct.unpack_from(">ii", text)
    return port, text[8 : 8 + length].decode()
