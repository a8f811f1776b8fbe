"""What a process tells Prometheus about itself. Counters only rise; label values are bounded."""

from __future__ import annotations

from typing import Any

from prometheus_client import Counter, Gauge, start_http_server

from components.runtime.step import Owner

SAID = Counter("turbine_records_said", "Records written to the log.", ["component", "type"])
DEAD_LETTERS = Counter("turbine_dead_letters", "Records that could not be read.", ["reason"])
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
    for became in ("folded", "void", "impossible", "repeated"):
        RECORDS.labels(*where, became).set(getattr(owner.counts, became))
    HELD_BACK.labels(*where).set(len(owner.blocked))
    FROZEN.labels(*where).set(frozen)


def serve(port: int) -> None:
    """The exposition on loopback; port 0 serves nothing."""
    if port:
        start_http_server(port, addr="127.0.0.1")
