"""Which requests count: in the topic's own time, once each, and no more than there is room for."""

from __future__ import annotations

import json

import pytest

from events.generated.records import ConfigChangeProposed
from projections.ingress import (
    FIRST_ROOM,
    KNOWN,
    VALID_MS,
    WAITING,
    WHOLE_BYTES,
    Ingress,
    LiveRequest,
    admit,
    answer,
    dump_ingress,
    in_turn,
    load_ingress,
)
from turbine_client.identity import CHANGE_ID_LENGTH_MAX

AT_MS = 1_000_000


def ask(was: Ingress, name: str, *, at_ms: int = AT_MS, size: int = 100) -> tuple[Ingress, bool]:
    body = ConfigChangeProposed(change_id=name, job="orders", author="ann")
    return admit(was, name, body, size, at_ms)


def asked(*names: str, at_ms: int = AT_MS) -> Ingress:
    was = Ingress()
    for name in names:
        was, counts = ask(was, name, at_ms=at_ms)
        assert counts, name
    return was


def name_of(ahead_ms: int, rest: str = "a") -> str:
    return f"{AT_MS + ahead_ms}.{rest}"


@pytest.mark.parametrize(
    ("ahead_ms", "counts"),
    [(-1, False), (0, True), (VALID_MS, True), (VALID_MS + 1, False)],
)
def test_a_request_counts_within_its_validity(ahead_ms: int, counts: bool) -> None:
    was, found = ask(Ingress(), name_of(ahead_ms))
    assert found is counts
    assert len(was.waiting) == counts
    assert was.high_ms == AT_MS, "what is void moves the topic's time as well"


@pytest.mark.parametrize(
    "name", ["", "x", "1000000", "1000000.", ".a", "-1000000.a", "1e6.a", "٣.a"]
)
def test_an_id_that_says_no_validity_never_counts(name: str) -> None:
    assert not ask(Ingress(), name)[1]


def test_an_id_that_is_too_long_never_counts() -> None:
    longest = name_of(1_000, "a" * (CHANGE_ID_LENGTH_MAX - len(name_of(1_000, ""))))
    assert ask(Ingress(), longest)[1]
    assert not ask(Ingress(), longest + "a")[1]


def test_the_time_is_the_greatest_that_the_topic_has_shown() -> None:
    was = asked(name_of(50_000))
    was, counts = ask(was, name_of(10_000, "b"), at_ms=AT_MS + 20_000)
    assert not counts
    was, counts = ask(was, name_of(10_000, "c"), at_ms=AT_MS)
    assert not counts, "an append time that goes back does not turn the topic's time back"
    assert was.high_ms == AT_MS + 20_000


def test_a_copy_counts_and_waits_once() -> None:
    was = asked(name_of(1_000), name_of(1_000))
    assert [one.id for one in was.waiting] == [name_of(1_000)]


def test_an_id_is_known_after_its_answer_until_it_passes() -> None:
    name = name_of(1_000)
    was = answer(asked(name), name)
    assert (was.waiting, was.live) == ((), (LiveRequest(AT_MS + 1_000, name, 100, AT_MS),))
    was, counts = ask(was, name, at_ms=AT_MS + 1_000)
    assert counts
    assert was.waiting == (), "answered once"
    was, counts = ask(was, name, at_ms=AT_MS + 1_001)
    assert not counts
    assert was.live == ()


def test_an_id_is_known_after_it_passes_until_its_answer() -> None:
    name = name_of(1_000)
    was, _ = ask(asked(name), name_of(60_000, "b"), at_ms=AT_MS + 1_001)
    first = was.waiting[0]
    assert (first.id, first.body, first.passed) == (name, None, True)
    assert name not in [one.id for one in was.live]
    was, counts = ask(was, name, at_ms=AT_MS + 1_002)
    assert counts
    assert [one.id for one in was.waiting] == [name, name_of(60_000, "b")]
    assert [one.id for one in answer(was, name).waiting] == [name_of(60_000, "b")]


def test_an_answer_to_nobody_is_nothing() -> None:
    was = asked(name_of(1_000))
    assert answer(was, "another") is was
    assert answer(answer(was, name_of(1_000)), name_of(1_000)) == answer(was, name_of(1_000))


