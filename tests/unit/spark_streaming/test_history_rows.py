"""What stands in the history of a message, and of one that is no report: why, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from events.generated.records import ClockTicked, Generation, PartitionLag, TaskLoadReported
from events.topics import partition_of
from events.wire.codec import TICK_MS_MAX, encode
from spark_streaming.history.rows import COLUMNS, IDENTITY, decoded, to_arrow

PARTITIONS = 4
AT_MS = 1_767_225_600_123
LOAD = TaskLoadReported(
    job="clicks",
    task=3,
    generation=Generation(5, 6),
    epoch=7,
    count=8,
    window_ms=60_000,
    records_in_per_s=1.5,
    bytes_in_per_s=2.5,
    records_out_per_s=0.0,
    bytes_out_per_s=0.0,
    lag_records=0,
    memory_bytes=None,
    oom=True,
    container="c1",
    tasks=5,
    threads=2,
    partitions=(PartitionLag("clicks", 0, 0),),
)


def message(**more: Any) -> tuple[Any, ...]:
    told: dict[str, Any] = {
        "partition": partition_of("clicks", PARTITIONS),
        "offset": 17,
        "at_ms": AT_MS,
        "key": b"clicks",
        "value": encode(LOAD),
        "names": None,
        "texts": None,
    }
    return tuple({**told, **more}.values())


def only(*messages: tuple[Any, ...]) -> tuple[Any, ...]:
    [row] = decoded(messages, PARTITIONS)
    return row


def test_a_report_is_as_it_was_said() -> None:
    row = dict(zip([*COLUMNS, "why"], only(message()), strict=True))
    assert row.pop("why") is None
    assert row.pop("at_ms") == AT_MS
    assert (row.pop("specs"), row.pop("shard")) == (5, 6)
    plain = LOAD.to_plain()
    assert row == {name: plain[name] for name in row}, "and what is unknown is None"
    assert set(plain) - set(row) == {"generation", "partitions"}
    assert set(IDENTITY) < set(COLUMNS)


def test_headers_are_heeded() -> None:
    named = message(names=["ce_type", "ce_id"], texts=[b"turbine.TaskLoadReported", b"i"])
    assert only(named)[-1] is None
    other = message(names=["ce_type"], texts=[b"turbine.TaskStarted"])
    assert "the header ce_type says TaskStarted" in only(other)[-1]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"value": None}, "the message has no value"),
        ({"value": b"junk"}, "the value does not begin with 0x00"),
        ({"value": encode(LOAD)[:-9]}, "the value ends within a TaskLoadReported"),
        ({"value": encode(ClockTicked(1))}, "a ClockTicked does not belong on loads.v1"),
        ({"key": None}, "loads.v1/"),
        ({"key": b"views"}, "loads.v1/"),
        ({"at_ms": -1}, "its time is -1 ms since 1970; let the topic have message.timestamp.type"),
        ({"at_ms": TICK_MS_MAX + 1}, "its time is"),
    ],
)
def test_what_is_no_report_says_why(more: dict[str, Any], sentence: str) -> None:
    row = only(message(**more))
    assert row[:-1] == (None,) * len(COLUMNS)
    assert sentence in row[-1]
    assert "at offset 17" in row[-1]


def test_one_that_is_bad_leaves_the_others() -> None:
    good, bad = message(), message(value=b"")
    rows = list(decoded([good, bad, good], PARTITIONS))
    assert [row[-1] is None for row in rows] == [True, False, True]


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1])
def test_all_that_can_be_said_has_room(number: int) -> None:
    """What cannot be written would stop the stream for one message."""
    wide = replace(LOAD, epoch=number, lag_bytes=number, task=max(min(number, 2**31 - 1), -(2**31)))
    wide = replace(wide, records_in_per_s=1e308, cpu_cores=-1e308)
    batch = to_arrow(decoded([message(value=encode(wide))], PARTITIONS))
    assert batch.column("epoch").to_pylist() == [number]


def test_columns_are_typed_where_there_are_no_rows() -> None:
    none, some = to_arrow([]), to_arrow(decoded([message()], PARTITIONS))
    assert none.num_rows == 0
    assert none.schema == some.schema
    assert some.schema.field("task").type == pa.int32()
