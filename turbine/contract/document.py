"""What a stranger may publish and read: the topics and schemas, as one AsyncAPI document. Pure.

`python -m turbine.contract.document` writes docs/contract/asyncapi.yaml, which a test holds against
the table of topics and the schemas; `turbine contract` prints that of one installation.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from events.topics import DEFAULT_PARTITIONS, USUAL_PREFIX, Topic, topics_under
from events.wire.codec import TYPE_PREFIX, VALUE_BYTES_MAX
from events.wire.keys import KEY_BYTES_MAX
from events.wire.lock import Version, newest_of, read_lock
from projections.ingress import KNOWN, WAITING, WHOLE_BYTES
from turbine.read.plain import JsonObject

FILE = Path(__file__).resolve().parents[2] / "docs" / "contract" / "asyncapi.yaml"
VERSION = "1.0.0"
"""Of the contract: what is added to it is a new minor one; what breaks it is a topic `.v2`."""
ASYNCAPI = "3.0.0"
BINDING = "0.5.0"
"""Of the Kafka binding; the official schemas of it and of the document are checked in a test."""
AVRO = "application/vnd.apache.avro+json;version=1.9.0"
FRAMED = "application/vnd.confluent.avro"
TICK = "ClockTicked"
LETTER = "DeadLetter"
ABOUT = """\
What can be asked of a Turbine fleet, and what it says: every topic, its key, and the Avro schema of
every record on it. Publish to the channels that Turbine receives from; subscribe to those that it
sends to, most of all the outcomes. Names of topics begin with the prefix of the installation,
"turbine." unless its settings say otherwise; nothing that a record says depends on it.

A value is framed as Confluent's clients frame it: 0x00, the id of the schema in four bytes, the
highest first, and Avro binary. The ids stand in x-schema-id of each message. Whoever knows another
id of the schema gives its urn, x-dataschema, in the header ce_dataschema. A key is plain UTF-8, and
a record lies in the partition that Java's murmur2 gives its key: with librdkafka, set
partitioner=murmur2_random. Headers are CloudEvents 1.0 in Kafka's binary mode.

