"""Someone who drains containers and confirms mass failures, at any moment, and not always rightly.

Reads the log as anyone may: an alert that stands in the tier's chain names what can be confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from events.generated.records import (
    AlertRaised,
    DrainRequested,
    PlacementApplyRequested,
    UndrainRequested,
)
from events.topics import OPERATOR, TIERS, place
from events.wire.codec import Record, encode
from projections.fleet_folds import MASS_FAILURE
from simulation.log import PARTITION
from turbine_client.identity import change_id

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

LOOK_MS, VALID_MS = 120_000, 300_000
TIER = "default"


class PersonOnCall:
    """One person with the command line."""

    def __init__(self, world: SimulatedWorld, containers: Sequence[str]) -> None:
        self.world, self.containers = world, containers
        self.rng = world.streams.fork("operator")
        self.drained: list[str] = []
        self._asked = 0

    def begin(self) -> None:
        """Looks at alerts from time to time."""
        self.world.clock.after(self.rng.expovariate(1 / LOOK_MS), self._look)

    def strike(self) -> None:
        """Drains a container, or takes that back; at times a plan is asked for that is none."""
        if self.rng.random() < 0.1:
            moves = self.rng.choice(["{}", "no moves", '{"to":["c0"],"moves":[[0,1,0]]}'])
            self._ask(
                TIER,
                PlacementApplyRequested(
                    self._id(), TIER, "default#0", "ops", "a try", moves_json=moves
                ),
            )
        elif self.drained and self.rng.random() < 0.6:
            self._undrain(self.rng.choice(self.drained))
        else:
            name = self.rng.choice(self.containers)
            self.drained.append(name)
            self._ask(name, DrainRequested(self._id(), name, "ops", "maintenance"))

    def settle(self) -> None:
        """After the faults: nothing is drained any more."""
        while self.drained:
            self._undrain(self.drained[0])

    def _undrain(self, name: str) -> None:
        self.drained = [one for one in self.drained if one != name]
        self._ask(name, UndrainRequested(self._id(), name, "ops", "done"))

    def _look(self) -> None:
        if self.world.calm:
            return
        for line in reversed(self.world.log.lines[place(TIERS, PARTITION)][-400:]):
            body = line.record.body
            if isinstance(body, AlertRaised) and body.alert == MASS_FAILURE:
                plan_id = json.loads(body.details_json)["plan_id"]
                said = PlacementApplyRequested(self._id(), TIER, plan_id, "ops", "they are gone")
                self._ask(TIER, said)
                break
        self.world.clock.after(self.rng.expovariate(1 / LOOK_MS), self._look)

    def _id(self) -> str:
        self._asked += 1
        return change_id(int(self.world.clock.now_ms) + VALID_MS, f"ops-{self._asked}")

    def _ask(
        self, key: str, body: DrainRequested | UndrainRequested | PlacementApplyRequested
    ) -> None:
        kind = type(body).__name__
        self.world.counts[f"operator says {kind}"] += 1
        record = Record(key, body.change_id, kind, encode(body), body)
        self.world.log.append(OPERATOR, record)
        if not self.world.calm and self.rng.random() < 0.1:  # and again: it was not acknowledged
            self.world.log.append(OPERATOR, record)
