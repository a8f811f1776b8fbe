"""What changed in a span of time, from the index of decisions: only what is told of is read.

Of jobs to which nothing happened only those are looked at that an alert, a quarantine or a config
without effect is open about; and of what was before the span, what a job's last decisions left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from events.topics import JOURNAL, TIERS
from turbine.api.desk import Desk
from turbine.read.answers import digest, digest_tiers
from turbine.read.state.decisions import DecisionFilter, DecisionSpot
from turbine.read.state.view import View

TOLD_MOST = 2_000
"""Decisions of a span about jobs, and as many about tiers: more than a person can be told of, and
as many as are held when they are asked for again."""
BEFORE_MOST = 50
"""Decisions of one job or tier before the span: its last config, commit, quarantine, alerts. One
that is open for longer is known from the view."""
SCALING = frozenset({"ScalingDecided", "ScalingVerified", "ScalingReverted"})
ALERTS = frozenset({"AlertRaised", "AlertCleared"})


def digest_of(desk: Desk, view: View, since_ms: int) -> digest.Digest:
    """The answer, with whether it is all of it."""
    shift = _Shift(desk, view, since_ms)
    within, whole = shift.within(JOURNAL, digest.KINDS)
    keys = digest.open_in(view).union(one.key for one in within)
    before = shift.before(JOURNAL, digest.KINDS - SCALING, keys)
    tiers, all_told = _tiers(shift)
    decisions = desk.feed.read(before + within)
    whole &= all_told
    return digest.digest(view, desk.lines.of(view), decisions, tiers, since_ms, whole=whole)


def _topic(position: str) -> str:
    return position.partition("/")[0]


@dataclass(frozen=True, slots=True)
class _Shift:
    """Where what is told of lies."""

    desk: Desk
    view: View
    since_ms: int

    def within(self, topic: str, kinds: frozenset[str]) -> tuple[list[DecisionSpot], bool]:
        """The decisions of the span, oldest first, and whether they are all."""
        wanted = DecisionFilter(
            void=False, upto=self.view.at, kinds=kinds, since_ms=self.since_ms, topic=topic
        )
        spots, rest = self.desk.views.decisions.page(wanted, TOLD_MOST)
        return spots[::-1], not rest

    def before(
        self, topic: str, kinds: frozenset[str], keys: Collection[str]
    ) -> list[DecisionSpot]:
        """What was left before the span: last decisions, and alerts that are open still."""
        wanted = DecisionFilter(
            void=False, upto=self.view.at, kinds=kinds, until_ms=self.since_ms, topic=topic
        )
        spots = self.desk.views.decisions.last_of(keys, wanted, BEFORE_MOST)
        found = {(one.place, one.offset): one for one in (*self._raised(topic), *spots)}
        # All that is about one key lies in one place, in its order.
        return [found[at] for at in sorted(found)]

    def _raised(self, topic: str) -> Iterator[DecisionSpot]:
        for one in self.view.alerts.values():
            place, _, offset = one.position.rpartition(":")
            if one.since_ms < self.since_ms and _topic(place) == topic:
                subject, at_ms = one.subject, one.since_ms
                yield DecisionSpot(
                    place, int(offset), at_ms, "AlertRaised", subject, "", stands=True
                )


def _tiers(shift: _Shift) -> tuple[list[digest_tiers.TierDigest], bool]:
    """What happened to tiers in the shift, and whether that is all."""
    if TIERS not in shift.desk.log.counts:
        return [], True
    within, whole = shift.within(TIERS, digest_tiers.KINDS)
    keys = {f"{tier}/{what}" for tier in shift.view.tiers for what in ("placement", "capacity")}
    chain = shift.desk.feed.read(shift.before(TIERS, ALERTS, keys) + within)
    asked = digest_tiers.wishes(shift.desk.log, shift.since_ms, shift.view.at)
    return digest_tiers.turns(chain, asked, shift.since_ms, shift.view.last_ms), whole
