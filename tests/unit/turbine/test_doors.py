"""What programs import from `turbine`: which broker each of its doors leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import turbine
from turbine_client.errors import NoTopic
from turbine_client.settings import Settings, load_settings

DOORS: list[Callable[..., Any]] = [turbine.Publisher, turbine.Subscriber, turbine.Log]
KEPT, NAMED = "kept.example:9092", "named.example:9092"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings by which each broker was asked for its topics, of which none has any."""
    found: list[Settings] = []

    def partitions_of(settings: Settings) -> dict[str, int]:
        found.append(settings)
        return {}

    for module in (
        "turbine_client.publish",
        "turbine_client.subscribe",
        "turbine.read.sources.source",
    ):
        monkeypatch.setattr(f"{module}.partitions_of", partitions_of)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", KEPT)
    return found


@pytest.mark.parametrize("door", DOORS)
def test_a_door_leads_to_the_broker_that_is_named(
    asked: list[Settings], door: Callable[..., Any]
) -> None:
    other = replace(load_settings(), bootstrap="other.example:9092", api="http://kept")
    for given, more in ((None, {}), (None, {"bootstrap": NAMED}), (other, {"bootstrap": NAMED})):
        with pytest.raises(NoTopic, match="has no topic"):
            door(given, **more)
    with pytest.raises(NoTopic):
        door(bootstrap=NAMED)
    assert [one.bootstrap for one in asked] == [KEPT, NAMED, NAMED, NAMED]
    assert asked[2].api == "http://kept", "all else stays as it was given"
