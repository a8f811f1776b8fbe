"""Knows a broker's directory: who holds it, on which ports it lives, how it is formatted.

lock                the flock that the broker's process holds, and its process id
ports.json          the ports, kept so that clients find the broker again
server.properties   written anew at every start; controller.properties after a crash
broker.log          the broker's own log; out.txt is what Java itself said
data/               Kafka's
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.kafka.errors import BrokerFailed
from turbine_client.clients import LOCAL_CLUSTER

HOST = "127.0.0.1"

# Below the range from which the kernel picks ports for outgoing connections.
PORTS = range(15_000, 32_000)
# 200 tries in 17,000 ports: when none is free, something else is wrong.
PORT_TRIES_MAX = 200

_CHECKPOINT = "bootstrap.checkpoint"
# Kafka's names: of the controller's own log, and of what it writes last when it ends in order.
_RAFT_LOG, _IN_ORDER = "__cluster_metadata-0", ".kafka_cleanshutdown"


@dataclass(frozen=True, slots=True)
class Ports:
    broker: int
    controller: int


def take_lock(directory: Path) -> int | None:
    """The descriptor of the directory's lock, or None when a live process holds it.

    Kafka locks its directory too late: a second node writes to the metadata log before it
    notices the first, and the first then creates no topic any more. So this lock comes before
    Java. The broker's process inherits the descriptor; the lock ends with the last of its owners.
    """
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    # Whatever id stands there is of a former life; the new process writes its own.
    os.ftruncate(lock, 0)
    return lock


def holder(directory: Path) -> int | None:
    """The process id of the broker that lives here; 0 when one is just being started."""
    try:
        lock = os.open(directory / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        # Shared, so that two who ask at once do not take each other for a broker.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(lock, 20, 0) or b"0")
    else:
        return None
    finally:
        os.close(lock)


def read_ports(directory: Path) -> Ports | None:
    path = directory / "ports.json"
    try:
        said = json.loads(path.read_text())
        return Ports(int(said["broker"]), int(said["controller"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise BrokerFailed(
            f"{path} is damaged: delete it and start the broker with the port it had."
        ) from error


def write_ports(directory: Path, ports: Ports) -> None:
    text = json.dumps({"broker": ports.broker, "controller": ports.controller})
    replace_text(directory / "ports.json", text + "\n")


def replace_text(path: Path, text: str) -> None:
    """Write a file that is whole or not there, whenever this process dies."""
    written = path.with_name(path.name + ".new")
    written.write_text(text)
    written.replace(path)


def log_size(directory: Path) -> int:
    log = directory / "broker.log"
    return log.stat().st_size if log.exists() else 0


def free_port() -> int:
    for _ in range(PORT_TRIES_MAX):
        port = PORTS[secrets.randbelow(len(PORTS))]
        if is_free(port):
            return port
    raise BrokerFailed(
        f"None of {PORT_TRIES_MAX} ports tried on {HOST} is free: end what holds them, "
        "or name a port."
    )


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As Java does it: closed connections of a former life are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def format_directory(directory: Path, bootstrap_checkpoint: Path) -> str:
    """Make `data/` what Kafka's storage tool would make it; the cluster's id, old or new."""
    data = directory / "data"
    if (data / "meta.properties").is_file():
        return read_cluster(directory)
    if is_foreign(directory):
        raise BrokerFailed(f"{data} holds no broker's data: name another directory.")
    data.mkdir(parents=True, exist_ok=True)
    # Without this file the broker starts well with all features at 0, and consumers of the new
    # group protocol then read nothing, in silence. So it is there before `meta.properties`.
    shutil.copyfile(bootstrap_checkpoint, data / _CHECKPOINT)
    cluster = LOCAL_CLUSTER + secrets.token_urlsafe(10)
    meta = f"version=1\ncluster.id={cluster}\nnode.id=1\n"
    replace_text(data / "meta.properties", meta)
    return cluster


def is_foreign(directory: Path) -> bool:
    """Whether `data/` is somebody else's: neither a broker's, nor one that was being formatted."""
    data = directory / "data"
    if not data.exists() or (data / "meta.properties").is_file():
        return False
    begun = {_CHECKPOINT, "meta.properties.new"}
    return not data.is_dir() or bool({path.name for path in data.iterdir()} - begun)


def read_cluster(directory: Path) -> str:
    meta = directory / "data" / "meta.properties"
    match = re.search(r"^cluster\.id=(.+)$", meta.read_text(), re.MULTILINE)
    if match is None:
        raise BrokerFailed(f"{meta} is damaged (no cluster.id): wipe the directory.")
    return match[1].strip()


def write_properties(directory: Path, ports: Ports, extra: Mapping[str, str]) -> Path:
    settings = _settings(directory, ports) | dict(extra)
    return _write(directory / "server.properties", settings)


def write_controller(directory: Path, ports: Ports, session_ms: int) -> Path:
    """The same node without its broker, which takes one for gone that is silent for so long."""
    settings = {
        "process.roles": "controller",
        "listeners": f"CONTROLLER://{HOST}:{ports.controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
        "broker.session.timeout.ms": str(session_ms),
    }
    return _write(directory / "controller.properties", _of_node(directory, ports) | settings)


def _write(path: Path, settings: Mapping[str, str]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


def crashed(directory: Path) -> bool:
    """Whether the broker's last life there ended without an order: Kafka marks one that did not."""
    data = directory / "data"
    return (data / _RAFT_LOG).exists() and not (data / _IN_ORDER).exists()


def _settings(directory: Path, ports: Ports) -> dict[str, str]:
    listener = f"CONTROLLER://{HOST}:{ports.controller}"
    return _of_node(directory, ports) | {
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://{HOST}:{ports.broker},{listener}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        **SETTINGS,
    }


def _of_node(directory: Path, ports: Ports) -> dict[str, str]:
    return {
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{ports.controller}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(directory / "data"),
    }


SETTINGS: Mapping[str, str] = {
    # A misspelt topic is an error, not a new topic with the wrong number of partitions.
    "auto.create.topics.enable": "false",
    # One broker: its own topics cannot have a second replica.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # 50 partitions each is for clusters; these are made on first use, while a client waits.
    "offsets.topic.num.partitions": "8",
    "transaction.state.log.num.partitions": "8",
    "message.max.bytes": str(8 * 1024 * 1024),
    # 100 years in minutes. Offsets of a group without members expire, and a job that was paused
    # for longer than the week of the default would forget where it was.
    "offsets.retention.minutes": str(100 * 366 * 24 * 60),
    # 9 s by default. There is no other broker that could lead instead, so a machine that stands
    # still for longer, or sleeps, only gets elections, of which clients do not all recover; and the
    # broker was seen to come back without a group coordinator.
    "broker.session.timeout.ms": "60000",
    "broker.heartbeat.interval.ms": "400",
    # The first member of a group waits for others by default: 3 s in every test.
    "group.initial.rebalance.delay.ms": "0",
    # Floors only: a client's session of 6 s, and less, must be allowed, in both group protocols.
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    # 128 MB by default, a third of the heap for a cleaner that sees some MB.
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
}
