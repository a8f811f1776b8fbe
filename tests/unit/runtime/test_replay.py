"""The audit makes every decision again, and finds each way in which one could be untrue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from components.job_service.decide import component as job_service
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.component import Component, places_of
from events.generated.records import JobConfigChanged
from events.topics import CLOCK, JOURNAL
from events.wire.codec import Read, Record, encode
from simulation.bounds import USUAL
from simulation.casts import SCALING, SYNCING, cast_of
from simulation.log import PARTITION
from simulation.process import TICKS
from simulation.world import NEWEST_BUILD, SimulatedWorld
from tests.unit.runtime.audits import audited, clocked

JOURNAL_PLACE = f"{JOURNAL}/{PARTITION}"


@cache
def world(author: str = "small-scaler") -> SimulatedWorld:
    """Forty minutes with faults and healing: several authors of decisions, zombies among them."""
    seeds = (SimulatedWorld(seed, 2_400_000) for seed in range(7, 100) if author in cast_of(seed))
    found = next(one for one in seeds if one.swarm.bounds == USUAL)
    found.run()
    found.heal()
    return found


def reads(author: str = "small-scaler") -> list[Read]:
    """The whole log but the clock."""
    log = world(author).log
    return [
        log.read(at, offset, None, NEWEST_BUILD)
        for at in sorted(log.lines)
        if not at.startswith(CLOCK)
        for offset in range(log.end(at))
    ]


def audit(
    component: Component[Any], log: list[Read], author: str = "small-scaler"
) -> list[AuditFinding]:
    """What the audit says of that log."""
    at = world(author)
    ticks = [line.at_ms for line in at.log.lines[TICKS]]
    places = places_of(component, [PARTITION]) - {TICKS}
    found = audited(component, log, clocked(ticks), at.log.possible, places)
    return [one for one in found if one.read.record.id not in at.forged]


def planted(change: Callable[[Record], Record]) -> tuple[list[Read], str]:
    """The log, with the last accepted change of the job service made untrue."""
    log = reads()
    at = max(
        i
        for i, read in enumerate(log)
        if read.record.kind == "JobConfigChanged" and read.record.id not in world().forged
    )
    log[at] = replace(log[at], record=change(log[at].record))
    return log, log[at].record.id


@pytest.mark.parametrize(
    ("component", "author"),
    [
        *((one, "small-scaler") for one in SCALING.values()),
        *((one, "state-syncer") for one in SYNCING.values()),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_every_decision_of_a_hostile_run_comes_out_again(
    component: Component[Any], author: str
) -> None:
    """Standing and void ones, and the effects that were owed."""
    verdicts = Counter(finding.verdict for finding in audit(component, reads(author), author))

    assert verdicts["same"] >= 10
    assert set(verdicts) == {"same"}


def other_words(record: Record) -> Record:
    """The same decision with another author in its value."""
    body = record.body
    assert isinstance(body, JobConfigChanged)
    told = replace(body, author="somebody else")
    return replace(record, body=told, value=encode(told))


LIES: dict[str, tuple[Callable[[Record], Record], str]] = {
    "its words": (other_words, "author is 'somebody else'"),
    "its parent": (lambda r: replace(r, parent="another"), "its parent is another"),
    "its id": (lambda r: replace(r, id="another"), "its id is another"),
    "its tick is none": (lambda r: replace(r, tick_ms=r.tick_ms - 1), "which is no tick"),
    "its evidence": (
        lambda r: replace(r, evidence={JOURNAL_PLACE: r.evidence.get(JOURNAL_PLACE, 0)}),
        "not closed",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_and_told_in_a_sentence(lie: str) -> None:
    """The first thing that differs is named."""
    change, sentence = LIES[lie]
    log, name = planted(change)

    found = [f for f in audit(job_service, log) if f.read.record.id == name]

    assert [f.verdict for f in found] == ["differs"]
    assert sentence in found[0].sentence


def test_a_decision_of_another_logic_is_not_judged() -> None:
    """Only the code that made it can make it again."""
    log, name = planted(lambda record: replace(record, logic="job-service/0"))

    found = [f for f in audit(job_service, log) if f.read.record.id == name]

    assert [f.verdict for f in found] == ["not checkable"]
    assert "job-service/0" in found[0].sentence


def test_knowledge_of_the_future_is_impossible_and_not_derived() -> None:
    """It is void for every reader, so there is nothing to compare."""
    far = {JOURNAL_PLACE: 10**9}
    log, name = planted(lambda record: replace(record, evidence=far))

    found = [f for f in audit(job_service, log) if f.read.record.id == name]

    assert [f.verdict for f in found] == ["impossible"]


def test_a_decision_that_its_evidence_does_not_call_for_is_found() -> None:
    """Said once more on the state that came of it: there was nothing left to say."""
    log = reads()
    last = max((r for r in log if r.record.kind == "JobConfigRejected"), key=lambda r: r.offset)
    end = world().log.end(JOURNAL_PLACE)
    final = next(
        line.record
        for line in reversed(world().log.lines[JOURNAL_PLACE])
        if line.record.key == last.record.key
    )
    again = replace(
        last,
        offset=end,
        at_ms=world().log.lines[JOURNAL_PLACE][-1].at_ms,
        record=replace(
            last.record,
            parent=final.id,
            tick_ms=final.tick_ms,
            evidence=dict(final.evidence) | {JOURNAL_PLACE: end},
        ),
    )

    found = [f for f in audit(job_service, [*log, again]) if f.read.offset == end]

    assert [f.verdict for f in found] == ["differs"]
