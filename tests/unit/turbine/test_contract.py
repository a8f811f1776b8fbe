"""The contract says what the table of topics and the schemas say, and the committed one as well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from fastavro import parse_schema

from components.publisher.decide import publish
from components.runtime.kafka.intake import DeadLetter, Message
from events.generated.records import RECORDS, ReleaseRequested
from events.topics import BY_SHORT, JOURNAL, OPERATOR, TIERS, TOPICS, short_of
from events.wire.codec import Read, Record, encode, headers_of
from events.wire.lock import newest_of, read_lock
from tests.unit.turbine.lines import run
from turbine.contract.document import FILE, HEADERS, LETTER_HEADERS, Installation, document, to_yaml
from turbine.failures import Code
from turbine.ops import tiers

CONTRACT = document()
NEWEST = newest_of(read_lock())
TOLD = [topic for topic in TOPICS if topic.kind != "rows"]


def resolve(where: str, contract: Any = CONTRACT) -> Any:
    """What a reference stands for; KeyError where nothing is."""
    found = contract
    for step in where.removeprefix("#/").split("/"):
        found = found[step]
    return found


def references(value: Any) -> Iterator[str]:
    match value:
        case {"$ref": str(where)}:
            yield where
        case dict():
            for one in value.values():
                yield from references(one)
        case list():
            for one in value:
                yield from references(one)


def headers_schema(message: str) -> tuple[dict[str, Any], set[str]]:
    """The headers that a message may have, and those that it must have."""
    names: dict[str, Any] = {}
    required: set[str] = set()
    told = CONTRACT["components"]["messages"][message]["headers"]
    for part in told.get("allOf", [told]):
        schema = resolve(part["$ref"]) if "$ref" in part else part
        names |= schema["properties"]
        required |= set(schema.get("required", ()))
    return names, required


def test_the_committed_contract_is_this_one() -> None:
    told = FILE.read_text()
    assert told == to_yaml(CONTRACT), "write it again with `python -m turbine.contract.document`"
    assert yaml.safe_load(told) == CONTRACT


def test_every_reference_leads_somewhere() -> None:
    found = set(references(CONTRACT))
    assert len(found) > len(RECORDS)
    for where in found:
        assert resolve(where)
    with pytest.raises(KeyError):
        resolve("#/components/messages/Nope")


def test_every_topic_is_a_channel_but_those_of_rows() -> None:
    channels = CONTRACT["channels"]
    assert {one["address"] for one in channels.values()} == {topic.name for topic in TOLD}
    for short, one in channels.items():
        topic = BY_SHORT[short_of(one["address"])]
        assert short == topic.short
        assert set(one["messages"]) == set(topic.records or ("DeadLetter",))
        config = one["bindings"]["kafka"]["topicConfiguration"]
        texts = {
            name: value[0] if isinstance(value, list) else str(value)
            for name, value in config.items()
        }
        # The binding has no word for how a broker keeps what it was given.
        said = {name: one for name, one in topic.config.items() if name != "compression.type"}
        assert texts == said


def test_a_channel_has_one_operation_with_its_messages() -> None:
    operations = CONTRACT["operations"]
    assert len(operations) == len(TOLD)
    for name, one in operations.items():
        channel = resolve(one["channel"]["$ref"])
        asked = BY_SHORT[short_of(channel["address"])].kind in {"ingress", "operator"}
        assert one["action"] == ("receive" if asked else "send") == name.partition(".")[0]
        named = [where["$ref"].rpartition("/")[2] for where in one["messages"]]
        assert named == list(channel["messages"])
        assert [resolve(where["$ref"]) for where in one["messages"]] == list(
            channel["messages"].values()
        )


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_is_a_message_with_its_schema(kind: str) -> None:
    message = CONTRACT["components"]["messages"][kind]
    payload = resolve(message["payload"]["$ref"])
    assert payload["schemaFormat"].startswith("application/vnd.apache.avro+json")
    assert payload["schema"] == NEWEST[kind].schema
    parse_schema(payload["schema"])
    assert message["x-schema-id"] == NEWEST[kind].id
    assert message["x-dataschema"] == NEWEST[kind].urn


def full(kind: str, **more: Any) -> Record:
    """A record with all that headers can tell; the value is only looked at for its schema's id."""
    prefix = b"\0" + NEWEST[kind].id.to_bytes(4, "big")
    return Record("clicks", "1.a", kind, prefix, None, source="a", trace="t", cause="c", **more)


