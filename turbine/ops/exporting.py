"""What an export of the log holds: which records, what lies before its beginning, what it redacts.

A file that begins later still has to be folded. So it keeps of the time before what folds rest on:
all decisions, requests and lives as they are, and the last word of each container. Records, and not
rows: a row is the business of one build, a record can be read for ever (docs/adr/0018).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from components.runtime.core.step import SKEW_MS
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.process.secrets import HIDDEN, is_secret
from events.topics import BY_SHORT, CLOCK, CONTAINERS, JOURNAL, LOADS, OPERATOR, partition_of
from events.wire.lock import read_lock
from turbine.read.plain import JsonObject
from turbine.read.records import to_export
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.sources.log_lines import FileHead, LogLineWriter, NotThere, Tail
from turbine_client.settings import Settings

AGAIN = frozenset({"ContainerHeartbeat", "ClockTicked", "ShardLoadsReported"})
"""Said on and on about what is so: of the time before the beginning the last of each is kept."""
RECENT_MS = 300_000
"""Of these, all that came so shortly before: a silence of a minute is the sum of its ticks."""
LEFT = frozenset({LOADS, CLOCK})
"""Nothing is kept of what these said before the beginning: a minute later they say it again."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is to be in the file."""

    since: Mapping[str, int]  # by place: from there on; none where the log has its beginning
    to: Mapping[str, int]
    job: str = ""
    since_ms: int = 0  # the instant of `since`, where it is one

    def begins(self) -> dict[str, int]:
        """From where on it has all, in each place."""
        found = {at: min(first, self.to[at]) for at, first in self.since.items() if at in self.to}
        return {at: first for at, first in found.items() if first}


def exported_topics(log: Log, job: str = "") -> list[str]:
    """All but kept rows, which are made from the rest; of one job those that may name it."""
    return [
        short
        for short, topic in BY_SHORT.items()
        if short in log.counts
        and topic.kind != "rows"
        and (not job or topic.per_job or short in (OPERATOR, CLOCK))
    ]


def of_source(log: Log, asked: ExportRequest) -> ExportRequest:
    """The same of what the log has: a file that is a part of one makes no more than such a part."""
    source = log.source
    if not isinstance(source, LogFile):
        return asked
    to = {at: end for at, end in asked.to.items() if at in source.head.ends}
    begins = source.starts(to)
    since = {at: max(offset, asked.since.get(at, 0)) for at, offset in begins.items()}
    job, since_ms = asked.job or source.head.job, max(asked.since_ms, source.since_ms)
    return ExportRequest(since, to, job, since_ms)


def head_of(log: Log, asked: ExportRequest) -> FileHead:
    """The line that the file begins with."""
    topics = {short: log.counts[short] for short in exported_topics(log)}
    source = log.source
    if isinstance(source, LogFile):
        shown = dict(source.head.settings)
    else:
        shown = dict(shown_settings(source.settings))
    since_ms = asked.since_ms if any(asked.begins().values()) else 0
    return FileHead(topics, asked.begins(), asked.to, asked.job, shown, since_ms)


def shown_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """The settings by name, without what nobody may read."""
    yield "bootstrap", settings.bootstrap
    yield "prefix", settings.prefix
    yield "partitions", str(settings.partitions)
    yield "replication", str(settings.replication)
    for group, values in (("kafka", settings.kafka), ("spark", settings.spark)):
        for key, value in sorted(values.items()):
            yield f"{group}.{key}", HIDDEN if is_secret(key) else value


def schemas() -> Iterator[JsonObject]:
    """Every version of every schema: with them a reader of any language reads the file."""
    for one in read_lock():
        yield {"schema": {"id": one.id, "name": one.name, "urn": one.urn, "schema": one.schema}}


@dataclass(slots=True)
class _Again:
    """Of what containers say on and on: all of the newest minutes, and the last of each before."""

    recent: dict[str, deque[Message]] = field(default_factory=lambda: defaultdict(deque))
    last: dict[tuple[str, bytes | None, bytes | None], Message] = field(default_factory=dict)

    def takes(self, message: Message) -> bool:
        """Is it one of those? Then it is kept here, or forgotten for a later one."""
        if _word(_header(message, "ce_type")) not in AGAIN:
            return False
        line = self.recent[message.place]
        line.append(message)
        while line[0].at_ms < message.at_ms - RECENT_MS:
            old = line.popleft()
            self.last[old.place, _header(old, "ce_type"), old.key] = old
        return True

    def kept(self) -> Iterator[Message]:
        """What is left of them."""
        yield from chain(self.last.values(), *self.recent.values())


