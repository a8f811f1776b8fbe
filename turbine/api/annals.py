"""What was decided: found by the views' index, read from what is held or else from the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from events.topics import JOURNAL
from turbine.api.feed import Feed
from turbine.api.reading import Views
from turbine.cli.differences import differences
from turbine.cli.shards import decision_to_plain
from turbine.log import Log, Standing
from turbine.moves import Move, Plan, moves_of, plans_of, timed, windows
from turbine.scaled import KINDS, tale_of
from turbine.views.decisions import Wanted
from turbine.views.view import View
from turbine.why import explain, explain_decision, find_request, pick

Row = dict[str, Any]
Vector = Mapping[str, int]

MOVED = frozenset({"ShardAddRequested", "ShardDropRequested", "ShardForceKilled"})
WORDS_MOST = 200
PARTS_MOST = 64
"""Parts of the last plan that are looked through for the first, which has what was measured."""


class Annals:
    """The decisions of a log, for the API. Asked from several threads at once."""

    def __init__(self, log: Log, views: Views, feed: Feed) -> None:
        self._log, self._views, self._feed = log, views, feed

    def page(self, wanted: Wanted, limit: int, cursor: str = "") -> tuple[list[Standing], str]:
        """A page, newest first, and the position behind which the next one lies; "" at the end."""
        spots, rest = self._views.decisions.page(wanted, limit, cursor)
        return self._feed.read(spots), rest

    def last(self, wanted: Wanted, most: int) -> list[Standing]:
        """The last ones, oldest first."""
        found, _ = self.page(wanted, most)
        return found[::-1]

    def words(self, job: str, end: Vector) -> list[Standing]:
        """The auto scaler's last words about a job that stand, oldest first."""
        return self.last(Wanted(job, void=False, upto=end, kinds=KINDS), WORDS_MOST)

    def knows(self, position: str) -> bool:
        """Does a decision lie there?"""
        return self._views.decisions.holds(position)

    # --- one decision

    def explain(self, name: str, end: Vector) -> Row | None:
        """What stands behind a decision or a request, as `turbine why ID -o json` shows it."""
        spot = self._views.decisions.find(name)
        if spot is None or spot.offset >= end.get(spot.place, 0):
            return self._asked(name, end)
        if spot.place.rpartition("/")[0] != JOURNAL:
            found = self._feed.read([spot])
            return decision_to_plain(found[0]) if found else None
        return self._decided(spot.key, name, end)

    def _decided(self, job: str, name: str, end: Vector) -> Row | None:
        decisions = self._log.decisions(job=job, end=end)
        decision = pick(decisions, name)
        if decision is None:
            return None
        request = find_request(self._log, decision.read.record.change_id, job)
        found = explain_decision(decisions, decision, request)
        row = found.to_plain()
        made = differences(found.before, found.after)
        row["differences"] = [one.to_plain() for one in made]
        record = decision.read.record
        if record.kind in KINDS and record.body is not None:
            row["scaling"] = tale_of(decisions, decision)
        return row

    def _asked(self, name: str, end: Vector) -> Row | None:
        """By the id of a request, which the index does not know: with what answers it, if any."""
        found = explain(self._log, name)
        if found is None:
            return None
        read = found.request if found.decision is None else found.decision.read
        assert read is not None
        if found.decision is None or read.offset >= end.get(read.place, 0):
            return replace(found, decision=None).to_plain() if found.request is not None else None
        return self._decided(read.record.key, name, end)

    # --- tiers

    def moves(self, tier: str, last: int, view: View) -> Sequence[Move]:
        """The last moves of a tier's shards, with what containers said of them."""
        # A move takes up to three decisions; of the first ones in sight the beginning may lie
        # before, and they are left out.
        wanted = Wanted(f"{tier}/placement", void=False, upto=view.at, kinds=MOVED)
        found = moves_of(self.last(wanted, 4 * last + 100))[-last:]
        row = view.tiers[tier]
        kinds = frozenset({"ShardDropped", "ShardAdded"})
        facts = self._log.spoken(windows(found, row), kinds, end=view.at)
        return timed(found, row, facts)

    def last_plan(self, tier: str, end: Vector) -> Plan | None:
        """The last plan for a tier's shards."""
        wanted = Wanted(f"{tier}/placement", "PlacementPlanned", void=False, upto=end)
        plans = list(plans_of(self.last(wanted, PARTS_MOST)).values())
        return plans[-1] if plans else None
