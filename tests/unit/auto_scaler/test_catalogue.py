"""Policies by name: each is made with its defaults, and a bad setting is told by its path."""

from __future__ import annotations

from typing import Any

import pytest

from components.auto_scaler.core.catalogue import BASELINES, POLICIES, BadPolicy, policy_of
from components.auto_scaler.core.policy import ScalingPolicy
from events.job_config.policies.table import SETTINGS
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute


@pytest.mark.parametrize("name", POLICIES)
def test_each_is_made_with_its_defaults_and_answers(name: str) -> None:
    policy: ScalingPolicy[Any] = policy_of(name, {})
    assert policy.name == name
    job = JobFacts("clicks", 4, partitions=16)
    memory = policy.begin(job)
    for at in range(1, 91):
        minute = Minute(at * MINUTE_MS, 4, 400.0, 400.0, 0.0, 0.0, 0.5, 0.5, 200.0)
        memory = policy.learn(memory, job, minute)
        memory, verdict = policy.decide(memory, job, UNKNOWN, at * MINUTE_MS)
        assert verdict.explanation


def test_each_is_told_what_a_config_may_tell_it() -> None:
    assert list(POLICIES) == list(SETTINGS)
    for name, model in SETTINGS.items():
        policy: Any = policy_of(name, {})
        assert type(policy.settings) is model


def test_the_default_of_a_config_is_ours() -> None:
    assert "turbine" in POLICIES
    assert "turbine" not in BASELINES
    assert len(BASELINES) == 8


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(BadPolicy, match="there is no policy 'no-such'; use one of turbine, reac"):
        policy_of("no-such", {})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"margin": 0.2}, r"policy\.settings\.margin: expected a number from 1 to 3, found 0.2"),
        (
            {"marign": 1.2},
            r"policy\.settings\.marign: expected a setting of policy turbine, perhaps margin",
        ),
        (
            {"look_back_minutes": "x"},
            r"policy\.settings\.look_back_minutes: expected a whole number, found .x.",
        ),
    ],
)
def test_a_bad_setting_is_told_by_its_path(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPolicy, match=rf"{said}.*\(policy turbine\)"):
        policy_of("turbine", settings)
