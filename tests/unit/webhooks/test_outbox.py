"""The order, the patience and the positions of what is sent to one receiver."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.webhooks.core.outbox import (
    BYTES_MAX,
    HOLD_MS_MAX,
    MESSAGES_MAX,
    TROUBLE,
    AbandonedMessage,
    Delivery,
    DeliveryAnswer,
    Outbox,
    RetryLimits,
)
from tests.kit.examples import at_most

PLACES = ("outcomes.v1/0", "outcomes.v1/1")
TAKEN, GONE, REFUSED = (
    DeliveryAnswer(204, "204"),
    DeliveryAnswer(410, "410 Gone"),
    DeliveryAnswer(400, "400 Bad"),
)
DOWN = DeliveryAnswer(503, "503")


def delivery(offset: int, lane: str = "a", place: str = PLACES[0], size: int = 1) -> Delivery:
    return Delivery(place, offset, lane, f"{place}@{offset}", "JobConfigChanged", b"x" * size)


def outbox(*lanes: str, limits: RetryLimits | None = None) -> Outbox:
    """With one message of each lane that is named, in that order."""
    one = Outbox(limits or RetryLimits(), {PLACES[0]: 0})
    for offset, lane in enumerate(lanes):
        one.put(delivery(offset, lane))
    return one


def sent(one: Outbox, now_ms: int) -> list[str]:
    return [each.lane for each in one.due(now_ms)]


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, "taken"), (299, "taken"), (300, "refused"), (302, "refused"), (399, "refused"),
        (400, "refused"), (404, "refused"), (408, "down"), (410, "gone"), (425, "down"),
        (429, "down"), (499, "refused"), (500, "down"), (599, "down"), (0, "down"), (101, "down"),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, verdict: str) -> None:
    assert DeliveryAnswer(status, "").verdict == verdict


def test_a_lane_sends_its_head_alone_and_others_go_on() -> None:
    one = outbox("a", "a", "b")
    [first, other] = one.due(1)
    assert (first.lane, first.offset, other.lane) == ("a", 0, "b")
    assert list(one.due(1)) == []
    one.answered(first, TAKEN, 1)
    assert [each.offset for each in one.due(1)] == [1]


def test_no_more_than_are_allowed_are_sent_at_the_same_time() -> None:
    one = outbox(*"abcde", limits=RetryLimits(parallel=2))
    assert sent(one, 1) == ["a", "b"]
    assert one.busy == 2


def test_who_waited_longest_is_next() -> None:
    one = outbox(*"abc", limits=RetryLimits(parallel=1))
    [head] = one.due(1)
    one.answered(head, REFUSED, 1)
    one.put(delivery(9, "d"))
    assert sent(one, 10_000) == ["b"]


def test_pauses_double_up_to_their_limit() -> None:
    limits = RetryLimits(pause_ms=1_000, pause_ms_max=5_000)
    assert [limits.pause(n) for n in (0, 1, 2, 3, 4, 1_000)] == [1000, 1000, 2000, 4000, 5000, 5000]


def test_what_is_refused_is_given_up_after_its_attempts_and_the_next_one_goes() -> None:
    one = outbox("a", "a", limits=RetryLimits(attempts=3))
    now_ms, given_up = 1, None
    for attempt in (1, 2, 3):
        [head] = one.due(now_ms)
        given_up = one.answered(head, REFUSED, now_ms)
        assert (given_up is None) == (attempt < 3)
        now_ms += 60_000
    assert given_up == AbandonedMessage(delivery(0), 3, "400 Bad")
    assert one.positions == {PLACES[0]: 1}
    [head] = one.due(now_ms)
    assert head.offset == 1
    assert one.answered(head, REFUSED, now_ms) is None, "it has attempts of its own"


def test_gone_is_given_up_at_once() -> None:
    one = outbox("a")
    [head] = one.due(1)
    assert one.answered(head, GONE, 1) == AbandonedMessage(head, 1, "410 Gone")
    assert (one.waiting, one.positions) == (0, {PLACES[0]: 1})


def test_a_receiver_that_is_down_is_knocked_at_by_one_at_a_time_each_time_another() -> None:
    one = outbox(*"abcd", limits=RetryLimits(parallel=3))
    for head in list(one.due(1)):
        one.answered(head, DOWN, 1)
    assert one.down
    assert sent(one, 1_000) == []
    now_ms, knocking = 1_001, []
    for _ in range(4):
        [head] = one.due(now_ms)
        knocking.append(head.lane)
        one.answered(head, DOWN, now_ms)
        now_ms += 120_000
    assert knocking == ["d", "a", "b", "c"]


def test_when_it_takes_again_nobody_waits_for_a_pause_of_before() -> None:
    one = outbox(*"abcd", limits=RetryLimits(parallel=4))
    now_ms = 1
    for _ in range(8):
        for head in list(one.due(now_ms)):
            one.answered(head, DOWN, now_ms)
        now_ms += 60_000
    [head] = one.due(now_ms)
    one.answered(head, TAKEN, now_ms)
    assert not one.down
    assert len(sent(one, now_ms)) == 3


def test_attempts_that_found_it_down_are_not_the_messages_fault_until_the_end_of_patience() -> None:
    limits = RetryLimits(attempts=2, give_up_ms=1_000_000)
    one = outbox("a", limits=limits)
    now_ms, attempts = 5, 0
    while True:
        [head] = one.due(now_ms)
        attempts += 1
        refusal = one.answered(head, DOWN, now_ms)
        if refusal is not None:
            break
        now_ms += 60_000
    assert attempts == refusal.attempts == 1 + -(-limits.give_up_ms // 60_000)


def test_what_fails_while_others_are_taken_has_its_attempts_and_no_more() -> None:
    one = outbox("bad", limits=RetryLimits(attempts=3))
    now_ms, attempts = 1, 0
    while True:
        one.put(delivery(attempts + 1, f"good-{attempts}"))
        refusal = None
        for head in list(one.due(now_ms)):
            attempts += head.lane == "bad"
            told = one.answered(head, DOWN if head.lane == "bad" else TAKEN, now_ms)
            refusal = refusal or told
        if refusal is not None:
            break
        now_ms += 60_000
    assert (refusal.delivery.lane, attempts) == ("bad", 4)  # the first says nothing of whose fault


def test_a_first_failure_says_nothing_of_whose_fault_it_is() -> None:
    """Also where others were taken before: the receiver may have gone down since."""
    one = outbox("good", "bad", limits=RetryLimits(parallel=1, attempts=1))
    [head] = one.due(1)
    one.answered(head, TAKEN, 1)
    [head] = one.due(1)
    assert one.answered(head, DOWN, 1) is None


def test_it_may_ask_us_to_wait_but_not_for_ever() -> None:
    one = outbox("a", "b", limits=RetryLimits(parallel=1))
    [head] = one.due(1)
    one.answered(head, DeliveryAnswer(429, "429", 30_000), 1)
    assert sent(one, 30_000) == []
    assert sent(one, 30_001) == ["b"]
    one = outbox("a", "b", limits=RetryLimits(parallel=1))
    [head] = one.due(1)
    one.answered(head, DeliveryAnswer(503, "503", 10**12), 1)
    assert sent(one, HOLD_MS_MAX) == []
    assert sent(one, HOLD_MS_MAX + 1) == ["b"]


def test_the_position_is_the_first_that_is_not_done() -> None:
    one = outbox(*"abc")
    one.pass_by(PLACES[0], 7)
    heads = list(one.due(1))
    assert one.positions == {PLACES[0]: 0}
    one.answered(heads[1], TAKEN, 1)
    assert one.positions == {PLACES[0]: 0}
    one.answered(heads[0], TAKEN, 1)
    assert one.positions == {PLACES[0]: 2}
    one.answered(heads[2], TAKEN, 1)
    assert one.positions == {PLACES[0]: 8}


def test_what_was_read_before_is_nothing_new() -> None:
    one = outbox("a", "a")
    one.put(delivery(0))
    assert one.waiting == 2


def test_it_is_full_at_its_bounds_and_not_before() -> None:
    one = outbox(*(["a"] * (MESSAGES_MAX - 1)))
    assert not one.full
    one.put(delivery(MESSAGES_MAX))
    assert one.full
    one = outbox()
    one.put(delivery(0, size=BYTES_MAX - 1))
    assert not one.full
    one.put(delivery(1, "b"))
    assert one.full
    for head in list(one.due(1)):
        one.answered(head, TAKEN, 1)
    assert not one.full


def test_an_answer_to_what_was_not_sent_is_impossible() -> None:
    one = outbox("a")
    with pytest.raises(AssertionError):
        one.answered(delivery(0), TAKEN, 1)


@settings(max_examples=at_most(150), deadline=None)
@given(
    lanes=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(PLACES)), max_size=30),
    answers=st.lists(st.sampled_from([TAKEN, TAKEN, DOWN, REFUSED, GONE]), max_size=120),
    parallel=st.integers(1, 4),
)
def test_each_is_done_once_in_its_lanes_order_whatever_is_answered(
    lanes: list[tuple[str, str]], answers: list[DeliveryAnswer], parallel: int
) -> None:
    one = Outbox(RetryLimits(attempts=2, parallel=parallel), dict.fromkeys(PLACES, 0))
    counts: dict[str, int] = defaultdict(int)
    expected: dict[str, list[str]] = defaultdict(list)
    for lane, place in lanes:
        # A lane lies in one place, as a subject does.
        one.put(put := delivery(counts[place], f"{place}/{lane}", place))
        counts[place] += 1
        expected[put.lane].append(put.id)
    done: dict[str, list[str]] = defaultdict(list)
    flying: list[Delivery] = []
    told = iter(answers)
    now_ms = 1
    for _ in range(1_000):
        flying += one.due(now_ms)
        assert len(flying) <= parallel
        if not flying:
            if not one.waiting:
                break
            now_ms += 1_000
            continue
        head = flying.pop(0)
        answer = next(told, TAKEN)
        refusal = one.answered(head, answer, now_ms)
        if answer.verdict == "taken" or refusal is not None:
            done[head.lane].append(head.id)
        undone = {each for ids in expected.values() for each in ids}
        undone -= {each for ids in done.values() for each in ids}
        for place, offset in one.positions.items():
            assert not [each for each in undone if each in {f"{place}@{n}" for n in range(offset)}]
    assert done == expected
    assert one.positions == {place: counts[place] for place in PLACES}
    assert TROUBLE > 1


def test_a_message_that_was_refused_waits_for_its_pause() -> None:
    one = outbox("a")
    [head] = one.due(1)
    one.answered(head, REFUSED, 1)
    assert sent(one, 1_000) == []
    assert sent(one, 1_001) == ["a"]


def test_who_waits_long_for_a_receiver_that_was_down_is_next_when_it_takes_again() -> None:
    one, now_ms = outbox("a"), 1
    for _ in range(5):
        [head] = one.due(now_ms)
        one.answered(head, DOWN, now_ms)
        now_ms += 16_000
    now_ms -= 10_000  # the receiver may be knocked at again, and this message not yet
    assert sent(one, now_ms) == []
    one.put(delivery(1, "b"))
    [other] = one.due(now_ms)
    one.answered(other, TAKEN, now_ms)
    assert sent(one, now_ms) == ["a"]


def test_who_comes_now_is_behind_those_that_wait() -> None:
    one = outbox("a", "a", limits=RetryLimits(parallel=1))
    [head] = one.due(1)
    one.answered(head, TAKEN, 1)
    one.put(delivery(2, "b"))
    assert sent(one, 1) == ["a"]
