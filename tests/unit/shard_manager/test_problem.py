"""A problem that cannot be placed says why before anyone tries."""

import re

import numpy as np
import pytest

from components.shard_manager.core.solver.problem import (
    CONTAINERS_MAX,
    PlacementProblem,
    PlacementSettings,
)
from tests.unit.shard_manager.tiers import tier


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"loads": [-1]}, "loads holds -1; amounts are 0 or more"),
        ({"loads": [2**52]}, "loads of a resource come to 2^52 or more; use a larger unit"),
        ({"capacity": [2**51, 2**51]}, "capacity of a resource come to 2^52 or more"),
        ({"homes": [2], "capacity": [1, 1]}, "home holds 2; it is from -1 to 1"),
        ({"homes": [-2]}, "home holds -2; it is from -1 to 0"),
        ({"headroom": [1001]}, "headroom holds 1001; it is from 0 to 1000"),
        ({"ramp": [-1]}, "ramp holds -1; it is from 0 to 1000"),
        ({"alive": [True, True]}, "alive has the shape (2,) and must have (1,)"),
        ({"job": []}, "job has the shape (0,) and must have (1,)"),
        ({"hard": (1,)}, "settings.hard names resource 1, which there is not"),
        ({"band": 0}, "settings.band is 0; it is from 1 to 1000"),
        ({"loads": [[1] * 9], "capacity": [[1] * 9]}, "9 resources are too many for one tier; 8"),
    ],
)
def test_a_bad_problem_is_refused(change: dict, sentence: str) -> None:
    given = {"loads": [1], "homes": [0], "capacity": [1], **change}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        tier(given.pop("loads"), given.pop("homes"), given.pop("capacity"), **given)


def test_the_greatest_amounts_and_numbers_are_accepted() -> None:
    greatest = tier([2**52 - 1], [0], [2**52 - 1], headroom=[1000], ramp=[1000])
    assert greatest.loads.sum() == 2**52 - 1
    many = CONTAINERS_MAX
    assert tier([1], [many - 1], [1] * many).containers == many
    with pytest.raises(ValueError, match=r"65536 containers are too many for one tier; 65535"):
        tier([1], [0], [1] * (many + 1))


def test_open_is_alive_and_not_draining() -> None:
    problem = tier([1], [0], [1] * 4, alive=[1, 1, 0, 0], draining=[0, 1, 0, 1])
    assert problem.open.tolist() == [True, False, False, False]
    assert isinstance(problem, PlacementProblem)
    assert np.array_equal(problem.settings.hard, PlacementSettings().hard)
