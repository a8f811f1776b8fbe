"""Laws of views: the same at a position for all, however they came there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from components.runtime.kafka.intake import Message
from events.generated.records import TaskLoadReported, TierDefined
from events.topics import LOADS
from events.wire.codec import Read
from projections import lists
from projections.fleet import TierFleet
from projections.lists import TaskLists
from projections.syncs import Sync
from tests.kit.examples import at_most
from tests.laws.played import SEEDS, log_of, messages_of, source_of
from turbine.read.answers.tasks import states_of
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state.cache import Cache
from turbine.read.state.decisions import DecisionFilter
from turbine.read.state.fold_start import FoldStart
from turbine.read.state.headline import lives_of
from turbine.read.state.opening import open_cache
from turbine.read.state.past import begun, view_at
from turbine.read.state.reader import ViewReader
from turbine.read.state.running import Sightings
from turbine.read.state.view import View

EVERY = 150

seeds = st.sampled_from(SEEDS)


class NewestLoads:
    """A twin: what each task reported last under its newest generation."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, int], tuple[tuple[int, ...], TaskLoadReported, int]] = {}

    def take(self, read: Read) -> None:
        body = read.record.body
        assert isinstance(body, TaskLoadReported)
        rank = (body.generation.specs, body.generation.shard, body.epoch, body.count)
        at = (read.record.key, body.task)
        if at not in self._newest or self._newest[at][0] < rank:
            self._newest[at] = (rank, body, read.at_ms)

    def of(self, sync: Sync, task: int) -> tuple[TaskLoadReported, int] | None:
        """Nothing where a newer generation of the task has begun."""
        found, begun = self._newest.get((sync.name, task)), sync.tasks.get(task)
        assert sync.listed is not None
        specs = sync.listed.generation
        if found is None or found[1].generation.specs != specs:
            return None
        moved = begun is not None and begun.specs == specs and begun.shard > found[0][1]
        return None if moved else found[1:]


def plain(view: View) -> dict[str, Any]:
    """All that it says; jobs of the past are fetched as they are looked at."""
    told = {name: getattr(view, name) for name in View.__slots__}
    told["jobs"] = dict(view.jobs)
    told["tiers"] = {tier: unbound(row) for tier, row in view.tiers.items()}
    told["at"] = {at: offset for at, offset in view.at.items() if offset}
    return told


def unbound(row: TierFleet) -> TierFleet:
    """Without the bounds: they say when somebody may be silent, not who is."""
    return row._replace(bounds=Map())


def places_of(log: Log) -> list[str]:
    return log.places(topics_of(log))


def drawn_end(log: Log, data: Any) -> dict[str, int]:
    """Any position: of an instant, or with each topic as far as it happens to have been read."""
    ends = log.source.ends(places_of(log))
    if data.draw(st.booleans()):
        times = [one.at_ms for one in messages_of_log(log)]
        at_ms = data.draw(st.integers(min(times) - 1, max(times)))
        return log.source.times(places_of(log), at_ms + 1)
    return {at: data.draw(st.integers(0, end)) for at, end in ends.items()}


def messages_of_log(log: Log) -> list[Message]:
    ends = log.source.ends(places_of(log))
    return [
        one for poll in log.source.spans({at: (0, n) for at, n in ends.items()}) for one in poll
    ]


def read_in_pieces(log: Log, end: Mapping[str, int], data: Any) -> View:
    """Topics in turns, so many records of each as chance wills."""
    append_times = log.source.append_times()
    folding = begun(log, append_times.possible, FoldStart())
    seen = dict.fromkeys(end, 0)
    while left := sorted(at for at in end if seen[at] < end[at]):
        at = data.draw(st.sampled_from(left))
        to = min(end[at], seen[at] + data.draw(st.integers(1, 400)))
        for poll in log.source.spans({at: (seen[at], to)}):
            folding.take(poll)
        seen[at] = to
    names = sorted(folding.changed())
    return folding.view({name: one for name in names if (one := folding.job(name)) is not None})


