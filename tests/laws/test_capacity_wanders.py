"""A job that goes from tier to tier: whose word is read first must not count."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.capacity_folds import fold
from tests.kit.examples import at_most
from tests.laws.test_capacity import TIERS, a_story, reordered
from tests.unit.capacity_manager.tiers import NO_HEADROOM, Tale

HALF_AN_HOUR_MS = 1_800_000


def wandering(counts: tuple[int, int, int], rounds: list[bool]) -> Tale:
    """It fills one tier, goes to the other, and comes back half an hour later."""
    steps: list[tuple[Any, ...]] = [("start", "c1", "rich", 10.0)]
    for count, tier, round_ in zip(counts, ("rich", "default", "rich"), rounds, strict=True):
        steps.append(("job", "a", count, {"tier": tier}))
        steps += [("round",)] if round_ else []
        steps.append(("later", HALF_AN_HOUR_MS) if tier == "default" else ("heed",))
    return a_story(NO_HEADROOM, [*steps, ("round",)])


tasks = st.integers(8, 24)
tales = st.builds(
    wandering, st.tuples(tasks, tasks, tasks), st.lists(st.booleans(), min_size=3, max_size=3)
)


@settings(deadline=None, max_examples=at_most(200))
@given(tales, st.data())
def test_what_is_known_does_not_hang_on_which_tier_is_read_first(tale: Tale, data: Any) -> None:
    for tier in TIERS:
        other = None
        for read in reordered(tale.log, data):
            other = fold(other, read, tier)
        assert other == tale.rows[tier]
