"""Knows how to get what a broker runs on: Java, and Kafka's jars by Maven, copied once."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.kafka.errors import JavaUnavailable

ROOM = Path(__file__).resolve().parent
POM = ROOM / "pom.xml"
TARGET = ROOM / "target"

# Kafka 4 brokers are compiled for 17.
JAVA_MIN = 17
# A cold download of 46 jars takes 20 s on a good line; a dead proxy should still end within
# the patience of a person who waits for it.
MAVEN_MAX_S = 600
JAVA_MAX_S = 60

_GET_JAVA = "install a JDK 17 or newer (Debian: apt install openjdk-17-jre-headless)"
_GET_MAVEN = "install Maven 3.6 or newer (Debian: apt install maven)"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A Java and the jars of one Kafka version; `home` is where things made from them may lie."""

    java: Path
    java_version: str
    jars: tuple[Path, ...]
    home: Path

    @property
    def class_path(self) -> str:
        # Sorted and spelt out: a wildcard expands in the directory's order, and an archive of
        # classes is only valid for the very same order.
        return os.pathsep.join(str(jar) for jar in self.jars)

    @property
    def bootstrap_checkpoint(self) -> Path:
        return self.home / "bootstrap.checkpoint"


def obtain(
    *, pom: Path = POM, target: Path = TARGET, search_path: str | None = None
) -> Distribution:
    """Java and the jars, downloaded if they are not there; safe to call from many processes.

    `search_path` replaces PATH (and JAVA_HOME) in the search for programs.
    """
    java, version = find_java(search_path)
    with locked(target):
        jars = fetch_jars(pom, target / "jars", search_path)
        distribution = Distribution(java, version, jars, jars[0].parent)
        _make_bootstrap_checkpoint(distribution)
    return distribution


def find_java(search_path: str | None = None) -> tuple[Path, str]:
    """The program and its version line."""
    home = os.environ.get("JAVA_HOME") if search_path is None else None
    found = shutil.which("java", path=f"{home}/bin" if home else search_path)
    if found is None:
        where = f"JAVA_HOME ({home})" if home else "PATH"
        raise JavaUnavailable(f"There is no java on the {where}: {_GET_JAVA}.")
    try:
        said = subprocess.run(
            [found, "-version"], capture_output=True, text=True, timeout=JAVA_MAX_S, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaUnavailable(f"{found} does not run ({error}): {_GET_JAVA}.") from error
    # "1.8.0_292" is the old way to say 8; it fails the comparison as a 1, which is what is wanted.
    match = re.search(r'version "((\d+)[^"]*)"', said)
    if match is None:
        raise JavaUnavailable(f"{found} does not tell its version: {_GET_JAVA}.")
    if int(match[2]) < JAVA_MIN:
        raise JavaUnavailable(f"{found} is Java {match[1]}, Kafka needs {JAVA_MIN}: {_GET_JAVA}.")
    return Path(found), said


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """One process at a time prepares `target`; the others wait and then find it done."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        lock = (target / "lock").open("w")
    except OSError as error:
        raise JavaUnavailable(
            f"Kafka's jars cannot be kept in {target} ({error.strerror}): make it writable."
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch_jars(pom: Path, sets: Path, search_path: str | None = None) -> tuple[Path, ...]:
    """The jars that `pom` names, in a directory of their own; nothing is done when its stamp fits.

    Every pom has its own directory, because Java opens a jar when it first needs it: a broker
    that runs while the version is changed still finds its own.
    """
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    jars = sets / digest
    stamp = jars / "stamp.json"
    present = _stamped(stamp)
    if present:
        return present
    sets.mkdir(exist_ok=True)
    # Copied beside and moved into place: a run that dies leaves no half set.
    with TemporaryDirectory(prefix="fetch-", dir=sets) as scratch:
        fresh = Path(scratch) / jars.name
        fresh.mkdir()
        _copy_with_maven(pom, fresh, search_path)
        sizes = {jar.name: jar.stat().st_size for jar in sorted(fresh.glob("*.jar"))}
        if not sizes:
            raise JavaUnavailable(
                f"Maven ended well but copied no jar: look for what differs in {pom}."
            )
        (fresh / stamp.name).write_text(json.dumps(sizes))
        if jars.exists():
            shutil.rmtree(jars)
        fresh.rename(jars)
    return tuple(jars / name for name in sizes)


def _stamped(stamp: Path) -> tuple[Path, ...]:
    try:
        sizes: Mapping[str, int] = json.loads(stamp.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return ()
    jars = {stamp.parent / name: size for name, size in sizes.items()}
    whole = all(jar.is_file() and jar.stat().st_size == size for jar, size in jars.items())
    return tuple(jars) if whole else ()


def _copy_with_maven(pom: Path, into: Path, search_path: str | None) -> None:
    maven = shutil.which("mvn", path=search_path)
    if maven is None:
        raise JavaUnavailable(f"There is no mvn on the PATH to fetch Kafka's jars: {_GET_MAVEN}.")
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    command.append(f"-Djars.directory={into}")
    ran = _run_maven(command)
    if ran.returncode != 0:
        # Maven remembers a failed look-up for a day and then fails without asking; -U asks again.
        ran = _run_maven([*command, "-U"])
    if ran.returncode != 0:
        raise JavaUnavailable(
            f"Maven could not fetch Kafka's jars ({_first_error(ran.stdout + ran.stderr)}): "
            f"see that `mvn -f {pom} dependency:copy-dependencies` works here."
        )


def _run_maven(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=MAVEN_MAX_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise JavaUnavailable(
            f"Maven did not fetch Kafka's jars within {MAVEN_MAX_S} s: check the network."
        ) from error
    except OSError as error:
        raise JavaUnavailable(
            f"{command[0]} does not run ({error.strerror}): {_GET_MAVEN}."
        ) from error


def _first_error(output: str) -> str:
    lines = [line.removeprefix("[ERROR]").strip() for line in output.splitlines()]
    return next((line for line in lines if line), "it said nothing").rstrip(".")


def _make_bootstrap_checkpoint(distribution: Distribution) -> None:
    """Format a directory once; every later one is formatted by copying this file (1.1 s saved).

    The file holds the feature levels of this Kafka version and nothing of the cluster.
    """
    if distribution.bootstrap_checkpoint.is_file():
        return
    with TemporaryDirectory(prefix="format-", dir=distribution.home) as scratch:
        config = Path(scratch) / "server.properties"
        config.write_text(
            "process.roles=broker,controller\nnode.id=1\n"
            "controller.quorum.voters=1@127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n"
            "listeners=PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1\n"
            f"log.dirs={scratch}/data\n"
        )
        command = [str(distribution.java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", distribution.class_path, "kafka.tools.StorageTool", "format"]
        command += ["-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", str(config)]
        said = _format(command)
        made = Path(scratch) / "data" / "bootstrap.checkpoint"
        if not made.is_file():
            raise JavaUnavailable(
                f"Kafka's storage tool failed ({_first_error(said)}): "
                f"delete {distribution.home} to fetch its jars again."
            )
        made.replace(distribution.bootstrap_checkpoint)


def _format(command: list[str]) -> str:
    """Run the tool; what it said, for the case that nothing came of it."""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=JAVA_MAX_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {JAVA_MAX_S} s"
    return ran.stderr + ran.stdout


def kafka_version(pom: Path = POM) -> str:
    """The one place that says it is the pom."""
    match = re.search(r"<kafka\.version>([^<]+)</kafka\.version>", pom.read_text())
    assert match is not None, f"{pom} names no version of Kafka"
    return match[1]
