"""How long a job can wait for another size. Pure.

A change stops the job for as long as a restart takes, and its SLO says by how much it may be late.
So lag may grow up to where a restart still ends within the SLO: noise that is read up by then costs
nothing, and a job that restarts faster needs less room. Who has no time left is changed at once.
"""

from __future__ import annotations

from typing import NamedTuple

LEAST_S = 10.0
"""Of patience: who restarts for as long as the SLO allows would else be changed at every look."""


class Backlog(NamedTuple):
    """What waits to be read."""

    records: float
    age_s: float  # of the oldest

    def age_after(self, seconds: float, soon: float, can: float) -> float:
        """Of the oldest, in so many seconds in which so many records a second come, and as many as
        the job can are read."""
        left, come = self.records + seconds * (soon - can), seconds * soon
        if left <= 0:
            return 0.0
        if left <= come:
            return left / soon
        return seconds + self.age_s * (left - come) / self.records


def patience_s(slo_s: float, restart_s: float, share: float) -> float:
    """Age of the oldest record with which a restart still ends within that share of the SLO."""
    return max(LEAST_S, share * slo_s - restart_s)
