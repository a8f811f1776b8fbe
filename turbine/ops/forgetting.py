"""Has a component forget what it kept of a log, so that it begins with the log that there is.

What is kept is a cache, and the log has it all; but where the log was replaced, whoever goes on
from what was kept of the old one would answer nothing that is asked by the new one. So components
end there, and this is how a person says that the new log is meant. The log itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from components.runtime.core.component import onlooker
from components.runtime.core.store import CLAIM, RowEntry
from components.runtime.faust.rows import KeptRows
from components.runtime.kafka.clients import partitions_of
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.groups import delete_groups, groups_of
from events.topics import TOPICS, Topic, place
from turbine_client.clients import producer
from turbine_client.reading import read_span
from turbine_client.settings import BadSettings, Settings

BY_COMPONENT: Mapping[str, Topic] = {
    topic.written_by: topic for topic in TOPICS if topic.kind == "rows"
}


@dataclass(frozen=True, slots=True)
class Forgettable:
    """What of a component is there to be forgotten."""

    component: str
    topic: Topic
    keys: Mapping[int, frozenset[str]]  # by partition
    groups: tuple[str, ...]  # whose positions go with it

    @property
    def count(self) -> int:
        """The number of rows, of all keys."""
        return sum(map(len, self.keys.values()))


def kept_of(settings: Settings, component: str) -> Forgettable:
    """What it keeps now; BadSettings where there is no such component."""
    topic = BY_COMPONENT.get(component)
    if topic is None:
        raise BadSettings(
            f"{component!r} keeps no rows; those that do are {', '.join(sorted(BY_COMPONENT))}"
        )
    count = partitions_of(settings).get(topic.short, 0)
    newest: dict[int, dict[str, bool]] = {partition: {} for partition in range(count)}
    for poll in read_span(settings, {place(topic.short, p): (0, None) for p in newest}):
        for message in poll:
            key = (message.key or b"").decode(errors="replace")
            newest[message.partition][key] = message.value is not None
    keys = {
        partition: frozenset(key for key, there in found.items() if there and _ours(key))
        for partition, found in newest.items()
    }
    # Who reads all of a tier reads without a group.
    groups = () if topic.partitions == 1 else groups_of(settings, component)
    return Forgettable(component, topic, keys, groups)


def forget(settings: Settings, kept: Forgettable, tell: Callable[[str], None]) -> None:
    """Removes it, and the positions that went with it; tells whom it has to wait for."""
    delete_groups(settings, kept.component, kept.groups, tell)
    emitter = Emitter(producer(settings), settings.prefix)
    if kept.topic.partitions == 1:
        for key in sorted(kept.keys[0]):
            emitter.write(kept.topic.short, 0, key.encode(), None, [])
        emitter.settle()
        return
    rows: KeptRows[None] = KeptRows(settings, onlooker(kept.component), "forgotten", emitter)
    claims = rows.claim(kept.keys)  # from here on nothing holds that somebody else still writes
    emitter.settle()
    for partition, opened in rows.open(claims).items():
        for key in sorted(kept.keys[partition]):
            rows.write(partition, RowEntry(key, None, opened.claim))
    emitter.settle()


def _ours(key: str) -> bool:
    """A claim is no row, and stays: others are held against it."""
    return not key.startswith(CLAIM)
