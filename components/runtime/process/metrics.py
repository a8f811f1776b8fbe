"""What a process tells Prometheus about itself. Counters only rise; label values are bounded."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from prometheus_client import Counter, Gauge, start_http_server

from components.runtime.core.step import Stepper
from turbine_client.settings import BadSettings

LOOPBACK = "127.0.0.1"
BUILD = Gauge("turbine_build_info", "1, and which build says so.", ["version"])
SAID = Counter("turbine_records_said", "Records written to the log.", ["component", "type"])
DEAD_LETTERS = Counter(
    "turbine_records_unreadable", "Records that this process could not read.", ["reason"]
)
BECAME = ("folded", "void", "impossible", "repeated")
RECORDS = Gauge(
    "turbine_records_read",
    "Records read since the last assignment, by what became of them.",
    ["component", "partition", "became"],
)
HELD_BACK = Gauge(
    "turbine_keys_held_back",
    "Keys with records that wait for what their authors knew.",
    ["component", "partition"],
)
FROZEN = Gauge(
    "turbine_keys_frozen",
    "Keys with a decision that this build cannot read.",
    ["component", "partition"],
)
WEBHOOK_ATTEMPTS = Counter(
    "turbine_webhook_attempts", "Attempts to tell a receiver, by what became.", ["hook", "verdict"]
)
WEBHOOK_GIVEN_UP = Counter("turbine_webhook_given_up", "Messages that were given up.", ["hook"])
WEBHOOK_WAITING = Gauge("turbine_webhook_waiting", "Messages read and not yet done.", ["hook"])
WEBHOOK_DOWN = Gauge("turbine_webhook_down", "1 while the receiver takes nothing.", ["hook"])
AUDITED = Counter("turbine_audited", "Decisions made again.", ["component", "verdict"])
AUDIT_LAG = Gauge(
    "turbine_audit_lag_seconds", "How old the newest tick is that the audit has read."
)
AUDIT_WAITING = Gauge("turbine_audit_waiting", "Decisions that were read and have no verdict yet.")


def observe(component: str, partition: int, owner: Stepper[Any], frozen: int) -> None:
    """The state of one owner."""
    where = (component, str(partition))
    for became in BECAME:
        RECORDS.labels(*where, became).set(getattr(owner.counts, became))
    HELD_BACK.labels(*where).set(len(owner.blocked))
    FROZEN.labels(*where).set(frozen)


def forget(component: str, partition: int) -> None:
    """The partition is another's now: two processes that report it would be added up."""
    where = (component, str(partition))
    for became in BECAME:
        _drop(RECORDS, *where, became)
    _drop(HELD_BACK, *where)
    _drop(FROZEN, *where)


def _drop(gauge: Gauge, *labels: str) -> None:
    try:
        gauge.remove(*labels)
    except KeyError:
        return  # it was given up before anything was reported of it


def serve(port: int, host: str = LOOPBACK) -> None:
    """The exposition, for this machine unless another address is named; port 0 serves nothing."""
    if not port:
        return
    BUILD.labels(version("turbine")).set(1)
    try:
        start_http_server(port, addr=host)
    except OSError as error:
        raise BadSettings(
            f"metrics cannot be served on {host}:{port} ({error.strerror}); name another port"
        ) from None
