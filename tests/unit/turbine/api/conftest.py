"""The small fleet, once for all tests that only look."""

from __future__ import annotations

import pytest

from tests.unit.turbine.api.world import World, world_of


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Not yours to write to."""
    return world_of(directory=tmp_path_factory.mktemp("views"))
