"""Laws of the one step: whoever reads the same log, in whatever order, holds the same of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.runtime.core.component import places_of
from components.runtime.core.step import LOST_MS, ROOT, SKEW_MS, KeyState, Stepper
from events.topics import ALERTS, CHANGES_BASE, JOURNAL, OPERATOR
from simulation.log import PARTITION, TICKS
from tests.kit.examples import at_most
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, SENT, Bench, Toy, alert, toy

KEYS = ("clicks", "orders")
TOPICS = {BASE: CHANGES_BASE, ASKED: OPERATOR, DECISIONS: JOURNAL, SENT: ALERTS}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log that is drawn: what it claims to know, and what it chains on."""

    at: str
    key: str
    after_ms: int
    known: dict[str, int]  # place to offset, counted from the end at that moment
    parent: int  # which of the key's decisions so far, counted from the last; else a stranger
    tick: int
    build: int
    upward: bool  # may it know of places that come later in the alphabet?


def logs_of(known: st.SearchStrategy[dict[str, int]], *, upward: bool) -> Any:
    """Logs of up to 24 lines, each of which claims to know some places so far."""
    return st.lists(
        st.builds(
            Line,
            st.sampled_from(sorted(TOPICS)),
            st.sampled_from(KEYS),
            st.sampled_from([0, 0, 1, 900, SKEW_MS, SKEW_MS + 1]),
            known,
            st.integers(0, 3),
            st.sampled_from([-1_000, 0, SKEW_MS, SKEW_MS + 1]),
            st.sampled_from([1, 1, 1, 1, 1, 3]),
            st.just(upward),
        ),
        min_size=1,
        max_size=24,
    )


def some(least: int, most: int) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(sorted(TOPICS)), st.integers(least, most), max_size=3)


honest = logs_of(some(-3, 0), upward=True)
"""Nobody knows what is not there yet."""
hasty = logs_of(some(-3, 2), upward=False)
"""Some know what is to come, but only of places whose authors do not know theirs: no circles."""
forged = logs_of(some(-3, 2), upward=True)
"""Some name each other."""
logs = honest | hasty


def write(drawn: Iterable[Line]) -> Bench:
    """The log of these lines; authors of good will and of bad, with clocks that differ."""
    bench = Bench()
    chains: dict[str, list[str]] = {key: [ROOT] for key in KEYS}
    for number, line in enumerate(drawn):
        bench.tick(line.after_ms)
        name, said = f"n{number}", dict[str, Any]()
        said["evidence"] = {
            at: max(0, bench.log.end(at) + back)
            for at, back in line.known.items()
            if line.upward or at < line.at
        }
        said["tick_ms"] = bench.clock.now_ms + line.tick
        if line.at == DECISIONS:
            chain = chains[line.key]
            said["parent"] = chain[-1 - line.parent] if line.parent < len(chain) else "stranger"
            chain.append(name)
            bench.decision(name, key=line.key, build=line.build, **said)
        elif line.at == SENT:
            bench.write(ALERTS, name, alert(line.key, name), key=line.key, **said)
        else:
            write_to = bench.wish if line.at == BASE else bench.other
            write_to(name, key=line.key, **said)
    bench.tick(3 * SKEW_MS)
    return bench


def hears(
    bench: Bench, choose: Callable[[list[str]], str], topics: frozenset[str] = toy.inputs
) -> Stepper[Toy]:
    """A reader that hears the places in the order that is chosen, each to its end."""
    component = replace(toy, inputs=topics)
    places = places_of(component, [PARTITION])
    bench.owner = Stepper(component, places, bench.log.possible)
    at = dict.fromkeys(sorted(places), 0)
    while live := [one for one, offset in at.items() if offset < bench.log.end(one)]:
        one = choose(live)
        bench.hear(one, at[one])
        at[one] += 1
    bench.owner.flush()
    return bench.owner


def held(owner: Stepper[Toy]) -> dict[str, object]:
    """What is held of each key; the order in which concurrent records were folded is nobody's."""
    return {key: _plain(one) for key, one in owner.held.items() if one.vector}


def _plain(one: KeyState[Toy]) -> object:
    row = one.row
    known = row and (sorted(row.folded), row.wishes, row.answers, sorted(row.owed))
    return known, one.vector, one.last, one.tick_ms, one.frozen, sorted(one.early)


def in_order(live: list[str]) -> str:
    return live[0]


def backwards(live: list[str]) -> str:
    return live[-1]


@settings(deadline=None)
@given(logs, st.randoms(use_true_random=False))
def test_the_order_of_topics_does_not_matter(drawn: list[Line], random: Any) -> None:
    bench = write(drawn)
    first = held(hears(bench, in_order))
    assert held(hears(bench, backwards)) == first
    assert held(hears(bench, random.choice)) == first


