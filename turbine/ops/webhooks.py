"""How far each webhook has come, and where it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.runtime.kafka.clients import partitions_of
from components.webhooks.agents import GroupBookmark
from components.webhooks.config import Hook
from events.topics import place
from turbine_client.errors import NoTopic
from turbine_client.reading import ends_now, read_span, starts_now
from turbine_client.settings import BadSettings, Settings

COUNTED_MAX = 20_000


@dataclass(frozen=True, slots=True)
class WebhookState:
    """One webhook as the log has it."""

    hook: Hook
    group: str  # that keeps its positions
    behind: int | None  # messages not dealt with; None: it was never served

    def to_plain(self) -> dict[str, object]:
        """As JSON; without the secret, and without the path, which may be one."""
        hook = self.hook
        return {
            "name": hook.name,
            "at": hook.address,
            "topics": list(hook.topics),
            "jobs": list(hook.jobs),
            "kinds": sorted(hook.kinds),
            "group": self.group,
            "behind": self.behind,
        }


def state_of(settings: Settings, hook: Hook) -> WebhookState:
    """How far it has come."""
    bookmark = GroupBookmark(settings, hook)
    try:
        kept = bookmark.read(_places(settings, hook))
    finally:
        bookmark.close()
    known = {at: offset for at, offset in kept.items() if offset >= 0}
    return WebhookState(hook, hook.group(settings), _behind(settings, known) if known else None)


def _behind(settings: Settings, kept: Mapping[str, int]) -> int:
    """Messages from there on: the end of each transaction takes an offset as well, and that is
    nothing to be behind with. Where there are very many, they are not read to be counted."""
    last = ends_now(settings, kept)
    spans = {at: (offset, last[at]) for at, offset in kept.items() if offset < last[at]}
    offsets = sum(end - first for first, end in spans.values())
    if not spans or offsets > COUNTED_MAX:
        return offsets
    return sum(map(len, read_span(settings, spans, **{"isolation.level": "read_committed"})))


def starts_of(settings: Settings, hook: Hook) -> dict[str, int]:
    """Where all begins that it could be told of."""
    return starts_now(settings, _places(settings, hook))


def ends_of(settings: Settings, hook: Hook) -> dict[str, int]:
    """Where there is nothing to tell."""
    return ends_now(settings, _places(settings, hook))


def move(settings: Settings, hook: Hook, positions: Mapping[str, int]) -> dict[str, int]:
    """Has it go on from there; places that are not named are left where they are."""
    places = _places(settings, hook)
    moved = {at: offset for at, offset in positions.items() if at in places}
    if not moved:
        raise BadSettings(
            f"none of these positions is of a topic of {hook.name}; name one of {places[0]} …"
        )
    bookmark = GroupBookmark(settings, hook)
    try:
        bookmark.keep(moved)
    finally:
        bookmark.close()
    return moved


def _places(settings: Settings, hook: Hook) -> list[str]:
    counts = partitions_of(settings)
    missing = next((topic for topic in hook.topics if topic not in counts), None)
    if missing is not None:
        raise NoTopic(
            f"the broker has no topic {settings.topic(missing)}; create it with"
            " `turbine topics apply`"
        )
    return [place(topic, p) for topic in hook.topics for p in range(counts[topic])]
