"""What a scaling policy of your own is made of: all names that it needs, and `install` for tests.

A policy is a class that derives from `ScalingPolicy`. A distribution names it as an entry point of
the group `turbine.policies`, and is installed wherever Turbine runs; examples/policy is one.
"""

from __future__ import annotations

from components.auto_scaler.core.catalogue import install
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
    stay,
)
from events.job_config.policies.settings import PolicySettings
from projections.scaling.actions import (
    MEMORY_DOWN,
    MEMORY_UP,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import JobFacts, Minute, Part, Profile

__all__ = [
    "MEMORY_DOWN",
    "MEMORY_UP",
    "SCALE_DOWN",
    "SCALE_UP",
    "Expectation",
    "JobFacts",
    "JobSize",
    "Minute",
    "Part",
    "PolicySettings",
    "Profile",
    "ScalingPolicy",
    "ScalingVerdict",
    "install",
    "stay",
]
