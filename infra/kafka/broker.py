"""A local Kafka broker, for tests, benchmarks and laptops: start, stop, kill, start again."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.kafka.archive import class_flags
from infra.kafka.directory import HOST, holder, read_ports
from infra.kafka.distribution import obtain
from infra.kafka.errors import BrokerFailed
from infra.kafka.node import HEAP_MB, WAIT_S, Order, start_node

PAUSE_S = 0.02
STOP_WAIT_S = 20.0
# SIGKILL needs no consent; what takes longer is a disk that hangs.
KILL_WAIT_S = 60.0


@dataclass(slots=True)
class Broker:
    """A live broker and its directory; `pid` and `bootstrap` are those of its present life."""

    bootstrap: str
    directory: Path
    pid: int
    _order: Order = field(repr=False)
    # None when another process started it.
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def alive(self) -> bool:
        return holder(self.directory) == self.pid

    def stop(self, timeout: float = STOP_WAIT_S) -> None:
        """Ask it to end, and end it at the deadline; no process is left when this returns."""
        self._send(signal.SIGTERM)
        if not self._ends_within(timeout):
            self.kill()

    def kill(self) -> None:
        """SIGKILL: nothing is flushed and nobody is told, as in a crash."""
        self._send(signal.SIGKILL)
        if not self._ends_within(KILL_WAIT_S):
            raise BrokerFailed(
                f"The broker on {self.directory} (process {self.pid}) outlives SIGKILL: "
                "its disk hangs; look at it before starting another."
            )

    def start_again(self) -> None:
        """The same broker on the same data and port, after `stop` or `kill`."""
        again = _start(self._order, None)
        self.bootstrap, self.pid, self._child = again.bootstrap, again.pid, again._child

    def _send(self, number: signal.Signals) -> None:
        # The process that holds the lock is the broker for certain; a bare process id might
        # by now be anybody's.
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _ends_within(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_S)
        if self._child is not None:
            self._child.wait()
        return True


def start_broker(
    directory: Path,
    *,
    port: int | None = None,
    extra: Mapping[str, str] | None = None,
    die_with_parent: bool = True,
    heap_mb: int = HEAP_MB,
    wait_s: float = WAIT_S,
    search_path: str | None = None,
) -> Broker:
    """A broker that lives in `directory` and answers, with the data and the port it had before.

    `port`: None takes the directory's former port, or a free one. `extra`: settings that
    replace ours. `die_with_parent`: killed when this process ends, however it ends (on Linux).
    `search_path`: where to look for java and mvn instead of JAVA_HOME and PATH.
    """
    directory = directory.absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BrokerFailed(
            f"The broker cannot live in {directory} ({error.strerror}): name another directory."
        ) from error
    order = Order(directory, dict(extra or {}), die_with_parent, heap_mb, wait_s, search_path)
    return _start(order, port)


@contextlib.contextmanager
def temporary_broker(extra: Mapping[str, str] | None = None) -> Iterator[Broker]:
    """A broker in a new directory; both are gone at the end."""
    with TemporaryDirectory(prefix="turbine-broker-") as scratch:
        broker = start_broker(Path(scratch), extra=extra)
        try:
            yield broker
        finally:
            broker.stop()


def find_broker(directory: Path) -> Broker | None:
    """The broker that lives in `directory`, whoever started it; its settings are then ours."""
    directory = directory.absolute()
    pid, ports = holder(directory), read_ports(directory)
    # A broker in its very first seconds has a lock and no ports yet: nobody can talk to it.
    if not pid or ports is None:
        return None
    order = Order(directory, {}, die_with_parent=False)
    return Broker(f"{HOST}:{ports.broker}", directory, pid, order)


def _start(order: Order, port: int | None) -> Broker:
    distribution = obtain(search_path=order.search_path)
    node = start_node(order, distribution, port, class_flags(distribution))
    bootstrap = f"{HOST}:{node.port}"
    return Broker(bootstrap, order.directory, node.process.pid, order, node.process)
