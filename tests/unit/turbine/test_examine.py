"""What is told of somebody's message: two dozen that are wrong, each with its remedy."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.runtime.kafka.intake import DeadLetter, Message, take_in
from events.generated.records import ConfigChangeProposed, JobDeleteRequested, PauseRequested
from events.topics import CHANGES, JOURNAL, OPERATOR, partition_of
from events.wire.codec import encode
from events.wire.lock import newest_of, read_lock
from tests.unit.turbine.lines import run
from turbine.contract.examine import examine
from turbine.contract.finding import SampleMessage
from turbine.failures import Code

NOW_MS = 1_767_225_500_000
BODY = ConfigChangeProposed("1767225600000.a", "clicks", "me", set_json='{"tasks":4}')
VALUE = encode(BODY)
ID = newest_of(read_lock())["ConfigChangeProposed"].id
BASE, P = CHANGES["base"], 16
Header = tuple[str, bytes]


def sent(
    value: bytes | None = VALUE,
    key: bytes | None = b"clicks",
    *headers: Header,
    topic: str = BASE,
    partition: int | None = None,
) -> SampleMessage:
    return SampleMessage(topic, key, value, headers, partition)


def change(**fields: str) -> bytes:
    given = {"change_id": BODY.change_id, "job": "clicks", "author": "me", "set_json": "{}"}
    return encode(ConfigChangeProposed(**(given | fields)))


def told(one: SampleMessage) -> list[tuple[str, str, str]]:
    return [(each.part, each.reason, each.sentence) for each in examine(one, P, NOW_MS).findings]


def test_what_is_right_is_read_as_it_is() -> None:
    found = examine(sent(), P, NOW_MS)
    assert (found.taken, found.kind, found.body, found.partition) == (
        True, "ConfigChangeProposed", BODY, 4,
    )  # fmt: skip
    assert found.findings == ()


WRONG = [
    (sent(None), "framing", "no-value", "the message has no value; nothing is deleted by a"),
    (sent(b""), "framing", "no-value", "the message has no value"),
    (
        sent(json.dumps(BODY.to_plain()).encode()), "framing", "json",
        "the value is JSON text; encode it with Avro, behind 0x00 and the id of the schema in four",
    ),
    (
        sent(VALUE[5:]), "framing", "bare-avro",
        "the value is a ConfigChangeProposed in Avro without its prefix; put 0x00 and its schema's",
    ),
    (
        sent(b"\0" + ID.to_bytes(4, "little") + VALUE[5:]), "framing", "byte-order",
        "the id of the schema is written with the lowest byte first; write 8 as 00 00 00 08, the",
    ),
    (
        sent(b"\0" + (100_042).to_bytes(4, "big") + VALUE[5:]), "schema", "unknown-schema",
        "schema 100042 is of another registry, and what follows is a ConfigChangeProposed: write",
    ),
    (
        sent(b"\0" + (100_042).to_bytes(4, "big") + b"\xff\xff"), "schema", "unknown-schema",
        "schema 100042 is not known here; use one that `turbine schema list` shows",
    ),
    (
        sent(VALUE.hex().encode()), "framing", "text-of-bytes",
        "the value is the hex text of a framed value; send the bytes that it stands for",
    ),
    (
        sent(base64.b64encode(VALUE)), "framing", "text-of-bytes",
        "the value is the base64 text of a framed value",
    ),
    (
        sent(gzip.compress(VALUE)), "framing", "compressed",
        "the value was compressed with gzip by its program; send it as it is, and set compress",
    ),
    (sent(b"Obj\x01rest"), "framing", "container-file", "the value is an Avro container file"),
    (sent(VALUE[:-3]), "schema", "truncated", "the value ends within a ConfigChangeProposed; send"),
    (sent(VALUE + b"!"), "framing", "trailing-bytes", "1 bytes follow the ConfigChangeProposed"),
    (sent(b"\x07hello"), "framing", "not-framed", "the value does not begin with 0x00 and a sch"),
    (
        sent(topic=OPERATOR), "schema", "wrong-record",
        "a ConfigChangeProposed does not belong on operator.v1; it carries ReleaseReq",
    ),
    (sent(VALUE, None), "key", "no-key", "the message has no key; the key is the id of its subj"),
    (
        sent(VALUE, b'"clicks"'), "key", "key-quoted",
        'the key "\\"clicks\\"" is JSON text; send it without the quotes',
    ),
    (
        sent(VALUE, b"\0\0\0\0\x01\x0cclicks"), "key", "key-framed",
        "the key has a schema's prefix before it; use a string serializer for keys: plain UTF-8",
    ),
    (sent(VALUE, b"\xff"), "key", "key-not-text", "the key b'\\xff' is not UTF-8; encode it so"),
    (
        sent(VALUE, b"cli\tcks"), "key", "key-not-text",
        "the key 'cli\\tcks' has the control character or noncharacter U+0009; leave it out",
    ),
    (sent(VALUE, b"k" * 257), "key", "key-too-long", "the key has 257 bytes, and 256 are allowed"),
    (
        sent(VALUE, b"views"), "key", "wrong-key",
        'the key is "views" and the value is about the job "clicks"; use the job\'s id as the key',
    ),
    (
        sent(partition=zlib.crc32(b"clicks") % P), "partition", "foreign-partitioner",
        "the key belongs in partition 4 of 16 by murmur2 and lies in 1: CRC32 puts it there, which",
    ),
    (
        sent(partition=15), "partition", "foreign-partitioner",
        "the key belongs in partition 4 of 16 by murmur2 and lies in 15: ",
    ),
    (
        sent(partition=16), "partition", "no-such-partition",
        "there is no partition 16: changes.base.v1 has 16, from 0 (say another number",
    ),
    (
        sent(VALUE, b"clicks", ("ce_id", b"1"), ("ce_id", b"2")), "headers", "malformed-headers",
        "the header ce_id stands twice; send it once",
    ),
    (
        sent(VALUE, b"clicks", ("ce_id", b"\xff")), "headers", "malformed-headers",
        "the header ce_id is not UTF-8; encode it so",
    ),
    (
        sent(VALUE, b"clicks", ("x", b"y" * 65_536)), "headers", "malformed-headers",
        "the headers have more than 65536 bytes; put less into them",
    ),
    (
        sent(VALUE, b"clicks", ("ce_type", b"turbine.PauseRequested")), "headers", "wrong-type",
        'the header ce_type says "PauseRequested" and the value is a ConfigChangeProposed; make',
    ),
    (
        sent(VALUE, b"clicks", ("ce_tick", b"soon")), "schema", "malformed-headers",
        "the header ce_tick is 'soon'; give milliseconds since 1970 UTC in digits",
    ),
    (
        sent(change(set_json="{tasks:4}")), "value", "malformed-json", "set_json",
    ),
    (
        sent(change(set_json="[4]")), "value", "malformed-json",
        'set_json is "[4]" and has to be an object of keys of the config, such as {"tasks":4}',
    ),
    (
        sent(change(change_id="tomorrow")), "value", "change-id-malformed",
        "the change_id 'tomorrow' does not say until when the request is valid; make it",
    ),
    (
        sent(change(change_id="1767999999999.a")), "value", "change-id-too-far-ahead",
        "the change_id '1767999999999.a' is valid for ",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "part", "reason", "sentence"), WRONG)
def test_each_is_told_with_its_remedy(
    one: SampleMessage, part: str, reason: str, sentence: str
) -> None:
    found = [each for each in told(one) if each[:2] == (part, reason)]
    assert [each[2] for each in found if each[2].startswith(sentence)], told(one)
    assert not examine(one, P, NOW_MS).taken


NOTED = [
    (
        sent(VALUE, b"clicks", ("ce-type", b"x")), "header-name",
        'the header "ce-type" is not looked at; on Kafka CloudEvents call it ce_type',
    ),
    (
        sent(VALUE, b"clicks", ("ce_colour", b"x")), "unknown-header",
        'the header "ce_colour" is kept and not looked at',
    ),
    (
        sent(VALUE, b"clicks", ("ce_specversion", b"0.3")), "specversion",
        'the header ce_specversion is "0.3"; write 1.0',
    ),
    (
        sent(VALUE, b"clicks", ("ce_subject", b"views")), "wrong-subject",
        'the header ce_subject is "views" and the key is another; it is the key that counts',
    ),
    (
        sent(VALUE, b"clicks", ("ce_parent", b"x")), "decision-headers",
        "ce_parent, ce_evidence, ce_tick and ce_logic are of decisions; leave them out when you",
    ),
    (
        sent(VALUE, b"clicks", ("ce_type", b"com.example.Wish")), "wrong-type",
        'the header ce_type says "Wish" and the value is a ConfigChangeProposed; make it',
    ),
    (
        sent(change(change_id="1767225400000.a")), "change-id-expired",
        "the change_id '1767225400000.a' was valid until 100000 ms before the broker got it; ask",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "reason", "sentence"), NOTED)
def test_what_is_read_all_the_same_is_noted(one: SampleMessage, reason: str, sentence: str) -> None:
    [(_, found, text)] = told(one)
    assert found == reason
    assert text.startswith(sentence)
    assert examine(one, P, NOW_MS).taken


def test_all_that_is_wrong_is_told_at_once() -> None:
    one = sent(VALUE[5:], b'"clicks"', ("ce-id", b"1"), ("ce_id", b"\xff"), partition=99)
    assert [(part, reason) for part, reason, _ in told(one)] == [
        ("framing", "bare-avro"),
        ("key", "key-quoted"),
        ("partition", "no-such-partition"),
        ("headers", "header-name"),
        ("headers", "malformed-headers"),
    ]


def test_bare_avro_is_taken_for_what_its_key_is_about() -> None:
    pause = encode(PauseRequested("1767225600000.a", "clicks", "me", "why"))
    [(_, reason, sentence)] = told(sent(pause[5:], topic=OPERATOR))
    assert reason == "bare-avro"
    assert " in Avro without its prefix" in sentence


def test_what_components_alone_write_is_noted_and_refused() -> None:
    delete = encode(JobDeleteRequested("1767225600000.a", "clicks", "me", "why"))
    assert [reason for _, reason, _ in told(sent(delete, topic=JOURNAL))] == ["wrong-record"]


def as_shells(one: SampleMessage) -> bool:
    """Do the shells take it?"""
    key = one.key or b""
    partition = one.partition if one.partition is not None else partition_of(key, P) if key else 0
    message = Message(one.topic, partition, 0, NOW_MS, one.key, one.value, list(one.headers))
    return not isinstance(take_in(message, P, None), DeadLetter)


def refused() -> Iterator[SampleMessage]:
    yield from (one for one, *_ in WRONG)


@pytest.mark.parametrize("one", [*refused(), *(one for one, *_ in NOTED)])
def test_nothing_that_the_shells_refuse_is_taken_here(one: SampleMessage) -> None:
    assert as_shells(one) or not examine(one, P, NOW_MS).taken


@given(
    value=st.one_of(st.binary(max_size=60), st.binary(max_size=5).map(VALUE.__add__)),
    key=st.one_of(st.none(), st.binary(max_size=8), st.just(b"clicks")),
    headers=st.lists(
        st.tuples(st.sampled_from(["ce_id", "ce_type", "ce_tick", "x"]), st.binary(max_size=6)),
        max_size=3,
    ),
    partition=st.one_of(st.none(), st.integers(0, 20)),
)
def test_it_is_total_and_never_kinder_than_the_shells(
    value: bytes, key: bytes | None, headers: list[Header], partition: int | None
) -> None:
    one = SampleMessage(BASE, key, value, tuple(headers), partition)
    examined = examine(one, P, NOW_MS)
    assert all(each.sentence.strip() for each in examined.findings)
    if not as_shells(one):
        assert not examined.taken


# --- the command


def test_hex_base64_and_files_are_the_same_message(tmp_path: Path) -> None:
    value = change(change_id=f"{int(time.time() * 1000) + 300_000}.a")
    (tmp_path / "change.bin").write_bytes(value)
    forms = (value.hex(), value.hex(" "), "0x" + value.hex(), base64.b64encode(value).decode())
    shown = {
        run("contract", "check", form, "--key", "clicks").out
        for form in (*forms, str(tmp_path / "change.bin"))
    }
    [text] = shown
    assert text.startswith("kind        ConfigChangeProposed\npartition   4\nsays        {")
    assert text.endswith("it would be read as this\n")


def test_findings_are_an_exit_code_and_json() -> None:
    ended = run(
        "contract", "check", VALUE.hex(), "--key", "0x636c69636b73", "--partition", "1",
        "--header", "ce_id=a", "--header", "ce_id=0x62", "-o", "json",
    )  # fmt: skip
    assert ended.code == Code.FINDINGS
    found = json.loads(ended.out)
    assert (found["taken"], found["kind"], found["partition"]) == (False, BODY.SCHEMA[19:], 1)
    assert [one["reason"] for one in found["findings"]][:2] == [
        "foreign-partitioner", "malformed-headers",
    ]  # fmt: skip
    assert run("contract", "check", VALUE.hex(), "--key", "clicks").code == Code.OK


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("nonsense!", "MESSAGE is not hex, base64 or a file that exists; give the bytes of the"),
        ("xyz --as hex", "MESSAGE is not hex; give the bytes of the value, or - to read them"),
        ("!! --as base64", "MESSAGE is not base64; give the bytes"),
        ("none.bin --as file", "none.bin cannot be read (No such file or directory); name a file"),
        ("00 --topic nope", "--topic: there is no topic nope; it is one of "),
        ("00 --topic dead-letters.v1", "--topic: dead-letters.v1 holds bytes, no records; name"),
        ("00 --header ce_id", "--header 'ce_id': write NAME=VALUE, such as ce_id=17"),
        ("00 --header a=0x1", "--header a: what follows 0x is no hex; write two digits a byte"),
        ("00 --key 0xzz", "--key: what follows 0x is no hex; write two digits a byte"),
        ("00 --partition -1", "Invalid value for '--partition'"),
    ],
)
def test_what_is_no_message_at_all(line: str, sentence: str) -> None:
    ended = run("contract", "check", *line.split())
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)
