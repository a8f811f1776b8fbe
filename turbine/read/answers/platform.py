"""How the control plane itself does, as far as its own log tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from components.runtime.kafka.intake import LAST_OFFSET, OFFSET, Message, number_in, records_of
from events.topics import BY_SHORT, DEAD_LETTERS
from turbine.read.plain import made, means
from turbine.read.sources.log import Log
from turbine.read.state.running import condition
from turbine.read.state.view import View

LETTERS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ComponentLine:
    """A component by its last words; how far behind it was is told by the tick that it names."""

    component: str
    decisions: Annotated[int, means("That stand.")]
    last_at_ms: int
    last_position: str
    silent_ms: Annotated[int, means("Since then, by the log's own time.")]
    tick_behind_ms: Annotated[int | None, means("From the tick that it names last to its word.")]


@dataclass(frozen=True, slots=True)
class Reconcile:
    """How many jobs are not yet what they should be, and since when the oldest of them is not."""

    jobs_in_sync: int
    jobs_behind: int
    jobs_syncing: int
    jobs_failing: int
    jobs_quarantined: int
    oldest_behind_ms: int | None


@dataclass(frozen=True, slots=True)
class Letter:
    """What could not be read: one record, or several of one place from an offset to another."""

    at_ms: int
    place: str
    offset: int
    last_offset: int
    records: int
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Projection:
    """How far whoever answers has read."""

    position: dict[str, int]
    behind_records: Annotated[int, means("Records after that position, by the places' ends.")]
    at_ms: int


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic and where its places end."""

    topic: str
    kind: str
    key: str
    written_by: str
    records: tuple[str, ...]
    doc: str
    partitions: Annotated[int, means("0 where the broker does not have it.")]
    ends: dict[str, int]


@dataclass(frozen=True, slots=True)
class Platform:
    """How the control plane itself does, as far as the log tells."""

    now_ms: int
    components: tuple[ComponentLine, ...]
    reconcile: Reconcile
    projection: Projection
    dead_letters: int
    dead_letters_by_reason: dict[str, int]
    last_dead_letters: Annotated[tuple[Letter, ...], means("The newest first.")]
    stream_readers: Annotated[int, means("Who follow the stream of this server.")]
    topics: tuple[TopicLine, ...]


def platform(view: View, log: Log, stream_readers: int = 0) -> Platform:
    """The platform of a view, beside where its log ends now."""
    found = topics(log)
    ends = {place: end for topic in found for place, end in topic.ends.items()}
    behind = sum(max(0, end - view.at[place]) for place, end in ends.items() if place in view.at)
    return Platform(
        now_ms=view.now_ms,
        components=components(view),
        reconcile=reconcile(view),
        projection=Projection(dict(view.at), behind, view.at_ms),
        dead_letters=view.dead_letters,
        dead_letters_by_reason=dict(sorted(view.letters.items())),
        last_dead_letters=letters(log, LETTERS_SHOWN),
        stream_readers=stream_readers,
        topics=found,
    )


def components(view: View) -> tuple[ComponentLine, ...]:
    """The components, each by what it decided last."""
    return tuple(
        ComponentLine(
            component=name,
            decisions=said.records,
            last_at_ms=said.at_ms,
            last_position=said.position,
            silent_ms=max(0, view.now_ms - said.at_ms),
            tick_behind_ms=max(0, said.at_ms - said.tick_ms) if said.tick_ms else None,
        )
        for name, said in sorted(view.spoken.items())
    )


def reconcile(view: View) -> Reconcile:
    """How far running is from expected."""
    words: Counter[str] = Counter()
    since: list[int] = []
    for seen in view.jobs.values():
        if seen.sync is None or not seen.existed:
            continue
        word = condition(seen.sync)
        words[word] += 1
        if word in ("behind", "syncing", "failing") and seen.notes.updated_ms:
            since.append(seen.notes.updated_ms)
    return Reconcile(
        jobs_in_sync=words["in sync"],
        jobs_behind=words["behind"],
        jobs_syncing=words["syncing"],
        jobs_failing=words["failing"],
        jobs_quarantined=words["quarantined"],
        oldest_behind_ms=max(0, view.now_ms - min(since)) if since else None,
    )


def topics(log: Log) -> tuple[TopicLine, ...]:
    """The topics of the table, and where their places end."""
    counts = log.counts
    ends = log.ends(log.places(topic for topic in BY_SHORT if topic in counts))
    return tuple(
        made(
            TopicLine,
            topic,
            topic=log.topic(short),
            records=tuple(topic.records),
            partitions=counts.get(short, 0),
            ends={place: end for place, end in ends.items() if place.rpartition("/")[0] == short},
        )
        for short, topic in BY_SHORT.items()
    )


def letters(log: Log, most: int) -> tuple[Letter, ...]:
    """The last dead letters, the newest first."""
    if DEAD_LETTERS not in log.counts:
        return ()
    ends = log.ends(log.places([DEAD_LETTERS]))
    start = {place: max(0, end - most) for place, end in ends.items()}
    found = [_letter(message) for message in log.messages([DEAD_LETTERS], start=start, end=ends)]
    return tuple(found[::-1])


def _letter(message: Message) -> Letter:
    headers = dict(message.headers or ())

    def text(name: str) -> str:
        return (headers.get(f"dead_letter_{name}") or b"").decode(errors="replace")

    offset = number_in(headers, OFFSET, -1)
    return Letter(
        at_ms=message.at_ms,
        place=text("place"),
        offset=offset,
        last_offset=number_in(headers, LAST_OFFSET, offset),
        records=records_of(message),
        reason=text("reason"),
        sentence=text("sentence"),
    )
