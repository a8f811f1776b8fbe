"""Which id begins with what somebody wrote: six characters are enough where no other begins so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from events.topics import JOURNAL, TIERS
from projections.jobs import INGRESS_TOPICS
from turbine.read.sources.log import Log
from turbine_client.errors import BadRequest

LEAST = 6
SHOWN = 5
_BEGINNING = re.compile(r"[0-9a-f][0-9a-f.-]*")


class Ambiguous(BadRequest):
    """Several ids begin so; the sentence names them."""


def may_begin(text: str) -> bool:
    """Could an id begin with this?"""
    return len(text) >= LEAST and _BEGINNING.fullmatch(text.lower()) is not None


def full_id(log: Log, text: str) -> str:
    """The one id that begins so, of a decision or of a request; the text itself where none does.

    Of a request it may be its token that begins so, as requests of one minute begin alike. Capitals
    are the same letters: some tools write ids in them.
    """
    if not may_begin(text):
        return text
    begun, found = text.lower(), dict[str, str]()
    for name, about in _ids(log):
        if name == text:
            return text
        low = name.lower()
        if low.startswith(begun) or low.partition(".")[2].startswith(begun):
            found.setdefault(name, about)
    if len(found) > 1:
        told = [f"{name} ({about})" for name, about in list(found.items())[:SHOWN]]
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise Ambiguous(f"{len(found)} ids begin with {text}: {', '.join(told)}{more}; write more")
    return next(iter(found), text)


def _ids(log: Log) -> Iterator[tuple[str, str]]:
    topics = [one for one in (JOURNAL, TIERS, *INGRESS_TOPICS) if one in log.counts]
    # Without bodies: ids are headers.
    for read in log.read(topics, kinds=frozenset()):
        record = read.record
        yield record.id, f"{record.kind} of {record.key}"
