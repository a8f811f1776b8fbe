"""What a process tells Prometheus about itself. Counters only rise; label values are bounded."""

from __future__ import annotations

from typing import Any

from prometheus_client import Counter, Gauge, start_http_server

from components.runtime.settings import BadSettings
from components.runtime.step import Owner

SAID = Counter("turbine_records_said", "Records written to the log.", ["component", "type"])
DEAD_LETTERS = Counter("turbine_dead_letters", "Records that could not be read.", ["reason"])
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


def observe(component: str, partition: int, owner: Owner[Any], frozen: int) -> None:
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


def serve(port: int) -> None:
    """The exposition on loopback; port 0 serves nothing."""
    if not port:
        return
    try:
        start_http_server(port, addr="127.0.0.1")
    except OSError as error:
        raise BadSettings(
            f"metrics cannot be served on 127.0.0.1:{port} ({error.strerror}); name another port"
        ) from None
