"""What the page for strangers says of bytes, partitions and topics is what is so."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from components.runtime.kafka.dead_letters import ALONE
from events.generated.records import RECORDS, ConfigChangeProposed
from events.topics import BY_SHORT, DEFAULT_PARTITIONS, TOPICS, partition_of, short_of
from events.wire.codec import decode, encode
from projections.ingress import KNOWN, VALID_MS, WAITING, WHOLE_BYTES
from turbine.contract.document import HEADERS, LIMITS

TEXT = (Path(__file__).parents[3] / "docs" / "contract.md").read_text()


def test_the_bytes_are_those_of_the_change_that_is_told() -> None:
    [told] = re.findall(r"```hex\n(.*?)```", TEXT, re.DOTALL)
    body = ConfigChangeProposed("1767225600000.a", "clicks", "me", set_json='{"tasks":4}')
    assert bytes.fromhex(told) == encode(body)
    assert decode(bytes.fromhex(told)) == body


def test_the_partitions_are_those_that_the_two_hashes_give() -> None:
    rows = re.findall(r"^\| `([a-z.]+)` \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 4
    for key, ours, theirs in rows:
        assert partition_of(key, DEFAULT_PARTITIONS) == int(ours)
        assert zlib.crc32(key.encode()) % DEFAULT_PARTITIONS == int(theirs) != int(ours)


def test_every_topic_record_and_header_that_is_named_is_there() -> None:
    topics = set(re.findall(r"turbine\.[a-z-]+(?:\.[a-z-]+)*\.v1(?!\.[A-Z])", TEXT))
    assert topics >= {"turbine.changes.base.v1", "turbine.outcomes.v1"}
    assert topics <= {one.name for one in TOPICS}
    records = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", TEXT))
    records -= {"AsyncPublisher", "LogAppendTime", "RecordNameStrategy"}
    assert {"ConfigChangeProposed", "JobConfigChanged"} <= records <= set(RECORDS)
    assert set(re.findall(r"`(ce_[a-z]+)`", TEXT)) <= set(HEADERS)
    rows = re.findall(r"^\| [^|]+ \| (`turbine[^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 5
    for where, what in rows:
        carried = BY_SHORT[short_of(where.split("`")[1])].records
        assert set(re.findall(r"`([A-Z]\w+)`", what)) <= set(carried)


def test_the_validity_is_the_one_that_is_kept_to() -> None:
    assert f"at most {VALID_MS // 60_000}\nminutes ahead" in TEXT


def test_the_limits_are_those_that_are_kept_to() -> None:
    told = TEXT.partition("## Limits and refusals")[2].partition("\n## ")[0]
    limits = (f"| {WAITING}; ", f"| {KNOWN:,} ", f"| {WHOLE_BYTES // 1024} KiB ")
    assert all(limit in told for limit in limits)
    assert f"a reader writes {ALONE} a place" in told
    said = (f"{WAITING} requests", f"{KNOWN:,} of one job", f"{WHOLE_BYTES // 1024} KiB")
    assert all(limit in LIMITS for limit in said)
