"""The example of a component, on a log in memory: when it speaks, and that it does so once."""

from __future__ import annotations

import json

from components.runtime.core.step import ROOT, KeyState
from events.generated.records import JobConfigChanged, LayerVersions
from events.topics import JOURNAL
from examples.component.changed_often import CHANGES_MOST, WITHIN_MS, component
from tests.unit.runtime.bench import DECISIONS, Bench

JOB = "orders"


class Journal(Bench):
    """A job's journal, and the component that reads it."""

    def change(self) -> None:
        """One more change of the job stands."""
        self.count += 1
        versions = LayerVersions(self.count, 0, 0, 0)
        body = JobConfigChanged(
            JOB, "base", f"c{self.count}", self.count, versions, "{}", "{}", "a"
        )
        self.read(DECISIONS)
        held = self.owner.held.get(JOB)
        parent = held.last[JOURNAL] if held else ROOT
        self.write(JOURNAL, f"changed-{self.count}", body, key=JOB, parent=parent)

    def spoken(self) -> list[str]:
        """The kinds that it says until it has no more to say, each read back."""
        return [record.kind for record in self.settle()]


def journal(changes: int) -> Journal:
    """After so many changes, a second between two."""
    made = Journal()
    made.assign(component=component)
    for _ in range(changes):
        made.change()
        made.tick()
    return made


def test_the_limit_itself_is_not_too_often() -> None:
    assert journal(CHANGES_MOST).spoken() == []


def test_one_more_is_and_is_said_once() -> None:
    log = journal(CHANGES_MOST + 1)
    [alert] = log.settle()
    assert (alert.kind, alert.key, alert.logic) == ("AlertRaised", JOB, "changed-often/1")
    assert alert.body.cause == "orders was changed more than 3 times within an hour"
    log.change()
    assert log.spoken() == []


def test_it_is_cleared_when_an_hour_has_passed_though_nothing_is_read() -> None:
    log = journal(CHANGES_MOST + 1)
    began_ms = log.owner.held[JOB].row.changed_ms[0]
    assert log.spoken() == ["AlertRaised"]
    log.tick(began_ms + WITHIN_MS - 1 - log.clock.now_ms)
    assert log.owner.flush() == []
    log.tick(1)
    assert log.spoken() == ["AlertCleared"]
    log.tick(WITHIN_MS)
    assert log.spoken() == []


def test_changes_further_apart_are_not_counted_together() -> None:
    log = journal(CHANGES_MOST)
    log.tick(WITHIN_MS)
    log.change()
    log.tick()
    assert log.spoken() == []


def test_who_begins_with_what_was_kept_says_nothing_again() -> None:
    log = journal(CHANGES_MOST + 1)
    assert log.spoken() == ["AlertRaised"]
    kept = log.owner.held[JOB]
    row = component.load(json.loads(json.dumps(component.dump(kept.row))))
    assert row == kept.row
    held = {JOB: KeyState(row, dict(kept.vector), dict(kept.last))}
    log.assign(component=component, held=held, seen=dict(log.owner.seen))
    log.tick()
    assert log.spoken() == []


def test_alerts_of_others_change_nothing() -> None:
    log = journal(CHANGES_MOST + 1)
    log.read(DECISIONS)
    log.decision("somebody's", log.owner.held[JOB].last[JOURNAL])
    assert log.spoken() == ["AlertRaised"]
