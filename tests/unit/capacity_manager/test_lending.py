"""Whole containers go from a tier that has plenty to one that has not, and come back."""

from __future__ import annotations

import pytest

from components.capacity_manager.decide import effects
from events.generated.records import (
    CapacityBorrowed,
    CapacityLent,
    CapacityReported,
    ContainerReassigned,
    ResourceUse,
    TierDefined,
)
from events.topics import CONTAINERS
from projections.capacity import PLENTY, SHORT, TIGHT
from tests.unit.capacity_manager.tiers import (
    CHAIN,
    LIVES,
    MINUTE_MS,
    NO_HEADROOM,
    STEP_MS,
    Tale,
    of,
)

LOAN_MS = 1_800_000


def two(poor: int, rich: int, settings: str = NO_HEADROOM, spare: int = 10) -> Tale:
    """Two tiers of 10 cores a container: one has a container, the other so many."""
    tale = Tale("default", "rich", settings=settings)
    tale.start("c0")
    tale.start(*(f"r{n}" for n in range(spare)), tier="rich")
    tale.job("a", poor)
    tale.job("b", rich, tier="rich")
    tale.settle()
    return tale


def arrive(tale: Tale) -> None:
    """Containers begin another life where the last loans say that they belong."""
    for tier in tale.tiers:
        row = tale.rows[tier]
        for name, to in sorted(row.tenants.items()):
            life = row.lives[name]
            if life.lives and life.tier != to:
                tale.start(name, tier=to)


def test_a_tier_that_is_short_gets_containers_of_one_that_has_plenty() -> None:
    tale = two(poor=20, rich=10)
    (lent,) = of(CapacityLent, tale.said)
    # 24 cores are wanted for 20 to be 85 % of them: two containers, the first by name.
    assert (lent.tier, lent.borrower, lent.containers) == ("rich", "default", ("r0", "r1"))
    (borrowed,) = of(CapacityBorrowed, tale.said)
    assert (borrowed.loan_id, borrowed.lender) == (lent.loan_id, "rich")
    assert borrowed.containers == lent.containers
    # On the way they are nobody's.
    assert tale.rows["rich"].capacity[0] == 80_000
    assert tale.row.capacity[0] == 10_000
    arrive(tale)
    assert tale.row.capacity[0] == 30_000
    assert tale.rows["rich"].capacity[0] == 80_000
    tale.later()
    said = {one.tier: one for one in of(CapacityReported, tale.said)}
    assert said["default"].resources[0].borrowed == 20.0
    assert said["rich"].resources[0].lent == 20.0
    assert said["default"].state == PLENTY
    assert tale.grants() == {"a": None}


@pytest.mark.parametrize(("used", "lends"), [(54, True), (55, False)])
def test_a_lender_keeps_enough_for_itself(used: int, lends: bool) -> None:
    tale = two(poor=9, rich=used)  # without one container it has 90 left: 60 % are 54
    assert bool(of(CapacityLent, tale.said)) == lends


def test_it_lends_no_more_than_a_share_of_its_containers() -> None:
    tale = two(poor=200, rich=1)
    (lent,) = of(CapacityLent, tale.said)
    assert len(lent.containers) == 3
    arrive(tale)
    tale.later(STEP_MS)
    tale.wait(5)
    assert len(of(CapacityLent, tale.said)) == 1


def test_what_is_missing_yet_is_lent_with_the_next_loan() -> None:
    tale = two(poor=10, rich=1)
    assert len(of(CapacityLent, tale.said)[0].containers) == 1
    arrive(tale)
    tale.job("a", 30)
    tale.wait(4)
    assert len(of(CapacityLent, tale.said)) == 1
    tale.wait(2)
    assert [one.loan_id for one in of(CapacityLent, tale.said)] == [
        "rich-default-1",
        "rich-default-2",
    ]


