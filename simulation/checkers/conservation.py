"""K5: conservation. Nothing that was read is unaccounted for; effects follow what stands, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from events.wire.codec import Read
from simulation.checkers.history import History

Owes = Callable[[Read], list[tuple[str, str]]]
"""(topic, id) of each effect that a decision owes once it stands."""


def check_conservation(history: History, owes: Owes) -> Iterator[str]:
    """Every violation, as a sentence."""
    for tally in history.tallies:
        became = tally.folded + tally.void + tally.repeated + tally.passed + tally.held
        if became != tally.read:
            yield f"{tally.reader} read {tally.read} records, but {became} are accounted for"
    due = {effect: read.record.id for read in history.standing for effect in owes(read)}
    written = {(read.topic, read.record.id) for reads in history.log.values() for read in reads}
    for effect, decision in due.items():
        if effect not in written:
            yield f"effect {effect} of {decision} was lost"
    every = {effect for read in history.log[history.journal] for effect in owes(read)}
    sent = {(topic, name) for _, topic, name in history.sent}
    for effect in sorted((every - due.keys()) & sent):
        yield f"effect {effect} was sent, but the decision that owes it does not stand"
