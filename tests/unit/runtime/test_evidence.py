"""What a record may claim to know, and how it waits until all of that is read."""

from __future__ import annotations

import pytest

from components.runtime.core.step import ROOT, SKEW_MS
from events.topics import ALERTS
from simulation.log import TICKS
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, SENT, UNHEARD, Bench, alert


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.tick()
    return made


# --- closed evidence


def test_evidence_is_closed_over_what_folded_records_knew(bench: Bench) -> None:
    bench.other("far")
    bench.unheard()
    bench.wish(evidence={ASKED: 1, UNHEARD: 1})
    (_, said), *_ = bench.say()
    assert said.evidence == {BASE: 1, ASKED: 1, UNHEARD: 1}, "of topics it does not read too"


def test_void_records_count_as_known(bench: Bench) -> None:
    bench.other("far")
    bench.decision("a")
    bench.decision("void", ROOT, evidence={ASKED: 1}, tick_ms=bench.clock.now_ms + 77)
    bench.read()
    assert bench.held.vector == {ASKED: 1, DECISIONS: 2}
    assert bench.held.tick_ms == bench.clock.now_ms + 77


def test_effects_carry_the_evidence_too(bench: Bench) -> None:
    bench.wish()
    bench.land(bench.say())
    (topic, effect), *_ = bench.say()
    assert topic == ALERTS
    assert effect.evidence == {BASE: 1, DECISIONS: 1}
    assert effect.parent == ""


def test_a_record_waits_until_all_that_its_author_knew_is_read(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("answer", evidence={BASE: 1})
    bench.read(DECISIONS)
    assert bench.held.row is None
    assert bench.owner.blocked == {"orders"}
    bench.read(BASE)
    bench.owner.flush()
    assert bench.row.folded == ("wish", "answer")
    assert not bench.owner.blocked


def test_records_of_one_place_keep_their_order_while_they_wait(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})
    bench.decision("b", "a")
    bench.decision("c", "b")
    bench.read(DECISIONS)
    assert bench.held.row is None
    bench.say()
    assert bench.row.folded == ("wish", "a", "b", "c")


def test_nothing_that_came_earlier_about_the_key_may_still_be_held_back(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})  # waits for the wish
    bench.other("o", evidence={DECISIONS: 1})  # its author had folded a
    bench.read(DECISIONS)
    bench.read(ASKED)
    assert bench.held.row is None, "the journal was read that far, but what it says is not folded"
    bench.say()
    assert bench.row.folded == ("wish", "a", "o")


def test_only_the_key_that_waits_waits(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})
    bench.decision("b", key="clicks")
    bench.read(DECISIONS)
    assert bench.owner.blocked == {"orders"}
    clicks = bench.owner.held["clicks"].row
    assert clicks is not None
    assert clicks.folded == ("b",)


def test_topics_that_are_not_read_need_not_be_waited_for(bench: Bench) -> None:
    bench.unheard()
    bench.decision("a", evidence={UNHEARD: 1})
    bench.read(DECISIONS)
    assert bench.row.folded == ("a",)


def test_what_is_no_record_below_the_ends_is_passed_and_nothing_beyond_them(bench: Bench) -> None:
    """As it is with the marker of a transaction, or with a beginning that has expired."""
    bench.wish("expired")
    bench.assign()
    bench.owner.pass_ends()
    assert bench.owner.seen == {BASE: 1, TICKS: 1}
    bench.wish("next")
    bench.read(BASE)
    assert bench.row.folded == ("next",)


# --- impossible evidence


def test_a_tick_to_come_is_void(bench: Bench) -> None:
    at_ms = bench.clock.now_ms
    bench.decision("at the limit", tick_ms=at_ms + SKEW_MS)
    bench.decision("beyond", "at the limit", tick_ms=at_ms + SKEW_MS + 1)
    bench.read()
    assert bench.row.folded == ("at the limit",)
    assert bench.owner.counts.impossible == 1
    assert bench.held.tick_ms == at_ms + SKEW_MS, "what is impossible moves no time"


