"""What was decided: found by the views' index, read from what is held or else from the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turbine.api.feed import Feed
from turbine.read.answers.decision import Explanation, OpenRequest, decision
from turbine.read.answers.move_history import (
    MoveHistory,
    MovePlan,
    moves_of,
    plans_of,
    timed,
    windows,
)
from turbine.read.answers.scaling import KINDS
from turbine.read.sources.log import Log, Standing
from turbine.read.state.decisions import DecisionFilter
from turbine.read.state.live import LiveLog
from turbine.read.state.view import View

Vector = Mapping[str, int]

MOVED = frozenset({"ShardAddRequested", "ShardDropRequested", "ShardForceKilled"})
WORDS_MOST = 200
PARTS_MOST = 64
"""Parts of the last plan that are looked through for the first, which has what was measured."""


class Annals:
    """The decisions of a log, for the API. Asked from several threads at once."""

    def __init__(self, log: Log, views: LiveLog, feed: Feed) -> None:
        self._log, self._views, self._feed = log, views, feed

    def page(
        self, wanted: DecisionFilter, limit: int, cursor: str = ""
    ) -> tuple[list[Standing], str]:
        """A page, newest first, and the position behind which the next one lies; "" at the end."""
        spots, rest = self._views.decisions.page(wanted, limit, cursor)
        return self._feed.read(spots), rest

    def last(self, wanted: DecisionFilter, most: int) -> list[Standing]:
        """The last ones, oldest first."""
        found, _ = self.page(wanted, most)
        return found[::-1]

    def words(self, job: str, end: Vector) -> list[Standing]:
        """The auto scaler's last words about a job that stand, oldest first."""
        return self.last(DecisionFilter(job, void=False, upto=end, kinds=KINDS), WORDS_MOST)

    def knows(self, position: str) -> bool:
        """Does a decision lie there?"""
        return self._views.decisions.holds(position)

    # --- one decision

    def explain(self, name: str, end: Vector) -> Explanation | OpenRequest | None:
        """What stands behind a decision or a request. The index knows where a decision lies; for a
        request the log is looked through."""
        spot = self._views.decisions.find(name)
        if spot is None or spot.offset >= end.get(spot.place, 0):
            return decision(self._log, name, end=end)
        known = spot.place.rpartition("/")[0], spot.key
        return decision(self._log, name, end=end, known=known)

    # --- tiers

    def moves(self, tier: str, last: int, view: View) -> Sequence[MoveHistory]:
        """The last moves of a tier's shards, with what containers said of them."""
        # A move takes up to three decisions; of the first ones in sight the beginning may lie
        # before, and they are left out.
        wanted = DecisionFilter(f"{tier}/placement", void=False, upto=view.at, kinds=MOVED)
        found = moves_of(self.last(wanted, 4 * last + 100))[-last:]
        row = view.tiers[tier]
        kinds = frozenset({"ShardDropped", "ShardAdded"})
        facts = self._log.spoken(windows(found, row), kinds, end=view.at)
        return timed(found, row, facts)

    def last_plan(self, tier: str, end: Vector) -> MovePlan | None:
        """The last plan for a tier's shards."""
        wanted = DecisionFilter(f"{tier}/placement", "PlacementPlanned", void=False, upto=end)
        plans = list(plans_of(self.last(wanted, PARTS_MOST)).values())
        return plans[-1] if plans else None
