"""Tiers in the log: makes one, and asks its shard manager for things, as an operator.

What is asked is written and read back: an answer is what stands, not what was sent.
"""

from __future__ import annotations

import json
import time  # noqa: TID251 - validity and patience of a person are real time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.runtime.core.step import ROOT
from components.runtime.kafka.emitter import Emitter
from events.generated.records import (
    DrainRequested,
    PlacementApplyRequested,
    PlacementPlanned,
    PlacementRejected,
    TierDefined,
    UndrainRequested,
)
from events.topics import OPERATOR, TIERS, partition_of
from events.wire.codec import SDK, Read, Record, encode
from turbine.read.answers.journal import request_of
from turbine.read.sources.log import Log, Standing
from turbine_client.clients import producer
from turbine_client.emitter import WriteRefused
from turbine_client.errors import Unreadable
from turbine_client.identity import change_id, decision_id
from turbine_client.publish import TooLarge
from turbine_client.reading import LogUnreadable
from turbine_client.settings import Settings

PLACEMENT = "placement"
VALID_S = 60.0
LOOK_S = 0.2
DEADLINE_S = 30.0

Asked = DrainRequested | UndrainRequested | PlacementApplyRequested
Answer = PlacementPlanned | PlacementRejected


# --- making one


def definition_of(chain: Iterable[Standing]) -> TierDefined | None:
    """What a tier is, as its chain says; None where there is none."""
    found = None
    for one in chain:
        body = one.read.record.body
        if one.stands and isinstance(body, TierDefined):
            found = body
    return found


def define(
    log: Log, tier: str, shards: int, regions: Sequence[str] = (), settings: Mapping[str, Any] = {}
) -> TierDefined | None:
    """Makes the tier; what it is then, by the log: somebody else may have been first.

    It is the first decision of its chain. None where nothing stands although it was written.
    """
    told = json.dumps(dict(sorted(settings.items())), separators=(",", ":"))
    body = TierDefined(tier, shards, tuple(regions), told)
    key, value = f"{tier}/{PLACEMENT}", encode(body)
    name = decision_id(ROOT, key, "TierDefined", value)
    record = Record(key, name, "TierDefined", value, body, parent=ROOT, source="operator")
    _write(log.settings, TIERS, 0, record)
    return definition_of(log.chain(tier))


def same_tier(one: TierDefined, other: TierDefined) -> bool:
    """Do both say the same? Of settings it is the values that count, not how they are written."""
    return (one.tier, one.shards, one.regions, _settings(one)) == (
        other.tier,
        other.shards,
        other.regions,
        _settings(other),
    )


def _settings(one: TierDefined) -> Any:
    try:
        return json.loads(one.settings_json or "{}")
    except ValueError:
        return one.settings_json


# --- asking


def new_id(valid_s: float = VALID_S) -> str:
    """The id of another request."""
    until_ms = int((time.time() + valid_s) * 1000)
    return change_id(until_ms, uuid.uuid4().hex)  # noqa: TID251 - a client's own token


def ask(log: Log, key: str, body: Asked) -> None:
    """Writes a request; TooLarge where no message can hold it."""
    try:
        value = encode(body)
    except Unreadable as bad:
        raise TooLarge(f"{key}: {bad.sentence}; nothing was sent") from None
    record = Record(key, body.change_id, type(body).__name__, value, body, source=SDK)
    log.places([OPERATOR])  # a sentence where the topic is missing
    _write(log.settings, OPERATOR, partition_of(key, log.counts[OPERATOR]), record)


def _write(settings: Settings, topic: str, partition: int, record: Record) -> None:
    emitter = Emitter(producer(settings), settings.prefix, deadline_s=DEADLINE_S)
    try:
        emitter.say(topic, partition, record)
        emitter.settle()
    except WriteRefused as refused:
        raise LogUnreadable(
            f"{refused}; nothing is known of it, look before you ask again"
        ) from None


def answer_to(
    log: Log, tier: str, asked: str, since: Mapping[str, int], wait_s: float
) -> tuple[Read, Answer] | None:
    """What the shard manager answers to a request that was sent after `since`; None where nothing
    stands in time."""
    limit_s = time.monotonic() + wait_s
    kinds = frozenset({"PlacementPlanned", "PlacementRejected"})
    while True:
        for read in log.read([TIERS], kinds=kinds, start=since, key=f"{tier}/{PLACEMENT}"):
            body = read.record.body
            if request_of(body) == asked and _stands(log, tier, read.record.id):
                assert isinstance(body, PlacementPlanned | PlacementRejected)
                return read, body
        if time.monotonic() >= limit_s:
            return None
        time.sleep(LOOK_S)


def _stands(log: Log, tier: str, name: str) -> bool:
    return any(one.stands and one.read.record.id == name for one in log.chain(tier))


# --- looking back


def tiers_in(log: Log) -> set[str]:
    """The tiers that the log has."""
    if TIERS not in log.counts:
        return set()
    found = (one.record.body for one in log.read([TIERS], kinds=frozenset({"TierDefined"})))
    return {body.tier for body in found if isinstance(body, TierDefined)}