def test_a_record_that_names_itself_or_what_follows_it_is_void(bench: Bench) -> None:
    for _ in range(4):
        bench.decision("filler", key="clicks")
    at = bench.log.end(DECISIONS)
    bench.decision("knows what came before", evidence={DECISIONS: at})
    bench.decision("knows itself", "knows what came before", evidence={DECISIONS: at + 2})
    bench.decision("knows what follows", "knows what came before", evidence={DECISIONS: at + 4})
    bench.decision("filler", key="clicks")
    bench.read()
    bench.owner.flush()
    assert bench.row.folded == ("knows what came before",)
    assert bench.owner.counts.impossible == 2


def test_evidence_that_was_not_there_is_void_however_late_it_is_read(bench: Bench) -> None:
    bench.decision("early bird", evidence={BASE: 1})
    bench.clock.now_ms += SKEW_MS + 1
    bench.wish("wish")
    bench.read(BASE, DECISIONS)
    assert bench.row.folded == ("wish",)
    assert bench.owner.counts.impossible == 1
    assert bench.held.vector == {BASE: 1, DECISIONS: 1}, (
        "it moves its topic's position all the same"
    )


def test_the_order_of_reading_does_not_change_what_was_possible(bench: Bench) -> None:
    bench.decision("early bird", evidence={BASE: 1})
    bench.clock.now_ms += SKEW_MS + 1
    bench.wish("wish")
    bench.read(DECISIONS, BASE)
    bench.owner.flush()
    assert bench.row.folded == ("wish",)
    assert bench.owner.counts.impossible == 1


def test_an_heir_finds_the_same_impossible(bench: Bench) -> None:
    """What its predecessor read tells where reading goes on, and not how late it was there."""
    bench.decision("early bird", evidence={BASE: 1})
    bench.clock.now_ms += SKEW_MS + 1
    bench.wish("wish")
    bench.read(BASE)
    owner = bench.owner
    bench.assign(held=owner.held, seen=owner.seen)
    bench.read()
    bench.owner.flush()
    assert bench.row.folded == ("wish",)
    assert bench.owner.counts.impossible == 1


def test_an_heir_that_reads_again_finds_the_same_impossible(bench: Bench) -> None:
    bench.wish("first")
    bench.clock.now_ms += 1
    bench.decision("early bird", evidence={BASE: 2})
    bench.clock.now_ms += SKEW_MS + 1
    bench.wish("second")
    bench.read(BASE)
    owner = bench.owner
    bench.assign(held=owner.held, seen=owner.seen)
    bench.hear(BASE, 0)  # delivered again, and older than what was read already
    bench.read(DECISIONS, TICKS)
    bench.owner.flush()
    assert bench.row.folded == ("first", "second")
    assert bench.owner.counts.impossible == 1


def test_what_two_brokers_may_disagree_on_is_possible(bench: Bench) -> None:
    bench.decision("a", evidence={BASE: 1})
    bench.clock.now_ms += SKEW_MS
    bench.wish("wish")
    bench.read(DECISIONS, BASE)
    bench.owner.flush()
    assert bench.row.folded == ("wish", "a")


def test_evidence_that_never_comes_is_void_once_time_has_shown_it(bench: Bench) -> None:
    bench.decision("forged", evidence={BASE: 10**9})
    bench.read()
    bench.owner.flush()
    assert bench.owner.blocked, "it may be there already, on a broker that we have not heard from"
    bench.tick(2 * SKEW_MS)
    bench.owner.flush()
    assert bench.owner.blocked
    bench.tick(1)
    bench.owner.flush()
    assert not bench.owner.blocked
    assert bench.owner.counts.impossible == 1


def test_of_two_that_wait_the_older_is_looked_at_in_its_own_time(bench: Bench) -> None:
    bench.decision("old", evidence={BASE: 10**9})
    bench.read(DECISIONS)
    bench.tick(SKEW_MS)
    bench.other("new", evidence={BASE: 10**9})
    bench.read(ASKED)
    bench.tick(SKEW_MS + 1)
    bench.owner.flush()
    assert list(bench.held.early) == [ASKED]


def test_an_old_forgery_behind_a_new_one_is_void_at_its_own_time(bench: Bench) -> None:
    """A reader that comes late reads the newer first: its wait is not the other's."""
    bench.decision("old", evidence={BASE: 10**9})
    bench.tick(2 * SKEW_MS + 1)
    bench.wish("new", evidence={ASKED: 10**9})
    bench.read(TICKS)
    bench.read(BASE)
    bench.read(DECISIONS)
    assert bench.owner.counts.impossible == 1
    assert list(bench.held.early) == [BASE]


