"""What a job can read, learnt from what it has read: a curve over its threads. Pure.

Each minute in which tasks were busy tells how much they would read if they were busy throughout. A
line through these points, on logarithms of threads and of records a second, is the curve; that work
grows in step with threads is believed until sizes that were tried say otherwise. Old minutes fade.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

BUSY_LEAST = 0.05
"""Below, what a task would read if it were busy is guessed: fixed costs, idle batches. Busier
minutes count more: by the square of how busy they were."""
FADES = 0.9985
"""Of a minute's weight, with each minute: half is gone after eight hours."""
BELIEF = 0.05
"""How much the belief in step-with-threads weighs: as one tried size that is far away."""
POWER_LEAST = 0.5
SPREAD_BEGIN = 0.15
"""Of the first estimate, until there are minutes that tell."""


class Curve(NamedTuple):
    """Sums over weighted minutes of x = log of threads and y = log of what they could read."""

    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    error: float = 0.0  # sum of squared distances from the curve of the moment

    def taught(self, threads: int, could: float, weight: float = 1.0) -> Curve:
        """The curve with one more minute in it."""
        x, y = log(threads), log(could)
        old = FADES
        miss = y - self._at(x) if self.weight else 0.0
        return Curve(
            self.weight * old + weight,
            self.x * old + weight * x,
            self.y * old + weight * y,
            self.xx * old + weight * x * x,
            self.xy * old + weight * x * y,
            self.error * old + weight * miss * miss,
        )

    @property
    def known(self) -> bool:
        """Whether any minute has taught the curve."""
        return self.weight > 0

    @property
    def power(self) -> float:
        """What is read grows as threads to this power."""
        if not self.weight:
            return 1.0
        mean_x, mean_y = self.x / self.weight, self.y / self.weight
        wide = max(0.0, self.xx / self.weight - mean_x * mean_x)
        along = self.xy / self.weight - mean_x * mean_y
        slope = (along + BELIEF) / (wide + BELIEF)
        return min(1.0, max(POWER_LEAST, slope))

    def reads(self, threads: int) -> float:
        """Records a second that so many threads can read."""
        return exp(self._at(log(threads)))

    @property
    def spread(self) -> float:
        """Of single minutes around the curve, as a share: how sure it is. Told with each decision;
        no number is made of it."""
        if self.weight < 3:
            return SPREAD_BEGIN
        return sqrt(self.error / self.weight)

    def _at(self, x: float) -> float:
        mean_x, mean_y = self.x / self.weight, self.y / self.weight
        return mean_y + self.power * (x - mean_x)

    def threads_for(self, rate: float) -> float:
        """How many threads read as much; not rounded."""
        if rate <= 0:
            return 0.0
        mean_x, mean_y = self.x / self.weight, self.y / self.weight
        return exp(mean_x + (log(rate) - mean_y) / self.power)
