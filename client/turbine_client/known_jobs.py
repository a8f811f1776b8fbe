"""What an author sees of the jobs in the journal: whether one is there, how it is called, what was
said of a change; and which tiers a job may be in. Who has no right to read it is none the worse for
it, and told so where it counts.
"""

from __future__ import annotations

from dataclasses import replace

from turbine_client.creating import in_words, no_such_tier, not_meant, unseen
from turbine_client.crowding import UNCOUNTED
from turbine_client.errors import BrokerUnreachable, NoTopic
from turbine_client.journal import Journal
from turbine_client.reading import LogUnreadable
from turbine_client.settings import Settings
from turbine_client.verdicts import VERDICTS, Outcome, Rejected, Verdict, heard_in

UNSEEN = (BrokerUnreachable, LogUnreadable, NoTopic)
"""What is raised to whoever may not, or cannot, read the journal."""


def in_journal(settings: Settings, change_id: str, job: str | None = None) -> Verdict | None:
    """The verdict on a change, where nobody publishes it."""
    try:
        found = Journal(settings).answer(change_id, job, VERDICTS)
    except UNSEEN:
        return None
    return None if found is None else heard_in(Outcome.of(found))


def never_answered(settings: Settings, change_id: str, job: str) -> str:
    """Why no verdict on a change will come; "" where it may, or nobody can tell."""
    try:
        return UNCOUNTED if Journal(settings).crowded_out(change_id, job) else ""
    except UNSEEN:
        return ""


def unmeant(settings: Settings, job: str) -> Rejected | None:
    """The verdict on a whole config for a job that is not there; None where it is."""
    try:
        there = job in Journal(settings).living(job)
    except UNSEEN as why:
        return Rejected("", job, "no-such-job", unseen(job, why))
    return None if there else Rejected("", job, "no-such-job", not_meant(job))


class KnownTiers:
    """The tiers that are there, as an author sees them: read again where one is not among them."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._known = settings, set[str]()

    def refusal(self, job: str, tier: str) -> Rejected | None:
        """The verdict on a change to a tier that is not there."""
        if not tier or tier in self._known:
            return None
        try:
            self._known = Journal(self._settings).tiers()
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
        names = Journal(settings).living()
    except UNSEEN:
        names = set()
    return replace(verdict, explanation=in_words(verdict.explanation, verdict.job, names))
