"""Everything bad that was ever sent to a topic, and what has to become of each.

A case says what is sent, and one of: the reason of its dead letter, the reason of its rejection,
`VOID` (nothing is said of it, and it changes nothing), or `TAKEN` (it looks odd and is fine).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer

from events.generated.records import ClockTicked, JobConfigChanged, LayerVersions
from events.topics import BY_SHORT, MIB, REQUEST_BYTES, partition_of
from events.wire.codec import encode
from tests.integration.changes import SMALLEST, new_id, proposal
from tests.integration.processes import PARTITIONS
from turbine_client.clients import producer
from turbine_client.settings import Settings

VOID, TAKEN = "void", "taken"
BASE = "changes.base.v1"
Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Case:
    """One message, and what has to become of it."""

    name: str
    becomes: str
    key: bytes | None
    value: bytes | None
    change_id: str = ""  # of a request, where it can be told
    headers: Headers | None = None
    topic: str = BASE
    partition: int | None = None  # None: where the key belongs
    rejected: bool = False  # `becomes` is the reason of a rejection, and not of a letter
    words: str = ""  # of the explanation that the author of a rejected request reads

    @property
    def at(self) -> int:
        if self.partition is not None:
            return self.partition
        return partition_of(self.key or b"", PARTITIONS)


def cases() -> Iterator[Case]:
    yield from _patches()
    yield from _requests()
    yield from _bytes()
    yield from _keys()
    yield from _headers()
    yield from _forgeries()


def _request(name: str, becomes: str, *, rejected: bool = False, **more: Any) -> Case:
    """A request that is well-formed as a message; `more` is its fields, or the message's."""
    own = {field: more.pop(field) for field in ("headers", "topic", "words") if field in more}
    job = more.pop("job", _job(name))
    body = proposal(job, **more)
    return Case(name, becomes, job.encode(), encode(body), body.change_id, rejected=rejected, **own)


def _job(name: str) -> str:
    return "bad-" + re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _patches() -> Iterator[Case]:
    """JSON that parsers accept, choke on, or take for something else, about a job that exists."""
    deep = 10_000
    patches = {
        "depth of 40,000": ("[" * 40_000 + "]" * 40_000, "80000 bytes"),
        "depth of 30,000": ("[" * 30_000 + "]" * 30_000, "deeper than 32"),
        "patch of depth 10,000": ('{"a":' * deep + "1" + "}" * deep, "deeper than 32"),
        "over 10,000 values": (json.dumps({"arguments": [0] * 10_001}), "more than 10000 values"),
        "over 512 keys": (json.dumps({f"k{n}": n for n in range(513)}), "513 keys"),
        "NaN": ('{"tasks": NaN}', "NaN"),
        "Infinity": ('{"tasks": -Infinity}', "Infinity"),
        "1e999": ('{"tasks": 1e999}', "1e999"),
        "integer of 60,000 digits": ('{"tasks": ' + "9" * 60_000 + "}", "9999"),
        "beyond 2^53": ('{"tasks": 9007199254740993}', "9007199254740993"),
        "duplicate keys": ('{"tasks": 1, "tasks": 2}', "twice"),
        "lone surrogate": ('{"package": {"name": "\\ud800"}}', "surrogate"),
        "no object": ("[1]", "expected a JSON object"),
        "no JSON": ("tasks: 3", "JSON"),
        "empty JSON": ("", "JSON"),
        "unknown field": ('{"taskz": 3}', "taskz"),
        "key of 300 bytes": (json.dumps({"k" * 300: 1}), "300 bytes"),
    }
    for name, (patch, words) in patches.items():
        yield _request(f"{name}, created", TAKEN, job=_job(name))
        yield _request(name, "invalid", rejected=True, set_json=patch, words=words)


