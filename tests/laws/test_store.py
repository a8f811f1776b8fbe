"""The law of keeping: whoever dies, whenever, and whatever compaction does, no record is lost."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from components.runtime.core.step import Stepper
from components.runtime.core.store import KEEP_MOST, KEEP_MS, Keeper, dump_held, restore
from events.topics import CLOCK
from simulation.log import TICKS, Keep
from tests.kit.examples import at_most
from tests.laws.test_step import Line, backwards, hears, held, logs, write
from tests.unit.runtime.bench import ASKED, BASE, DECISIONS, SENT, Bench, Toy, toy

PLACES = (BASE, ASKED, DECISIONS, SENT, TICKS)
PATIENCE_MS, PATIENCE = (1, 5_000, KEEP_MS), (2, 7, KEEP_MOST)


class Instance:
    """One owner of the keys of a log: it reads a little, keeps a little, and may stop anywhere."""

    def __init__(self, bench: Bench, keep: Keep, number: int, random: Random) -> None:
        self.bench, self.keep, self.random = bench, keep, random
        claim = keep.claim(number)
        restored = restore(toy, keep.entries, "build 1")
        ends = {at: bench.log.end(at) for at in PLACES}
        self.owner: Stepper[Toy] = Stepper(
            toy, PLACES, bench.log.possible, ends=ends, seen=restored.seen, held=restored.held
        )
        self.at = {at: restored.seen.get(at, 0) for at in PLACES}
        patience = {"keep_ms": random.choice(PATIENCE_MS), "keep_most": random.choice(PATIENCE)}
        self.keeper = Keeper(self.owner, claim, "build 1", restored, **patience)

    def poll(self, *, rewind: bool = False) -> None:
        """Reads some records; sometimes some that were read before."""
        for at in self.random.sample(PLACES, self.random.randint(1, len(PLACES))):
            if rewind:
                self.at[at] = self.random.randint(0, self.at[at])
            for _ in range(self.random.randint(1, 6)):
                if self.at[at] < self.bench.log.end(at):
                    self.bench.owner = self.owner
                    self.bench.hear(at, self.at[at])
                    self.at[at] += 1
        self.owner.flush()

    def put(self, most: int, *, everything: bool = True) -> None:
        """Keeps what changed, or what has waited for long, or dies once so much is written."""
        if self.owner.ready:
            entries = self.keeper.entries() if everything else self.keeper.due()
            for entry in list(entries)[:most]:
                self.keep.append(entry)

    def catch_up(self) -> None:
        """Reads to the end; the clock goes on meanwhile, as it does."""
        self.bench.log.append(CLOCK, self.bench.log.lines[TICKS][-1].record)
        while any(offset < self.bench.log.end(at) for at, offset in self.at.items()):
            self.poll()


readable = logs.map(lambda drawn: [replace(line, build=1) for line in drawn])
"""Logs of one build: what another could not read is a matter of builds, not of keeping."""


@settings(max_examples=at_most(300), deadline=None)
@given(readable, st.integers(0, 2**32))
def test_whoever_dies_no_record_is_lost(drawn: list[Line], seed: int) -> None:
    random = Random(seed)
    bench, keep, alive, number = write(drawn), Keep(), list[Instance](), 0
    full = dict(bench.log.lines)
    for part in (8, 2, 1):  # the log grows, so that assignments see ends that are not the last
        for at in PLACES:
            bench.log.lines[at] = full[at][: len(full[at]) // part]
        for _ in range(12):
            if not alive or random.random() < 0.2:
                number += 1
                alive.append(Instance(bench, keep, number, random))
            one = random.choice(alive)
            one.poll(rewind=random.random() < 0.2)
            if random.random() < 0.3:
                one.put(random.randint(0, 4), everything=random.random() < 0.5)
                alive.remove(one)
            elif random.random() < 0.7:
                one.put(10**9, everything=random.random() < 0.3)
            if random.random() < 0.1:
                keep.compact()
    last = Instance(bench, keep, number + 1, random)
    last.catch_up()
    last.put(10**9, everything=random.random() < 0.5)
    assert held(last.owner) == held(hears(bench, backwards))
    heir = Instance(bench, keep, number + 2, random)
    heir.catch_up()
    assert held(heir.owner) == held(last.owner)


@settings(deadline=None)
@given(readable, st.integers(0, 2**32))
def test_what_is_kept_is_what_was_held(drawn: list[Line], seed: int) -> None:
    bench, keep = write(drawn), Keep()
    one = Instance(bench, keep, 1, Random(seed))
    one.owner.ends = {}  # it may keep before it has caught up
    for _ in range(3):
        one.poll()
        one.put(10**9)
    one.put(10**9)
    kept = restore(toy, keep.entries, "build 1")
    assert kept.seen == (one.owner.seen if one.owner.ready else {})
    if one.owner.ready:
        of_one = {key: held for key, held in one.owner.held.items() if held.vector or held.early}
        assert {k: dump_held(toy, x) for k, x in kept.held.items()} == {
            k: dump_held(toy, x) for k, x in of_one.items()
        }
        assert {k: x.early for k, x in kept.held.items()} == {k: x.early for k, x in of_one.items()}
