"""What a life begins with, and when it cannot: then it reads from the first record on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.runtime.core.ground import Ground
from components.runtime.core.standing import Row, standing
from components.runtime.core.step import ROOT, KeyState, Stepper
from components.runtime.core.store import Keeper, Restored, restore
from components.task_manager.core.chains import CHAIN, Chains, KeptChain, StandingDecision, unfit
from components.task_manager.core.known import ContainerKnowledge
from components.task_manager.core.periods import Periods, periods_of
from events.generated.records import AlertRaised, Body, ShardAddRequested, TierDefined
from events.wire.codec import Read, Record, encode
from projections.hold import DesiredShard
from simulation.log import Keep
from tests.unit.task_manager.examples import JOB, published
from turbine_client.identity import decision_id

AT, TENTH = "journal.v1/0", '{"time_per_mille":100}'
PLACES = (AT, CHAIN)


class Tale:
    """Two places, as they are said; a publisher that keeps them, and lives that begin."""

    def __init__(self) -> None:
        self.log: dict[str, list[Read]] = {AT: [], CHAIN: []}
        self.last: dict[str, str] = {}
        self.keep = Keep()

    def says(self, key: str, body: Body, at: str = AT, *, parent: str = "") -> Read:
        parent = parent or self.last.get(key, ROOT)
        value, kind = encode(body), type(body).__name__
        name = decision_id(parent, key, kind, value)
        record = Record(key, name, kind, value, body, parent, source="it")
        read = Read(at, at.partition("/")[0], len(self.log[at]), 5_000, record)
        self.log[at].append(read)
        self.last[key] = name
        return read

    def kept(self) -> Restored[Row]:
        """By another publisher each time, which goes on from what the last one kept."""
        claim, was = self.keep.claim(len(self.keep.entries)), self.restored()
        owner: Stepper[Row] = Stepper(standing, PLACES, possible, seen=was.seen, held=was.held)
        keeper = Keeper(owner, claim, "build", was)
        for at in PLACES:
            for read in self.log[at][owner.seen.get(at, 0) :]:
                owner.read(read)
        for entry in keeper.entries():
            self.keep.append(entry)
        return self.restored()

    def restored(self) -> Restored[Row]:
        return restore(standing, self.keep.entries, "build")

    def life(self, kept: Restored[Row] | None = None) -> tuple[ContainerKnowledge, Chains]:
        known, chains = ContainerKnowledge("c1", 1, "default"), Chains(1, "default", possible)
        if kept is not None:
            chains.begin(0, kept)
        self.follow(known, chains)
        return known, chains

    def follow(self, known: ContainerKnowledge, chains: Chains) -> None:
        for at in PLACES:
            for read in self.log[at][chains.seen(at) :]:
                chains.read(read)
        chains.settle(9_000)
        while chains.standing:
            match chains.standing.popleft():
                case KeptChain(key, row, vector):
                    known.begin(key, row, vector)
                case StandingDecision(read, vector):
                    known.learn(read, vector)


def possible(*_: object) -> bool:
    return True


def placed(container: str, generation: int) -> ShardAddRequested:
    return ShardAddRequested("default", 1, generation, container, 1, "p", "why")


@pytest.fixture
def tale() -> Tale:
    tale = Tale()
    tale.says("default/placement", TierDefined("default", 4, (), TENTH), CHAIN)
    tale.says("other/placement", TierDefined("other", 9, (), "{}"), CHAIN)
    tale.says(JOB, published(2, 2))
    tale.says("clicks", AlertRaised("clicks", "lag", "warning", "slow", "docs/r.md"))
    return tale


def test_a_life_begins_with_the_lists_and_the_tier_and_reads_nothing(tale: Tale) -> None:
    known, chains = ContainerKnowledge("c1", 1, "default"), Chains(1, "default", possible)
    chains.begin(0, tale.kept())
    assert {at: chains.seen(at) for at in PLACES} == {AT: 2, CHAIN: 2}
    tale.follow(known, chains)
    assert known.catalogue is not None
    found = {task for shard in range(4) for task in known.catalogue.entries(shard)}
    assert found == {f"{JOB}/0", f"{JOB}/1"}
    assert known.lists[JOB].listed == tale.life()[0].lists[JOB].listed
    assert (known.hold.defined, known.periods) == (True, periods_of(TENTH))
    assert known.periods != Periods()
    assert known.vector(JOB) == {AT: 1}


def test_what_comes_next_is_judged_by_what_was_kept(tale: Tale) -> None:
    kept = tale.kept()
    tale.says(JOB, published(3, 1))
    tale.says(JOB, published(9, 9), parent="somebody-elses")
    tale.last[JOB] = tale.log[AT][-2].record.id
    tale.says("default/placement", placed("c1", 2), CHAIN)
    (known, chains), (whole, from_0) = tale.life(kept), tale.life()
    assert known.lists == whole.lists
    assert known.hold == whole.hold
    assert dict(known.hold.wishes) == {1: DesiredShard(2, True)}
    assert chains.owners[AT].held[JOB].last == from_0.owners[AT].held[JOB].last


def test_what_was_granted_to_an_earlier_life_is_nothing_to_this_one(tale: Tale) -> None:
    """Grants name an epoch: so a start needs none of the placement that stands."""
    tale.says("default/placement", placed("c1", 2), CHAIN)
    kept = tale.kept()
    known = ContainerKnowledge("c1", 2, "default")
    chains = Chains(1, "default", possible)
    chains.begin(0, kept)
    tale.follow(known, chains)
    assert not known.hold.wishes


def test_a_list_that_is_half_said_is_kept_half(tale: Tale) -> None:
    whole = published(3, 2)
    first, second = (replace(whole, part=n, parts=2, specs=(whole.specs[n - 1],)) for n in (1, 2))
    tale.says(JOB, first)
    kept = tale.kept()
    tale.says(JOB, second)
    known, _ = tale.life(kept)
    assert known.lists == tale.life()[0].lists
    assert known.lists[JOB].listed is not None
    assert known.lists[JOB].listed.specs == whole.specs


IDS = {"journal.v1": "a", "tiers.v1": "b"}
GROUND = Ground(IDS, {AT: 0, CHAIN: 0}, {AT: 9, CHAIN: 4})


@pytest.mark.parametrize(
    ("seen", "ground", "why"),
    [
        ({}, GROUND, "nothing is kept"),
        ({AT: 9, CHAIN: 4}, GROUND, ""),
        ({AT: 3}, GROUND, ""),
        ({AT: 10}, GROUND, "the log ends at 9, so it is another log"),
        ({AT: 3}, replace(GROUND, starts={AT: 5, CHAIN: 0}), "were never read"),
        ({AT: 3}, replace(GROUND, ids={**IDS, "tiers.v1": "c"}), "was deleted and made again"),
    ],
)
def test_what_was_kept_of_another_log_is_left_aside(
    seen: dict[str, int], ground: Ground, why: str
) -> None:
    found = unfit(Restored(seen=seen, log=IDS), ground)
    assert why in found
    assert bool(why) == bool(found)


def test_what_waits_is_left_aside(tale: Tale) -> None:
    kept: Restored[Row] = Restored(seen={AT: 1}, held={JOB: KeyState(early={AT: tale.log[AT]})})
    assert unfit(kept, GROUND) == "some of it waits for what was not read yet"
