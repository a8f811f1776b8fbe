"""What changed in a span of time, from the index of decisions: only what is told of is read.

Of jobs to which nothing happened only those are looked at that an alert, a quarantine or a config
without effect is open about; and of what was before the span, what a job's last decisions left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from events.topics import JOURNAL, OPERATOR, TIERS
from events.wire.codec import Read
from turbine.api.asking import Desk
from turbine.read.answers import digest, digest_tiers
from turbine.read.answers.fleet import totals
from turbine.read.plain import JsonObject, plain
from turbine.read.state.decisions import DecisionFilter, DecisionSpot
from turbine.read.state.running import condition
from turbine.read.state.view import JobView, View

TOLD_MOST = 2_000
"""Decisions of a span about jobs, and as many about tiers: more than a person can be told of, and
as many as are held when they are asked for again."""
BEFORE_MOST = 50
"""Decisions of one job or tier before the span: its last config, commit, quarantine, alerts. One
that is open for longer is known from the view."""
SCALING = frozenset({"ScalingDecided", "ScalingVerified", "ScalingReverted"})
ALERTS = frozenset({"AlertRaised", "AlertCleared"})
WISHES = frozenset({"DrainRequested", "UndrainRequested"})
UNSETTLED = frozenset({"behind", "syncing", "failing", "quarantined"})


def digest_of(desk: Desk, view: View, since_ms: int, until_ms: int) -> JsonObject:
    """As `turbine digest -o json` tells it, with whether it is all of it."""
    shift = _Shift(desk, view, since_ms)
    within, whole = shift.within(JOURNAL, digest.KINDS)
    keys = {one.key for one in within}
    keys |= {name for name, job in view.jobs.items() if _unsettled(job)}
    keys |= {one.subject for one in view.alerts.values() if _topic(one.position) == JOURNAL}
    before = shift.before(JOURNAL, digest.KINDS - SCALING, keys)
    turns, told = _turns(shift, until_ms)
    row = digest.digest(desk.feed.read(before + within), turns, since_ms, until_ms)
    jobs = {one["job"] for one in row["jobs"]}
    alive = {name for name, job in view.jobs.items() if job.existed and job.job.alive}
    shown = plain(totals(desk.lines.of(view)))
    return row | {"quiet": len(alive - jobs), "whole": whole and told, "totals": shown}


def _unsettled(job: JobView) -> bool:
    return job.existed and job.sync is not None and condition(job.sync) in UNSETTLED


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

    def wishes(self) -> Iterator[Read]:
        """What operators asked of containers."""
        log = self.desk.log
        if OPERATOR in log.counts:
            start = log.at(self.since_ms - 1, [OPERATOR])
            yield from log.read([OPERATOR], kinds=WISHES, start=start, end=self.view.at)


def _turns(shift: _Shift, until_ms: int) -> tuple[list[JsonObject], bool]:
    """What happened to tiers."""
    if TIERS not in shift.desk.log.counts:
        return [], True
    within, whole = shift.within(TIERS, digest_tiers.KINDS)
    keys = {f"{tier}/{what}" for tier in shift.view.tiers for what in ("placement", "capacity")}
    chain = shift.desk.feed.read(shift.before(TIERS, ALERTS, keys) + within)
    return digest_tiers.turns(chain, shift.wishes(), shift.since_ms, until_ms), whole