@dataclass(slots=True)
class Export:
    """One export under way: writes records, and notes what its readers could not tell."""

    log: Log
    asked: ExportRequest
    lines: LogLineWriter
    bodies: bool = True
    """With what each record says, beside its bytes: for people and for jq."""
    _times: dict[str, tuple[array[int], array[int]]] = field(default_factory=dict)
    _questions: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))

    @property
    def _whole(self) -> bool:
        """Is nothing left out, so that the file tells by itself what was there when?"""
        return not self.asked.job and not any(self.asked.begins().values())

    def write(self) -> Tail:
        """All lines of the file."""
        self.asked = of_source(self.log, self.asked)
        self.lines.put(head_of(self.log, self.asked).to_plain())
        for one in schemas():
            self.lines.put(one)
        for message in chain(self._ground(), self._span()):
            self._put(message)
        for never in self._exceptions():
            self.lines.put({"not_there": list(never)})
        return self.lines.end()

    def _ground(self) -> Iterator[Message]:
        """Of what lies before the beginning, what folds need."""
        begins = self.asked.begins()
        topics = [
            short
            for short in exported_topics(self.log, self.asked.job)
            if BY_SHORT[short].kind not in ("world", "dead-letters") and short not in LEFT
        ]
        again = _Again()
        for message in self._heard(topics, {}, begins) if any(begins.values()) else ():
            if message.topic != CONTAINERS or not again.takes(message):
                yield message
        yield from again.kept()

    def _span(self) -> Iterator[Message]:
        topics = exported_topics(self.log, self.asked.job)
        yield from self._heard(topics, self.asked.begins(), self.asked.to)

    def _heard(
        self, topics: Iterable[str], start: Mapping[str, int], end: Mapping[str, int]
    ) -> Iterator[Message]:
        """Messages of these places, those of the job if it is of one; the times of all of them."""
        job = self.asked.job
        for message in self.log.messages(topics, start=start, end=end, key=job or None):
            if self._whole:
                yield message
                continue
            offsets, times = self._times.setdefault(message.place, (array("q"), array("q")))
            offsets.append(message.offset)
            times.append(max(message.at_ms, times[-1] if times else 0))
            if not job or message.topic == CLOCK or message.key == job.encode():
                yield message

    def _put(self, message: Message) -> None:
        plain = to_export(message, self.log.counts[JOURNAL], bodies=self.bodies)
        self.lines.record(message, plain)
        if self._whole or BY_SHORT[message.topic].kind == "dead-letters":
            return
        found = take_in(message, self.log.counts[JOURNAL], frozenset())
        if isinstance(found, DeadLetter):
            return
        begins, whole = self.asked.begins(), not self.asked.job
        for at, offset in found.record.evidence.items():
            # Of a place that is whole from there on, the file itself tells.
            if not (whole and offset > begins.get(at, 0)) and offset:
                self._questions[at, offset].add(message.at_ms + SKEW_MS)

    def _exceptions(self) -> Iterator[NotThere]:
        """What was claimed to be known and was not there, where the file does not show it."""
        append_times = self.log.source.append_times()
        try:
            for (at, offset), asked in sorted(self._questions.items()):
                known = dict[bool | None, int]()
                for by_ms in sorted(asked):
                    there = True if self._was_there(at, offset, by_ms) else None
                    known[there or append_times.possible(at, offset, by_ms)] = by_ms
                for answer in (False, None):
                    if answer in known:
                        yield NotThere(at, offset, known[answer], answer is None)
        finally:
            append_times.close()

    def _was_there(self, at: str, offset: int, by_ms: int) -> bool:
        """Do the times of what was read say so? Else the log has to be asked, and so does a file,
        which may lack what lies between."""
        if self.log.source.at_hand:
            return False
        offsets, times = self._times.get(at, (array("q"), array("q")))
        row = bisect_left(offsets, offset)
        return row > 0 and offset <= offsets[-1] + 1 and times[row - 1] <= by_ms


def _header(message: Message, name: str) -> bytes | None:
    return next((value for key, value in message.headers or () if key == name), None)


def _word(kind: bytes | None) -> str:
    return (kind or b"").decode(errors="replace").rpartition(".")[2]


def places_of(log: Log, job: str = "") -> list[str]:
    """All places that an export reads."""
    topics = exported_topics(log, job)
    if not job:
        return log.places(topics)
    return [
        f"{short}/{partition_of(job, log.counts[short])}" for short in topics if log.counts[short]
    ]
