"""How long a job can wait: against a queue that is played, and at both sides of its limits."""

from __future__ import annotations

from random import Random

import pytest

from components.auto_scaler.core.policies.turbine.patience import LEAST_S, Backlog, patience_s


def played_s(backlog: Backlog, seconds: int, soon: float, can: float) -> float:
    """Age of the oldest record, by a queue of records that are counted one by one."""
    count = int(backlog.records)
    queue = [-backlog.age_s * (1 - at / count) for at in range(count)]  # when each came
    came = read = 0.0
    for second in range(1, seconds + 1):
        came += soon
        while len(queue) < count + int(came):
            queue.append(second - 0.5)
        read += can
        read = min(read, len(queue))
    left = queue[int(read) :]
    return seconds - left[0] if left else 0.0


@pytest.mark.parametrize("seed", range(40))
def test_the_oldest_record_is_as_old_as_in_a_queue(seed: int) -> None:
    rng = Random(seed)
    backlog = Backlog(float(rng.randrange(500, 20_000)), rng.uniform(5, 200))
    soon, can = rng.uniform(10, 300), rng.uniform(10, 300)
    found = backlog.age_after(60, soon, can)
    assert found == pytest.approx(played_s(backlog, 60, soon, can), abs=3.0)


def test_who_has_read_all_has_nothing_that_is_old() -> None:
    assert Backlog(600.0, 10.0).age_after(60, 100.0, 110.0) == 0.0
    assert Backlog(600.0, 10.0).age_after(60, 100.0, 109.0) == pytest.approx(0.6)
    assert Backlog(0.0, 0.0).age_after(60, 0.0, 0.0) == 0.0


def test_where_nothing_comes_and_nothing_is_read_all_grows_older() -> None:
    assert Backlog(600.0, 10.0).age_after(60, 0.0, 0.0) == pytest.approx(70.0)


def test_what_nobody_knows_the_age_of_is_old() -> None:
    assert Backlog(6_000.0, float("inf")).age_after(60, 10.0, 10.0) == float("inf")


def test_a_restart_ends_within_its_share_of_the_slo() -> None:
    assert patience_s(90.0, 10.0, 0.9) == pytest.approx(71.0)
    assert patience_s(90.0, 60.0, 0.9) == pytest.approx(21.0)
    assert patience_s(90.0, 300.0, 0.9) == LEAST_S
