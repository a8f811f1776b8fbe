"""The short run leaves examples out, and the long one none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.kit.examples import CHECK, EXAMPLES, at_most, some_of


@pytest.fixture(params=["default", CHECK])
def profile(request: pytest.FixtureRequest) -> Iterator[str]:
    before = settings.get_current_profile_name()
    settings.load_profile(request.param)
    yield request.param
    settings.load_profile(before)


def test_a_law_has_fewer_examples_in_the_short_run(profile: str) -> None:
    assert (at_most(300), at_most(12)) == ((EXAMPLES, 12) if profile == CHECK else (300, 12))
    assert settings().max_examples == (EXAMPLES if profile == CHECK else 100)


def test_cases_are_taken_from_the_whole(profile: str) -> None:
    cases = [*range(10)]
    assert some_of(cases, 3) == ([0, 3, 6] if profile == CHECK else cases)
    assert some_of(cases, 10) == some_of(cases, 11) == cases
