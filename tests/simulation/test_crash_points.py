"""Whoever dies, at whichever act, comes back and says what it would have said."""

from __future__ import annotations

from collections import Counter

import pytest

from events.generated.records import SyncCommitted
from simulation.casts import SYNCING
from simulation.crash_points import play


def test_the_story_has_every_kind_of_plan() -> None:
    said, _ = play()
    intents = Counter(getattr(body, "intent", "") for body in said)
    assert set(intents) - {""} == {"start", "change", "pause", "resume", "delete"}
    kinds = Counter(body.kind for body in said if isinstance(body, SyncCommitted))
    assert min(kinds["simple"], kinds["complex"]) > 0


@pytest.mark.parametrize("victim", SYNCING)
def test_a_death_at_any_act_changes_nothing(victim: str) -> None:
    """Before a record is emitted, after it, before it is read back, and while rows are kept."""
    undisturbed, _ = play()
    points = 0
    while True:
        said, stage = play(victim, points)
        if not stage.died:
            break
        assert said == undisturbed, f"{victim} died after {points} acts"
        points += 1
    assert points > 30