def test_so_many_may_wait_and_more_are_told_apart() -> None:
    was = asked(*(name_of(1_000, str(n)) for n in range(WAITING + 3)))
    assert [crowded for _, crowded in in_turn(was)] == [False] * WAITING + [True] * 3
    assert [ask for ask, _ in in_turn(was)] == [*was.waiting]
    assert all(one.body is not None for one in was.waiting), "kept whole, for who reads further"


def test_those_that_are_answered_or_have_passed_wait_no_more() -> None:
    names = [name_of(1_000, str(n)) for n in range(WAITING)]
    was, _ = ask(asked(*names), name_of(60_000))
    assert [crowded for _, crowded in in_turn(answer(was, names[7]))] == [False] * WAITING
    was, _ = ask(was, name_of(60_000, "b"), at_ms=AT_MS + 1_001)
    assert not any(crowded for _, crowded in in_turn(was)), "64 have passed, and two wait"


def test_as_it_was_first_answered_ones_took_room() -> None:
    was = Ingress()
    for n in range(FIRST_ROOM.requests + 1):
        body = ConfigChangeProposed(change_id=name_of(1_000, str(n)), job="orders", author="ann")
        was, _ = admit(was, body.change_id, body, 100, AT_MS, room=FIRST_ROOM)
        kept = was.waiting[-1].body is not None
        was = answer(was, body.change_id)
    assert not kept


def test_answered_ones_are_no_reason_to_refuse_a_large_one() -> None:
    was = Ingress()
    for n in range(20):
        name = name_of(60_000, str(n))
        was, counts = ask(was, name, at_ms=AT_MS + n, size=WHOLE_BYTES // 7)
        assert counts
        assert was.waiting[-1].body is not None
        was = answer(was, name)


def test_so_many_bytes_are_kept_whole_and_the_first_give_way() -> None:
    """Answered or not: or it would depend on how far the journal is read, and readers differ."""
    was = Ingress()
    for n in range(4):  # each is the first to pass of all
        name = name_of(60_000 - n, str(n))
        was, counts = ask(was, name, at_ms=AT_MS + n, size=WHOLE_BYTES // 3)
        assert counts
    assert [one.body is not None for one in was.waiting] == [False, True, True, True]
    assert was.live_bytes == WHOLE_BYTES // 3 * 3
    was, _ = ask(was, name_of(60_000, "small"), size=1)
    assert [one.body is not None for one in was.waiting] == [False, True, True, True, True]


def test_one_that_is_larger_than_all_room_is_known_by_id() -> None:
    was, counts = ask(Ingress(), name_of(1_000), size=WHOLE_BYTES + 1)
    assert counts
    assert was.waiting[0].body is None


def test_so_many_are_known_and_more_do_not_count() -> None:
    was = asked(*(name_of(1_000, str(n)) for n in range(KNOWN)))
    was, counts = ask(was, name_of(60_000))
    assert not counts
    assert (len(was.live), len(was.waiting)) == (KNOWN, KNOWN)
    was, counts = ask(was, name_of(60_000), at_ms=AT_MS + 1_001)
    assert counts, "once the others have passed there is room"


def test_the_sum_of_what_is_live_is_right() -> None:
    was = asked(name_of(1_000), name_of(2_000, "b"), name_of(3_000, "c"))
    assert (was.live_bytes, was.live[0].until_ms) == (300, AT_MS + 1_000)
    was, _ = ask(was, name_of(9_000, "d"), at_ms=AT_MS + 2_001, size=7)
    assert (was.live_bytes, was.live[0].until_ms) == (107, AT_MS + 3_000)


def test_what_is_kept_comes_back() -> None:
    was = asked(*(name_of(1_000 * n, str(n)) for n in range(1, 80)))
    was = answer(was, name_of(5_000, "5"))
    was, _ = ask(was, name_of(60_000, "last"), at_ms=AT_MS + 3_500)
    assert load_ingress(json.loads(json.dumps(dump_ingress(was)))) == was
    assert load_ingress(dump_ingress(Ingress())) == Ingress()