@settings(max_examples=at_most(300), deadline=None)
@given(forged, st.randoms(use_true_random=False))
def test_forgeries_that_name_each_other_do_not_split_readers(
    drawn: list[Line], random: Any
) -> None:
    bench = write(drawn)
    first = held(hears(bench, in_order))
    assert held(hears(bench, backwards)) == first
    owner = hears(bench, random.choice)
    assert held(owner) == first
    assert not owner.blocked


@settings(deadline=None)
@given(logs, st.randoms(use_true_random=False))
def test_what_is_read_again_changes_nothing(drawn: list[Line], random: Any) -> None:
    bench = write(drawn)
    owner = hears(bench, random.choice)
    before = held(owner)
    counts = replace(owner.counts)
    for at in (BASE, ASKED, DECISIONS, SENT, TICKS):
        for offset in range(bench.log.end(at)):
            bench.hear(at, offset)
    owner.flush()
    assert held(owner) == before
    assert (owner.counts.folded, owner.counts.void) == (counts.folded, counts.void)


@settings(deadline=None)
@given(logs, st.randoms(use_true_random=False))
def test_every_record_is_folded_or_void_and_none_waits_for_ever(
    drawn: list[Line], random: Any
) -> None:
    bench = write(drawn)
    owner = hears(bench, random.choice)
    assert owner.counts.folded + owner.counts.void == len(drawn)
    assert not owner.blocked


@settings(deadline=None)
@given(logs, st.randoms(use_true_random=False))
def test_no_two_that_stand_have_one_parent(drawn: list[Line], random: Any) -> None:
    bench = write(drawn)
    standing: list[tuple[str, str]] = []

    def observe(read: Any, stands: bool) -> None:
        if stands and read.record.parent:
            standing.append((read.record.key, read.record.parent))

    places = places_of(toy, [PARTITION])
    bench.owner = Stepper(toy, places, bench.log.possible, observer=observe)
    places_left = [at for at in places for _ in range(bench.log.end(at))]
    random.shuffle(places_left)
    at = dict.fromkeys(places, 0)
    for place in places_left:
        bench.hear(place, at[place])
        at[place] += 1
    bench.owner.flush()
    assert len(standing) == len(set(standing))


@settings(deadline=None)
@given(logs, st.randoms(use_true_random=False))
def test_a_reader_of_the_journal_alone_sees_the_same_decisions_stand(
    drawn: list[Line], random: Any
) -> None:
    bench = write(drawn)
    full = hears(bench, random.choice)
    alone = hears(bench, random.choice, frozenset({JOURNAL}))
    for key, one in alone.held.items():
        assert full.held[key].last == one.last
        assert full.held[key].frozen == one.frozen


@settings(deadline=None)
@given(logs, st.data())
def test_nothing_is_folded_before_what_its_author_knew(drawn: list[Line], data: Any) -> None:
    bench = write(drawn)
    folded: dict[str, dict[str, int]] = {key: {} for key in KEYS}
    offsets = {
        at: {key: [x.offset for x in bench.log.lines[at] if x.record.key == key] for key in KEYS}
        for at in TOPICS
    }

    def fold(row: Toy | None, read: Any) -> Toy:
        key = read.record.key
        for at, end in read.record.evidence.items():
            known = [offset for offset in offsets[at][key] if offset < end]
            assert not known or folded[key].get(at, -1) >= known[-1], (read.place, read.offset)
        return toy.fold(row, read)

    def observe(read: Any, _: bool) -> None:
        folded[read.record.key][read.place] = read.offset

    places = places_of(toy, [PARTITION])
    watched = replace(toy, fold=fold)
    bench.owner = Stepper(watched, places, bench.log.possible, observer=observe)
    at = dict.fromkeys(sorted(places), 0)
    while live := [one for one, offset in at.items() if offset < bench.log.end(one)]:
        one = data.draw(st.sampled_from(live))
        bench.hear(one, at[one])
        at[one] += 1
    bench.owner.flush()


@settings(max_examples=at_most(50), deadline=None)
@given(st.integers(0, 30), st.integers(0, 30), st.randoms(use_true_random=False))
def test_rivals_answer_each_wish_once(wishes: int, polls: int, random: Any) -> None:
    """Two instances speak whenever they like; what stands answers every wish, each once."""
    first = Bench()
    second = Bench(first.log, first.clock)
    for _ in range(wishes):
        first.wish()
    first.tick()
    for _ in range(polls):
        bench = random.choice([first, second])
        bench.read(*random.sample([BASE, DECISIONS, SENT, TICKS], 3), most=random.randint(1, 9))
        said = bench.owner.flush()
        bench.land(random.sample(said, random.randint(0, len(said))))
        first.tick(random.choice([0, 0, 40_000]))
    for bench in (first, second):
        bench.tick(LOST_MS + 1)
        bench.settle()
    first.settle()
    if wishes:
        assert first.row.answers == wishes
        assert first.row.owed == ()
        sent = {line.record.id for line in first.log.lines[SENT]}
        assert len(sent) == wishes
