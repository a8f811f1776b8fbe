"""What an author sees of the jobs in the journal: whether one is there, how it is called, what was
said of a change; and which tiers a job may be in. Who has no right to read it is none the worse for
it, and told so where it counts.
"""

from __future__ import annotations

from dataclasses import replace

from components.runtime.clients import BrokerUnreachable
from components.runtime.reading import Unreadably
from components.runtime.settings import BadSettings, Settings
from events.records import TierDefined
from events.topics import TIERS
from turbine.creating import in_words, no_such_tier, not_meant, unseen
from turbine.log import Log
from turbine.read.answers.decision import uncounted, verdict_on
from turbine.subscribe import Outcome
from turbine.verdicts import Rejected, Verdict, verdict_of

UNSEEN = (BadSettings, BrokerUnreachable, Unreadably)
"""What is raised to whoever may not, or cannot, read the journal."""


def in_journal(settings: Settings, change_id: str, job: str | None = None) -> Verdict | None:
    """The verdict on a change, where nobody publishes it."""
    try:
        found = verdict_on(Log(settings), job, change_id)
    except UNSEEN:
        return None
    return None if found is None else verdict_of(Outcome.of(found.read))


def never_answered(settings: Settings, change_id: str, job: str) -> str:
    """Why no verdict on a change will come; "" where it may, or nobody can tell."""
    try:
        return uncounted(Log(settings), change_id, job)
    except UNSEEN:
        return ""


def unmeant(settings: Settings, job: str) -> Rejected | None:
    """The verdict on a whole config for a job that is not there; None where it is."""
    try:
        known = Log(settings).job(job)
    except UNSEEN as why:
        return Rejected("", job, "no-such-job", unseen(job, why))
    there = known is not None and known.alive
    return None if there else Rejected("", job, "no-such-job", not_meant(job))


def tiers_in(log: Log) -> set[str]:
    """The tiers that the log has."""
    if TIERS not in log.counts:
        return set()
    found = (one.record.body for one in log.read([TIERS], kinds=frozenset({"TierDefined"})))
    return {body.tier for body in found if isinstance(body, TierDefined)}


class Tiers:
    """The tiers that are there, as an author sees them: read again where one is not among them."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._known = settings, set[str]()

    def refusal(self, job: str, tier: str) -> Rejected | None:
        """The verdict on a change to a tier that is not there."""
        if not tier or tier in self._known:
            return None
        try:
            self._known = tiers_in(Log(self._settings))
        except UNSEEN:
            self._known.add(tier)  # who may not look is not held up by it again
            return None
        said = no_such_tier(tier, self._known)
        return Rejected("", job, "no-such-tier", said, "tier") if said else None


def hinted(settings: Settings, verdict: Verdict) -> Verdict:
    """A verdict about a job that is not there, with the nearest name of one that is."""
    if not isinstance(verdict, Rejected) or verdict.reason != "no-such-job":
        return verdict
    try:
        names = [one.name for one in Log(settings).jobs().values() if one.alive]
    except UNSEEN:
        names = []
    return replace(verdict, explanation=in_words(verdict.explanation, verdict.job, names))
