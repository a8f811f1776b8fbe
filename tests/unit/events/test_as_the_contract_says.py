"""Ids, shards and digests as docs/contract.md tells strangers to make them, beside our own."""

from __future__ import annotations

import base64
import hashlib
import uuid

from components.task_manager.fact_writer import fact
from components.task_manager.heartbeat import digest_of
from events.generated.records import AlertCleared, ContainerHeartbeat
from events.job_config.merge import change_layer, merge_layers
from events.job_config.strict_json import canonical_json
from events.wire.codec import encode, headers_of
from projections.shards import mask_of, shard_of
from turbine_client.identity import decision_id, effect_id

NS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:turbine:decision")
KEY = "aufträge"
VALUE = encode(AlertCleared(KEY, "tier-short", "it is over"))


def uuid5(content: bytes) -> str:
    return str(
        uuid.UUID(
            bytes=hashlib.sha1(NS.bytes + content, usedforsecurity=False).digest()[:16], version=5
        )
    )


def test_the_id_of_a_decision_and_of_what_it_owes() -> None:
    key = KEY.encode()
    content = b"root\0AlertCleared\0" + str(len(key)).encode() + b"\0" + key + VALUE
    assert decision_id("root", KEY, "AlertCleared", VALUE) == uuid5(content)
    assert effect_id("d-1", "failed-over") == uuid5(b"effect\0d-1\0failed-over")


def test_the_id_of_a_report() -> None:
    body = ContainerHeartbeat("c-1", 3, 7, 0, "serving", 0, "")
    headers = dict(headers_of(fact("c-1", body, {"tiers.v1/0": 4}), "containers.v1"))
    content = b"fact\0ContainerHeartbeat\0c-1\0tiers.v1/0:4\0" + encode(body)
    digest = hashlib.sha1(NS.bytes + content, usedforsecurity=False).digest()[:12]
    assert headers["ce_id"] == base64.urlsafe_b64encode(digest)


def test_what_the_layers_add_up_to_and_how_it_is_written() -> None:
    assert canonical_json({"b": 4.0, "a": "ü\n", "B": [0.5, True]}) == (
        '{"B":[0.5,true],"a":"ü\\n","b":4}'
    )
    layer = change_layer({"a": {"b.c": 1}, "e": {}, "x": 1}, {"x": None}, ["a.b\\.c", "no.such"])
    assert layer == {"e": {}, "x": None}
    assert merge_layers([{"x": 1, "a": 2, "e": 3}, layer]) == {"a": 2, "e": {}}


def test_where_a_task_is_and_what_a_container_holds() -> None:
    number = int.from_bytes(hashlib.md5(b"clicks/3", usedforsecurity=False).digest()[:8], "big")
    mask = mask_of(("east", "west"), ("west",))
    assert (mask, shard_of("clicks/3", mask, 16)) == (2, (2 - 1) * 16 + number % 16)
    assert mask_of(("east", "west"), ()) == 3
    assert digest_of([(1, 2), (12, 1)]) == hashlib.sha256(b"1:2,12:1").hexdigest()[:16]
    assert not digest_of([])