def test_records_that_name_each_other_are_void_and_hold_nobody_up(bench: Bench) -> None:
    """Each was there by the time that clocks may differ by; both cannot have known the other."""
    bench.wish("w", evidence={ASKED: 1})
    bench.other("o", evidence={BASE: 1})
    bench.wish("w2")
    bench.read()
    bench.owner.flush()
    bench.tick(2 * SKEW_MS + 1)
    bench.owner.flush()
    assert not bench.owner.blocked
    assert bench.row.folded == ("w2",)


@pytest.mark.parametrize("order", [(BASE, SENT, ASKED), (ASKED, BASE, SENT), (SENT, BASE, ASKED)])
def test_a_circle_is_the_same_in_whatever_order_it_is_read(
    bench: Bench, order: tuple[str, ...]
) -> None:
    """Who sees two of the three first must not void them before it knows of the third."""
    bench.wish("w", evidence={ASKED: 1, SENT: 1})
    bench.other("o", evidence={SENT: 1})
    bench.write(ALERTS, "x", alert("orders", "x"), key="orders", evidence={BASE: 1, ASKED: 1})
    bench.read(*order)
    bench.tick(2 * SKEW_MS + 1)
    bench.owner.flush()
    assert not bench.owner.blocked
    assert bench.owner.counts.impossible == 3


def test_a_place_that_does_not_exist_makes_evidence_void(bench: Bench) -> None:
    bench.decision("a", evidence={"journal.v1/7": 1})
    bench.read()
    assert bench.owner.counts.impossible == 1


# --- redelivery


def test_what_is_read_again_changes_nothing(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})
    bench.read()
    held = repr(bench.held)
    for _ in range(2):
        bench.hear(BASE, 0)
        bench.hear(DECISIONS, 0)
    assert repr(bench.held) == held
    assert bench.owner.counts.repeated == 4


def test_what_is_held_back_and_read_again_waits_once(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})
    bench.decision("b", "a")
    for offset in (0, 1, 0, 1):
        bench.hear(DECISIONS, offset)
    assert [read.record.id for read in bench.held.early[DECISIONS]] == ["a", "b"]
    assert bench.owner.counts.repeated == 2
    bench.say()
    assert bench.row.folded == ("wish", "a", "b")


# --- held back


def test_a_key_that_is_held_back_is_silent(bench: Bench) -> None:
    bench.wish("wish")
    bench.read()
    bench.other("o")
    bench.decision("a", evidence={ASKED: 1})
    bench.read(DECISIONS)
    assert bench.owner.flush() == []
    assert bench.owner.blocked == {"orders"}


def test_what_was_held_back_is_released_in_order_and_looked_at_once(bench: Bench) -> None:
    bench.other("o1")
    bench.other("o2")
    bench.wish("w1", evidence={ASKED: 1})
    bench.wish("w2", evidence={ASKED: 2})
    bench.decision("a", evidence={ASKED: 2, BASE: 2})
    bench.read(DECISIONS)
    bench.read(BASE)
    bench.hear(ASKED, 0)
    bench.owner.flush()
    assert list(bench.row.folded) == ["o1", "w1"]
    bench.hear(ASKED, 1)
    (_, effect), (_, said) = bench.owner.flush()
    assert list(bench.row.folded) == ["o1", "w1", "o2", "w2", "a"]
    assert (said.parent, effect.parent) == ("a", "")


def test_every_record_read_is_in_exactly_one_count(bench: Bench) -> None:
    bench.wish("wish")
    bench.decision("a", evidence={BASE: 1})
    bench.decision("void")
    bench.decision("forged", "a", tick_ms=10**12)
    bench.decision("waits", "a", evidence={ASKED: 10**6})
    for at, offset in ((DECISIONS, 0), (BASE, 0), *((DECISIONS, n) for n in range(4)), (BASE, 0)):
        bench.hear(at, offset)
    bench.owner.settle()
    counts = bench.owner.counts
    assert (counts.folded, counts.void, counts.impossible, counts.repeated) == (2, 2, 1, 2)
    assert sum(map(len, bench.held.early.values())) == 1
