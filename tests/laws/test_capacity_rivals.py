"""Two capacity managers of one tier, whose words come late, twice or never, and who start anew."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from components.capacity_manager.decide import component
from components.runtime.core.snapshots import restored, take
from components.runtime.core.step import ROOT, Stepper
from events.generated.records import CapacityGranted, PreemptionRequested
from events.topics import GRANTS, TIERS
from events.wire.codec import Record
from projections.capacity import PLENTY, Capacity
from tests.unit.capacity_manager.desk import MINUTE_MS, PLACES, Desk, row_of

JOBS = ("a", "b", "c")
SEEDS, STEPS = 40, 400
SIZES = (5, 20, 40, 60)
"""Of 100 cores: three jobs have plenty, or it is tight, or the tier is short."""


class Rivals(Desk):
    """What is said is on its way until it arrives, or never does."""

    def __init__(self) -> None:
        super().__init__()
        self.way: list[tuple[str, Record]] = []
        self.instance()
        self.instance()
        self.begin()

    def act(self, rng: Random) -> None:
        """What happens next; most of it is reading and speaking."""
        number, at = rng.randrange(2), rng.randrange(1 + len(self.way))
        match rng.choice("rrrrrrrrssssaaatlkkjn"):
            case "r":
                self._read(self.owners[number], rng.choice(PLACES), rng.choice((1, 3, 50)))
            case "s":
                self.way += self.owners[number].flush()
            case "a" | "t" | "l" as how if at < len(self.way):
                topic, record = self.way[at] if how == "t" else self.way.pop(at)
                if how != "l":
                    self.append(topic, record)
            case "k":
                self.tick(rng.choice((1_000, 61_000, 300_000)))
            case "j":
                self.job(rng.choice(JOBS), rng.choice(SIZES), priority=rng.randrange(3))
            case "n":
                self._anew(number, kept=rng.random() < 0.7)
            case _:
                pass

    def _read(self, owner: Stepper[Capacity], at: str, count: int) -> None:
        first = owner.seen.get(at, 0)
        for read in self.lines[at][first : first + count]:
            if at.startswith("clock"):
                owner.tick(at, read.offset, read.at_ms)
            else:
                owner.read(read)

    def _anew(self, number: int, *, kept: bool) -> None:
        """It dies; another one goes on from what was kept, or begins from nothing."""
        old = self.owners[number]
        ends = {at: len(self.lines[at]) for at in PLACES}
        if not kept:
            self.owners[number] = Stepper(component, PLACES, self.possible, ends=ends)
            return
        found = restored(component, take(old, "build"), "build")
        self.owners[number] = Stepper(
            component, PLACES, self.possible, ends=ends, seen=found.seen, held=found.held
        )

    def calm_down(self) -> None:
        """Everything arrives, and both go on until nothing is said any more."""
        for topic, record in self.way:
            self.append(topic, record)
        self.way = []
        for _ in range(6):
            self.tick(MINUTE_MS * 3)
            self.settle()


def last_words(desk: Desk) -> dict[str, int | str | None]:
    """As a scaler takes them: the last one counts."""
    found: dict[str, int | str | None] = {}
    for read in desk.lines[f"{GRANTS}/0"]:
        match read.record.body:
            case CapacityGranted(job=job, tasks_max=most):
                found[job] = most
            case PreemptionRequested(job=job):
                found[job] = "stop"
            case _:
                pass
    return found


@pytest.mark.parametrize("seed", range(SEEDS))
def test_rivals_agree_in_the_end_and_jobs_know_what_stands(seed: int) -> None:
    desk, rng = Rivals(), Random(seed)
    for _ in range(STEPS):
        desk.act(rng)
    desk.calm_down()
    one, other = (row_of(owner) for owner in desk.owners)
    assert one == other
    assert not one.owed
    assert not one.stray
    told = last_words(desk)
    for job, word in told.items():
        assert word == ("stop" if job in one.preempted else one.limits.get(job))
    if one.said is not None and one.said.state != PLENTY:
        assert set(one.limits) | set(one.preempted) >= set(one.jobs) & set(told)
    children = Counter[str]()
    standing, last = set[str](), ROOT
    for read in desk.lines[f"{TIERS}/0"]:
        if read.record.key != "default/capacity":
            continue
        if read.record.parent == last:
            last = read.record.id
            standing.add(last)
            children[read.record.parent] += 1
    assert all(count == 1 for count in children.values())
    assert desk.owners[0].held["default/capacity"].last[TIERS] == last
