"""What a scaling policy of your own is made of: all names that it needs, and `install` for tests.

A policy is a class that derives from `Policy`. A distribution names it as an entry point of the
group `turbine.policies`, and is installed wherever Turbine runs; docs/scaling.md shows one.
"""

from __future__ import annotations

from components.auto_scaler.core.catalogue import install
from components.auto_scaler.core.policy import Policy
from components.auto_scaler.core.verdict import (
    Expectation,
    Verdict,
    stay,
)
from events.job_config.policies.settings import Settings
from projections.scaling.actions import (
    MEMORY_DOWN,
    MEMORY_UP,
    SCALE_DOWN,
    SCALE_UP,
    Size,
)
from projections.scaling.seen import Job, Minute, Part, Profile

__all__ = [
    "MEMORY_DOWN",
    "MEMORY_UP",
    "SCALE_DOWN",
    "SCALE_UP",
    "Expectation",
    "Job",
    "Minute",
    "Part",
    "Policy",
    "Profile",
    "Settings",
    "Size",
    "Verdict",
    "install",
    "stay",
]
