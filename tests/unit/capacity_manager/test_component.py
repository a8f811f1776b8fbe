"""The capacity manager under the one step: chains of many keys, rivals, restarts, and the audit."""

from __future__ import annotations

import pytest
from immutables import Map

from components.capacity_manager.decide import component, component_of, effects
from components.runtime.core.snapshots import restored, take
from components.runtime.core.step import UNREAD_MS, Stepper
from events.generated.records import (
    CapacityGranted,
    CapacityLent,
    CapacityReported,
    PreemptionRequested,
    SyncFailed,
    TierDefined,
)
from events.topics import CLOCK, GRANTS, JOURNAL, TIERS
from events.wire.codec import Record
from projections.capacity import GRANT, STOP, TIGHT, Capacity, OwedEffect
from tests.unit.capacity_manager.desk import MINUTE_MS, PLACES, VERSIONS, Desk, row_of
from tests.unit.runtime.naive_audit import audit_places


def tight() -> Desk:
    desk = Desk()
    desk.instance()
    desk.begin()
    desk.job("a", 60)
    desk.job("b", 30)
    desk.settle()
    desk.tick(MINUTE_MS)
    desk.settle()
    return desk


def test_decisions_about_many_jobs_stand_each_on_its_own_chain() -> None:
    desk = tight()
    (owner,) = desk.owners
    assert row_of(owner).reserved[0] == 90_000
    desk.job("b", 20)
    desk.catch_up(owner)
    assert row_of(owner).reserved[0] == 80_000
    late = desk.lines[f"{JOURNAL}/0"][1].record  # said again, on a parent that has a child
    desk.append(JOURNAL, late)
    desk.catch_up(owner)
    assert row_of(owner).reserved[0] == 80_000
    assert owner.counts.void == 1


def test_what_is_decided_about_another_key_voids_nothing_of_ours() -> None:
    """The shard manager speaks in the same topic all the time."""
    desk = tight()
    (owner,) = desk.owners
    desk.job("c", 5)
    desk.tick(MINUTE_MS)
    desk.catch_up(owner)
    said = owner.flush()
    assert said
    desk.decision(TIERS, "default/placement", TierDefined("default", 4, (), '{"headroom":0}'))
    desk.catch_up(owner)
    assert owner.flush() == []  # it still waits for what it said
    for topic, record in said:
        desk.append(topic, record)
    desk.settle()
    assert ("c", 5) in desk.grants()
    assert owner.counts.void == 0


def test_each_grant_lies_under_its_job_and_is_told_once() -> None:
    desk = tight()
    assert desk.grants() == [("a", 60), ("b", 30)]
    keys = [read.record.key for read in desk.lines[f"{GRANTS}/0"]]
    assert keys == ["a", "b"]
    for _ in range(5):
        desk.tick(MINUTE_MS)
        desk.settle()
    assert len(desk.grants()) == 2


