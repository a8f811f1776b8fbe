"""What stands, for whoever decides nothing: of each key the chain, its lists of tasks or its tier.

The publisher folds this as it reads the journals, and keeps it; a container begins from what the
publisher kept. Both call it by one name and logic: what one keeps, the other can read.
"""

from __future__ import annotations

from typing import Any

from components.runtime.core.component import Component
from events.generated.records import SyncCommitted, TaskSpecsPublished, TierDefined
from events.topics import ALERTS, BY_SHORT, JOURNAL, OUTCOMES, PUBLISHER, TIERS, place
from events.wire.codec import Read
from projections import lists
from projections.lists import TaskLists

Row = TaskLists | TierDefined | None
TOLD = frozenset(kind for topic in (OUTCOMES, ALERTS) for kind in BY_SHORT[topic].records)
"""Kinds that the world gets to see."""


def fold(row: Row, read: Read) -> Row:
    """The same object where the record changes nothing."""
    match read.record.body:
        case TaskSpecsPublished() | SyncCommitted():
            return lists.fold(row if isinstance(row, TaskLists) else None, read)
        case TierDefined() as body if row is None:  # a tier is defined once
            return body
        case _:
            return row


def dump(row: Row) -> object:
    """The row as JSON can hold it."""
    if isinstance(row, TierDefined):
        return {"tier": row.to_plain()}
    return None if row is None else {"lists": lists.dump(row)}


def load(plain: Any) -> Row:
    """The row that `dump` made plain."""
    if plain is None:
        return None
    if "tier" in plain:
        return TierDefined.from_plain(plain["tier"])
    return lists.load(plain["lists"])


standing: Component[Row] = Component(
    name=PUBLISHER,
    logic="publisher/2",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TIERS}),
    folds=TOLD | lists.FOLDED_KINDS | {TierDefined.__name__},
    says=frozenset(),
    fold=fold,
    decide=lambda *_: (),
    effects=lambda _: (),
    wake_ms=lambda *_: None,
    dump=dump,
    load=load,
    apart=True,
)


def places_of(partition: int) -> tuple[str, ...]:
    """What is followed together, and kept in one partition of the rows: a journal's partition, and
    beside the first one the tiers', which is the only one of its topic."""
    journal = place(JOURNAL, partition)
    return (journal,) if partition else (journal, place(TIERS, 0))
