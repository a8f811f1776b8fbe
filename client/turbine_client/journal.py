"""What a client reads of the log itself, a partition at a time: what stands of a change, which jobs
live, which tiers there are.

It needs no more than headers for that: each decision names its parent, and the first valid child of
a parent stands. All else that the log tells is read by Turbine's own read side, or through its API.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from turbine_client.clients import partitions_of
from turbine_client.crowding import crowded_out
from turbine_client.errors import NoTopic
from turbine_client.heard import Heard, hear
from turbine_client.identity import ROOT, SKEW_MS, VALID_MS, valid_until_ms
from turbine_client.reading import read_span, times_now
from turbine_client.records import TierDefined
from turbine_client.settings import Settings
from turbine_client.topics import CHANGES, JOURNAL, TIERS, partition_of, place

_MADE, _GONE = "JobConfigChanged", "JobDeleted"


class Journal:
    """The log of one installation, as far as an author asks it. Each call reads for itself."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._counts = partitions_of(settings)
        if JOURNAL not in self._counts:
            raise NoTopic(
                f"the broker at {settings.bootstrap} has no topic {settings.topic(JOURNAL)};"
                " create it with `turbine topics apply`"
            )

    def answer(self, change_id: str, job: str | None, kinds: Container[str]) -> Heard | None:
        """The standing decision of these kinds that answers a request; None where there is none
        that can be read here. Without a job all of the journal is looked through."""
        for heard in standing(self._records(JOURNAL, job, kinds)):
            if heard.cause == change_id and heard.kind in kinds and heard.body is not None:
                return heard if self._possible(heard) else None
        return None

    def living(self, job: str | None = None) -> set[str]:
        """The jobs that are there: one that is named, or all."""
        found = set[str]()
        for heard in standing(self._records(JOURNAL, job, ())):
            if heard.kind == _MADE:
                found.add(heard.key)
            elif heard.kind == _GONE:
                found.discard(heard.key)
        return found if job is None else found & {job}

    def tiers(self) -> set[str]:
        """The tiers that were defined; none where the log has no such topic yet."""
        if TIERS not in self._counts:
            return set()
        found = (heard.body for heard in self._records(TIERS, None, {"TierDefined"}))
        return {body.tier for body in found if isinstance(body, TierDefined)}

    def crowded_out(self, change_id: str, job: str) -> bool:
        """Did a change find so many valid ones of its job and layer that it counts for nothing?"""
        topics = [topic for topic in CHANGES.values() if topic in self._counts]
        places = [at for topic in topics for at in self._places(topic, job)]
        # Whatever was valid when it came had come by then.
        start = times_now(self._settings, places, max(0, valid_until_ms(change_id) - 2 * VALID_MS))
        outcomes = [
            crowded_out(
                ((one.id, one.at_ms) for one in self._heard([at], (), start) if one.key == job),
                change_id,
            )
            for at in places
        ]
        return True in outcomes and False not in outcomes

    def _records(self, topic: str, job: str | None, kinds: Container[str]) -> Iterator[Heard]:
        return self._heard(self._places(topic, job), kinds)

    def _places(self, topic: str, job: str | None) -> list[str]:
        count = self._counts[topic]
        own = range(count) if job is None else [partition_of(job, count)]
        return [place(topic, partition) for partition in own]

    def _heard(
        self, places: list[str], kinds: Container[str], start: dict[str, int] | None = None
    ) -> Iterator[Heard]:
        spans: dict[str, tuple[int, int | None]] = {
            at: ((start or {}).get(at, 0), None) for at in places
        }
        for poll in read_span(self._settings, spans):
            for message in poll:
                heard = hear(message, self._counts[message.topic], kinds)
                if heard is not None:
                    yield heard

    def _possible(self, heard: Heard) -> bool:
        """Was all that its author says it had read in the log by then? A decision that knew the
        future is void."""
        vector = heard.vector()
        if vector is None:
            return False
        for at in vector:
            topic, _, partition = at.partition("/")
            if int(partition) >= self._counts.get(topic, 0):
                return False
        there = times_now(self._settings, vector, heard.at_ms + SKEW_MS + 1) if vector else {}
        return all(offset <= there[at] for at, offset in vector.items())


def standing(decisions: Iterable[Heard]) -> Iterator[Heard]:
    """Those of the decisions that stand, of each key in its order: the first child of each."""
    last = dict[str, str]()
    for heard in decisions:
        vector = heard.vector()
        ahead = vector is None or vector.get(heard.place, 0) > heard.offset
        if ahead or heard.tick_ms > heard.at_ms + SKEW_MS:
            continue
        if heard.parent and heard.parent == last.get(heard.key, ROOT):
            last[heard.key] = heard.id
            yield heard
