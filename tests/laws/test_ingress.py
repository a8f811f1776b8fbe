"""Laws of admission: verdicts commute with it, copies change nothing, no flood is kept whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.generated.records import ConfigChangeProposed
from projections import ingress
from projections.ingress import VALID_MS, Ingress, admit, answer, dump_ingress, load_ingress
from turbine_client.identity import valid_until_ms

BEGIN_MS = 1_000_000
WHOLE_BYTES, KNOWN = 700, 5


@pytest.fixture(autouse=True, scope="module")
def _small_bounds() -> Iterator[None]:
    """So small that a short history meets them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ingress, "WHOLE_BYTES", WHOLE_BYTES)
        patched.setattr(ingress, "KNOWN", KNOWN)
        yield


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it lies on its topic."""

    name: str
    size: int
    at_ms: int


names = st.builds(
    "{}.{}".format,
    st.sampled_from([BEGIN_MS + ahead for ahead in (-1, 0, 500, 2_000, VALID_MS, VALID_MS + 1)]),
    st.sampled_from("abc"),
) | st.sampled_from(["", "x", "1000000"])
gaps = st.sampled_from([0, 0, 1, 400, 900, -300])
sizes = st.sampled_from([1, 200, 400, 701])


@st.composite
def topics(draw: st.DrawFn) -> list[Asked]:
    """One topic's requests about one job, copies among them, in the broker's time."""
    at_ms, out = BEGIN_MS, []
    for name, size, gap_ms in draw(st.lists(st.tuples(names, sizes, gaps), max_size=16)):
        at_ms += gap_ms
        out.append(Asked(name, size, at_ms))
    return out


def let_in(was: Ingress, asked: Asked) -> tuple[Ingress, bool]:
    body = ConfigChangeProposed(change_id=asked.name, job="orders", author="ann")
    return admit(was, asked.name, body, asked.size, asked.at_ms)


def whole_topic(asked: list[Asked]) -> Ingress:
    was = Ingress()
    for one in asked:
        was, _ = let_in(was, one)
    return was


@settings(deadline=None)
@given(topics(), st.data())
def test_a_verdict_commutes_with_all_that_comes_after_its_request(
    asked: list[Asked], data: st.DataObject
) -> None:
    """However far a reader of the journal is ahead of, or behind, one of the topic."""
    was, answered = Ingress(), set[str]()
    for one in asked:
        was, counts = let_in(was, one)
        if counts and data.draw(st.booleans()):
            was = answer(was, one.name)
            answered.add(one.name)
    late = whole_topic(asked)
    for name in data.draw(st.permutations(sorted(answered))):
        late = answer(late, name)
    # A copy that comes once its first has passed and is answered is void; while it is unanswered,
    # it is known. Either way nobody waits for it, so that the two come out the same.
    assert late == was


@settings(deadline=None)
@given(topics(), st.data())
def test_which_requests_count_is_not_for_the_journal_to_say(
    asked: list[Asked], data: st.DataObject
) -> None:
    was, alone = Ingress(), Ingress()
    first: dict[str, tuple[bool, bool]] = {}
    for one in asked:
        was, counts = let_in(was, one)
        alone, counts_alone = let_in(alone, one)
        first.setdefault(one.name, (counts, counts_alone))
        if data.draw(st.booleans()):
            was = answer(was, one.name)
        assert (was.high_ms, was.live, was.live_bytes) == (
            alone.high_ms,
            alone.live,
            alone.live_bytes,
        )
    assert all(counts == counts_alone for counts, counts_alone in first.values())


@settings(deadline=None)
@given(topics())
def test_a_copy_right_behind_changes_nothing(asked: list[Asked]) -> None:
    doubled = [one for one in asked for _ in range(2)]
    assert whole_topic(doubled) == whole_topic(asked)


@settings(deadline=None)
@given(topics())
def test_a_request_waits_at_most_once(asked: list[Asked]) -> None:
    waiting = [one.id for one in whole_topic(asked).waiting]
    assert len(waiting) == len(set(waiting))


@settings(deadline=None)
@given(topics(), st.data())
def test_an_answer_twice_is_one(asked: list[Asked], data: st.DataObject) -> None:
    was = whole_topic(asked)
    name = data.draw(st.sampled_from([one.name for one in asked] or [""]))
    once = answer(was, name)
    assert answer(once, name) == once
    assert all(one.id != name for one in once.waiting)


@settings(deadline=None)
@given(topics())
def test_no_row_outgrows_its_bounds(asked: list[Asked]) -> None:
    was = Ingress()
    for one in asked:
        was, _ = let_in(was, one)
        assert len(was.live) <= KNOWN
        assert was.live_bytes == sum(one.size for one in was.live) <= WHOLE_BYTES


@settings(deadline=None)
@given(topics())
def test_what_has_passed_is_not_kept_whole(asked: list[Asked]) -> None:
    was = whole_topic(asked)
    assert all(one.until_ms == valid_until_ms(one.id) >= was.high_ms for one in was.live)
    assert list(was.live) == sorted(was.live)
    for ask in was.waiting:
        assert ask.passed is (valid_until_ms(ask.id) < was.high_ms)
        assert ask.body is None or not ask.passed


@settings(deadline=None)
@given(topics())
def test_those_who_ask_first_are_first(asked: list[Asked]) -> None:
    was, order = Ingress(), list[str]()
    for one in asked:
        was, counts = let_in(was, one)
        order += [one.name] if counts else []
    waiting = [one.id for one in was.waiting]
    assert waiting == sorted(waiting, key=order.index)


@settings(deadline=None)
@given(topics(), st.data())
def test_what_is_kept_goes_on_as_what_was_not(asked: list[Asked], data: st.DataObject) -> None:
    """A restart anywhere, and several of them, is not to be seen in what is known."""
    was, kept = Ingress(), Ingress()
    for one in asked:
        was, counts = let_in(was, one)
        kept, counts_kept = let_in(kept, one)
        assert counts == counts_kept
        if data.draw(st.booleans()):
            kept = load_ingress(json.loads(json.dumps(dump_ingress(kept))))
        assert kept == was
