"""The audit finds what its dumb twin finds, in whatever order places are read, whoever lies."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from components.runtime.core.component import places_of
from events.wire.codec import Read, Record
from simulation.casts import AUTO_SCALING, SCALING, SYNCING
from simulation.log import PARTITION
from simulation.process import TICKS
from tests.unit.runtime.audits import audited, clocked, told
from tests.unit.runtime.naive_audit import audit_places
from tests.unit.runtime.test_replay import JOURNAL_PLACE, other_words, reads, world

CASTS = {"small-scaler": SCALING, "state-syncer": SYNCING, "auto-scaler": AUTO_SCALING}


def lie(record: Record, chance: random.Random) -> Record:
    """The same decision, not quite true."""
    evidence = dict(record.evidence)
    match chance.randrange(7):
        case 0:
            return replace(record, parent="another")
        case 1:
            return replace(record, id=f"{record.id}x")
        case 2:
            return replace(record, tick_ms=record.tick_ms + chance.choice([-1, 1, -1000, 10**6]))
        case 3 if evidence:
            evidence[chance.choice(sorted(evidence))] += chance.choice([-1, -5, 1, 3, 10**9])
        case 4 if evidence:
            del evidence[chance.choice(sorted(evidence))]
        case 5:
            return replace(record, logic="another/1")
        case _ if record.kind == "JobConfigChanged" and record.body is not None:
            return other_words(record)
        case _:
            evidence["journal.v1/7"] = 3
    return replace(record, evidence={at: max(0, offset) for at, offset in evidence.items()})


def lying(log: list[Read], chance: random.Random, share: float) -> list[Read]:
    """The log with some decisions that are not true, and all that follows from reading them."""
    return [
        replace(read, record=lie(read.record, chance))
        if read.place == JOURNAL_PLACE and chance.random() < share
        else read
        for read in log
    ]


@pytest.mark.parametrize("author", CASTS)
@pytest.mark.parametrize("seed", range(4))
def test_both_find_the_same(author: str, seed: int) -> None:
    """The first seed reads by time and nobody lies."""
    chance = random.Random(seed)
    log = lying(reads(author), chance, 0.0 if seed == 0 else 0.04)
    at = world(author)
    ticks = [line.at_ms for line in at.log.lines[TICKS]]
    for component in CASTS[author].values():
        places = places_of(component, [PARTITION]) - {TICKS}
        usual = told(audit_places(component, log, ticks, at.log.possible, places))
        order = chance if seed else None
        found = audited(component, log, clocked(ticks), at.log.possible, places, order)
        assert len(found) == len(told(found)), "a decision has two verdicts"
        assert told(found) == usual
