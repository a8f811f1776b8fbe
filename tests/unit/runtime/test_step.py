"""Each rule of the one step, by hand: what is folded, what is void, what waits and what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.runtime.core import step
from components.runtime.core.step import LOST_MS, ROOT, SKEW_MS, UNREAD_MS
from events.topics import ALERTS, JOURNAL
from simulation.log import TICKS
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, SENT, Bench, alert, toy


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
    bench.tick(LOST_MS)
    assert bench.owner.flush() == []
    bench.tick(UNREAD_MS)
    (_, again), *_ = bench.owner.flush()
    assert again.id == lost.id
    assert again.tick_ms == lost.tick_ms + LOST_MS + UNREAD_MS


def test_what_was_said_before_something_that_came_back_is_lost_sooner(bench: Bench) -> None:
    bench.wish()
    (_, lost), *_ = bench.say()
    bench.wish(key="clicks")
    bench.land(bench.say())
    bench.settle()
    bench.tick(UNREAD_MS)
    assert bench.owner.flush() == []
    bench.tick(1)
    assert [record.id for _, record in bench.owner.flush()] == [lost.id]


def test_what_was_said_together_with_something_that_came_back_may_still_come(bench: Bench) -> None:
    bench.wish()
    bench.wish(key="clicks")
    (_, ours), (_, theirs) = sorted(bench.say(), key=lambda one: one[1].key, reverse=True)
    bench.land([(JOURNAL, theirs)])
    bench.say()
    bench.tick(LOST_MS)
    assert ours.id not in {record.id for _, record in bench.owner.flush()}
    bench.tick(UNREAD_MS)
    assert ours.id in {record.id for _, record in bench.owner.flush()}


def test_a_reader_with_a_backlog_takes_nothing_for_lost(bench: Bench) -> None:
    """It would have the more to read, and fall behind for good."""
    bench.wish()
    first = bench.say()
    bench.wish(key="clicks")
    second = bench.say()
    bench.land(first)
    bench.land(second)
    bench.read(DECISIONS, most=1)
    bench.tick(2 * UNREAD_MS)
    assert [key for _, record in bench.owner.flush() if (key := record.key) == "clicks"] == []


def test_what_comes_late_after_all_stands_once(bench: Bench) -> None:
    bench.wish()
    first = bench.say()
    bench.tick(LOST_MS + 1)
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


def test_what_is_owed_is_waited_for_whoever_decides_meanwhile(bench: Bench) -> None:
    bench.wish()
    bench.land(bench.say())
    owed = bench.say()
    bench.decision("rival", bench.held.last[JOURNAL])
    assert bench.say() == []
    bench.land(owed)
    assert not {one.id for _, one in owed} & {one.id for _, one in bench.say()}


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
    assert bench.held.frozen