def test_containers_that_do_least_are_lent_first() -> None:
    tale = Tale("default", "rich")
    tale.start("c0")
    tale.start("r0", "r1", "r2", "r3", tier="rich")
    for name, cores in (("r0", 3.0), ("r1", 0.5), ("r2", 0.0), ("r3", 1.0)):
        tale.use(name, cores, tier="rich")
    tale.define("rich", '{"headroom":0,"lend_max":500}')
    tale.job("a", 20)
    tale.settle()
    assert of(CapacityLent, tale.said)[0].containers == ("r2", "r1")


def test_a_container_that_has_nothing_of_what_is_missing_is_not_lent() -> None:
    tale = Tale("default", "rich")
    tale.start("c0", capacity={"cpu_cores": 10.0, "memory_bytes": 2.0**30})
    tale.start("r0", "r1", "r2", tier="rich")  # these name no memory
    tale.define("rich", '{"headroom":0,"lend_max":1000}')
    tale.job("a", 1, memory_mb=2_000)
    tale.settle()
    assert tale.row.said is not None
    assert tale.row.said.state == SHORT
    assert of(CapacityLent, tale.said) == []


def test_containers_stay_in_the_regions_of_the_borrower() -> None:
    tale = Tale("default", "rich")
    tale.define("default", regions=("north",))
    tale.start("c0", region="north")
    tale.start("r0", "r1", tier="rich", region="south")
    tale.start("r2", tier="rich", region="north")
    tale.define("rich", '{"headroom":0,"lend_max":1000}')
    tale.job("a", 30)
    tale.settle()
    assert of(CapacityLent, tale.said)[0].containers == ("r2",)


def test_a_tier_that_is_tight_and_in_which_nobody_waits_borrows_only_its_room() -> None:
    tale = two(poor=9, rich=1)
    (lent,) = of(CapacityLent, tale.said)
    assert tale.row.said is not None
    assert tale.row.said.state == TIGHT
    assert len(lent.containers) == 1


def test_one_that_needs_its_containers_itself_calls_them_back() -> None:
    tale = two(poor=12, rich=10)
    arrive(tale)
    tale.wait(2)
    tale.job("b", 85, tier="rich")
    tale.wait(2)
    back = of(CapacityLent, tale.said)[-1]
    assert (back.containers, back.explanation) == ((), "tier rich is tight itself")
    assert not tale.row.loans
    assert not tale.rows["rich"].loans
    assert tale.row.capacity[0] == 10_000  # at once, though it is still there
    assert tale.rows["rich"].capacity[0] == 90_000
    arrive(tale)
    assert tale.rows["rich"].capacity[0] == 100_000
    tale.wait(30)
    assert len(of(CapacityLent, tale.said)) == 2


def test_the_borrower_gives_back_what_it_can_do_without() -> None:
    tale = two(poor=12, rich=10)
    arrive(tale)
    tale.job("a", 7)
    tale.later(LOAN_MS - MINUTE_MS)
    assert all(one.containers for one in of(CapacityBorrowed, tale.said))
    tale.wait(2)
    offered, ended = of(CapacityBorrowed, tale.said)[-1], of(CapacityLent, tale.said)[-1]
    assert (offered.tier, offered.containers) == ("default", ())
    assert (ended.tier, ended.containers) == ("rich", ())
    assert ended.explanation == "tier default gives them back"
    arrive(tale)
    assert tale.row.capacity[0] == 10_000
    assert tale.rows["rich"].capacity[0] == 100_000


def test_it_keeps_what_it_would_be_tight_without() -> None:
    tale = two(poor=12, rich=10)
    arrive(tale)
    tale.job("a", 8)  # 80 % of its own
    tale.wait(40)
    assert all(one.containers for one in of(CapacityBorrowed, tale.said))


def test_loans_do_not_come_and_go() -> None:
    tale = two(poor=12, rich=10)
    for n in range(120):
        arrive(tale)
        tale.job("a", (8, 12, 7, 9)[n % 4])
        tale.job("b", (10, 40, 50, 20)[n % 4], tier="rich")
        tale.later()
    assert len(of(CapacityLent, tale.said)) <= 8  # to begin and to end four loans of half an hour


