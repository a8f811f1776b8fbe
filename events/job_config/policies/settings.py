"""What the settings of all scaling policies share: nothing unknown, nothing unbounded. Pure.

A policy's numbers end up in its formulas, and one that overflows there would stop the component
that decides for a whole partition of jobs: so every number has a least and a most.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from events.job_config.strict_json import NUMBER_MAX

TASKS_MAX = 100_000
"""Not a wish: a whole tier of the paper runs that many."""
RECORDS_MAX = NUMBER_MAX
"""Of lag, which is a sum of offsets: as large as JSON's numbers are exact."""
WEEK_S = 7 * 86_400
"""No policy waits for longer, or looks back further, but for what says so itself."""
LEAST = 0.001
"""Of what has to be above 0: formulas divide by it, and a quotient by 1e-320 has no end."""

# JSON has lists only, so a tuple is read from one; what is in it is strict again.
LIST = Field(strict=False, max_length=100)


class PolicySettings(BaseModel):
    """Of a policy, or a part of them; frozen, and with nothing that it does not know."""

    # Most processes never see a job with settings: what checks them is built when one comes.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )
