"""Which containers live: one partition's order decides between heartbeats and fail-overs."""

from __future__ import annotations

from events.generated.records import (
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerStarted,
    ResourceAmount,
)
from projections.liveness import Life, Ticks, beat, fail_over, start
from projections.timing import Timing, timing_of

GAP_MS = Timing().gap_ms


def started(epoch: int, *, sum_ms: int = 0, life: Life | None = None) -> Life:
    body = ContainerStarted("c1", epoch, "default", "local", (ResourceAmount("cpu_cores", 8.0),))
    return start(life or Life("c1", "containers.v1/0"), body, Ticks(sum_ms, 1))


def heartbeat(epoch: int) -> ContainerHeartbeat:
    return ContainerHeartbeat("c1", epoch, 1, 1_000, "serving", 0, "")


def failed_over(epoch: int, offset: int | None) -> ContainerFailedOver:
    return ContainerFailedOver("c1", epoch, "decision", "silent", "containers.v1/0", offset)


def test_a_fail_over_ends_the_life_whose_last_heartbeat_its_author_had_seen() -> None:
    life = beat(started(1), heartbeat(1), 7, Ticks(5_000, 1))
    assert fail_over(life, failed_over(1, 7)).over == 1
    assert not fail_over(life, failed_over(1, 7)).lives


def test_a_fail_over_is_void_where_a_heartbeat_came_before_it() -> None:
    life = beat(beat(started(1), heartbeat(1), 7, Ticks()), heartbeat(1), 9, Ticks())
    assert fail_over(life, failed_over(1, 7)) == life
    assert fail_over(life, failed_over(1, None)) == life


def test_a_life_that_never_beat_is_failed_over_by_its_silence_since_the_start() -> None:
    life = started(1, sum_ms=10_000)
    assert life.silence_ms(Ticks(80_000, 1), GAP_MS) == 80_000 - 10_000 - GAP_MS
    assert not fail_over(life, failed_over(1, None)).lives


def test_what_is_said_after_the_end_of_a_life_is_void() -> None:
    over = fail_over(beat(started(2), heartbeat(2), 7, Ticks()), failed_over(2, 7))
    assert beat(over, heartbeat(2), 9, Ticks(9_000, 1)) == over
    assert started(2, life=over) == over


def test_a_heartbeat_of_an_older_life_that_comes_late_says_nothing_of_the_newer_one() -> None:
    """Else a copy of its goodbye would close the newer one, and a dead one would seem to live."""
    life = started(2, sum_ms=9_000, life=beat(started(1), heartbeat(1), 7, Ticks(5_000, 1)))
    assert beat(life, heartbeat(1), 11, Ticks(60_000, 1)) == life


def test_another_life_begins_above_all_that_were_known() -> None:
    over = fail_over(beat(started(2), heartbeat(2), 7, Ticks()), failed_over(2, 7))
    again = started(3, life=over)
    assert (again.epoch, again.over, again.beat, again.lives) == (3, 2, None, True)
    assert beat(again, heartbeat(2), 9, Ticks()) == again


def test_a_clock_that_stopped_is_nobodys_silence() -> None:
    ticks = Ticks().moved(1_000, GAP_MS).moved(2_000, GAP_MS).moved(602_000, GAP_MS)
    assert ticks == Ticks(1_000 + GAP_MS, 602_000)


def test_ticks_that_come_twice_or_late_do_not_turn_the_clock_back() -> None:
    ticks = Ticks().moved(2_000, GAP_MS)
    assert ticks.moved(2_000, GAP_MS) == ticks
    assert ticks.moved(1_500, GAP_MS) == ticks


def test_all_of_the_table_but_the_clocks_gap_scales_together() -> None:
    tenth = Timing(*(ms // 10 for ms in Timing()))._replace(gap_ms=GAP_MS)
    assert timing_of('{"time_per_mille":100}') == tenth
    assert timing_of("") == timing_of("{}") == timing_of('{"time_per_mille":0}') == Timing()


def test_what_tasks_take_to_stop_and_start_scales_by_itself_where_a_tier_says_so() -> None:
    tenth = timing_of('{"time_per_mille":100}')
    apart = timing_of('{"time_per_mille":100,"acts_per_mille":1000}')
    usual = Timing()
    assert (apart.drop_ms, apart.kill_ms, apart.add_ms) == usual[5:8]
    assert apart._replace(drop_ms=6_000, kill_ms=3_000, add_ms=12_000) == tenth
    assert timing_of('{"acts_per_mille":0}') == usual


def test_a_container_stops_well_before_its_shards_are_given_away() -> None:
    """With clocks of different rates, and the time that a kill takes, between the two."""
    timing = Timing()
    assert timing.lease_ms * 1.02 + 15_000 < timing.silence_ms * 0.98
