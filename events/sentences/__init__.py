"""What a record says, in one sentence for a person on call: of every kind, and nowhere else. Pure.

Its subject is what the record is about, which stands beside it wherever it is shown: "stops 4 tasks
to run 8" of a job, "shard 11 leaves container-1 for container-0" of a tier.
"""

from __future__ import annotations

from typing import assert_never, cast

from events.generated.records import Body
from events.job_config.strict_json import printable
from events.sentences import asked, jobs, scaling, syncs, tasks, tiers
from events.sentences.words import brief
from events.wire.codec import SKIPPED

LINE = 200
"""Characters: what a terminal shows in a line or two. What is in the way of that is the free text
at the end, and all of it is a `-o json` away."""
UNREAD = "this build cannot read what it says; a newer one can"

Said = jobs.Said | syncs.Said | scaling.Said | tiers.Said | tasks.Said | asked.Said
"""Every kind of record. A test compares it with the schemas."""


def sentence(body: Body | None) -> str:
    """The sentence of a record, for a line of a list; None is one that this build cannot read."""
    return brief(in_full(body), LINE)


def in_full(body: Body | None) -> str:
    """The same with all of its last words, where remedies stand: for whoever asks about one."""
    if body is None or body is SKIPPED:
        return UNREAD
    return printable(_said(cast("Said", body)))


def _said(body: Said) -> str:
    if isinstance(body, jobs.Said):
        return jobs.said(body)
    if isinstance(body, syncs.Said):
        return syncs.said(body)
    if isinstance(body, scaling.Said):
        return scaling.said(body)
    if isinstance(body, tiers.Said):
        return tiers.said(body)
    if isinstance(body, tasks.Said):
        return tasks.said(body)
    if isinstance(body, asked.Said):
        return asked.said(body)
    assert_never(body)