def test_the_headers_are_those_that_are_written() -> None:
    record = full("JobDeleted", parent="p", evidence={"clock.v1/0": 1}, tick_ms=1, logic="l/1")
    names, required = headers_schema("JobDeleted")
    assert [name for name, _ in headers_of(record, JOURNAL)] == list(HEADERS)
    assert set(names) == set(HEADERS)
    assert names["ce_type"]["const"] == "turbine.JobDeleted"
    assert required == set(HEADERS) - {"ce_causationid", "traceparent"}


def test_what_a_person_decides_has_the_headers_that_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Record] = []
    log: Any = SimpleNamespace(settings=None, chain=lambda _: [])
    monkeypatch.setattr(tiers, "_write", lambda *said: written.append(said[-1]))
    tiers.define(log, "gold", 16)
    names, required = headers_schema("TierDefined")
    assert {name for name, _ in headers_of(written[0], TIERS)} == required == set(names)


def test_an_alert_has_those_that_the_publisher_says_of_its_own() -> None:
    place = "journal.v1/3"
    unread = Record("clicks", "1.a", "New", b"?", None, parent="p", tick_ms=1, logic="l/2")
    said = publish(Read(place, JOURNAL, 7, 1, unread))
    assert said is not None
    names, required = headers_schema("AlertRaised")
    written = {name for name, _ in headers_of(said[1], said[0])}
    assert required <= written <= set(names)
    assert not written & {"ce_parent", "ce_evidence", "ce_logic"}


def test_a_request_needs_no_header_and_has_none_of_a_decision() -> None:
    names, required = headers_schema("ReleaseRequested")
    assert required == set()
    assert set(names) == {name for name, _ in headers_of(full("ReleaseRequested"), OPERATOR)} | {
        "ce_time"  # whoever reads ticks may say so
    }


def test_a_dead_letter_has_the_headers_that_are_written() -> None:
    message = Message("changes.base.v1", 3, 7, 1, b"clicks", b"?", [])
    letter = DeadLetter(message, "not-framed", "x")
    _, required = headers_schema("DeadLetter")
    optional = {"dead_letter_key", "dead_letter_at_ms"}
    assert required == {name for name, _ in letter.headers()} - optional
    several = replace(letter, records=3, last=9)
    assert {name for name, _ in several.headers()} == set(LETTER_HEADERS) | optional


def test_the_value_of_a_request_has_the_prefix_that_is_told() -> None:
    told = CONTRACT["components"]["messages"]["ReleaseRequested"]["x-schema-id"]
    assert encode(ReleaseRequested("1.a", "clicks", "me"))[:5] == b"\0" + told.to_bytes(4, "big")


def test_the_contract_of_an_installation() -> None:
    told = document(Installation("a:1,b:2", 4, 3, "http://r"))
    assert {name: one["host"] for name, one in told["servers"].items()} == {
        "kafka": "a:1",
        "kafka-2": "b:2",
    }
    kept = {one["address"]: one["bindings"]["kafka"] for one in told["channels"].values()}
    assert kept["turbine.journal.v1"]["partitions"] == 4
    assert kept["turbine.tiers.v1"]["partitions"] == 1
    assert {one["replicas"] for one in kept.values()} == {3}


def test_the_contract_of_an_installation_that_shares_its_cluster() -> None:
    """Addresses alone are others: types, schemas and ids are the same everywhere."""
    usual, told = document(), document(Installation(prefix="staging"))
    for name, channel in told["channels"].items():
        before = usual["channels"][name]
        assert channel["address"] == f"staging.{name}" == channel["bindings"]["kafka"]["topic"]
        channel["address"] = before["address"]
        channel["bindings"]["kafka"]["topic"] = before["address"]
    assert told == usual


def test_the_command_prints_what_is_committed(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURBINE_BOOTSTRAP", raising=False)
    monkeypatch.delenv("TURBINE_CONFIG", raising=False)
    assert run("contract").out == FILE.read_text()
    told = run("contract", "-o", "json", "--bootstrap", "far:9092")
    assert told.code == Code.OK
    assert json.loads(told.out)["servers"]["kafka"]["host"] == "far:9092"
