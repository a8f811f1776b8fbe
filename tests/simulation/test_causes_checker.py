"""The checker of causes is checked: a job's life that it takes, and what it must refuse of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    LayerVersions,
    SyncCommitted,
    TaskSpecsPublished,
)
from events.wire.codec import Read, Record, encode
from simulation.checkers.causes import check_causes
from simulation.checkers.history import ROOT, History
from turbine_client.identity import decision_id

ASKS, JOURNAL = "changes.base.v1/0", "journal.v1/0"
VERSIONS = LayerVersions(1, 0, 0, 0)
ASKED = ConfigChangeProposed("1.a", "j", "ann", None, "{}")
SAID: tuple[Body, ...] = (
    JobConfigChanged("j", "base", "1.a", 1, VERSIONS, "{}", "{}", "ann"),
    SyncCommitted("j", "p", "simple", VERSIONS, 0, "{}", "running", 1),
    TaskSpecsPublished("j", "p", 1, 1, 1, 1, VERSIONS, "", "", "", ()),
)


def told(causes: dict[int, str] | None = None) -> History:
    """The request and the three decisions after it, each after the one before; but for those whose
    cause is given."""
    log, parent, before = list[Read](), ROOT, "1.a"
    for number, body in enumerate(SAID):
        kind, value = type(body).__name__, encode(body)
        name = decision_id(parent, "j", kind, value)
        cause = (causes or {}).get(number, before)
        record = Record("j", name, kind, value, body, parent, logic="x/1", cause=cause)
        log.append(Read(JOURNAL, "journal.v1", number, 1_000, record))
        parent = before = name
    asked = Record("j", "1.a", "ConfigChangeProposed", encode(ASKED), ASKED)
    return History({ASKS: [Read(ASKS, "changes.base.v1", 0, 1_000, asked)], JOURNAL: log}, JOURNAL)


def test_each_after_what_it_follows_from() -> None:
    assert list(check_causes(told())) == []


@pytest.mark.parametrize(
    ("number", "cause", "sentence"),
    [
        (1, "", "names nothing that it follows from"),
        (1, "1.a", "follows from a ConfigChangeProposed"),
        (2, "1.b", "follows from 1.b, which is not in the log"),
    ],
)
def test_what_is_wrong_is_found(number: int, cause: str, sentence: str) -> None:
    (found,) = check_causes(told({number: cause}))
    assert sentence in found


def test_what_came_later_is_no_cause() -> None:
    later = told().log[JOURNAL][2].record.id
    (found,) = check_causes(told({1: later}))
    assert "follows from a TaskSpecsPublished" in found
    own = told().log[JOURNAL][1].record.id
    history = told({2: own})
    reads = [replace(one, offset=2 - one.offset) for one in history.log[JOURNAL]]
    assert "which came after it" in " ".join(
        check_causes(replace(history, log={**history.log, JOURNAL: reads}))
    )


def test_what_is_void_may_follow_from_what_was_lost() -> None:
    history = told({2: "1.b"})
    *first, last = history.log[JOURNAL]
    lost = replace(last, record=replace(last.record, parent="?"))
    assert list(check_causes(replace(history, log={**history.log, JOURNAL: [*first, lost]}))) == []
