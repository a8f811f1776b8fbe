"""Knows when a broker that was just started answers, and what stopped it when it does not."""

import re
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.kafka.directory import HOST
from infra.kafka.errors import BrokerFailed

PAUSE_S = 0.02
CONNECT_MAX_S = 1.0
METADATA_MAX_S = 2.0
# Enough for the stack trace of a failed start, far too little for a whole log.
TAIL_BYTES = 64 * 1024

_CAUSE = re.compile(
    r"^(?:Caused by: )?(?:Exception in thread .*? )?([\w.$]+(?:Exception|Error)\b.*)"
)
_CRASH = re.compile(r"^#\s+(SIG\w+ .*|Internal Error .*|There is insufficient memory .*)")
_ERROR_LINE = re.compile(r" (?:ERROR|FATAL) \S+ (.*)")


@dataclass(frozen=True, slots=True)
class BrokerStart:
    """One start of a broker: what to look for, and where its log of this start begins."""

    directory: Path
    port: int
    cluster: str
    log_from: int


def await_ready(child: subprocess.Popen[bytes], start: BrokerStart, wait_s: float) -> None:
    """Return when the broker answers with metadata that names itself; raise when it will not."""
    deadline = time.monotonic() + wait_s
    admin: AdminClient | None = None
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise failed(start, f"ended with {child.returncode} before it answered")
        if admin is None and _listens(start.port):
            admin = _quiet_admin(start.port)
        if admin is not None and _names_itself(admin, start.port, start.cluster):
            return
        time.sleep(PAUSE_S)
    raise failed(start, f"did not answer within {wait_s:g} s")


def failed(start: BrokerStart, how: str) -> BrokerFailed:
    """The sentence for a start that has come to nothing, with what its log names as the cause."""
    cause = find_cause(start.directory, start.log_from)
    log = start.directory / "broker.log"
    return BrokerFailed(f"The broker in {start.directory} {how}: {cause}; see {log}.")


def answers(port: int, cluster: str) -> bool:
    """Whether the broker of this cluster answers on its port now."""
    return _listens(port) and _names_itself(_quiet_admin(port), port, cluster)


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=CONNECT_MAX_S).close()
    except OSError:
        return False
    return True


def _quiet_admin(port: int) -> AdminClient:
    # A broker that is just coming up refuses connections: that is no news for anybody's stderr.
    return AdminClient(
        {
            "bootstrap.servers": f"{HOST}:{port}",
            "log_level": 0,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
        }
    )


def _names_itself(admin: AdminClient, port: int, cluster: str) -> bool:
    try:
        metadata = admin.list_topics(timeout=METADATA_MAX_S)
    except KafkaException:
        return False
    # A foreign broker may have won our port; only unfenced brokers stand in the metadata.
    ports = [broker.port for broker in metadata.brokers.values()]
    return metadata.cluster_id == cluster and ports == [port]


def find_cause(directory: Path, log_from: int) -> str:
    """The innermost exception of this start, else its last error, else its last words."""
    lines = lines_from(directory / "broker.log", log_from, TAIL_BYTES)
    lines += lines_from(directory / "out.txt", 0, TAIL_BYTES)
    causes = [match[1] for line in lines if (match := _CAUSE.match(line))]
    errors = [match[1] for line in lines if (match := _ERROR_LINE.search(line))]
    crashes = [match[1] for line in lines if (match := _CRASH.match(line))]
    last = [line for line in lines if line.strip()][-1:]
    said = (causes[-1:] or crashes[:1] or errors[-1:] or last or ["it said nothing"])[0]
    return said.strip().rstrip(".")


def lines_from(path: Path, start: int, most: int | None = None) -> list[str]:
    """A log's lines from its offset on; of its last so many bytes, where that is said."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        size = file.seek(0, 2)
        # A log that was rolled over meanwhile is shorter than its start.
        begin = start if start <= size else 0
        file.seek(begin if most is None else max(begin, size - most))
        return file.read().decode(errors="replace").splitlines()