def _requests() -> Iterator[Case]:
    """Requests that are well said and cannot be granted, or do not count."""
    yield _request("stale version", "stale", rejected=True, expected_version=7, words="version 7")
    yield _request(
        "no such job",
        "no-such-job",
        rejected=True,
        topic="changes.scaler.v1",
        set_json="{}",
        words="creates",
    )
    ours = "turbine-publisher"
    yield _request("a job of our name", "invalid", rejected=True, job=ours, words="turbine-")
    for topic in ("turbine.changes.oncall.v1", "__consumer_offsets"):
        sink = json.dumps(SMALLEST | {"output": {"topic": topic}})
        name = f"writes to {topic}"
        yield _request(name, "invalid", rejected=True, set_json=sink, words="of your own")
    yield _request("clear 10,000 deep", TAKEN, clear=("a." * 9_999 + "a",))
    yield _request(
        "talkative author", "too-large", rejected=True, author="x" * 90_000, words="author"
    )
    now_ms = int(time.time() * 1000)
    yield _request("id without validity", "change-id-malformed", change_id="tomorrow")
    yield _request("id too long", "change-id-malformed", change_id=f"{now_ms + 60_000}.{'x' * 200}")
    yield _request("id expired", "change-id-expired", change_id=f"{now_ms - 60_000}.token")
    far_ms = now_ms + 3_600_000
    yield _request("id too far ahead", "change-id-too-far-ahead", change_id=f"{far_ms}.token")
    again = _request("sent twice", TAKEN)
    yield again
    yield again


def _bytes() -> Iterator[Case]:
    """Values that are no record."""
    good = proposal("bad-bytes")
    value = encode(good)

    def case(name: str, becomes: str, bad: bytes | None) -> Case:
        return Case(name, becomes, b"bad-bytes", bad)

    yield case("not UTF-8", "malformed", value.replace(b"clicks.count", b"clicks\xff\xfeount"))
    yield case("unknown schema", "unknown-schema", b"\0\x7f\xff\xff\xff" + value[5:])
    yield case("truncated", "truncated", value[:-3])
    yield case("trailing", "trailing-bytes", value + b"\0")
    yield case("tombstone", "no-value", None)
    yield case("empty value", "not-framed", b"")
    yield case("plain JSON", "not-framed", json.dumps(SMALLEST).encode())
    # A string whose length, in Avro's zigzag, is 2^40.
    yield case("string of 2^40 bytes", "truncated", value[:5] + b"\x80\x80\x80\x80\x80\x40")
    yield case("300 KiB", "too-large", value[:5] + bytes(300 * 1024))
    yield case("wrong record", "wrong-record", encode(ClockTicked(number=7)))


def _keys() -> Iterator[Case]:
    body = proposal("bad-keys")
    value = encode(body)
    home = partition_of("bad-keys", PARTITIONS)
    yield Case("key of another job", "wrong-key", b"bad-other", value)
    yield Case("no key", "no-key", None, value, partition=home)
    yield Case("empty key", "no-key", b"", value, partition=home)
    yield Case(
        "foreign partitioner",
        "foreign-partitioner",
        b"bad-keys",
        value,
        partition=(home + 1) % PARTITIONS,
    )
    yield Case("key not UTF-8", "key-not-text", b"\xff\xfe", value)
    long = "k" * 10_000
    yield Case("key of 10,000 bytes", "key-too-long", long.encode(), encode(proposal(long)))


def _headers() -> Iterator[Case]:
    yield _request("no headers at all", TAKEN)
    named = ("ce_type", b"turbine.ConfigChangeProposed")
    yield _request("foreign headers", TAKEN, headers=[named, ("trace", b"\xff"), ("trace", None)])
    yield _request("header twice", "malformed-headers", headers=[named, named])
    yield _request("header not UTF-8", "malformed-headers", headers=[("ce_type", b"\xff")])
    yield _request("header of another", "wrong-type", headers=[("ce_type", b"JobDeleted")])
    yield _request("no vector", "malformed-headers", headers=[("ce_evidence", b"yesterday")])
    yield _request("no tick", "malformed-headers", headers=[("ce_tick", b"-1")])
    yield _request("70 KiB of headers", "malformed-headers", headers=[("ce_id", b"x" * 70_000)])


