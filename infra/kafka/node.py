"""Starts one KRaft node as a process: its ports, its lock, its JVM."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.kafka.directory import (
    HOST,
    Ports,
    crashed,
    format_directory,
    free_port,
    holder,
    is_free,
    log_size,
    read_ports,
    take_lock,
    write_controller,
    write_ports,
    write_properties,
)
from infra.kafka.distribution import ROOM, Distribution
from infra.kafka.errors import BrokerFailed, BrokerInUse
from infra.kafka.fencing import SESSION_MS, fence
from infra.kafka.readiness import BrokerStart, await_ready

HEAP_MB = 384
WAIT_S = 60.0
# A parent that was killed a moment ago: the kernel ends its broker, but not in the same instant.
LOCK_WAIT_S = 1.0
# Another program may take a port between our look and the broker's bind.
PORT_RACES_MAX = 4
PAUSE_S = 0.02

# What decides whether an archive of classes fits, besides Java and the class path.
JVM_FLAGS = (
    # One collector thread and the first compiler only: half the start-up time and CPU, which
    # counts on machines of two cores more than the peak throughput that is lost.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A broker out of memory that lives on answers some requests and not others.
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    f"-Dlog4j2.configurationFile={ROOM / 'log4j2.properties'}",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What a broker is started with, kept so that it can be started again."""

    directory: Path
    extra: Mapping[str, str]
    die_with_parent: bool = True
    heap_mb: int = HEAP_MB
    wait_s: float = WAIT_S
    search_path: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerNode:
    """A process that has answered, and the port on which it did."""

    process: subprocess.Popen[bytes]
    port: int


def start_node(
    order: Order, distribution: Distribution, port: int | None, classes: tuple[str, ...] = ()
) -> BrokerNode:
    """A node that answers. `classes`: Java's flags about an archive of classes."""
    kept = read_ports(order.directory)
    command = [str(distribution.java), *classes, *JVM_FLAGS, "-Xms64m", f"-Xmx{order.heap_mb}m"]
    command.append(f"-Dturbine.broker.log={order.directory / 'broker.log'}")
    command += ["-cp", distribution.class_path, "kafka.Kafka"]
    for race in range(PORT_RACES_MAX):
        ports = _choose_ports(order.directory, port, kept)
        try:
            return _start_on(order, command, ports, distribution.bootstrap_checkpoint)
        except BrokerFailed:
            # A port of our own choice that is taken now was lost in a race: choose again.
            lost = not (is_free(ports.broker) and is_free(ports.controller))
            if not lost or port or kept or race + 1 == PORT_RACES_MAX:
                raise
    raise AssertionError("the loop above returns or raises")


def _choose_ports(directory: Path, port: int | None, kept: Ports | None) -> Ports:
    wanted = port or (kept and kept.broker)
    if wanted and not is_free(wanted) and holder(directory) is None:
        raise BrokerFailed(
            f"Port {wanted} of {HOST}, on which clients look for the broker in {directory}, "
            "is taken by another program: end that program, or start the broker with another port."
        )
    controller = kept.controller if kept and is_free(kept.controller) else free_port()
    return Ports(wanted or free_port(), controller)


def _start_on(order: Order, command: list[str], ports: Ports, checkpoint: Path) -> BrokerNode:
    lock = _wait_for_lock(order.directory)
    try:
        cluster = format_directory(order.directory, checkpoint)
        start = BrokerStart(order.directory, ports.broker, cluster, log_size(order.directory))

        def spawn(properties: Path) -> subprocess.Popen[bytes]:
            return _spawn([*command, str(properties)], order, lock)

        if crashed(order.directory):
            controller = write_controller(order.directory, ports, SESSION_MS)
            fence(spawn, controller, start, order.wait_s)
        process = spawn(write_properties(order.directory, ports, order.extra))
    finally:
        # From here on the broker's process is the lock's one owner.
        os.close(lock)
    try:
        await_ready(process, start, order.wait_s)
        write_ports(order.directory, ports)
    except BaseException:
        # A broker that nobody was told of must not live on, also not after Ctrl-C.
        process.kill()
        process.wait()
        raise
    return BrokerNode(process, ports.broker)


def _wait_for_lock(directory: Path) -> int:
    deadline = time.monotonic() + LOCK_WAIT_S
    while (lock := take_lock(directory)) is None:
        if time.monotonic() > deadline:
            raise BrokerInUse(
                f"A broker (process {holder(directory)}) already lives in {directory}: "
                "use it, stop it first, or name another directory."
            )
        time.sleep(PAUSE_S)
    return lock


def _spawn(command: list[str], order: Order, lock: int) -> subprocess.Popen[bytes]:
    parent = os.getpid() if order.die_with_parent else 0
    shim = [sys.executable, "-I", "-S", str(ROOM / "launch.py"), str(lock), str(parent)]

    def spawn() -> subprocess.Popen[bytes]:
        with (order.directory / "out.txt").open("wb") as out:
            return subprocess.Popen(
                [*shim, *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=order.directory,
                pass_fds=[lock],
                # Ctrl-C in a terminal is for the program, which then stops its broker in order.
                start_new_session=True,
            )

    return _in_lasting_thread(spawn) if order.die_with_parent else spawn()


def _in_lasting_thread(
    spawn: Callable[[], subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Spawn from a thread that lives as long as the child.

    "Parent" in the kernel's death signal is the *thread* that forked: a broker started from a
    worker thread would be killed as soon as that thread is done.
    """
    answers: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()

    def keep() -> None:
        try:
            child = spawn()
        except OSError as error:
            answers.put(error)
            return
        answers.put(child)
        child.wait()

    threading.Thread(target=keep, name="broker's parent", daemon=True).start()
    answer = answers.get()
    if isinstance(answer, OSError):
        raise answer
    return answer
