"""What stands in the journals of one partition is said, once, with the positions it was read to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.publisher.agents import Chain
from components.publisher.decide import publish
from components.runtime.core.standing import places_of, standing
from components.runtime.core.step import ROOT
from components.runtime.core.store import Restored
from components.runtime.faust.rows import Opened
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityBorrowed,
    JobDeleted,
    LayerVersions,
)
from events.topics import ALERTS, JOURNAL, OUTCOMES, TIERS
from events.wire.codec import Read, Record, encode, headers_of, read_message
from turbine_client.identity import decision_id

SHORT = AlertRaised("default", "tier-short", "critical", "too little", "docs/runbooks/x.md")
GONE = AlertRaised("default", "mass-failure", "critical", "silent", "docs/runbooks/x.md")
ENOUGH = AlertCleared("default", "tier-short", "enough")
LENT = CapacityBorrowed("default", "loan", "rich", ("east",), "it was short")
CAPACITY, PLACEMENT = "default/capacity", "default/placement"


def chain_of(seen: Mapping[str, int] = {}) -> Chain:
    """The first of a fleet of one partition; all evidence is possible."""
    opened: Opened[None] = Opened(0, Restored(seen=dict(seen)))
    return Chain(0, lambda *_: True, opened, "build")


def said(topic: str, offset: int, key: str, body: Body, parent: str, **more: Any) -> Read:
    """A decision as it comes out of the log."""
    value = encode(body)
    name = decision_id(parent, key, type(body).__name__, value)
    record = Record(key, name, type(body).__name__, value, body, parent, source="it", **more)
    headers: Any = headers_of(record, topic)
    return read_message(topic, 0, offset, 5_000, key.encode(), value, headers, 1)


def told(chain: Chain) -> list[tuple[str, str, str]]:
    """Topic, key and id of what the world is told."""
    found = [publish(read) for read in chain.standing]
    return [(topic, record.key, record.id) for topic, record in filter(None, found)]


def test_the_alerts_of_both_managers_of_a_tier_are_told_in_their_order() -> None:
    chain = chain_of()
    short = said(TIERS, 0, CAPACITY, SHORT, ROOT)
    gone = said(TIERS, 1, PLACEMENT, GONE, ROOT)
    lent = said(TIERS, 2, CAPACITY, LENT, short.record.id)
    enough = said(TIERS, 3, CAPACITY, ENOUGH, lent.record.id)
    for read in (short, gone, lent, enough):
        chain.owner.read(read)
    assert chain.due
    assert told(chain) == [
        (ALERTS, CAPACITY, short.record.id),
        (ALERTS, PLACEMENT, gone.record.id),
        (ALERTS, CAPACITY, enough.record.id),
    ]
    assert chain.seen("tiers.v1/0") == 4


def test_what_lost_on_a_tiers_chain_is_told_to_nobody() -> None:
    """A second manager, or a frozen one, says the same or another thing on the same parent."""
    chain = chain_of()
    short = said(TIERS, 0, CAPACITY, SHORT, ROOT)
    rival = said(TIERS, 2, CAPACITY, GONE, ROOT)
    twice = said(TIERS, 1, CAPACITY, SHORT, ROOT)
    for read in (short, twice, rival):
        chain.owner.read(read)
    assert [one for _, _, one in told(chain)] == [short.record.id]
    assert chain.owner.counts.void == 2
    assert chain.seen("tiers.v1/0") == 3


def test_a_copy_is_the_decision_itself() -> None:
    read = said(TIERS, 0, CAPACITY, SHORT, ROOT, evidence={"containers.v1/0": 7}, tick_ms=4_000)
    assert publish(read) == (ALERTS, read.record)


def test_the_journal_beside_it_is_told_as_before_and_both_have_a_position() -> None:
    chain = chain_of()
    body = JobDeleted("default", "1.x", LayerVersions(1, 0, 0, 0), "ana", "over")
    chain.owner.read(said(TIERS, 0, CAPACITY, SHORT, ROOT))
    chain.owner.read(said(JOURNAL, 0, "default", body, ROOT))
    assert [topic for topic, *_ in told(chain)] == [ALERTS, OUTCOMES]
    assert {at: chain.seen(at) for at in chain.places} == {"journal.v1/0": 1, "tiers.v1/0": 1}


def test_nothing_is_told_while_a_tiers_decision_waits_for_what_its_author_knew() -> None:
    """Its position would be passed by, and nobody would be told after a restart."""
    chain = chain_of()
    chain.owner.read(said(TIERS, 0, CAPACITY, SHORT, ROOT, evidence={"journal.v1/0": 1}))
    assert not chain.due
    body = JobDeleted("a", "1.x", LayerVersions(1, 0, 0, 0), "ana", "over")
    chain.owner.read(said(JOURNAL, 0, "a", body, ROOT))
    chain.owner.settle()
    assert chain.due
    assert [topic for topic, *_ in told(chain)] == [OUTCOMES, ALERTS]


def test_rows_that_were_kept_before_tiers_were_followed_begin_them_at_the_beginning() -> None:
    chain = chain_of({"journal.v1/0": 9})
    assert {at: chain.seen(at) for at in chain.places} == {"journal.v1/0": 9, "tiers.v1/0": 0}


def test_a_decision_about_a_tier_that_cannot_be_read_is_told_as_an_alert() -> None:
    chain = chain_of()
    read = said(TIERS, 0, CAPACITY, SHORT, ROOT)
    chain.owner.read(replace(read, record=replace(read.record, body=None)))
    [(topic, record)] = filter(None, map(publish, chain.standing))
    assert (topic, record.key, record.cause) == (ALERTS, CAPACITY, read.record.id)
    assert isinstance(record.body, AlertRaised)
    assert record.body.alert == "unreadable-decision"


def test_what_is_followed_is_what_is_said_to_be_read() -> None:
    """Where nothing was read yet, the log must have its beginning: that is asked of these."""
    followed = {at.partition("/")[0] for number in range(2) for at in places_of(number)}
    assert followed == standing.inputs


def test_only_the_first_partition_has_the_tiers_beside_it() -> None:
    opened: Opened[None] = Opened(0, Restored())
    assert Chain(3, lambda *_: True, opened, "build").places == ("journal.v1/3",)