def test_what_is_borrowed_is_not_lent_on() -> None:
    free = '{"headroom":0,"lend_max":1000,"lend_to":740}'
    tale = Tale("default", "middle", "rich", settings=free)
    tale.start("c0")
    tale.start("m0", tier="middle")
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.job("b", 12, tier="middle")
    tale.settle()
    arrive(tale)
    tale.job("a", 12)
    tale.job("b", 1, tier="middle")
    tale.job("r", 95, tier="rich")  # it has nothing more to lend, and does not call back at once
    tale.rows["rich"] = tale.rows["rich"]._replace(defined=False)
    tale.wait(12)
    assert {one.tier for one in of(CapacityLent, tale.said)} == {"rich"}
    assert tale.rows["middle"].loans


def test_who_is_short_is_served_before_who_is_tight() -> None:
    tale = Tale("aaa", "poor", "rich")
    tale.start("a0", tier="aaa")
    tale.start("p0", tier="poor")
    tale.job("a", 9, tier="aaa")
    tale.job("p", 12, tier="poor")
    tale.settle()
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.wait(2)
    assert of(CapacityLent, tale.said)[0].borrower == "poor"


def test_a_lender_always_keeps_a_container() -> None:
    tale = Tale("default", "rich")
    tale.start("c0")
    tale.start("r0", tier="rich")
    tale.define("rich", '{"headroom":0,"lend_max":1000}')
    tale.job("a", 12)
    tale.settle()
    tale.wait(10)
    assert of(CapacityLent, tale.said) == []


def test_a_word_of_a_tier_that_did_not_lend_ends_nothing() -> None:
    tale = two(poor=12, rich=10)
    (lent,) = of(CapacityLent, tale.said)
    tale.told("other", CapacityLent("other", lent.loan_id, "default", (), "mine"))
    tale.told("other", CapacityBorrowed("other", lent.loan_id, "rich", (), "mine"))
    loan = tale.row.loans[lent.loan_id]
    assert (loan.lender, loan.taken, loan.offered) == ("rich", True, False)


def test_tiers_that_are_not_concerned_keep_nothing_of_a_loan() -> None:
    tale = Tale("default", "rich", "third")
    tale.start("c0")
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.job("a", 12)
    tale.settle()
    assert tale.row.loans
    assert not tale.rows["third"].loans
    assert not tale.rows["third"].tenants


def words(tale: Tale) -> list[tuple[str, str, int]]:
    return [
        (body.container, body.tier, body.number)
        for read in tale.log
        if isinstance(body := read.record.body, ContainerReassigned)
    ]


def test_each_container_is_told_whose_it_is_by_its_lender_alone() -> None:
    tale = two(poor=20, rich=10)
    assert words(tale) == [("r0", "default", 1), ("r1", "default", 1)]
    arrive(tale)
    tale.wait(1)
    tale.job("b", 90, tier="rich")
    tale.wait(2)
    assert words(tale)[2:] == [("r0", "rich", 2), ("r1", "rich", 2)]
    assert not tale.row.moving
    assert not tale.rows["rich"].moving


def test_what_a_container_is_told_is_owed_until_it_is_read_back() -> None:
    tale = Tale("default", "rich")
    tale.start("r0", "r1", tier="rich")
    tale.told("rich", CapacityLent("rich", "x", "default", ("r0",), "why"))
    row = tale.rows["rich"]
    (owed,) = effects(row)
    assert (owed.topic, owed.key) == (CONTAINERS, "r0")
    tale.read(LIVES, "r0", owed.body, "another")
    assert tale.rows["rich"].moving == row.moving
    tale.read(LIVES, "r0", owed.body, owed.id)
    assert not tale.rows["rich"].moving


def test_nothing_is_lent_twice_for_one_report() -> None:
    tale = Tale("rich")
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.read(CHAIN, "default/placement", TierDefined("default", 4, (), "{}"))
    cores = ResourceUse("cpu_cores", 10.0, 0.0, lacking=10.0)
    tale.told("default", CapacityReported("default", 1, (cores,), state="short"))
    tale.wait(20)
    assert len(of(CapacityLent, tale.said)) == 1
    tale.told("default", CapacityReported("default", 1, (cores,), state="short"))
    tale.wait(2)
    assert len(of(CapacityLent, tale.said)) == 2