@settings(deadline=None, max_examples=20)
@given(seeds, st.data())
def test_a_view_does_not_depend_on_the_order_of_reading(seed: int, data: Any) -> None:
    log = log_of(seed)
    end = drawn_end(log, data)
    assert plain(read_in_pieces(log, end, data)) == plain(view_at(log, end))


@settings(deadline=None, max_examples=10)
@given(seeds, st.data())
def test_a_view_says_what_the_commands_say(seed: int, data: Any) -> None:
    log = log_of(seed)
    end = drawn_end(log, data)
    view = view_at(log, end)
    jobs, sightings, listings = log.jobs(end=end), Sightings(), dict[str, TaskLists]()

    def observe(read: Read, stands: bool) -> None:
        sightings(read, stands)
        record = read.record
        if stands and record.kind in lists.FOLDED_KINDS:
            listings[record.key] = lists.fold(listings.get(record.key), read)

    syncs = log.syncs(end=end, observer=observe)
    assert {name: one.job for name, one in view.jobs.items()} == jobs
    lives = lives_of(view.tiers.values())
    for name, one in view.jobs.items():
        assert one.sync == syncs.get(name)
        assert one.notes.lists == listings.get(name)
        if one.sync is not None:
            assert one.sightings.failures(name) == sightings.failures(name)
            told = [*states_of(one.sync, one.sightings, lives)]
            assert told == [*states_of(one.sync, sightings, lives)]
    loads = NewestLoads()
    for read in log.read([LOADS], end=end):
        loads.take(read)
    for one in view.jobs.values():
        if one.sync is not None:
            tasks = 0 if one.sync.listed is None else one.sync.listed.tasks
            known = {task: loads.of(one.sync, task) for task in range(tasks)}
            assert one.loads == {task: load for task, load in known.items() if load is not None}
    fleet = log.fleet("default", end=end)
    assert (fleet is not None and fleet.defined) == ("default" in view.defined)
    if fleet is not None and fleet.defined:
        assert unbound(view.tiers["default"]) == unbound(fleet)
    assert dict(view.defined) == {
        tier.tier: tier
        for found in log.of_tiers(frozenset({"TierDefined"}), end=end)
        if found.stands and isinstance(tier := found.read.record.body, TierDefined)
    }


@cache
def kept(seed: int) -> Cache:
    """A seed's log with its frames."""
    log = log_of(seed)
    found = open_cache(log, Path(mkdtemp()))
    reader = ViewReader(log, found, EVERY)
    for _ in reader.catch_up(log.source.ends(places_of(log))):
        pass
    reader.close()
    return found


@settings(deadline=None, max_examples=at_most(30))
@given(seeds, st.data())
def test_a_view_from_frames_is_the_fold_from_the_first_record(seed: int, data: Any) -> None:
    log, found = log_of(seed), kept(seed)
    assert found.frames
    end = drawn_end(log, data)
    assert plain(view_at(log, end, found)) == plain(view_at(log, end))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_who_begins_again_says_what_was_never_left(seed: int, share: float, tmp_path: Path) -> None:
    """Rows, decisions and series: from a cache, of a log that has grown since."""
    messages = messages_of(seed)
    first = source_of(tuple(one for one in messages if one.offset < share * 300))
    log = Log(source=first)
    found = open_cache(log, tmp_path)
    reader = ViewReader(log, found, EVERY)
    for _ in reader.catch_up(first.ends(places_of(log))):
        pass
    reader.close()
    found.close()
    log = log_of(seed)
    again = open_cache(log, tmp_path)
    assert again.frames, "it was not thrown away"
    reader, whole = ViewReader(log, again, EVERY), ViewReader(log, kept(seed), EVERY)
    ends = log.source.ends(places_of(log))
    for _ in reader.catch_up(ends):
        pass
    assert plain(reader.view) == plain(view_at(log, ends)) == plain(whole.view)
    theirs = {
        one.position: one for one in whole.watcher.decisions.page(DecisionFilter(), 10_000)[0]
    }
    ours = {one.position: one for one in reader.watcher.decisions.page(DecisionFilter(), 10_000)[0]}
    assert ours == theirs
    again.close()
