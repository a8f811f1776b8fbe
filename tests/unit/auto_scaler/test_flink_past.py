"""What Flink's autoscaler remembers, and its quotas, memory and excluded periods."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from components.auto_scaler.core.policies.flink import past, resources
from components.auto_scaler.core.policies.flink.past import (
    Advised,
    PendingShrink,
    Restart,
    VertexChange,
)
from components.auto_scaler.core.policies.flink.resources import Pools, Quota, Ship, Tuning
from events.job_config.policies.flink_periods import period

GIB, MIB = 1 << 30, 1 << 20


def advised(*targets: int) -> PendingShrink:
    pending: PendingShrink | None = None
    for at_s, target in enumerate(targets):
        pending = past.recorded(pending, Advised(1000 * at_s, target, target != 9))
    assert pending is not None
    return pending


@pytest.mark.parametrize(
    ("targets", "from_s", "then"),
    [
        ((5, 9, 4, 5, 6), 0, Advised(1000, 9, False)),
        ((5, 9, 4, 5, 6), 1, Advised(1000, 9, False)),
        ((5, 9, 4, 5, 6), 2, Advised(4000, 6, True)),
        ((5, 9, 4, 5, 6), 4, Advised(4000, 6, True)),
        ((5, 8, 6, 4), 0, Advised(1000, 8, True)),
        ((5, 8, 6, 4, 3, 3), 2, Advised(2000, 6, True)),
        ((5, 8, 6, 4, 3, 3, 3), 3, Advised(3000, 4, True)),
        ((3, 3, 3), 0, Advised(2000, 3, True)),  # of equal ones the newest
    ],
)
def test_the_greatest_recommendation(targets: tuple[int, ...], from_s: int, then: Advised) -> None:
    found = past.greatest(advised(*targets), 1000 * from_s)
    assert (found.kept[0], found.first_ms) == (then, 0)


def test_it_is_never_asked_without_one() -> None:
    with pytest.raises(AssertionError):
        past.greatest(advised(5), 1000)


def test_ripe() -> None:
    pending = PendingShrink(5_000)
    assert not past.ripe(pending, 64_999, 60_000)
    assert past.ripe(pending, 65_000, 60_000)


def change(at_ms: int) -> VertexChange:
    return VertexChange(at_ms, 1, 2, 10.0, 20.0)


def test_changes_are_kept_by_age_and_count() -> None:
    changes = [change(at) for at in (10, 20, 30, 40)]
    assert past.changes_kept(changes, 120, 100, 9) == tuple(changes[1:])
    assert past.changes_kept(changes, 120, 100, 2) == tuple(changes[2:])
    assert past.changes_kept(changes, 500, 100, 2) == ()


def test_the_last_restart_is_always_kept() -> None:
    restarts = [Restart(10, 2, 5), Restart(20, 3, 6), Restart(30, 2, 7)]
    assert past.restarts_kept(restarts, 120, 100, 9) == tuple(restarts[1:])
    assert past.restarts_kept(restarts, 120, 100, 1) == tuple(restarts[2:])
    assert past.restarts_kept(restarts, 500, 100, 3) == tuple(restarts[2:])
    assert past.restarts_kept([], 500, 100, 3) == ()


def test_a_restart_is_over_when_its_number_runs() -> None:
    restarts = (Restart(0, 2, 5), Restart(10_000, 3))
    assert past.came_back(restarts, 3, 70_999)[-1] == Restart(10_000, 3, 60)
    assert past.came_back(restarts, 4, 70_999) == restarts
    assert past.came_back(restarts, 3, 9_999) == restarts  # it ran before already
    assert past.came_back(restarts[:1], 2, 70_999) == restarts[:1]  # known already
    assert past.came_back((), 2, 70_999) == ()


@pytest.mark.parametrize(
    ("took", "limit_s", "tracked", "then"),
    [
        ((180, 300), 900, True, 300),
        ((180, 300), 200, True, 200),
        ((180, 300), 900, False, 600),
        ((None,), 900, True, 600),
        ((), 900, True, 600),
        ((0,), 900, True, 0),
    ],
)
def test_restart_time(took: tuple[int | None, ...], limit_s: int, tracked: bool, then: int) -> None:
    restarts = [Restart(at, 2, one) for at, one in enumerate(took)]
    assert past.restart_time(restarts, 600, limit_s, tracked) == then


CHANGED = {"op1": 4, "op2": 2}  # of one each


@pytest.mark.parametrize(
    ("groups", "quota", "reached"),
    [
        ([["op1", "op2"]], Quota(cpu=30), False),
        ([["op1"], ["op2"]], Quota(cpu=50), False),
        ([["op1", "op2"]], Quota(memory=30 * GIB), False),
        ([["op1"], ["op2"]], Quota(memory=50 * GIB), False),
        ([["op1", "op2"]], Quota(cpu=3), True),
        ([["op1", "op2"]], Quota(cpu=4), False),  # two of two cores: exactly all
        ([["op1"], ["op2"]], Quota(cpu=5), True),
        ([["op1", "op2"]], Quota(memory=3 * GIB), True),
        ([["op1"], ["op2"]], Quota(memory=5 * GIB), True),
        ([["op1", "op2"]], Quota(), False),
    ],
)
def test_quota(groups: list[list[str]], quota: Quota, reached: bool) -> None:
    before = resources.group_slots(groups, dict.fromkeys(CHANGED, 1))
    after = resources.group_slots(groups, CHANGED)
    assert resources.over_quota((before, after), 2, (2.0, 2.0 * GIB), quota) == reached


def test_the_quota_passes_over_what_is_not_full_and_who_does_not_change() -> None:
    assert not resources.over_quota((2, 3), 2, (1.0, 1.0), Quota(cpu=1))  # three need two
    assert resources.group_slots([["a"], ["b"]], {"a": 3}) == 3
    assert not resources.over_quota((8, 4), 1, (1.0, 1.0), Quota(cpu=1))  # fewer are always fine


def test_slots_are_shared_by_all_or_none() -> None:
    before = {"a": 50, "b": 50}
    assert resources.slots_after(before, {"a": 25, "b": 10}, 50) == 25
    assert resources.slots_after(before, {"a": 25}, 100) == 75
    assert resources.slots_after({}, {}, 0) == 0


@pytest.mark.parametrize(
    ("before", "then", "slots", "growth"),
    [(20, 10, 1, 2), (10, 20, 1, 1), (6, 5, 2, 1), (5, 3, 2, 1.5)],  # processes are counted whole
)
def test_who_stays_gets_what_goes(before: int, then: int, slots: int, growth: float) -> None:
    assert resources.heap_growth(before, then, slots) == growth


@pytest.mark.parametrize(
    ("size", "connected", "ship", "count"),
    [
        (10, 10, "forward", 10),
        (10, 15, "forward", 12),
        (10, 15, "rescale", 12),
        (10, 15, "rebalance", 38),
        (10, 15, "unknown", 38),
        (10, 10, "rescale", 10),
        (10, 10, "rebalance", 28),
    ],
)
def test_segments(size: int, connected: int, ship: Ship, count: int) -> None:
    assert resources.segments(size, connected, ship, 2, 8) == count


NETWORK = 13_760 * 1024
FIXED = 128 * MIB + GIB  # the framework's, off the heap, and the runtime's overhead
MANAGED = 20_108_162_027 - 7_760_130_867
SPEC = Pools(
    heap=30 * GIB - FIXED - MANAGED - 256 * MIB, metaspace=256 * MIB, managed=MANAGED, fixed=FIXED
)


def test_network_memory() -> None:
    edges: list[tuple[str, str, Ship]] = [("v1", "v2", "rebalance")]
    assert resources.network(edges, {"v1": 25, "v2": 10}, 5) == NETWORK


def pools(heap: int = 5096 * MIB, metaspace: int = 100 * MIB, managed: int = 1) -> Pools:
    return Pools(NETWORK, metaspace, heap, managed)


def test_memory_is_tuned_to_what_is_used() -> None:
    assert resources.tuned(pools(), SPEC, Tuning()).total == 20_108_162_027
    most = resources.tuned(pools(), SPEC, Tuning(maximize_managed=True))
    assert most.total == 30 * GIB
    least = resources.tuned(pools(managed=0), SPEC, Tuning())
    assert (least.managed, least.metaspace, least.total) == (0, 120 * MIB, 7_760_130_867)
    grown = resources.tuned(pools(managed=0), SPEC, Tuning(growth=2))
    assert grown.total == 14_172_382_822


def test_memory_never_exceeds_the_spec_and_metaspace_comes_before_the_heap() -> None:
    much = pools(heap=30_812_254_720, metaspace=268_435_456, managed=0)
    tuned = resources.tuned(much, SPEC, Tuning(growth=2))
    assert (tuned.metaspace, tuned.total) == (322_122_547, 30 * GIB)


def at_ms(text: str) -> int:
    return int(1000 * datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


THURSDAY = "2023-12-14T14:01:30"


@pytest.mark.parametrize(
    ("text", "at", "held"),
    [
        ("14:01:20-16:00:00", THURSDAY, True),
        ("14:01:20-16:00:00", "2023-12-14T14:01:10", False),
        ("14:01:20-16:00:00", "2023-12-14T14:01:20", True),
        ("14:01:20-16:00:00", "2023-12-14T16:00:00", True),  # both ends
        ("14:01-16:00", "2023-12-14T16:00:00.001", False),
        ("14:01:20:500-16:00", "2023-12-14T14:01:20.499", False),
        ("09:13:17-11:15:18", "2023-12-14T10:01:30", True),
        ("* * 14-16 * * ?", THURSDAY, True),
        ("* * 14-16 * * ?", "2023-12-14T13:59:50", False),
        ("* * * ? * 2,5 && 14:01:20-16:00:00", THURSDAY, True),
        ("* * * ? * 2,5 && 14:01:20-16:00:00", "2023-12-13T14:01:30", False),
        ("* * * ? * 2,5 && 14:01:20-16:00:00", "2023-12-11T14:01:30", True),
        ("14:01:20-16:00:00 && * * * ? * MON,THU", THURSDAY, True),
        ("* * * ? * FRI-MON", "2023-12-17T00:00:00", True),  # around the week's end
        ("* * * ? * FRI-MON", THURSDAY, False),
        ("* * * ? * FRI-MON/2", "2023-12-17T00:00:00", True),
        ("* * * ? * FRI-MON/2", "2023-12-16T00:00:00", False),
        ("23:00-23:59:59", "2023-12-16T23:59:59", True),
        ("0/15 * * * * ?", THURSDAY, True),
        ("0/15 * * * * ?", "2023-12-14T14:01:31", False),
        ("*/20 * * * * ?", "2023-12-14T14:01:40", True),
        ("* 0-10/5 * * * ?", "2023-12-14T14:05:00", True),
        ("* 0-10/5 * * * ?", "2023-12-14T14:06:00", False),
        ("* * * 14 DEC ? 2023", THURSDAY, True),
        ("* * * 14 12 ? 2024", THURSDAY, False),
    ],
)
def test_excluded_periods(text: str, at: str, held: bool) -> None:
    assert period(text).holds(at_ms(at)) == held


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("09:13:17-08:15:18", "an end after the begin"),
        ("09:00-09:00", "an end after the begin"),
        ("09:13:17-25:15:18", "times of a day such as"),
        ("09:13:17-11:15:18 && 12:01:20-16:00:00", "or one of each joined by &&"),
        ("* * * ? * 2,5 && * * 11-13 * * ?", "or one of each joined by &&"),
        ("* * * ? * 2,5555", 'a day of week from 1 to 7 in place of "5555"'),
        ("* * * * * *", "with \\? as its day of month or"),
        ("* * * ? * ?", "with \\? as its day of month or"),
        ("* * * L * ?", 'a day of month from 1 to 31 in place of "L"'),
        ("* * * ? * 6#3", "L, W and # are not known"),
        ("? * * * * ?", 'a second other than "\\?"'),
        ("weekends", "times of the day such as 09:00-17:30, or a cron expression"),
        ("", "times of the day such as 09:00-17:30, or a cron expression"),
    ],
)
def test_a_period_that_cannot_be_read_is_told(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        period(text)
