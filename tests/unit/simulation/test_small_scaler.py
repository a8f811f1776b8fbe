"""The small scaler's fold is one of facts: what two topics say commutes."""

from __future__ import annotations

from events.generated.records import (
    Body,
    Generation,
    JobConfigChanged,
    LayerVersions,
    TaskLoadReported,
)
from events.topics import JOURNAL, LOADS
from events.wire.codec import Read, Record, encode
from simulation.small_scaler import fold


def read(topic: str, body: Body) -> Read:
    record = Record("orders", "id", type(body).__name__, encode(body), body)
    return Read(f"{topic}/0", topic, 0, 1_000, record)


def test_a_report_of_an_older_shape_counts_whenever_it_is_read() -> None:
    changed = JobConfigChanged(
        job="orders",
        layer="base",
        change_id="9.a",
        version=2,
        versions=LayerVersions(2, 0, 0, 0),
        layer_json="{}",
        expected_json="{}",
        author="ann",
        reason="",
    )
    load = TaskLoadReported(
        job="orders",
        task=0,
        generation=Generation(specs=1, shard=1),
        epoch=1,
        count=7,
        window_ms=60_000,
        records_in_per_s=35.0,
        bytes_in_per_s=1.0,
        records_out_per_s=1.0,
        bytes_out_per_s=1.0,
    )
    facts = read(LOADS, load), read(JOURNAL, changed)
    one, other = fold(fold(None, facts[0]), facts[1]), fold(fold(None, facts[1]), facts[0])
    assert one == other
    assert one.heard == (1, 7, 35.0)
