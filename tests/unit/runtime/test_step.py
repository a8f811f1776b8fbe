"""Each rule of the one step, by hand: what is folded, what is void, what waits and what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.runtime import step
from components.runtime.step import ROOT, SKEW_MS, UNREAD_MS
from events.topics import ALERTS, JOURNAL
from simulation.log import TICKS
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, SENT, UNHEARD, Bench, alert, toy


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.tick()
    return made


# --- chain


def test_the_first_valid_child_stands_and_the_rest_is_void(bench: Bench) -> None:
    for name, parent in (("a", ROOT), ("b", ROOT), ("c", "a"), ("d", "b"), ("e", "c")):
        bench.decision(name, parent)
    bench.read()
    assert bench.row.folded == ("a", "c", "e")
    assert bench.held.last == {JOURNAL: "e"}
    assert (bench.owner.counts.folded, bench.owner.counts.void) == (3, 2)


def test_the_same_decision_twice_stands_once(bench: Bench) -> None:
    bench.decision("a")
    bench.decision("a")
    bench.read()
    assert bench.row.folded == ("a",)


def test_keys_have_chains_of_their_own(bench: Bench) -> None:
    bench.decision("a")
    bench.decision("b", key="clicks")
    bench.read()
    assert bench.held.last == {JOURNAL: "a"}
    assert bench.owner.held["clicks"].last == {JOURNAL: "b"}


def test_a_decision_that_the_row_does_not_care_for_moves_the_chain(bench: Bench) -> None:
    bench.step_done("plan")
    bench.decision("a", "plan")
    bench.read()
    assert bench.row.folded == ("a",)
    assert bench.held.last == {JOURNAL: "a"}


def test_what_a_key_says_chains_on_what_stands(bench: Bench) -> None:
    bench.decision("a")
    bench.wish()
    bench.wish()
    bench.wish()
    first, second = (one for topic, one in bench.say() if topic == JOURNAL)
    assert (first.parent, second.parent) == ("a", first.id)


def test_who_says_the_same_says_it_once(bench: Bench) -> None:
    bench.wish()
    said = bench.say()
    rival = Bench(bench.log, bench.clock)
    assert [one.id for _, one in rival.say()] == [one.id for _, one in said]


def test_the_chain_of_a_deleted_and_made_anew_key_goes_on(bench: Bench) -> None:
    bench.wish()
    first = bench.settle()[0]
    bench.wish()
    assert bench.settle()[0].parent == first.id


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


@pytest.mark.parametrize("last", [DECISIONS, SENT, ASKED, BASE])
def test_a_circle_waits_for_those_of_it_that_stand_behind_others(bench: Bench, last: str) -> None:
    """The second of a queue may belong to it, and its first may wait for something else."""
    bench.decision("a")
    bench.other("honest", evidence={DECISIONS: 1})
    bench.other("o", evidence={SENT: 1})
    bench.wish("w", evidence={SENT: 1})
    bench.write(ALERTS, "x", alert("orders", "x"), key="orders", evidence={BASE: 1, ASKED: 2})
    bench.read(*(at for at in (BASE, SENT, ASKED, DECISIONS) if at != last))
    bench.owner.flush()
    bench.read(last)
    bench.tick(2 * SKEW_MS + 1)
    bench.owner.flush()
    assert not bench.owner.blocked
    assert bench.row.folded == ("a", "honest")
    assert bench.owner.counts.impossible == 3


def test_a_place_that_does_not_exist_makes_evidence_void(bench: Bench) -> None:
    bench.decision("a", evidence={"journal.v1/7": 1})
    bench.read()
    assert bench.owner.counts.impossible == 1


# --- one in flight


def test_one_decision_in_flight(bench: Bench) -> None:
    bench.wish()
    assert len(bench.say()) == 1
    bench.wish()
    assert bench.say() == [], "it folds what comes, and decides when its word is read back"
    assert bench.row.wishes == 2


def test_it_looks_again_on_read_back(bench: Bench) -> None:
    bench.wish()
    said = bench.say()
    bench.wish()
    assert bench.say() == []
    bench.land(said)
    topics = [topic for topic, _ in bench.say()]
    assert topics == [ALERTS, JOURNAL]


def test_it_looks_again_when_somebody_else_won(bench: Bench) -> None:
    bench.wish()
    lost = bench.say()
    bench.wish()
    bench.decision("rival")  # one of two wishes is answered by it
    bench.land(lost)
    (_, effect), (_, said) = bench.say()
    assert said.parent == "rival"
    assert bench.owner.counts.void == 1
    assert effect.id not in {record.id for _, record in lost}


def test_the_tail_of_a_batch_whose_head_lost_is_void(bench: Bench) -> None:
    bench.wish()
    bench.wish()
    (_, head), (_, tail) = bench.say()
    bench.decision("rival")
    bench.land([(JOURNAL, head), (JOURNAL, tail)])
    bench.read()
    assert bench.row.answers == 1
    assert bench.owner.counts.void == 2


def test_other_keys_are_not_waited_for(bench: Bench) -> None:
    bench.wish()
    bench.say()
    bench.wish(key="clicks")
    assert [record.key for _, record in bench.say()] == ["clicks"]


def test_what_is_not_read_back_in_time_is_said_again(bench: Bench) -> None:
    bench.wish()
    (_, lost), *_ = bench.say()
    bench.tick(UNREAD_MS)
    assert bench.owner.flush() == []
    bench.tick(1)
    (_, again), *_ = bench.owner.flush()
    assert again.id == lost.id
    assert again.tick_ms == lost.tick_ms + UNREAD_MS + 1


def test_what_comes_late_after_all_stands_once(bench: Bench) -> None:
    bench.wish()
    first = bench.say()
    bench.tick(UNREAD_MS + 1)
    second = bench.owner.flush()
    bench.land(first)
    bench.land(second)
    bench.read()
    assert bench.row.answers == 1
    assert bench.owner.counts.void == 1


def test_waiting_for_a_read_back_has_a_wake_up_of_its_own(bench: Bench) -> None:
    bench.wish()
    bench.say()
    assert bench.owner.next_wake_ms() == bench.held.since_ms + UNREAD_MS + 1


# --- read first, then speak


@pytest.mark.parametrize("last", [BASE, ASKED, DECISIONS, SENT, TICKS])
def test_nothing_is_said_before_all_is_read_to_the_end_seen_at_assignment(last: str) -> None:
    bench = Bench()
    bench.tick()
    bench.wish()
    bench.other("o")
    bench.decision("a")
    bench.write(ALERTS, "x", alert("orders", "x"), key="orders")
    bench.wish()
    bench.tick()
    bench.assign()
    bench.read(*(at for at in (TICKS, BASE, ASKED, DECISIONS, SENT) if at != last))
    if last == TICKS:
        bench.hear(TICKS, 0)
    assert not bench.owner.ready
    assert bench.owner.flush() == []
    bench.read(last)
    assert bench.owner.ready
    assert bench.owner.flush()


def test_what_came_after_the_assignment_need_not_be_read(bench: Bench) -> None:
    bench.wish()
    bench.assign()
    bench.decision("later", key="clicks")
    bench.read(BASE, TICKS)
    assert bench.owner.flush()


def test_nothing_is_said_before_a_tick() -> None:
    bench = Bench()
    bench.wish()
    assert bench.say() == []
    bench.tick()
    (_, said), *_ = bench.owner.flush()
    assert said.tick_ms == bench.clock.now_ms


# --- effects are owed, not fired


def test_an_effect_follows_once_its_decision_is_read_back(bench: Bench) -> None:
    bench.wish()
    said = bench.say()
    assert [topic for topic, _ in said] == [JOURNAL]
    bench.land(said)
    assert [topic for topic, _ in bench.say()] == [ALERTS]


def test_a_void_decision_owes_nothing(bench: Bench) -> None:
    bench.wish()
    lost = bench.say()
    bench.decision("rival")
    bench.land(lost)
    bench.settle()
    sent = [line.record.id for line in bench.log.lines[SENT]]
    assert len(sent) == len(set(sent)) == bench.row.answers == 1


def test_an_effect_is_owed_until_it_is_read_whoever_dies(bench: Bench) -> None:
    bench.wish()
    bench.land(bench.say())
    (_, lost), *_ = bench.say()
    heir = Bench(bench.log, bench.clock)
    (_, again), *_ = heir.say()
    assert again.id == lost.id
    heir.land([(ALERTS, again)])
    assert heir.say() == []
    assert heir.row.owed == ()


def test_effects_come_before_further_decisions(bench: Bench) -> None:
    bench.wish()
    bench.land(bench.say())
    bench.wish()
    assert [topic for topic, _ in bench.say()] == [ALERTS, JOURNAL]


# --- time


def test_now_is_the_greatest_tick_read_or_folded(bench: Bench) -> None:
    ahead_ms = bench.clock.now_ms + SKEW_MS
    bench.decision("a", tick_ms=ahead_ms)
    bench.wish()
    said = [record for topic, record in bench.say() if topic == JOURNAL]
    assert bench.owner.now_ms < ahead_ms
    assert bench.held.tick_ms == ahead_ms
    assert said == []  # one wish, and the rival's answer stands
    bench.wish()
    bench.land([(ALERTS, replace(bench.log.lines[BASE][0].record, id="x"))])
    assert all(record.tick_ms == ahead_ms for _, record in bench.say())


def test_a_tick_that_is_read_again_or_late_turns_nothing_back(bench: Bench) -> None:
    bench.tick()
    now_ms = bench.owner.now_ms
    bench.hear(TICKS, 0)
    assert bench.owner.now_ms == now_ms
    assert bench.owner.seen[TICKS] == 2


def test_a_wake_up_looks_again_although_nothing_arrives(bench: Bench) -> None:
    bench.wish(wake_at_ms=bench.clock.now_ms + 60_000)
    bench.settle()
    bench.tick(59_999)
    assert bench.owner.flush() == []
    bench.tick(1)
    (_, said), *_ = bench.owner.flush()
    assert said.body.cause == "it is time"  # type: ignore[union-attr]  # the toy says alerts only


def test_a_wake_up_is_armed_anew_after_each_look(bench: Bench) -> None:
    bench.wish(wake_at_ms=bench.clock.now_ms + 10_000)
    bench.settle()
    bench.wish(wake_at_ms=bench.clock.now_ms + 50_000)  # the first one is for nothing now
    bench.settle()
    bench.tick(10_000)
    assert bench.owner.flush() == []
    bench.tick(40_000)
    assert bench.owner.flush()


def test_an_earlier_wake_up_comes_first(bench: Bench) -> None:
    late_ms = bench.clock.now_ms + 60_000
    bench.wish(wake_at_ms=late_ms)
    bench.settle()
    bench.wish()
    bench.say()
    assert bench.owner.next_wake_ms() == bench.held.since_ms + UNREAD_MS + 1 < late_ms


def test_a_wake_up_that_is_due_already_is_a_bug_of_the_component(bench: Bench) -> None:
    bench.assign(component=replace(toy, wake_ms=lambda _, now_ms: now_ms))
    bench.decision("a")
    bench.land([(ALERTS, bench.log.lines[DECISIONS][0].record)])
    bench.read()
    bench.held.row = replace(bench.row, owed=())
    with pytest.raises(AssertionError, match="due already"):
        bench.owner.flush()


# --- at most so many at once


def test_a_long_answer_comes_in_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "AT_ONCE", 3)
    for _ in range(5):
        bench.wish()
    first = bench.say()
    assert [record.body.cause for _, record in first] == ["answer 0", "answer 1", "answer 2"]  # type: ignore[union-attr]  # the toy says alerts only
    bench.land(first)
    second = bench.say()
    assert [topic for topic, _ in second] == [ALERTS] * 3, "what is owed comes first"
    bench.land(second)
    third = bench.say()
    assert [record.body.cause for _, record in third] == ["answer 3", "answer 4"]  # type: ignore[union-attr]  # the toy says alerts only


# --- frozen


def test_a_decision_that_this_build_cannot_read_freezes_its_key_only(bench: Bench) -> None:
    bench.decision("new words", build=3)
    bench.wish()
    bench.wish(key="clicks")
    bench.read(build=2)
    said = bench.owner.flush()
    assert [record.key for _, record in said] == ["clicks"]
    assert bench.held.frozen
    assert bench.held.last == {JOURNAL: "new words"}
    assert bench.held.vector == {DECISIONS: 1, BASE: 1}


def test_a_void_one_that_cannot_be_read_freezes_nothing(bench: Bench) -> None:
    bench.decision("a")
    bench.decision("new words", ROOT, build=3)
    bench.read(build=2)
    assert not bench.held.frozen


def test_a_frozen_key_goes_on_folding(bench: Bench) -> None:
    bench.decision("new words", build=3)
    bench.decision("a", "new words")
    bench.read(build=2)
    assert bench.row.folded == ("a",)
    assert bench.held.last == {JOURNAL: "a"}


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
    counts = bench.owner.counts
    assert (counts.folded, counts.void, counts.impossible, counts.repeated) == (2, 2, 1, 2)
    assert sum(map(len, bench.held.early.values())) == 1
