"""Audits a log up to an end, in one reading of it; goes on from what was kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

from components.auditor.kept import AuditStart
from components.runtime.core.audit.audit import Audit, Family
from components.runtime.core.audit.auditing import AGAIN_MOST
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.origin import Origin
from events.generated.records import TierDefined
from events.topics import BY_SHORT, CLOCK, TIERS, place
from events.wire.codec import Read
from turbine_client.reading import LogUnreadable

Families = Callable[[Iterable[str]], Sequence[Family]]
"""What is audited where the log has these tiers."""

LATE_MOST = AGAIN_MOST
"""Decisions of one desk that are put aside before the log is read again for them."""


def tiers_in(origin: Origin, partitions: int) -> frozenset[str]:
    """The tiers that there ever were: each has rows, and so decisions, of its own."""
    places = [place(TIERS, p) for p in range(BY_SHORT[TIERS].partitions or partitions)]
    kinds, found = frozenset({TierDefined.__name__}), set[str]()
    starts = origin.lowest(places)
    for poll in origin.spans({at: (starts[at], end) for at, end in origin.ends(places).items()}):
        for message in poll:
            read = take_in(message, partitions, kinds)
            if not isinstance(read, DeadLetter) and isinstance(read.record.body, TierDefined):
                found.add(read.record.body.tier)
    return frozenset(found)


class LogAudit:
    """One audit of one installation's log. Used from one thread; closed at the end."""

    def __init__(
        self,
        origin: Origin,
        families: Iterable[Family],
        partitions: int,
        *,
        kept: AuditStart | None = None,
        since: Mapping[str, int] | None = None,
    ) -> None:
        """`since`: decisions before that position get no verdict."""
        self._origin, kept = origin, kept or AuditStart()
        self._append_times = origin.append_times()
        self.hearing = AuditProgress(
            self._append_times.possible, self._ticked, seen=kept.seen, high_ms=kept.high_ms
        )
        families = [tuple(family) for family in families]
        self._lacks = {family[0].name: origin.lacks(family[0]) for family in families}
        self.counts: dict[str, Counter[str]] = {
            family[0].name: Counter(kept.counts.get(family[0].name, {})) for family in families
        }
        self.audit = Audit(families, partitions, self.hearing, held=kept.held, since=since)
        self._starts = origin.lowest(self.audit.places)
        self.audit.seal(_sealed(self._starts, kept.seen))
        for name, unjudged in kept.unjudged.items():
            self.audit.desks[name].wait_for(unjudged)
        self._kinds = self.audit.kinds
        self._check(kept.seen)

    def _check(self, seen: Mapping[str, int]) -> None:
        ends = self._origin.ends(seen) if seen else {}
        for at in sorted(seen):
            if seen[at] > ends[at]:
                raise LogUnreadable(
                    f"{at}: the audit had read up to {seen[at]}, and the log ends at {ends[at]}, so"
                    " it is another log; remove what was kept of the audit"
                )

    def slices(self, ends: Mapping[str, int] | None = None) -> Iterator[list[Message]]:
        """What is still to be read below the ends (by default: the ends now), slice by slice."""
        last = self._origin.ends(self.audit.places) if ends is None else ends
        seen, starts = self.hearing.seen, self._starts
        spans = {
            at: (max(seen.get(at, 0), starts[at]), min(last.get(at, 0), end))
            for at, end in self._origin.ends(self.audit.places).items()
        }
        yield from self._origin.slices(spans)

    def positions(self) -> dict[str, int]:
        """Where each place is to be read on."""
        seen = self.hearing.seen
        return {at: max(seen.get(at, 0), start) for at, start in self._starts.items()}

    def take(self, messages: Iterable[Message]) -> Iterator[AuditFinding]:
        """Reads what came of some places, and judges what can be judged by now."""
        audit, hearing = self.audit, self.hearing
        for number, message in enumerate(messages):
            if message.topic == CLOCK:
                hearing.tick(message.place, message.offset, message.at_ms)
                continue
            found = take_in(message, audit.partitions, self._kinds)
            if isinstance(found, DeadLetter):
                hearing.note(message.place, message.offset, message.at_ms)
            else:
                audit.read(found)
            if not number % 200:
                yield from self._counted(audit.findings())
        yield from self._counted(audit.findings())

    def run(self, ends: Mapping[str, int] | None = None) -> Iterator[AuditFinding]:
        """Audits all below the ends; what waits for more than that has its verdict too."""
        for messages in self.slices(ends):
            yield from self.take(messages)
            yield from self.catch_up(LATE_MOST)
        yield from self._counted(self.audit.findings(whole=True))
        yield from self.catch_up()

    def catch_up(self, least: int = 1) -> Iterator[AuditFinding]:
        """Verdicts for which the log has to be read again, where there are so many of them."""
        yield from self._counted(self.audit.read_late(self._read_again, least))

    def _counted(self, findings: Iterable[AuditFinding]) -> Iterator[AuditFinding]:
        for found in findings:
            one, lacks = found, self._lacks[found.component]
            if lacks and found.verdict != "same":
                one = replace(found, verdict="not checkable", sentence=lacks)
            self.counts[one.component][one.verdict] += 1
            yield one

    def _read_again(self, places: Iterable[str], ends: Mapping[str, int]) -> Iterator[Read]:
        spans = {at: (self._starts[at], ends[at]) for at in places}
        for messages in self._origin.slices(spans):
            for message in messages:
                found = take_in(message, self.audit.partitions, self._kinds)
                if not isinstance(found, DeadLetter):
                    yield found

    def _ticked(self, at: str, at_ms: int) -> bool:
        """Asked of ticks that were read too long ago, or by whoever kept what we go on from."""
        first = self._origin.times([at], at_ms)[at]
        for poll in self._origin.spans({at: (first, first + 1)}):
            if poll[0].at_ms == at_ms:
                return True
        # A tick that has expired cannot be looked up; whoever decided later had it.
        return at_ms < self._origin.since_ms or 0 < self._starts[at] == first

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection to whoever knows append times."""
        self._append_times.close()


def _sealed(starts: Mapping[str, int], seen: Mapping[str, int]) -> dict[str, str]:
    """Topics of which a part has expired before it was read, each with a sentence."""
    out: dict[str, str] = {}
    for at in sorted(starts):
        topic = at.partition("/")[0]
        if topic != CLOCK and starts[at] > seen.get(at, 0):
            out.setdefault(topic, f"rests on {topic}, of which all below {at}:{starts[at]} expired")
    return out