def _forgeries() -> Iterator[Case]:
    """Records that claim to know what nobody can: they are void, and hold up no later one."""
    later = str(int(time.time() * 1000) + 3_600_000).encode()
    yield _request("tick of the future", VOID, headers=[("ce_tick", later)])
    for name, vector in {
        "evidence nowhere": b"no.such.topic.v1/3:1",
        "evidence far beyond the end": b"changes.oncall.v1/1:1000000",
        "evidence a bit beyond the end": b"changes.provisioner.v1/1:3",
    }.items():
        yield _request(name, VOID, headers=[("ce_evidence", vector)])
    job = "bad-journal"
    versions = LayerVersions(1, 0, 0, 0)
    body = JobConfigChanged(job, "base", new_id(), 1, versions, "{}", "{}", "forger")
    value = encode(body)
    at = partition_of(job, PARTITIONS)
    named: Headers = [("ce_type", b"turbine.JobConfigChanged"), ("ce_id", b"forged")]
    root: Headers = [*named, ("ce_parent", b"root")]
    for case_name, becomes, headers in (
        ("journal: no parent", "not-a-decision", named),
        ("journal: no headers", "not-a-decision", None),
        ("journal: forged parent", VOID, [*named, ("ce_parent", b"nobody")]),
        ("journal: tick of the future", VOID, [*root, ("ce_tick", later)]),
        ("journal: evidence beyond itself", VOID, [*root, _evidence(f"journal.v1/{at}:999999")]),
        ("journal: evidence nowhere", VOID, [*root, _evidence("no.such.topic.v1/3:1")]),
        ("journal: a bit beyond the end", VOID, [*root, _evidence(f"changes.base.v1/{at}:99999")]),
    ):
        yield Case(
            case_name, becomes, job.encode(), value, body.change_id, headers, topic="journal.v1"
        )
    yield Case(
        "journal: wrong key", "no-key", None, value, headers=root, topic="journal.v1", partition=at
    )


def _evidence(text: str) -> tuple[str, bytes]:
    return "ce_evidence", text.encode()


class Senders:
    """What a topic takes as it is, and what it takes of a producer that compresses."""

    def __init__(self, settings: Settings) -> None:
        self.plain = producer(settings)
        self.packed = producer(settings, **{"compression.type": "lz4"})

    def of(self, case: Case) -> Producer:
        return self.packed if len(case.value or b"") > REQUEST_BYTES // 2 else self.plain

    def settle(self) -> None:
        assert self.plain.flush(60) == self.packed.flush(60) == 0


def send(settings: Settings, all_of_them: list[Case]) -> dict[str, str]:
    """Sends them; where each lies, as its dead letter names it."""
    senders = Senders(settings)
    lies: dict[str, str] = {}

    def told(case: Case, error: Any, message: Any) -> None:
        assert error is None, f"{case.name}: {error}"
        lies[case.name] = f"{case.topic}/{message.partition()}@{message.offset()}"

    for case in all_of_them:
        senders.of(case).produce(
            BY_SHORT[case.topic].name,
            key=case.key,
            value=case.value,
            partition=case.at,
            headers=case.headers,
            on_delivery=lambda error, message, case=case: told(case, error, message),
        )
    senders.settle()
    return lies


def batch(settings: Settings, codec: str, count: int, size: int = MIB) -> set[str]:
    """One batch of so many records; what the broker said of them, or where the last one lies."""
    options = {"compression.type": codec, "message.max.bytes": 10**9, "batch.size": 10**9}
    options |= {"linger.ms": 2_000, "compression.level": 9 if codec == "gzip" else -1}
    options |= {"queue.buffering.max.kbytes": 2**21}
    client, said = producer(settings, **options), dict[int, str]()

    def told(error: Any, message: Any) -> None:
        lies = f"{BASE}/{message.partition()}@{message.offset()}"
        said[message.offset() or 0] = lies if error is None else error.name()

    for _ in range(count):
        client.produce(BY_SHORT[BASE].name, bytes(size), b"bomb", partition=0, on_delivery=told)
    assert client.flush(60) == 0
    return {said[max(said)]}