def test_two_instances_do_no_harm() -> None:
    desk = Desk()
    desk.instance()
    desk.instance()
    desk.begin()
    desk.job("a", 60)
    desk.job("b", 30)
    for n in range(20):
        desk.tick(MINUTE_MS // 2)
        if n % 3 == 0:
            desk.job("c", 1 + n // 3)
        desk.settle()
    one, other = desk.owners
    assert row_of(one) == row_of(other)
    said = row_of(one).said
    assert said is not None
    assert said.state == TIGHT
    # What both say has one id: the second one is void, and a grant that is told twice is one.
    ids = [read.record.id for read in desk.lines[f"{GRANTS}/0"]]
    assert len(set(ids)) < len(ids)
    assert one.counts.void == other.counts.void > 0
    standing = {name for (topic, _), name in desk.last.items() if topic == TIERS}
    assert len(standing) == 1


def test_a_rival_that_was_away_says_nothing_that_stands_twice() -> None:
    desk = tight()
    late = desk.instance()  # reads everything from the beginning
    desk.settle()
    assert row_of(late) == row_of(desk.owners[0])
    assert len(desk.grants()) == 2


def test_a_grant_that_got_lost_is_told_again_under_the_same_id() -> None:
    desk = Desk()
    owner = desk.instance()
    desk.begin()
    desk.job("a", 90)
    grants: list[str] = []
    for _ in range(6):
        desk.catch_up(owner)
        for topic, record in owner.flush():
            if topic == GRANTS:
                grants.append(record.id)
                if len(grants) == 1:
                    continue  # it never arrives
            desk.append(topic, record)
        desk.tick(UNREAD_MS * 5)
    assert len(grants) == 2
    assert len(set(grants)) == 1
    assert not row_of(owner).owed


def test_it_goes_on_from_what_was_kept() -> None:
    desk = tight()
    (owner,) = desk.owners
    snapshot = take(owner, "build")
    desk.job("b", 20)
    kept = restored(component, snapshot, "build")
    again: Stepper[Capacity] = Stepper(
        component, PLACES, desk.possible, seen=kept.seen, held=kept.held
    )
    for one in (owner, again):
        desk.catch_up(one)
    assert row_of(again) == row_of(owner)
    assert again.held["default/capacity"].last == owner.held["default/capacity"].last


@pytest.mark.parametrize("tier", ["default", "other"])
def test_every_decision_is_made_again_by_the_audit(tier: str) -> None:
    desk = tight()
    desk.job("a", 120)
    for _ in range(8):
        desk.tick(MINUTE_MS)
        desk.settle()
    one = component_of(tier)
    reads = [read for at in PLACES if not at.startswith(CLOCK) for read in desk.lines[at]]
    ticks = [read.at_ms for read in desk.lines[f"{CLOCK}/0"]]
    places = [at for at in PLACES if not at.startswith(CLOCK)]
    found = list(audit_places(one, reads, ticks, desk.possible, places))
    ours = [read for read in reads if read.record.source == "capacity-manager"]
    assert len(found) == len(ours) > 5
    verdicts = {finding.verdict for finding in found}
    assert verdicts == ({"same"} if tier == "default" else {"not checkable"})


def test_an_unreadable_decision_about_one_job_freezes_the_tier_until_a_build_can_read_it() -> None:
    desk = tight()
    (owner,) = desk.owners
    parent = desk.last[JOURNAL, "a"]
    desk.append(JOURNAL, Record("a", "new", "JobConfigRenamed", b"", None, parent=parent))
    desk.tick(MINUTE_MS * 60)
    assert desk.turn() == 0
    assert owner.held["default/capacity"].frozen


def test_what_does_not_concern_capacity_moves_only_the_chain() -> None:
    desk = tight()
    (owner,) = desk.owners
    before = row_of(owner)
    desk.decision(JOURNAL, "a", SyncFailed("a", "a#1", "s", VERSIONS, 1, "stop", "lost", "why", 1))
    desk.job("a", 61)
    desk.catch_up(owner)
    assert row_of(owner).reserved[0] == before.reserved[0] + 1_000


def stale(desk: Desk, job: str, tasks_max: int | None, tier: str = "default") -> None:
    """A copy of an older grant arrives, after all that was said since."""
    body = CapacityGranted(job, "old", tier, (), "why", tasks_max)
    desk.fact(GRANTS, job, body)
    desk.tick(MINUTE_MS)
    desk.settle()


@pytest.mark.parametrize("tier", ["default", "other"])
def test_a_job_that_reads_an_older_word_last_is_told_again(tier: str) -> None:
    desk = tight()
    stale(desk, "a", None, tier)
    assert desk.grants()[-2:] == [("a", None), ("a", 60)]
    desk.tick(MINUTE_MS)
    desk.settle()
    assert desk.grants()[-1] == ("a", 60)


def test_also_where_there_is_plenty_again_or_the_job_is_gone() -> None:
    desk = tight()
    desk.job("a", 10)
    for _ in range(3):
        desk.tick(MINUTE_MS)
        desk.settle()
    assert desk.grants()[-2:] == [("a", None), ("b", None)] or desk.grants()[-1][1] is None
    stale(desk, "a", 60)
    assert desk.grants()[-2:] == [("a", 60), ("a", None)]
    desk.job("b", 30, tier="other")
    desk.job("c", 80)
    for _ in range(3):
        desk.tick(MINUTE_MS)
        desk.settle()
    stale(desk, "b", 30)
    assert desk.grants()[-2:] == [("b", 30), ("b", None)]


def test_another_tiers_word_to_a_job_that_has_no_limit_is_nothing_to_answer() -> None:
    desk = tight()
    desk.job("b", 30, tier="other")
    desk.tick(MINUTE_MS)
    desk.settle()
    before = len(desk.grants())
    stale(desk, "b", 7, "other")
    assert len(desk.grants()) == before + 1


def test_a_job_that_was_stopped_and_reads_an_older_grant_is_stopped_again() -> None:
    desk = tight()
    desk.job("c", 60, priority=1)
    for _ in range(8):
        desk.tick(MINUTE_MS)
        desk.settle()
    assert [body.job for body in desk.bodies(GRANTS, PreemptionRequested)] == ["c"]  # type: ignore[attr-defined]  # of that kind
    stale(desk, "c", 60)
    stops = desk.bodies(GRANTS, PreemptionRequested)
    assert len(stops) == 2
    assert stops[0] == stops[1]


def test_stops_are_told_first_then_grants_by_priority() -> None:
    owed = {
        "a": OwedEffect("1", GRANT, 90, "why", 3),
        "b": OwedEffect("2", STOP, 10, "why"),
        "c": OwedEffect("3", GRANT, 95, "why", 3),
    }
    row = Capacity("default", owed=Map(owed))
    assert [one.key for one in effects(row)] == ["b", "c", "a"]


def test_another_tiers_settings_are_not_ours() -> None:
    desk = tight()
    (owner,) = desk.owners
    before = row_of(owner).sharing
    body = TierDefined("other", 4, ("north",), '{"tight":200}')
    desk.decision(TIERS, "other/placement", body)
    desk.catch_up(owner)
    assert row_of(owner).sharing == before
    assert row_of(owner).regions["other"] == ("north",)


@pytest.mark.parametrize("tier", ["default", "b"])
def test_a_tier_reads_what_others_say_of_theirs(tier: str) -> None:
    desk = Desk()
    owner = desk.instance(component_of(tier))
    desk.begin()
    said = CapacityReported("a", 1, (), state="short")
    desk.decision(TIERS, "a/capacity", said)
    desk.decision(TIERS, "a/capacity", CapacityLent("a", "a-b-1", "b", ("c0",), "why"))
    desk.catch_up(owner)
    row = row_of(owner, tier)
    assert row.said is None
    assert row.neighbours["a"].state == "short"
    assert bool(row.loans) == (tier == "b")