A decision's id is the UUID of version 5 (SHA-1), in the namespace that is the UUID of version 5
of the text urn:turbine:decision in that of URLs, of: ce_parent, 0x00, the kind without
"turbine.", 0x00, the number of the key's bytes in digits, 0x00, the key, the whole value. The
decisions of one key on one topic are a chain, whose first parent is "root": one stands when its
parent is the last that stood before it and it claims to have known nothing that was not there
within 5 s of its timestamp; all others are void and change nothing. docs/contract.md has the
rest: evidence, other ids, canonical JSON, limits, reasons of dead letters, and what answers what
operators ask for.
"""
LIMITS = f"""
At most {WAITING} requests about one job wait on one topic, a further one is rejected as overloaded.
Ids are remembered for as long as they are valid: {KNOWN:,} of one job on one topic, beyond which a
request counts for nothing. The last {WHOLE_BYTES // 1024} KiB of requests are kept; one that
waits while so much comes behind it is rejected as overloaded.
"""
HEADERS: Mapping[str, str] = {
    "ce_specversion": "Version of CloudEvents, always 1.0.",
    "ce_id": "Id of the record, of all that it says: seen twice, it is one record, said twice.",
    "ce_type": f"Kind of the record, {TYPE_PREFIX} before its name: skip by it, undecoded.",
    "ce_source": "Who said it, such as a component or a container.",
    "ce_subject": "What it is about; the same as the key.",
    "ce_time": "The tick that its author had read, as an RFC 3339 time in UTC.",
    "ce_dataschema": "The schema as urn:avro:<full name>:<SHA-256 of its parsing canonical form>.",
    "ce_causationid": "Id of what it follows from: a request that it answers, or a decision.",
    "ce_parent": "Of a decision: id of the last standing one about its key when it was made.",
    "ce_evidence": "All that it was made on, as <topic without its prefix>/<partition>:<offset of"
    " the next record>, separated by commas, sorted by the text before the colon.",
    "ce_tick": "The tick that its author had read, in milliseconds since 1970 UTC.",
    "ce_logic": "Of a decision: the version of the code that made it.",
    "traceparent": "W3C trace context, passed on; what is none counts as absent.",
    "content-type": f"{FRAMED}: Avro behind its prefix, as all values are; reports leave it out.",
}
OF_DECISIONS = ("ce_parent", "ce_evidence", "ce_tick", "ce_logic")
_SORTS = {"TierDefined": "Definition", "AlertRaised": "Alert"}
"""Decisions that have less of these: a person made it and had read nothing, and one alert is the
publisher's own and no decision."""
ALWAYS = ("ce_specversion", "ce_id", "ce_type", "ce_source")
"""What CloudEvents asks of every event."""
LETTER_HEADERS: Mapping[str, str] = {
    "dead_letter_id": "Its place and offset, of several records the first and the last, and a"
    " webhook's name: found twice, it is the same.",
    "dead_letter_place": "Where it lay, <topic without its prefix>/<partition>; the letter's key.",
    "dead_letter_offset": "Its offset there; of several records, that of the first.",
    "dead_letter_last_offset": "Of several that are refused for one reason, that of the last.",
    "dead_letter_records": "How many records it is about, where not one.",
    "dead_letter_at_ms": "When the broker took it, in milliseconds since 1970 UTC; left out where"
    " nobody knows, as of a batch that cannot be inflated.",
    "dead_letter_reason": "Code of what is the matter.",
    "dead_letter_sentence": "What is the matter and what helps, in one sentence.",
}
NOT_OF_ALL = ("dead_letter_last_offset", "dead_letter_records", "dead_letter_at_ms")


@dataclass(frozen=True, slots=True)
class Installation:
    """What differs from one installation to another; by default that of a laptop."""

    bootstrap: str = "127.0.0.1:9092"
    partitions: int = DEFAULT_PARTITIONS
    replication: int = 1
    registry: str = "http://127.0.0.1:8081"
    prefix: str = USUAL_PREFIX


def document(of: Installation | None = None) -> JsonObject:
    """The contract of an installation."""
    of = of or Installation()
    newest = newest_of(read_lock())
    topics = [
        one for one in topics_under(of.prefix) if one.kind != "rows"
    ]  # those are bytes of a component's own
    carried = dict.fromkeys(name for topic in topics for name in topic.records)
    messages = {name: _message(newest[name], topics) for name in sorted(carried)}
    return {
        "asyncapi": ASYNCAPI,
        "id": "urn:turbine:contract",
        "info": {
            "title": "Turbine",
            "version": VERSION,
            "description": ABOUT + LIMITS,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": FRAMED,
        "servers": _servers(of),
        "channels": {topic.short: _channel(topic, of) for topic in topics},
        "operations": {_operation_name(topic): _operation(topic) for topic in topics},
        "components": {
            "schemas": {
                name: {"schemaFormat": AVRO, "schema": copy.deepcopy(newest[name].schema)}
                for name in messages
            }
            | _header_schemas(),
            "messages": messages | {LETTER: _dead_letter()},
        },
    }


def is_asked(topic: Topic) -> bool:
    """Whether Turbine reads it and others write to it."""
    return topic.kind in {"ingress", "operator"}


def _servers(of: Installation) -> JsonObject:
    kafka = {
        "schemaRegistryUrl": of.registry,
        "schemaRegistryVendor": "confluent",
        "bindingVersion": BINDING,
    }
    hosts = of.bootstrap.split(",")
    return {
        "kafka" if number == 1 else f"kafka-{number}": {
            "host": host,
            "protocol": "kafka",
            "description": "A broker of the log.",
            "bindings": {"kafka": dict(kafka)},
        }
        for number, host in enumerate(hosts, 1)
    }


def _channel(topic: Topic, of: Installation) -> JsonObject:
    kept = topic.config
    binding: JsonObject = {
        "topic": topic.name,
        "partitions": topic.partitions or of.partitions,
        "replicas": of.replication,
        "topicConfiguration": {
            "cleanup.policy": [kept["cleanup.policy"]],
            "retention.ms": int(kept["retention.ms"]),
            "retention.bytes": int(kept["retention.bytes"]),
            "max.message.bytes": int(kept["max.message.bytes"]),
            "message.timestamp.type": kept["message.timestamp.type"],
        },
        "bindingVersion": BINDING,
    }
    if topic.partitions is None and topic.key != "none":
        binding["x-partitioner"] = "murmur2_random"
    return {
        "address": topic.name,
        "description": topic.doc,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _carried(topic)},
        "bindings": {"kafka": binding},
        "x-key": topic.key,
        "x-written-by": topic.written_by,
    }


def _carried(topic: Topic) -> tuple[str, ...]:
    return topic.records or (LETTER,)


def _operation_name(topic: Topic) -> str:
    return f"{'receive' if is_asked(topic) else 'send'}.{topic.short}"


def _operation(topic: Topic) -> JsonObject:
    asked = is_asked(topic)
    channel = f"#/channels/{topic.short}"
    return {
        "action": "receive" if asked else "send",
        "channel": {"$ref": channel},
        "summary": f"{'Publish here' if asked else 'Subscribe here'}: {topic.doc}",
        "messages": [{"$ref": f"{channel}/messages/{name}"} for name in _carried(topic)],
    }


def _message(version: Version, topics: list[Topic]) -> JsonObject:
    on = [topic for topic in topics if version.name in topic.records]
    asked = any(map(is_asked, on))
    decided = any(topic.kind in {"journal", "tiers"} for topic in on)
    return {
        "name": TYPE_PREFIX + version.name,
        "title": version.name,
        "summary": version.schema["doc"],
        "contentType": FRAMED,
        "headers": _headers(version, asked=asked, decided=decided),
        "payload": {"$ref": f"#/components/schemas/{version.name}"},
        "bindings": {
            "kafka": {
                "key": _key(version),
                "schemaIdLocation": "payload",
                "schemaIdPayloadEncoding": "confluent",
                "schemaLookupStrategy": "RecordNameStrategy",
                "bindingVersion": BINDING,
            }
        },
        "x-schema-id": version.id,
        "x-dataschema": version.urn,
        "x-value-bytes-max": VALUE_BYTES_MAX,
    }


def _headers(version: Version, *, asked: bool, decided: bool) -> JsonObject:
    """Those of its sort, and which kind of record the one header names."""
    sort = "Request" if asked else _SORTS.get(version.name, "Decision") if decided else "Report"
    named = {"ce_type": {"type": "string", "const": TYPE_PREFIX + version.name}}
    return {
        "allOf": [
            {"$ref": f"#/components/schemas/{sort}Headers"},
            {"type": "object", "properties": named},
        ]
    }


def _header_schemas() -> JsonObject:
    """Whoever asks may leave all of them out: the id of a request stands in its value. What is only
    reported comes again and again, so it carries no more than a CloudEvent has to."""
    asking = [name for name in HEADERS if name not in OF_DECISIONS]
    framed = (*ALWAYS, "ce_subject", "ce_dataschema", "content-type")
    defining = (*framed, "ce_parent")
    return {
        "RequestHeaders": _header_schema(asking, ()),
        "DecisionHeaders": _header_schema(HEADERS, (*framed, "ce_time", *OF_DECISIONS)),
        "DefinitionHeaders": _header_schema(defining, defining),
        "AlertHeaders": _header_schema(HEADERS, framed),
        "ReportHeaders": _header_schema(HEADERS, ALWAYS),
    }


def _header_schema(names: Iterable[str], required: Iterable[str]) -> JsonObject:
    texts = _texts({name: HEADERS[name] for name in names})
    if "ce_tick" in texts:
        texts["ce_tick"]["pattern"] = "^[0-9]{1,15}$"
    texts["ce_specversion"]["const"] = "1.0"
    schema: JsonObject = {"type": "object", "properties": texts}
    return schema | {"required": list(required)} if required else schema


def _texts(about: Mapping[str, str]) -> JsonObject:
    return {name: {"type": "string", "description": text} for name, text in about.items()}


def _key(version: Version) -> JsonObject:
    fields = {one["name"] for one in version.schema["fields"]}
    of = next((name for name in ("job", "container", "tier", "subject") if name in fields), None)
    if version.name == TICK:
        return {"type": "string", "const": "clock", "description": "It says no partition."}
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": KEY_BYTES_MAX,
        "description": f"Plain UTF-8: the id of the {of or 'subject'}.",
    }


def _dead_letter() -> JsonObject:
    return {
        "name": LETTER,
        "title": LETTER,
        "summary": "What was put aside: the bytes of its value, with its headers and these; of"
        " several records those of the first.",
        "contentType": "application/octet-stream",
        "headers": {
            "type": "object",
            "properties": _texts(LETTER_HEADERS),
            "required": [name for name in LETTER_HEADERS if name not in NOT_OF_ALL],
        },
        "payload": {"type": "string", "format": "binary", "description": "Any bytes."},
    }


def to_yaml(contract: JsonObject) -> str:
    """The document as it is committed."""

    class Dumper(yaml.SafeDumper):
        """Leaves the lines of a longer text as they are."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)

    Dumper.add_representer(str, text)
    done: str = yaml.dump(contract, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return done


def main() -> int:
    """0 when the document is written."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(to_yaml(document()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
